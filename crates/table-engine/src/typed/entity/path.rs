//! The ways in which an entity can be reached: its own rows, and each index.

use std::any::Any;

use super::codegen_units::FromRow;
use super::previous_version::PreviousVersions;
use super::stored::{Copied, Stored};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::PreviousRows;
use crate::executor::layouts::{pending, unknown_version};
use crate::handle::table::DynamicTable;
use crate::model::{Value, ValueRef};
use crate::query::{KeyProperties, Kind, Query, StoredRow};
use crate::row::view::RowView;
use crate::schema::{
    self, Blind, Field, FieldPart, Format, Index, KeyValues, Kinship, Place, PropertyValue, RowTag, Schema,
    Template, ValueError,
};
use crate::sealing::sign::check_signed;
use crate::typed::entity::Entity;

/// A way to reach an entity: by its own key, or by an index. Made by the derive.
pub trait Path: 'static {
    /// The entity.
    type Entity: Entity;
    /// What a row of it is read as.
    type Item;
    /// The properties that filters can speak of.
    type Columns: 'static;

    /// The index, among the schema's; `None` is the entity's own rows.
    #[doc(hidden)]
    const INDEX: Option<usize>;

    #[doc(hidden)]
    const COLUMNS: &'static Self::Columns;

    /// What its keys look like.
    #[doc(hidden)]
    const KEYS: &'static PathKeys = &PathKeys {
        schema: Self::Entity::SCHEMA,
        index: Self::INDEX,
        tag: Self::Entity::SCHEMA.tag(Self::INDEX),
        summarizes: if Self::INDEX.is_none() { Self::Entity::SUMMARIZES } else { None },
        previous: if Self::INDEX.is_none() { PreviousVersions::<Self::Entity>::ROWS } else { None },
        follows: match Self::INDEX {
            Some(index) => Self::Entity::SCHEMA.is_eventual(index),
            None => Self::Entity::SCHEMA.holds_eventual(),
        },
    };

    #[doc(hidden)]
    fn read(view: &RowView<'_>) -> Result<Self::Item>;
}

/// What the keys of a path look like: what there is to say of it without its types.
#[derive(Debug)]
pub struct PathKeys {
    schema: &'static Schema,
    /// Among the schema's; `None` is the entity's own rows.
    index: Option<usize>,
    /// What its rows say of themselves.
    tag: RowTag,
    /// Whose summary it is.
    summarizes: Option<&'static Schema>,
    /// What reads rows of previous versions.
    previous: Option<&'static PreviousRows>,
    /// Whether its rows, or fields of them, follow changes.
    follows: bool,
}

