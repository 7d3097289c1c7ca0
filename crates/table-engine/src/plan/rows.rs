//! The rows of an entity: its own and its copies.

use std::ops::Range;

use super::content::{Cause, RowContent, RowKind};
use super::row_write::{Condition, Version};
use super::values::Values;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EntityKeys, ValueRef};
use crate::schema::{
    self, FieldPart, Format, Index, KeyError, KeyValues, PropertyValue, Schema, Template, ValueError, fields,
};
use crate::{limits, sorting};

/// A row that an entity has.
#[derive(Debug)]
pub(crate) struct EntityRow<'a> {
    /// Where its key stands in the text of its entity's keys.
    key: Range<usize>,
    /// And its partition key, if it lies elsewhere than its entity.
    elsewhere: Option<Range<usize>>,
    pub(crate) content: RowContent<'a>,
    /// Whether an entity that is stored surely has it. A sparse index that says today that the entity has no copy may
    /// have said otherwise when it was written.
    pub(crate) is_certain: bool,
    /// What was found in its place, where copies may be missing.
    pub(crate) found: CopyState,
    /// Which of the rows that the entity has is known to lie where it does.
    pub(crate) same: Option<usize>,
    /// A bit for each number of a summary that a function of the user's lets the entity count in.
    pub(crate) counted: u64,
}

/// What was found where a copy of a stored entity is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyState {
    /// Not read: the index has every copy that it is to have.
    Unread,
    /// Not read, and the copy may be missing: the index is being filled. No other entity's can be there.
    Backfilling,
    /// The entity's copy, in this version.
    Mine(Version),
    /// Nothing.
    Missing,
    /// Another entity's copy.
    Others,
}

impl CopyState {
    /// Returns what must be so of the row when the copy is put there again.
    pub(crate) fn condition(self) -> Condition {
        match self {
            Self::Unread | Self::Backfilling => Condition::Any,
            Self::Mine(version) => Condition::Is(version),
            Self::Missing => Condition::StillAbsent,
            Self::Others => Condition::Absent,
        }
    }
}

impl EntityRow<'_> {
    pub(crate) fn cause(&self) -> Cause {
        self.content.kind.cause
    }

    /// Returns whether it lies in another partition than its entity, or in another table.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }
}

/// An entity's rows besides its copies: its head, and so many parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnRows {
    pub(crate) schema: &'static Schema,
    pub(crate) parts: usize,
}

/// Every row that an entity has: first its own, then its copies in the order of their keys.
#[derive(Debug)]
pub(crate) struct EntityRows<'a> {
    /// The partition key and then the row keys: one text for all.
    text: String,
    /// Where the partition key ends.
    partition: usize,
    pub(crate) rows: Vec<EntityRow<'a>>,
    /// Where another entity's copy would be that has what is unique to this one, filed before a key was rotated.
    pub(crate) reserved: Vec<EntityRow<'a>>,
}

impl<'a> EntityRows<'a> {
    /// Returns the rows that an entity is to have; `present` says which sparse indexes have one, `key` is its own key if that
    /// has been printed, and `old` are the rows that it has, with its values.
    pub(crate) fn of(
        schema: &'static Schema,
        values: &'a Values<'a>,
        key: Option<EntityKeys<'_>>,
        old: Option<(&EntityRows<'_>, &Values<'_>)>,
        present: &dyn Fn(usize) -> bool,
    ) -> Result<Self> {
        let parts = schema.parts.len();
        let new =
            Self::when(OwnRows { schema, parts }, values, key, old, &|index| present(index).then_some(true))?;
        let rows = new.rows.len();
        if rows <= limits::BATCH_OPERATIONS {
            return Ok(new);
        }
        // Step by step it could become so, but no transaction could remove it again.
        let because = format!(
            "the entity{} and its copies would be {rows} rows; they may be {}, as many as a transaction may touch",
            if parts > 0 { ", its parts" } else { "" },
            limits::BATCH_OPERATIONS
        );
        let error = Error::new(ErrorKind::BatchLength).because(because).attempted("write to");
        let EntityKeys { partition, row } = new.primary_key();
        Err(error.table(schema.table()).partition(partition).row(row))
    }

    /// Returns the rows that the entity stored under this key has or may have: its own, and in the indexes that are `kept`. The
    /// key in a unique index may be another entity's by now, if this one has no row there; one in any other index is of no
    /// other entity.
    pub(crate) fn stored(
        own: OwnRows,
        values: &'a Values<'a>,
        key: EntityKeys<'_>,
        present: &dyn Fn(usize) -> bool,
        kept: &dyn Fn(usize) -> bool,
    ) -> Result<Self> {
        let is_unique = |index| own.schema.indexes.get(index).is_some_and(|index: &Index| index.unique);
        let certain = |index| match present(index) {
            _ if !kept(index) => None,
            true => Some(true),
            false if is_unique(index) => None,
            false => Some(false),
        };
        Self::when(own, values, Some(key), None, &certain)
    }

