//! An entity as it was read before it is changed.

use super::entity_images::{self, EntityImages, EntityMeta, ImageRef, ImageSlot};
use crate::error::{Error, ErrorKind, Result};
use crate::model::names::{ENTITY_PARTS, ENTITY_TYPE};
use crate::model::{Value, ValueRef};
use crate::plan::{self, Cause, RowContent, RowKind, Values, Version};
use crate::row::encode::is_as_written;
use crate::row::view::RowView;
use crate::schema::{Field, Kinship, Schema};
use crate::sealing::looks_sealed;
use crate::typed::encrypt::sealing::SealedFields;
use crate::typed::encrypt::unopened;
use crate::typed::entity::path::{check_kind, check_own, of_kin};
use crate::typed::entity::source::Source;
use crate::typed::entity::wide;

/// Properties that no field is.
type Unknown = Vec<(Box<str>, Value)>;

/// An entity as it was read, with what its struct does not know. The entity itself is kept by the [images](EntityImages) of the
/// change, as long as it is not given away.
pub(crate) struct Kept {
    /// What its fields held, if the entity was given away.
    values: Values<'static>,
    /// The sparse indexes that had no row for it, if it was given away.
    without: Vec<usize>,
    /// The bits of the numbers of each summary that it counted in, if it was given away.
    counted: Vec<(usize, u64)>,
    pub(crate) version: Version,
    /// Whether the row is what would be written of the entity today.
    pub(crate) is_exact: bool,
    pub(crate) unknown: Vec<(Box<str>, Value)>,
    /// Of a wide entity, what each of its parts has that the struct does not know, as many as there are.
    pub(crate) of_parts: Vec<Unknown>,
    /// What the row has sealed; `None` if nothing was opened, and the values are those of the row.
    pub(crate) sealed: Option<SealedFields>,
}

/// Reads what is stored, and keeps the entity. `for_keys`: nothing is asked but where its rows are.
pub(super) fn read(
    images: &mut (impl EntityImages + ?Sized),
    view: &RowView<'_>,
    version: Version,
    for_keys: bool,
) -> Result<Kept> {
    let row = if let Some(row) = previous(images, view)? {
        row
    } else {
        decode(images, view)?;
        if for_keys { Row::default() } else { Row::read(view, images.meta(), &found(images)?)? }
    };
    Ok(row.of(version))
}

/// Reads what is stored, and gives away the entity, to be changed.
pub(super) fn read_to_change(
    images: &mut (impl EntityImages + ?Sized),
    view: &RowView<'_>,
    version: Version,
) -> Result<Kept> {
    let previous = previous(images, view)?;
    if previous.is_none() {
        decode(images, view)?;
    }
    let kept = Kept::apart(images, view, version, previous)?;
    images.begin_edit();
    Ok(kept)
}

/// Reads what is stored, and opens nothing; which sparse indexes have no row for it is yet to be [found out](Kept::lacks).
/// `is_exact`: what is planned is what is stored, and not what would be written of an entity.
pub(super) fn read_unopened(
    meta: &EntityMeta,
    view: &RowView<'_>,
    version: Version,
    is_exact: bool,
) -> Result<Kept> {
    let schema = meta.schema;
    if meta.has_previous && is_previous(schema, view)? {
        return Err(of_kin(view, schema));
    }
    check_kind(view, schema.tag(None))?;
    let values = unopened::read_of(schema, meta.elements, view)?;
    let is_exact = is_exact && !meta.renames_key;
    let row =
        Row { is_exact, unknown: unknown(view, schema)?, of_parts: of_parts(view, schema)?, sealed: None };
    Ok(Kept { values, ..row.of(version) })
}

/// Returns whether the row is of a previous version, and can't become what it would be now.
pub(super) fn is_unconverted(schema: &'static Schema, view: &RowView<'_>, error: &Error) -> Result<bool> {
    Ok((error.kind() == ErrorKind::NotConverted || is_closed(error)) && is_previous(schema, view)?)
}

/// Returns whether the row is of a previous version.
pub(super) fn is_previous(schema: &'static Schema, view: &RowView<'_>) -> Result<bool> {
    Ok(matches!(schema.kinship(view.kind()?.unwrap_or_default()), Kinship::PreviousVersion(_)))
}