impl PathKeys {
    pub(crate) fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// Returns whether its rows lie in another partition than their entities, or in another table.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.index.and_then(|index| self.schema.indexes.get(index)).is_some_and(Index::is_elsewhere)
    }

    /// Returns the table of its rows, of those that a handle of the entity's table knows.
    pub(crate) fn table<'t>(&self, of: &'t DynamicTable) -> &'t DynamicTable {
        if self.is_elsewhere() { of.member(self.place().table.source()) } else { of }
    }

    /// Returns the index, among the schema's; `None` is the entity's own rows.
    pub(crate) fn index(&self) -> Option<usize> {
        self.index
    }

    /// Returns whether its rows, or fields of them, follow changes.
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    /// Returns whether its rows are those of the entities, and no index's.
    pub(crate) fn is_own(&self) -> bool {
        self.index.is_none()
    }

    /// Returns the index and whose it is. The rows of a summary are an index of the entities that it is of.
    pub(crate) fn states(&'static self) -> Option<(&'static Schema, usize)> {
        match (self.index, self.summarizes) {
            (Some(index), _) => Some((self.schema, index)),
            (None, Some(source)) => {
                let is_it = |index: &Index| index.summary.is_some() && index.kind == self.schema.kind;
                Some((source, source.indexes.iter().position(is_it)?))
            }
            (None, None) => None,
        }
    }

    /// Returns what reads rows of previous versions, if there may be any.
    pub(crate) fn previous(&self) -> Option<&'static PreviousRows> {
        self.previous
    }

    /// Returns where its rows lie.
    pub(crate) fn place(&self) -> &'static Place {
        match self.index.and_then(|index| self.schema.indexes.get(index)) {
            Some(index) => &index.place,
            None => self.schema.place(),
        }
    }

    /// Returns the template of the row key.
    pub(crate) fn row(&self) -> &'static Template {
        &self.place().row
    }

    /// Returns the kind of its rows.
    pub(crate) fn kind(&'static self) -> Kind {
        let RowTag { kind, is_signed } = self.tag;
        Kind { name: kind, is_signed, keys: self }
    }

    /// Returns what its rows say of themselves.
    pub(crate) fn tag(&self) -> RowTag {
        self.tag
    }

    /// Returns whether the keys of a row give the field back.
    pub(crate) fn gives_field(&self, field: usize) -> bool {
        self.place().gives_back(field)
    }

    /// Returns whether opening the field takes what the row's keys say: a copy's values are sealed for its entity's key.
    pub(crate) fn opens_by_keys(&self, field: usize) -> bool {
        self.index.is_some() && self.schema.fields.get(field).is_some_and(|field| field.encrypted)
    }

    /// Returns whether a token stands in its row key.
    pub(crate) fn is_blind(&self) -> bool {
        schema::fields(self.row()).any(|part| part.format == Format::Blind)
    }

    /// Returns a field that has tokens.
    pub(crate) fn blind(&self, field: usize) -> Option<(&'static Field, Blind)> {
        let field = self.schema.fields.get(field)?;
        Some((field, field.blind?))
    }

    /// Returns the field of a property that has tokens.
    pub(crate) fn blind_property(&self, property: &str) -> Option<(&'static Field, Blind)> {
        self.blind(self.field(property)?)
    }

    /// Has the query's filter compare the defaults of fields that a row lacks.
    pub(crate) fn fill(&self, query: &mut Query) {
        if self.schema.has_defaults() {
            query.fill(&|property| self.schema.default_of(property));
        }
    }

    fn field(&self, property: &str) -> Option<usize> {
        self.schema.fields.iter().position(|field| field.property == property)
    }
}

impl KeyProperties for PathKeys {
    fn gives(&self, property: &str) -> bool {
        self.field(property).is_some_and(|field| self.gives_field(field))
    }

    fn value(&self, property: &str, partition: &str, row: &str) -> Option<Value> {
        let wanted = self.field(property)?;
        let place = self.place();
        let keys = [(&place.partition, partition), (&place.row, row)];
        let (template, key) = keys.into_iter().find(|(template, _)| schema::gives_back(template, wanted))?;
        schema::parse_field(template, key.as_bytes(), wanted)?.into_value()
    }

    fn was(&self, property: &str) -> Option<&'static str> {
        self.schema.fields.iter().find(|field| field.property == property)?.was
    }

    fn declared(&self) -> &'static Schema {
        self.schema
    }

    fn kinship(&self, kind: &str) -> Kinship {
        if self.index.is_none() {
            return self.schema.kinship(kind);
        }
        schema::other_version(self.tag.kind, kind).map_or(Kinship::Foreign, Kinship::Other)
    }

    fn previous_rows(&self) -> Option<&dyn Any> {
        self.previous.map(|rows| -> &dyn Any { rows })
    }

    fn own_row_key(&self, row: &dyn StoredRow) -> Result<String> {
        let (partition, row_key) = row.keys();
        if self.index.is_none() {
            return Ok(row_key);
        }
        let mismatch = || {
            Error::new(ErrorKind::SchemaMismatch)
                .because("the copy does not say which entity's it is")
                .partition(&partition)
                .row(&row_key)
        };
        let mut known = KeyFieldValues(Vec::new());
        let (place, own) = (self.place(), self.schema.place());
        for (template, key) in [(&place.partition, &partition), (&place.row, &row_key)] {
            let mut found =
                |field, value: PropertyValue<'_>| known.0.extend(value.into_value().map(|v| (field, v)));
            if !schema::parse(template, key, &mut found) {
                return Err(mismatch());
            }
        }
        for part in schema::fields(&own.row) {
            if known.0.iter().all(|(field, _)| *field != part.field)
                && let Some(field) = self.schema.fields.get(part.field)
                && let Some(value) = stored(row, field)?
            {
                known.0.push((part.field, value.to_value()));
            }
        }
        let mut key = String::new();
        match schema::print(&own.row, &known, &mut key) {
            Ok(true) => Ok(key),
            _ => Err(mismatch()),
        }
    }
}