    /// Returns the rows of an entity: those of an index if `certain` says something, and whether they are there for certain.
    fn when(
        OwnRows { schema, parts }: OwnRows,
        values: &'a Values<'a>,
        key: Option<EntityKeys<'_>>,
        old: Option<(&EntityRows<'_>, &Values<'_>)>,
        certain: &dyn Fn(usize) -> Option<bool>,
    ) -> Result<Self> {
        let printer = Printer { schema, values };
        let mut text = Vec::with_capacity((2 + parts + schema.indexes.len()) * schema::KEY_BYTES);
        let partition = match key {
            Some(EntityKeys { partition, row }) => {
                text.extend_from_slice(partition.as_bytes());
                text.extend_from_slice(row.as_bytes());
                partition.len()
            }
            None => printer.own_keys(&mut text)?,
        };
        let (mut rows, mut reserved) = (Vec::with_capacity(1 + parts + schema.indexes.len()), Vec::new());
        let has_old_key = key.is_some() && old.is_some();
        let own = |cause, key| EntityRow {
            key,
            elsewhere: None,
            content: RowContent::new(RowKind { schema, cause }, values),
            is_certain: true,
            found: CopyState::Unread,
            same: Some(0).filter(|_| has_old_key && cause == Cause::Entity),
            counted: 0,
        };
        let head = partition..text.len();
        rows.push(own(Cause::Entity, head.clone()));
        for part in 1..=parts {
            let start = text.len();
            text.extend_from_within(head.clone());
            text.extend_from_slice(&schema::part_suffix(part));
            rows.push(own(Cause::Part(part), start..text.len()));
        }
        let first_copy = rows.len();
        for (number, index) in schema.indexes.iter().enumerate() {
            let Some(is_certain) = certain(number) else { continue };
            let kind = RowKind { schema, cause: Cause::Index(number) };
            let mut elsewhere = None;
            if index.is_elsewhere() {
                match printer.partition(index, &mut text) {
                    Ok(Some(partition)) => elsewhere = Some(partition),
                    Ok(None) => continue,
                    Err(_) if !is_certain => continue,
                    Err(error) => return Err(error),
                }
            }
            let row = |key| {
                let elsewhere = elsewhere.clone();
                let content = RowContent::new(kind, values);
                let found = CopyState::Unread;
                EntityRow { key, elsewhere, content, is_certain, found, same: None, counted: 0 }
            };
            if let Some((at, key)) = old.and_then(|(old, before)| old.key_if_same(number, before, values)) {
                let start = text.len();
                text.extend_from_slice(key.as_bytes());
                let same = Some(at).filter(|_| !index.is_elsewhere());
                rows.push(EntityRow { same, ..row(start..text.len()) });
                continue;
            }
            match printer.copies(index, &mut text, &mut |key| rows.push(row(key))) {
                // Maybe that is why the index has no row for it.
                Err(_) if !is_certain => {}
                done => done?,
            }
            if index.unique {
                printer
                    .keys_by_other_tokens(&index.place.row, &mut text, &mut |key| reserved.push(row(key)))?;
            }
        }
        let text = schema::into_text(text);
        if let Some((_, copies)) = rows.split_at_mut_checked(first_copy) {
            sorting::sort_by(copies, |a, b| text.get(a.key.clone()).cmp(&text.get(b.key.clone())));
        }
        Ok(Self { text, partition, rows, reserved })
    }

    /// Returns the key in this index of an entity that has become one of other values, if it surely is the same, with the
    /// place of its row.
    fn key_if_same(&self, index: usize, before: &Values<'_>, after: &Values<'_>) -> Option<(usize, &str)> {
        let at = self.rows.iter().position(|row| row.cause() == Cause::Index(index))?;
        let row = self.rows.get(at)?;
        let is_same = |part: &FieldPart| {
            !part.each && part.format != Format::Blind && before.get(part.field) == after.get(part.field)
        };
        fields(&row.content.kind.index()?.place.row).all(is_same).then(|| (at, self.key(row)))
    }

    /// Returns the key of their partition.
    pub(crate) fn partition(&self) -> &str {
        self.text.get(..self.partition).unwrap_or_default()
    }

    /// Returns those that are of an index, with its number: copies, and rows that the entity shares with others.
    pub(crate) fn of_indexes(&self) -> impl Iterator<Item = (usize, &EntityRow<'a>)> {
        self.rows.iter().filter_map(|row| match row.cause() {
            Cause::Index(index) => Some((index, row)),
            Cause::Entity | Cause::Part(_) => None,
        })
    }

    /// Returns the key of one of them.
    pub(crate) fn key(&self, row: &EntityRow<'_>) -> &str {
        self.text.get(row.key.clone()).unwrap_or_default()
    }

    /// Takes what was found in the places of copies; `found` is asked for each of them.
    pub(crate) fn take_found(&mut self, found: impl Fn(usize, &str) -> CopyState) {
        for row in &mut self.rows {
            if let Cause::Index(index) = row.content.kind.cause {
                row.found = found(index, self.text.get(row.key.clone()).unwrap_or_default());
            }
        }
    }

    /// Takes in which numbers of summaries the entity counts; `counted` is asked for each of those.
    pub(crate) fn take_counted(&mut self, counted: impl Fn(usize) -> u64) {
        for row in &mut self.rows {
            if let Cause::Index(index) = row.content.kind.cause
                && row.content.kind.is_summary()
            {
                row.counted = counted(index);
            }
        }
    }

