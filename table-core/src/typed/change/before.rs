//! An entity as it was read before it is changed.

use std::ops::{Deref, DerefMut};

use crate::error::{Error, ErrorKind, Result};
use crate::model::names::{ENTITY_PARTS, ENTITY_TYPE};
use crate::model::{Value, ValueRef};
use crate::plan::{self, Cause, RowContent, RowKind, Values, Version};
use crate::row::encode::is_as_written;
use crate::row::view::RowView;
use crate::schema::{Field, Kinship, Schema};
use crate::sealing::looks_sealed;
use crate::typed::change::values_of;
use crate::typed::encrypt::sealing::SealedFields;
use crate::typed::encrypt::unopened;
use crate::typed::entity::Entity;
use crate::typed::entity::former;
use crate::typed::entity::path::{check_kind, check_own, of_kin};
use crate::typed::entity::source::Source;
use crate::typed::entity::wide;

/// Properties that no field is.
type Unknown = Vec<(Box<str>, Value)>;

/// An entity as it was read, with what its struct does not know.
pub(in crate::typed) struct Before<E> {
    /// `None` if it has become what it is to be, or was not made.
    entity: Option<E>,
    row: Kept,
}

/// What is kept of an entity's row: nothing here is of the entity's type.
pub(in crate::typed) struct Kept {
    /// Without the entity, these are what its fields held,
    values: Values<'static>,
    /// and these the sparse indexes that had no row for it.
    without: Vec<usize>,
    /// and these the bits of the numbers of each summary that it counts in.
    counted: Vec<(usize, u64)>,
    pub(in crate::typed) version: Version,
    /// Whether the row is what would be written of the entity today.
    pub(in crate::typed) is_exact: bool,
    pub(in crate::typed) unknown: Vec<(Box<str>, Value)>,
    /// Of a wide entity, what each of its parts has that the struct does not know, as many as there are.
    pub(in crate::typed) of_parts: Vec<Unknown>,
    /// What the row has sealed; `None` if nothing was opened, and the values are those of the row.
    pub(in crate::typed) sealed: Option<SealedFields>,
}

impl<E> Deref for Before<E> {
    type Target = Kept;

    fn deref(&self) -> &Kept {
        &self.row
    }
}

impl<E> DerefMut for Before<E> {
    fn deref_mut(&mut self) -> &mut Kept {
        &mut self.row
    }
}

impl<E: Entity> Before<E> {
    /// Reads what is stored.
    pub(in crate::typed) fn read(view: &RowView<'_>, version: Version) -> Result<Self> {
        if let Some((entity, row)) = former::<E>(view)? {
            return Ok(Self { entity: Some(entity), row: row.of(version) });
        }
        let entity = decode::<E>(view)?;
        let row = Row::read(view, E::SCHEMA, &values_of(&entity)?)?;
        Ok(Self { entity: Some(entity), row: row.of(version) })
    }

    /// Reads what is stored, and gives away the entity, to be changed.
    pub(in crate::typed) fn read_to_change(view: &RowView<'_>, version: Version) -> Result<(Self, E)> {
        let (entity, former) = match former::<E>(view)? {
            Some((entity, row)) => (entity, Some(row)),
            None => (decode::<E>(view)?, None),
        };
        let values = values_of(&entity)?;
        let counted: &dyn Fn(usize) -> u64 = &|index| entity.counted(index);
        let counted = if const { E::SCHEMA.counts_some() } { Some(counted) } else { None };
        let has_row: &dyn Fn(usize) -> bool = &|index| entity.has_row(index);
        let row = Kept::apart((view, version), (E::SCHEMA, former), values, has_row, counted)?;
        Ok((Self { entity: None, row }, entity))
    }

    /// Reads what is stored, and opens nothing; which sparse indexes have no row for it is yet to be
    /// [found out](Kept::lacks). `is_exact`: what is planned is what is stored, and not what would be written of an entity.
    pub(in crate::typed) fn read_unopened(
        view: &RowView<'_>,
        version: Version,
        is_exact: bool,
    ) -> Result<Self> {
        if const { E::SCHEMA.former.is_some() } && Self::is_former(view)? {
            return Err(of_kin(view, E::SCHEMA));
        }
        check_kind(view, const { E::SCHEMA.tag(None) })?;
        let values = unopened::read::<E>(view)?;
        let row = Row {
            is_exact,
            unknown: unknown(view, E::SCHEMA)?,
            of_parts: of_parts(view, E::SCHEMA)?,
            sealed: None,
        };
        Ok(Self { entity: None, row: Kept { values, ..row.of(version) } })
    }

    /// Whether the row is of a former version, and can't become what it would be now.
    pub(in crate::typed) fn is_unconverted(view: &RowView<'_>, error: &Error) -> Result<bool> {
        Ok((error.kind() == ErrorKind::NotConverted || is_closed(error)) && Self::is_former(view)?)
    }

