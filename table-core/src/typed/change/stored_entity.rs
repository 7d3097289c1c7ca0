//! An entity as it was read before it is changed.

use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::names::ENTITY_TYPE;
use crate::model::{Value, ValueRef};
use crate::plan::{self, Cause, RowContent, RowKind, Values, Version};
use crate::row::encode::is_as_written;
use crate::row::version::version_of;
use crate::row::view::RowView;
use crate::schema::{Field, Schema};
use crate::sealing::looks_sealed;
use crate::typed::change::values_of;
use crate::typed::encrypt::sealing::SealedFields;
use crate::typed::encrypt::unopened;
use crate::typed::entity::Entity;
use crate::typed::entity::path::check_kind;
use crate::typed::entity::source::Source;

/// An entity as it was read, with what its struct does not know.
pub(in crate::typed) struct Old<E> {
    pub(in crate::typed) was: Was<E>,
    pub(in crate::typed) row: OldRow,
}

/// What an entity's row says besides its fields' values.
pub(in crate::typed) struct OldRow {
    pub(in crate::typed) version: Version,
    /// Whether the row is what would be written of the entity today.
    pub(in crate::typed) is_exact: bool,
    pub(in crate::typed) unknown: Vec<(Box<str>, Value)>,
    /// What the row has sealed; `None` if nothing was opened, and the values are those of the row.
    pub(in crate::typed) sealed: Option<SealedFields>,
}

/// An entity as it was.
pub(in crate::typed) enum Was<E> {
    Entity(E),
    /// The entity itself has become what it is to be, or was not made; this is what its fields held.
    Values {
        values: Values<'static>,
        /// The sparse indexes that had no row for it.
        without: Vec<usize>,
    },
}

impl<E: Entity> Was<E> {
    pub(in crate::typed) fn values(&self) -> Result<Values<'_>> {
        match self {
            Self::Entity(entity) => values_of(entity),
            Self::Values { values, .. } => Ok(values.lent()),
        }
    }

    /// Whether the index had a row for it.
    pub(in crate::typed) fn has_row(&self, index: usize) -> bool {
        match self {
            Self::Entity(entity) => entity.has_row(index),
            Self::Values { without, .. } => !without.contains(&index),
        }
    }
}

impl<E: Entity> Old<E> {
    fn decode(view: &RowView<'_>) -> Result<E> {
        check_kind(view, const { E::SCHEMA.tag(None) })?;
        E::from_source(&mut Source::new(E::SCHEMA, E::SCHEMA.place(), view)?)
    }

    /// Reads what is stored, and opens nothing. `is_exact`: what is planned is what is stored, and not what would be
    /// written of an entity.
    pub(in crate::typed) fn read_unopened(
        table: &DynamicTable,
        snapshot: &Snapshot,
        view: &RowView<'_>,
        is_exact: bool,
    ) -> Result<Self> {
        check_kind(view, const { E::SCHEMA.tag(None) })?;
        let (values, without) = unopened::read::<E>(table, snapshot, view)?;
        let unknown = unknown(view, E::SCHEMA)?;
        let row = OldRow { version: version_of(view, snapshot.state()), is_exact, unknown, sealed: None };
        Ok(Self { was: Was::Values { values, without }, row })
    }

    /// Reads what is stored, in the state of the store that has this number.
    pub(in crate::typed) fn read(view: &RowView<'_>, state: usize) -> Result<Self> {
        let entity = Self::decode(view)?;
        let row = OldRow::read(view, E::SCHEMA, &values_of(&entity)?, state)?;
        Ok(Self { was: Was::Entity(entity), row })
    }

    /// Reads what is stored, and gives away the entity, to be changed.
    pub(in crate::typed) fn read_to_change(view: &RowView<'_>, state: usize) -> Result<(Self, E)> {
        let entity = Self::decode(view)?;
        let values = values_of(&entity)?;
        let row = OldRow::read(view, E::SCHEMA, &values, state)?;
        let indexes = 0..E::SCHEMA.indexes.len();
        let without = indexes.filter(|index| !entity.has_row(*index)).collect();
        let was = Was::Values { values: values.into_owned(), without };
        Ok((Self { was, row }, entity))
    }
}

impl OldRow {
    /// Compares the row with the values that were read from it.
    fn read(view: &RowView<'_>, schema: &'static Schema, values: &Values<'_>, state: usize) -> Result<Self> {
        let content = RowContent::new(RowKind { schema, cause: Cause::Entity }, values);
        let (version, mut sealed) = (version_of(view, state), SealedFields::default());
        // What is opened is no longer what is stored.
        if !schema.seals() && is_as_written(view, &content) {
            return Ok(Self { version, is_exact: true, unknown: Vec::new(), sealed: Some(sealed) });
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
        let is_exact = same == plan::stored_fields(schema, values);
        // Every row says what it is; what else there is no field has.
        let unknown = if view.len() > stored + 1 { unknown(view, schema)? } else { Vec::new() };
        Ok(Self { version, is_exact, unknown, sealed: Some(sealed) })
    }
}

/// The properties of a row that are of no field.
fn unknown(view: &RowView<'_>, schema: &Schema) -> Result<Vec<(Box<str>, Value)>> {
    let mut unknown = Vec::new();
    for property in view.properties() {
        let (name, value) = property?;
        let is_of =
            |field: &Field| field.property == name || field.blind.is_some_and(|blind| blind.property == name);
        if name != ENTITY_TYPE && !schema.fields.iter().any(is_of) {
            unknown.push((name.into(), value.to_value()));
        }
    }
    Ok(unknown)
}

/// Whether an error says that a sealed value can't be had, or is none.
pub(in crate::typed) fn is_closed(error: &Error) -> bool {
    let kinds = [ErrorKind::KeyUnavailable, ErrorKind::DecryptionFailed];
    error.kind().is_destroyed() || kinds.contains(&error.kind())
}