/// Returns an entity of which nothing is known but that it is there: in no index that is kept it has a copy.
pub(super) fn unconverted(schema: &'static Schema, version: Version) -> Kept {
    let without = (0..schema.indexes.len()).collect();
    Kept { without, ..Row::default().of(version) }
}

/// Returns the values of the entity that was found.
fn found<S: EntityImages + ?Sized>(images: &S) -> Result<Values<'_>> {
    let found = entity_images::values(images, FOUND)?;
    found.ok_or_else(|| Error::new(ErrorKind::EntityNotFound))
}

const FOUND: ImageRef = ImageRef::In(ImageSlot::Before);

impl Kept {
    /// Keeps what is needed of an entity that is given away: what of its values the row says, unless that is known of a
    /// `previous` version's row; which sparse indexes have a row for it, and in what numbers of summaries it counts, if in
    /// any.
    fn apart<S: EntityImages + ?Sized>(
        images: &S,
        view: &RowView<'_>,
        version: Version,
        previous: Option<Row>,
    ) -> Result<Self> {
        let meta @ EntityMeta { schema, counts_some, .. } = images.meta();
        let values = found(images)?;
        let row = match previous {
            Some(row) => row,
            None => Row::read(view, meta, &values)?,
        };
        let indexes = 0..schema.indexes.len();
        let without = indexes.clone().filter(|index| !images.has_row(FOUND, *index)).collect();
        let counted = |index| (index, images.counted(FOUND, index));
        let counted = if *counts_some { indexes.map(counted).collect() } else { Vec::new() };
        Ok(Self { values: values.into_owned(), without, counted, ..row.of(version) })
    }

    /// Returns the values of the entity that was given away.
    pub(super) fn values(&self) -> &Values<'static> {
        &self.values
    }

    /// Returns whether the index had a row for the entity that was given away.
    pub(super) fn has_row(&self, index: usize) -> bool {
        !self.without.contains(&index)
    }

    /// Returns the key of the entity's copy in an index, if nothing of it was opened; with its table and partition, if it lies
    /// elsewhere.
    pub(crate) fn copy_key(
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
    pub(crate) fn lacks(&mut self, index: usize) {
        self.without.push(index);
    }

    /// Returns a bit for each number of a summary that it counted in.
    pub(super) fn counted(&self, index: usize) -> u64 {
        self.counted.iter().find(|(known, _)| *known == index).map_or(0, |(_, counted)| *counted)
    }
}

/// Reads what a row of a previous version becomes; `None` if it is of the entity's own.
fn previous(images: &mut (impl EntityImages + ?Sized), view: &RowView<'_>) -> Result<Option<Row>> {
    let EntityMeta { schema, has_previous, .. } = images.meta();
    if !has_previous || view.is_shaped_as(schema.entity_type) {
        return Ok(None);
    }
    check_own(view, schema)?;
    if !images.take_previous(ImageSlot::Before, view)? {
        return Ok(None);
    }
    let Kinship::PreviousVersion(previous) = schema.kinship(view.kind()?.unwrap_or_default()) else {
        return Ok(None);
    };
    let is_known = |name: &str| schema.fields.iter().any(|field| field.property == name);
    let mut unknown = unknown(view, previous)?;
    unknown.retain(|(name, _)| !is_known(name) && !schema.removed.contains(&&**name));
    // What it had sealed is sealed anew.
    let sealed = Some(SealedFields::default());
    Ok(Some(Row { is_exact: false, unknown, of_parts: Vec::new(), sealed }))
}

fn decode(images: &mut (impl EntityImages + ?Sized), view: &RowView<'_>) -> Result<()> {
    let schema = images.meta().schema;
    check_kind(view, schema.tag(None))?;
    wide::check_joined(view, schema)?;
    images.take(ImageSlot::Before, &mut Source::new(schema, schema.place(), view)?)
}

/// What an entity's row says besides its fields' values.
#[derive(Default)]
struct Row {
    is_exact: bool,
    unknown: Vec<(Box<str>, Value)>,
    of_parts: Vec<Unknown>,
    sealed: Option<SealedFields>,
}

impl Row {
    /// Returns what is kept of the row, without values.
    fn of(self, version: Version) -> Kept {
        let Self { is_exact, unknown, of_parts, sealed } = self;
        let (values, without, counted) = (Values::default(), Vec::new(), Vec::new());
        Kept { values, without, counted, version, is_exact, unknown, of_parts, sealed }
    }