    /// Whether the row is of a former version.
    pub(in crate::typed) fn is_former(view: &RowView<'_>) -> Result<bool> {
        Ok(matches!(E::SCHEMA.kinship(view.kind()?.unwrap_or_default()), Kinship::Former(_)))
    }

    /// An entity of which nothing is known but that it is there: in no index that is kept it has a copy.
    pub(in crate::typed) fn unconverted(version: Version) -> Self {
        let row = Row { is_exact: false, unknown: Vec::new(), of_parts: Vec::new(), sealed: None };
        let without = (0..E::SCHEMA.indexes.len()).collect();
        Self { entity: None, row: Kept { without, ..row.of(version) } }
    }

    /// The entity, if it was not given away.
    pub(in crate::typed) fn entity(&self) -> Option<&E> {
        self.entity.as_ref()
    }

    /// The values of its fields.
    pub(in crate::typed) fn values(&self) -> Result<Values<'_>> {
        self.entity.as_ref().map_or_else(|| Ok(self.row.values.lent()), values_of)
    }

    /// The values of its fields, if they are kept apart from the entity.
    pub(in crate::typed) fn kept_values(&self) -> Option<&Values<'static>> {
        if self.entity.is_none() { Some(&self.row.values) } else { None }
    }

    /// A bit for each number of a summary that it counts in.
    pub(in crate::typed) fn counted(&self, index: usize) -> u64 {
        match &self.entity {
            Some(entity) => entity.counted(index),
            None => self.row.counted(index),
        }
    }

    /// Whether the index had a row for it.
    pub(in crate::typed) fn has_row(&self, index: usize) -> bool {
        match &self.entity {
            Some(entity) => entity.has_row(index),
            None => !self.row.without.contains(&index),
        }
    }
}