/// Returns what a row has of a field, under either name.
fn stored<'r>(row: &'r dyn StoredRow, field: &Field) -> Result<Option<ValueRef<'r>>> {
    match (row.stored(field.property)?, field.was) {
        (None, Some(was)) => row.stored(was),
        (found, _) => Ok(found),
    }
}

/// The fields of a row that its entity's key is made of.
struct KeyFieldValues(Vec<(usize, Value)>);

impl KeyValues for KeyFieldValues {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let value = self.0.iter().find(|(field, _)| *field == part.field);
        Ok(value.map_or(PropertyValue::Absent, |(_, value)| PropertyValue::Borrowed(value.as_value_ref())))
    }
}

/// Makes sure that a row which a key led to is of the kind: two kinds may share a table without knowing of each other.
pub(crate) fn check_kind(view: &RowView<'_>, tag: RowTag) -> Result<()> {
    if !view.is_shaped_as(tag.kind) {
        check_kind_name(view, tag.kind)?;
    }
    check_signed(view, tag)
}

/// Makes sure that a row is of the kind of this name, without the kind's declaration.
pub(crate) fn check_kind_name(view: &RowView<'_>, kind: &str) -> Result<()> {
    match view.kind()? {
        Some(found) if found == kind => Ok(()),
        found => Err(of_another_kind(view, kind, found)),
    }
}

/// Makes sure that a row which a key led to is an entity's own, of its version or of a previous one that it knows.
pub(crate) fn check_own(view: &RowView<'_>, schema: &'static Schema) -> Result<()> {
    let tag = schema.tag(None);
    if schema.previous.is_none() || view.is_shaped_as(tag.kind) {
        return check_kind(view, tag);
    }
    match schema.kinship(view.kind()?.unwrap_or_default()) {
        Kinship::Mine => check_signed(view, tag),
        Kinship::PreviousVersion(previous) => check_signed(view, previous.tag(None)),
        Kinship::Other(_) | Kinship::Foreign => Err(of_kin(view, schema)),
    }
}

/// Returns the error of an entity's row that it can't be read from: it is of another version, or of another kind.
#[cold]
pub(crate) fn of_kin(view: &RowView<'_>, schema: &'static Schema) -> Error {
    let found = match view.kind() {
        Ok(found) => found,
        Err(error) => return error,
    };
    match found.map(|found| schema.kinship(found)) {
        Some(Kinship::Other(version)) => unknown_version(schema, version),
        Some(Kinship::PreviousVersion(previous)) => pending(schema, previous.version, "seen as they are"),
        _ => return of_another_kind(view, schema.entity_type, found),
    }
    .partition(&view.partition_key())
    .row(&view.row_key())
}

#[cold]
fn of_another_kind(view: &RowView<'_>, kind: &str, found: Option<&str>) -> Error {
    if let Some(version) = found.and_then(|found| schema::other_version(kind, found)) {
        let because = format!(
            "the row is of version {version}, `{}`, and not `{kind}`, which is the one that the struct knows",
            found.unwrap_or_default().escape_debug()
        );
        let error = Error::new(ErrorKind::LayoutChanged).because(because);
        return error.partition(&view.partition_key()).row(&view.row_key());
    }
    let because = match found {
        Some(found) => format!("the row is of the kind `{}`, not `{kind}`", found.escape_debug()),
        None => format!("the row says not of which kind it is: `EntityType` would be `{kind}`"),
    };
    Error::new(ErrorKind::SchemaMismatch)
        .because(because)
        .partition(&view.partition_key())
        .row(&view.row_key())
}

/// Reads an entity from its own row.
#[doc(hidden)]
#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
#[cfg_attr(debug_assertions, inline(always))]
pub fn read_stored<E: Entity>(view: &RowView<'_>) -> Result<Stored<E>> {
    E::of_own(view)
}

/// Reads an entity from a whole copy of it.
#[doc(hidden)]
#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
#[cfg_attr(debug_assertions, inline(always))]
pub fn read_copied<P: Path>(view: &RowView<'_>) -> Result<Copied<P::Entity>> {
    P::Entity::of_copy(view, P::KEYS.place())
}