    /// Compares the row with the values that were read from it.
    fn read(view: &RowView<'_>, meta: &EntityMeta, values: &Values<'_>) -> Result<Self> {
        let schema = meta.schema;
        let mut sealed = SealedFields::default();
        // What is opened is no longer what is stored.
        if !schema.seals() && are_as_written(view, schema, values) {
            let (unknown, of_parts) = (Vec::new(), schema.parts.iter().map(|_| Unknown::new()).collect());
            return Ok(Self { is_exact: !meta.renames_key, unknown, of_parts, sealed: Some(sealed) });
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
        let mut is_exact = same == plan::stored_fields(schema, values) && !has_previous_name(view, schema)?;
        let of_parts = of_parts(view, schema)?;
        is_exact &= of_parts.len() == schema.parts.len();
        // Every row says what it is; what else there is no field has. In a wide entity it is some row's.
        let has_more = schema.is_wide() || view.len() > stored + 1;
        let mut unknown = if has_more { unknown(view, schema)? } else { Vec::new() };
        let known = unknown.len();
        unknown.retain(|(name, _)| !schema.removed.contains(&&**name));
        is_exact &= known == unknown.len() && !meta.renames_key;
        Ok(Self { is_exact, unknown, of_parts, sealed: Some(sealed) })
    }
}

/// Returns whether an entity's own rows are what would be written of it today.
fn are_as_written(view: &RowView<'_>, schema: &'static Schema, values: &Values<'_>) -> bool {
    let is =
        |row: &RowView<'_>, cause| is_as_written(row, &RowContent::new(RowKind { schema, cause }, values));
    if !schema.is_wide() {
        return is(view, Cause::Entity);
    }
    let Some(parts) = view.parts() else { return false };
    parts.len() == schema.parts.len()
        && is(view, Cause::Entity)
        && (1..).zip(parts).all(|(part, row)| row.as_ref().is_some_and(|row| is(row, Cause::Part(part))))
}

/// Returns whether a row has a property under the name that it had before.
pub(crate) fn has_previous_name(view: &RowView<'_>, schema: &Schema) -> Result<bool> {
    for was in schema.fields.iter().filter_map(|field| field.was) {
        if view.get(was)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the properties of a row that are of no field.
pub(crate) fn unknown(view: &RowView<'_>, schema: &Schema) -> Result<Vec<(Box<str>, Value)>> {
    unknown_in(view, schema, 0)
}

/// Returns the properties of the row of this number, the head or a part, that are of no field.
fn unknown_in(view: &RowView<'_>, schema: &Schema, row: usize) -> Result<Vec<(Box<str>, Value)>> {
    let fields = schema.fields;
    let mut unknown = Vec::new();
    // Most rows have their properties in the order of the fields, so each is looked for from the last one on: to look
    // through all fields for each of hundreds takes longer than the whole change.
    let mut next = fields.iter().position(|field| field.part == row).unwrap_or(0);
    for property in view.properties() {
        let (name, value) = property?;
        let is_of = |field: &Field| {
            field.property == name
                || field.was == Some(name)
                || field.blind.is_some_and(|blind| blind.property == name)
        };
        if name == ENTITY_TYPE || name == ENTITY_PARTS && schema.is_wide() {
            continue;
        }
        let (before, from) = fields.split_at(next.min(fields.len()));
        if let Some(ahead) = from.iter().position(is_of) {
            next += ahead;
        } else if let Some(at) = before.iter().position(is_of) {
            next = at;
        } else {
            unknown.push((name.into(), value.to_value()));
        }
    }
    Ok(unknown)
}

/// Returns the properties of each part of a wide entity that are of no field. A program that knows fewer parts than there are
/// could not keep the others.
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
    (1..)
        .zip(parts.iter().take(said))
        .map(|(row, part)| part.as_ref().map_or(Ok(Vec::new()), |part| unknown_in(part, schema, row)))
        .collect()
}

/// Returns whether an error says that a sealed value can't be had, or is none.
pub(crate) fn is_closed(error: &Error) -> bool {
    let kinds = [ErrorKind::KeyUnavailable, ErrorKind::DecryptionFailed];
    error.kind().is_destroyed() || kinds.contains(&error.kind())
}