impl Kept {
    /// What is kept of an entity that is given away: what of its values the row says, unless that is known of a `former`
    /// version's row; which sparse indexes have a row for it, and in what numbers of summaries it counts, if in any.
    fn apart(
        (view, version): (&RowView<'_>, Version),
        (schema, former): (&'static Schema, Option<Row>),
        values: Values<'_>,
        has_row: &dyn Fn(usize) -> bool,
        counted: Option<&dyn Fn(usize) -> u64>,
    ) -> Result<Self> {
        let row = match former {
            Some(row) => row,
            None => Row::read(view, schema, &values)?,
        };
        let indexes = 0..schema.indexes.len();
        let without = indexes.clone().filter(|index| !has_row(*index)).collect();
        let counted = counted.map(|counted| indexes.map(|index| (index, counted(index))).collect());
        let counted = counted.unwrap_or_default();
        Ok(Self { values: values.into_owned(), without, counted, ..row.of(version) })
    }

    /// The key of the entity's copy in an index, if nothing of it was opened; with its table and partition, if it lies
    /// elsewhere.
    pub(in crate::typed) fn copy_key(
        &self,
        schema: &'static Schema,
        index: usize,
    ) -> Option<(Option<(&'static str, String)>, String)> {
        let index = schema.indexes.get(index)?;
        let first = |template| self.values.keys(template).into_iter().next();
        let partition = if index.is_elsewhere() { Some(first(&index.place.partition)?) } else { None };
        let elsewhere = partition.map(|partition| (index.place.table.source(), partition));
        Some((elsewhere, first(&index.place.row)?))
    }

    /// Notes that a sparse index has no row for it.
    pub(in crate::typed) fn lacks(&mut self, index: usize) {
        self.without.push(index);
    }

    fn counted(&self, index: usize) -> u64 {
        self.counted.iter().find(|(known, _)| *known == index).map_or(0, |(_, counted)| *counted)
    }
}

/// Reads what a row of a former version becomes; `None` if it is of the entity's own.
fn former<E: Entity>(view: &RowView<'_>) -> Result<Option<(E, Row)>> {
    if const { E::SCHEMA.former.is_none() } || view.is_shaped_as(E::SCHEMA.entity_type) {
        return Ok(None);
    }
    check_own::<E>(view)?;
    let Some(entity) = former::read::<E>(view)? else { return Ok(None) };
    let Kinship::Former(schema) = E::SCHEMA.kinship(view.kind()?.unwrap_or_default()) else {
        return Ok(None);
    };
    let is_known = |name: &str| E::SCHEMA.fields.iter().any(|field| field.property == name);
    let mut unknown = unknown(view, schema)?;
    unknown.retain(|(name, _)| !is_known(name) && !E::SCHEMA.gone.contains(&&**name));
    // What it had sealed is sealed anew.
    let sealed = Some(SealedFields::default());
    Ok(Some((entity, Row { is_exact: false, unknown, of_parts: Vec::new(), sealed })))
}

fn decode<E: Entity>(view: &RowView<'_>) -> Result<E> {
    check_kind(view, const { E::SCHEMA.tag(None) })?;
    wide::check_joined::<E>(view)?;
    E::from_source(&mut Source::new(E::SCHEMA, E::SCHEMA.place(), view)?)
}

/// What an entity's row says besides its fields' values.
struct Row {
    is_exact: bool,
    unknown: Vec<(Box<str>, Value)>,
    of_parts: Vec<Unknown>,
    sealed: Option<SealedFields>,
}

impl Row {
    /// What is kept of the row, without values.
    fn of(self, version: Version) -> Kept {
        let Self { is_exact, unknown, of_parts, sealed } = self;
        let (values, without, counted) = (Values::default(), Vec::new(), Vec::new());
        Kept { values, without, counted, version, is_exact, unknown, of_parts, sealed }
    }

    /// Compares the row with the values that were read from it.
    fn read(view: &RowView<'_>, schema: &'static Schema, values: &Values<'_>) -> Result<Self> {
        let content = RowContent::new(RowKind { schema, cause: Cause::Entity }, values);
        let mut sealed = SealedFields::default();
        // What is opened is no longer what is stored.
        if !schema.seals() && !schema.is_wide() && is_as_written(view, &content) {
            let (unknown, of_parts) = (Vec::new(), Vec::new());
            return Ok(Self { is_exact: true, unknown, of_parts, sealed: Some(sealed) });
        }
        let fields = schema.fields;
        let (mut stored, mut same) = (0, 0);
        for (at, field) in fields.iter().enumerate() {
            let Some(value) = view.get_field(fields, at)? else { continue };
            stored += 1;
            if let (true, ValueRef::Binary(bytes)) = (field.encrypted && looks_sealed(value), value) {
                // It has been opened.
                sealed.push(at, bytes);
                same += 1;
            } else {
                let would_be = values.get(at);
                same += usize::from(would_be == Some(value));
            }
            let Some(blind) = field.blind else { continue };
            if let Some(token) = view.get(blind.property)? {
                stored += 1;
                same += usize::from(sealed.push_token(at, token));
            }
        }
        let mut is_exact = same == plan::stored_fields(schema, values) && !has_former_name(view, schema)?;
        let of_parts = of_parts(view, schema)?;
        is_exact &= of_parts.len() == schema.parts.len();
        // Every row says what it is; what else there is no field has. In a wide entity it is some row's.
        let has_more = schema.is_wide() || view.len() > stored + 1;
        let mut unknown = if has_more { unknown(view, schema)? } else { Vec::new() };
        let known = unknown.len();
        unknown.retain(|(name, _)| !schema.gone.contains(&&**name));
        is_exact &= known == unknown.len();
        Ok(Self { is_exact, unknown, of_parts, sealed: Some(sealed) })
    }
}

/// Whether a row has a property under the name that it had before.
fn has_former_name(view: &RowView<'_>, schema: &Schema) -> Result<bool> {
    for was in schema.fields.iter().filter_map(|field| field.was) {
        if view.get(was)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The properties of a row that are of no field.
pub(in crate::typed) fn unknown(view: &RowView<'_>, schema: &Schema) -> Result<Vec<(Box<str>, Value)>> {
    let mut unknown = Vec::new();
    for property in view.properties() {
        let (name, value) = property?;
        let is_of = |field: &Field| {
            field.property == name
                || field.was == Some(name)
                || field.blind.is_some_and(|blind| blind.property == name)
        };
        let is_own = name == ENTITY_TYPE || name == ENTITY_PARTS && schema.is_wide();
        if !is_own && !schema.fields.iter().any(is_of) {
            unknown.push((name.into(), value.to_value()));
        }
    }
    Ok(unknown)
}

/// The properties of each part of a wide entity that are of no field. A program that knows fewer parts than there are could
/// not keep the others.
fn of_parts(view: &RowView<'_>, schema: &Schema) -> Result<Vec<Unknown>> {
    let Some(parts) = view.parts() else { return Ok(Vec::new()) };
    let said = wide::parts_said(view)?.unwrap_or(0);
    if said > parts.len() {
        let because = format!(
            "the entity has {said} parts, and `{}` declares {}: a newer program has written it",
            schema.entity,
            parts.len()
        );
        return Err(Error::new(ErrorKind::LayoutChanged).because(because));
    }
    parts
        .iter()
        .take(said)
        .map(|part| part.as_ref().map_or(Ok(Vec::new()), |part| unknown(part, schema)))
        .collect()
}

/// Whether an error says that a sealed value can't be had, or is none.
pub(in crate::typed) fn is_closed(error: &Error) -> bool {
    let kinds = [ErrorKind::KeyUnavailable, ErrorKind::DecryptionFailed];
    error.kind().is_destroyed() || kinds.contains(&error.kind())
}
