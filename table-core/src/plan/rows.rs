//! The rows of an entity, and what becomes of them.

use std::fmt;

use super::values::Values;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::{ETag, ValueRef};
use crate::schema::{self, Copies, FieldPart, Index, Part, PropertyValue, Schema, Template};

/// The property that says what a row is.
const ENTITY_TYPE: &str = "EntityType";

/// A property of a row.
pub(crate) type RowProperty<'a> = (&'a str, ValueRef<'a>);

/// Why a row is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It is the entity itself.
    Entity,
    /// It is a copy, of this index.
    Index(usize),
}

/// A row that an entity has.
#[derive(Debug)]
pub(crate) struct EntityRow<'a> {
    pub(crate) key: String,
    pub(crate) cause: Cause,
    pub(crate) properties: Vec<RowProperty<'a>>,
}

/// Every row that an entity has: first its own, then its copies in the order of their keys.
#[derive(Debug)]
pub(crate) struct EntityRows<'a> {
    pub(crate) partition: String,
    pub(crate) rows: Vec<EntityRow<'a>>,
}

impl<'a> EntityRows<'a> {
    /// The rows of an entity; `present` says which sparse indexes have one.
    pub(crate) fn of(
        schema: &'static Schema,
        values: &'a Values<'a>,
        present: &dyn Fn(usize) -> bool,
    ) -> Result<Self> {
        let printer = Printer { schema, values };
        let partition = printer.key(&schema.partition)?;
        let mut rows = vec![EntityRow {
            key: printer.key(&schema.row)?,
            cause: Cause::Entity,
            properties: printer.properties(schema.kind, &[&schema.partition, &schema.row], |_| true),
        }];
        for (number, index) in schema.indexes.iter().enumerate() {
            if present(number) {
                printer.copies(number, index, &mut rows)?;
            }
        }
        if let Some((_, copies)) = rows.split_first_mut() {
            copies.sort_by(|a, b| a.key.cmp(&b.key));
        }
        Ok(Self { partition, rows })
    }

    /// The entity's own keys.
    pub(crate) fn primary_key(&self) -> (&str, &str) {
        (&self.partition, self.rows.first().map_or("", |row| row.key.as_str()))
    }
}

/// Prints the keys and gathers the properties of one entity's rows.
struct Printer<'a> {
    schema: &'static Schema,
    values: &'a Values<'a>,
}

impl<'a> Printer<'a> {
    fn key(&self, template: &Template) -> Result<String> {
        let mut keys = self.keys(template)?;
        Ok(keys.pop().unwrap_or_default())
    }

    /// Every key that the template gives: several where it has parts for each element, none where an optional part
    /// is absent.
    fn keys(&self, template: &Template) -> Result<Vec<String>> {
        schema::print_all(template, self.values).map_err(|error| {
            error.into_error(template, self.schema.fields).attempted("write to").table(self.schema.table)
        })
    }

    fn copies(&self, number: usize, index: &Index, rows: &mut Vec<EntityRow<'a>>) -> Result<()> {
        for key in self.keys(&index.row)? {
            let known = [&self.schema.partition, &index.row];
            let properties = match index.copies {
                Copies::All => self.properties(index.kind, &known, |_| true),
                Copies::Keys => self.properties(index.kind, &known, |field| self.in_primary_key(field)),
                Copies::Some(fields) => self.properties(index.kind, &known, |field| {
                    fields.contains(&field) || self.in_primary_key(field)
                }),
            };
            rows.push(EntityRow { key, cause: Cause::Index(number), properties });
        }
        Ok(())
    }

    fn in_primary_key(&self, field: usize) -> bool {
        let primary = [&self.schema.partition, &self.schema.row];
        primary.iter().flat_map(|template| fields(template)).any(|part| part.field == field)
    }

    /// The wanted properties that the row's own key does not give back.
    fn properties(
        &self,
        kind: &'static str,
        known: &[&Template],
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<RowProperty<'a>> {
        let mut properties = Vec::with_capacity(self.schema.fields.len() + 1);
        properties.push((ENTITY_TYPE, ValueRef::String(kind)));
        for (number, (field, value)) in self.schema.fields.iter().zip(self.values.iter()).enumerate() {
            let given_back = known
                .iter()
                .flat_map(|template| fields(template))
                .any(|part| part.field == number && part.is_lossless());
            if given_back || !wanted(number) {
                continue;
            }
            let value = match value.stored() {
                PropertyValue::Absent => continue,
                PropertyValue::Borrowed(value) => *value,
                PropertyValue::Owned(value) => value.as_value_ref(),
            };
            properties.push((field.property, value));
        }
        properties
    }
}

/// The fields in a template.
pub(crate) fn fields(template: &Template) -> impl Iterator<Item = &'static FieldPart> + use<> {
    template.parts.iter().filter_map(|part| match part {
        Part::Field(part) => Some(part),
        Part::Literal(_) => None,
    })
}

/// What happens to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It must not be there yet.
    Insert,
    /// It is written, whatever is there.
    Put,
    /// The version that was read gives way to this.
    Replace(ETag),
    /// The version that was read goes.
    Delete(ETag),
    /// It goes, if it is there.
    Remove,
}

/// A row and what happens to it.
#[derive(Debug)]
pub(crate) struct RowChange<'a> {
    pub(crate) key: &'a str,
    pub(crate) cause: Cause,
    pub(crate) change: Change,
    pub(crate) properties: Vec<RowProperty<'a>>,
}