    /// Returns the table and the partition key of one of them.
    pub(crate) fn place_of(&self, row: &EntityRow<'_>) -> (&'static str, &str) {
        let partition = row.elsewhere.clone().unwrap_or(0..self.partition);
        (row.content.kind.place().table.source(), self.text.get(partition).unwrap_or_default())
    }

    /// Returns the row that lies where this one of other rows of the entity does, if there is one, and its place.
    pub(crate) fn find(
        &self,
        others: &EntityRows<'_>,
        other: &EntityRow<'_>,
    ) -> Option<(usize, &EntityRow<'a>)> {
        if let Some(at) = other.same {
            return self.rows.get(at).map(|row| (at, row));
        }
        let key = others.key(other);
        let lies_there = |(_, row): &(usize, &EntityRow<'_>)| {
            // The entity's own partition stays what it is.
            self.key(row) == key
                && (row.elsewhere.is_none() && other.elsewhere.is_none()
                    || self.place_of(row) == others.place_of(other))
        };
        // They are few.
        self.rows.iter().enumerate().find(lies_there)
    }

    /// Returns the entity's own keys.
    pub(crate) fn primary_key(&self) -> EntityKeys<'_> {
        EntityKeys::new(self.partition(), self.rows.first().map_or("", |row| self.key(row)))
    }
}

/// Prints the keys of one entity's rows.
struct Printer<'a> {
    schema: &'static Schema,
    values: &'a Values<'a>,
}

impl<'a> Printer<'a> {
    /// Appends the entity's own keys; returns where the partition key ends.
    fn own_keys(&self, text: &mut Vec<u8>) -> Result<usize> {
        schema::print_keys(self.schema.place(), self.values, text)
            .map_err(|(template, error)| self.refused(template, error))
    }

    /// Appends the partition key of an index that lies elsewhere, and returns its place; none if an optional part is absent.
    fn partition(&self, index: &Index, text: &mut Vec<u8>) -> Result<Option<Range<usize>>> {
        let (template, mut found) = (&index.place.partition, None);
        schema::print_all(template, self.values, text, &mut |place| found = Some(place))
            .map_err(|error| self.refused(template, error))?;
        Ok(found)
    }

    /// Appends the keys that the template gives with tokens of older keys, and gives `take` the place of each.
    fn keys_by_other_tokens(
        &self,
        template: &Template,
        text: &mut Vec<u8>,
        take: &mut dyn FnMut(Range<usize>),
    ) -> Result<()> {
        let blind = || fields(template).filter(|part| part.format == Format::Blind);
        if blind().next().is_none() {
            return Ok(());
        }
        let mut choices = vec![Vec::new()];
        for part in blind() {
            let Some(token) = self.values.token(part.field) else { continue };
            if choices.iter().flatten().any(|(field, _)| *field == part.field) {
                continue;
            }
            let with = |choice: &Vec<(usize, &'a str)>, text| {
                let mut choice = choice.clone();
                choice.push((part.field, text));
                choice
            };
            choices =
                choices.iter().flat_map(|choice| token.texts().map(move |text| with(choice, text))).collect();
            check_tokens(choices.len())?;
        }
        // The first choice is that of the tokens that are written.
        for tokens in choices.into_iter().skip(1) {
            let values = ByTokens { values: self.values, tokens };
            schema::print_all(template, &values, text, take)
                .map_err(|error| self.refused(template, error))?;
        }
        Ok(())
    }

    #[cold]
    fn refused(&self, template: &Template, error: KeyError) -> Error {
        error.into_error(template, self.schema.fields).attempted("write to").table(self.schema.table())
    }

    /// Appends the keys of the copies in an index, and gives `take` the place of each: several where its template has
    /// parts for each element, none where an optional part is absent.
    fn copies(&self, index: &Index, text: &mut Vec<u8>, take: &mut dyn FnMut(Range<usize>)) -> Result<()> {
        schema::print_all(&index.place.row, self.values, text, take)
            .map_err(|error| self.refused(&index.place.row, error))
    }
}

/// Refuses to look for a key under each of so many tokens.
pub(crate) fn check_tokens(choices: usize) -> Result<()> {
    if choices <= limits::PAGE_ENTITIES {
        return Ok(());
    }
    Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
        "the tokens of all keys that are alive make {choices} row keys; seal anew what is under old keys, and destroy \
         them"
    )))
}

/// An entity's values with these tokens in the place of its own.
struct ByTokens<'a> {
    values: &'a Values<'a>,
    tokens: Vec<(usize, &'a str)>,
}

impl KeyValues for ByTokens<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let token =
            self.tokens.iter().find(|(field, _)| part.format == Format::Blind && *field == part.field);
        match token {
            Some((_, text)) => Ok(PropertyValue::Borrowed(ValueRef::String(text))),
            None => self.values.value(part),
        }
    }

    fn elements(&self, part: &FieldPart) -> Result<Vec<PropertyValue<'_>>, ValueError> {
        self.values.elements(part)
    }
}