/// The rows that a change of an entity touches, to be carried out whole or not at all.
///
/// It prints itself: a line for each row, and how much of the hundred that a transaction may touch it takes.
#[derive(Debug)]
pub(crate) struct WritePlan<'a> {
    schema: &'static Schema,
    partition: &'a str,
    changes: Vec<RowChange<'a>>,
}

impl<'a> WritePlan<'a> {
    pub(crate) fn partition(&self) -> &'a str {
        self.partition
    }

    pub(crate) fn changes(&self) -> &[RowChange<'a>] {
        &self.changes
    }

    /// The plan of an insert.
    pub(crate) fn insert(schema: &'static Schema, new: &'a EntityRows<'a>) -> Result<Self> {
        let mut plan =
            Self { schema, partition: &new.partition, changes: Vec::with_capacity(new.rows.len()) };
        for row in &new.rows {
            plan.add(row, Change::Insert);
        }
        plan.checked()
    }

    /// The plan of a delete.
    pub(crate) fn delete(schema: &'static Schema, old: &'a EntityRows<'a>, etag: ETag) -> Result<Self> {
        let mut plan =
            Self { schema, partition: &old.partition, changes: Vec::with_capacity(old.rows.len()) };
        for row in &old.rows {
            plan.take(row, if row.cause == Cause::Entity { Change::Delete(etag) } else { Change::Remove });
        }
        plan.checked()
    }

    /// The plan of a change: `unknown` are the properties of the old row that the schema does not know.
    pub(crate) fn replace(
        schema: &'static Schema,
        old: &'a EntityRows<'a>,
        new: &'a EntityRows<'a>,
        etag: ETag,
        unknown: &[RowProperty<'a>],
    ) -> Result<Self> {
        let mut plan =
            Self { schema, partition: &new.partition, changes: Vec::with_capacity(new.rows.len()) };
        for row in &new.rows {
            if row.cause == Cause::Entity {
                plan.add(row, Change::Replace(etag));
                if let Some(change) = plan.changes.last_mut() {
                    change.properties.extend_from_slice(unknown);
                }
                continue;
            }
            match old.rows.iter().find(|old| old.key == row.key && old.cause == row.cause) {
                // The copy is right as it is.
                Some(old) if old.properties == row.properties => {}
                None if plan.is_unique(row.cause) => plan.add(row, Change::Insert),
                Some(_) | None => plan.add(row, Change::Put),
            }
        }
        for row in &old.rows {
            let stays = new.rows.iter().any(|new| new.key == row.key);
            if row.cause != Cause::Entity && !stays {
                plan.take(row, Change::Remove);
            }
        }
        plan.checked()
    }

    /// An executor's error in the words of the entity: a copy that was in the way is a conflict in its index.
    pub(crate) fn explain_failure(&self, error: Error) -> Error {
        let failed = error.index().and_then(|index| self.changes.get(index));
        match failed.map(|change| change.cause) {
            Some(Cause::Index(index)) if error.kind() == ErrorKind::EntityAlreadyExists => {
                let name = self.schema.indexes.get(index).map_or("", |index| index.name);
                let (kind, because) = if self.is_unique(Cause::Index(index)) {
                    let because = format!("another entity has this key in the unique index `{name}`");
                    (ErrorKind::UniqueConflict, because)
                } else {
                    // The key holds the entity's own, and the entity is not there.
                    (ErrorKind::Corrupt, format!("a copy of index `{name}` is there without its entity"))
                };
                error.with_kind(kind).because(because).without_index()
            }
            _ => error.without_index(),
        }
    }

    fn is_unique(&self, cause: Cause) -> bool {
        match cause {
            Cause::Entity => true,
            Cause::Index(index) => self.schema.indexes.get(index).is_some_and(|index| index.unique),
        }
    }

    fn add(&mut self, row: &'a EntityRow<'a>, change: Change) {
        let properties = row.properties.clone();
        self.changes.push(RowChange { key: &row.key, cause: row.cause, change, properties });
    }

    fn take(&mut self, row: &'a EntityRow<'a>, change: Change) {
        self.changes.push(RowChange { key: &row.key, cause: row.cause, change, properties: Vec::new() });
    }

    fn checked(self) -> Result<Self> {
        let rows = self.changes.len();
        if rows <= limits::BATCH_OPERATIONS {
            return Ok(self);
        }
        Err(Error::new(ErrorKind::BatchLength).because(format!(
            "the change touches {rows} rows, the entity's own and its copies; a transaction may touch {}",
            limits::BATCH_OPERATIONS
        )))
    }
}

impl fmt::Display for WritePlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} of {} rows in partition `{}` of `{}`:",
            self.changes.len(),
            limits::BATCH_OPERATIONS,
            self.partition.escape_debug(),
            self.schema.table
        )?;
        for change in &self.changes {
            let what = match change.change {
                Change::Insert => "insert",
                Change::Put => "put",
                Change::Replace(_) => "replace",
                Change::Delete(_) => "delete",
                Change::Remove => "remove",
            };
            write!(f, "  {what:7} `{}`", change.key.escape_debug())?;
            match change.cause {
                Cause::Entity => writeln!(f, "  the {} itself", self.schema.kind)?,
                Cause::Index(index) => {
                    let name = self.schema.indexes.get(index).map_or("", |index| index.name);
                    writeln!(f, "  its copy for {name}")?;
                }
            }
        }
        Ok(())
    }
}
