//! What is looked for before an entity is changed, what was found, and the rows that follow from it. Nothing here is of the
//! entity's type, so that it is compiled once, and not again for each entity.

use super::attempt::ReadRequest;
use super::before::Kept;
use crate::error::{Error, ErrorKind, Result};
use crate::model::EntityKeys;
use crate::plan::{CopyState, EntityRows, Epoch, OldRows, OwnRows, Printed, Values, Version};
use crate::row::view::RowView;
use crate::schema::{self, IndexMask, KeyPair, Schema};
use crate::typed::encrypt::unopened;

/// The search for the rows that a change of one entity has to see.
pub(super) struct ReadSet {
    schema: &'static Schema,
    /// What the kind's writers go by.
    pub(super) index_mask: IndexMask,
    pub(super) asks: NextRead,
    /// The copies that it may have in unique indexes where copies may be missing, and others' may stand in their places.
    backfilling: Vec<Backfill>,
}

/// The place of a copy in an index that is being filled.
struct Backfill {
    index: usize,
    key: String,
    /// What is there, once it has been read.
    found: Option<CopyState>,
    /// The table and the partition where it is, if that is not the entity's.
    elsewhere: Option<(&'static str, String)>,
    /// The keys of the entity whose copy it is, if it is another's.
    has: KeyPair,
}

/// Which row an attempt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextRead {
    /// The entity's own, next.
    Own,
    /// The entity's own, now.
    ForOwn,
    /// The copies in sparse indexes, from this one on: the user's function, which would say whether there is one, would
    /// have to see the entity itself.
    Copies(usize),
    /// The copy in this index, now.
    ForCopy(usize),
    /// What is in this one of the places that are being filled, now.
    ForBackfill(usize),
    Nothing,
}

/// What a function of an entity says of each of its indexes.
pub(super) type OfIndex<'f, T> = &'f dyn Fn(usize) -> T;

/// An entity whose rows are printed, by what was found of it and what it is to be.
#[expect(clippy::struct_excessive_bools, reason = "the flags of a kind of change are independent")]
pub(super) struct Rows<'p, 'f> {
    /// What was read of its row, with the values of its fields.
    pub(super) old: Option<(&'p Kept, &'p Values<'p>)>,
    pub(super) new: Option<&'p Values<'p>>,
    /// The key that it is looked for by.
    pub(super) key: Result<EntityKeys<'p>>,
    /// Whether it may get another key, or has none yet.
    pub(super) moves: bool,
    /// Whether an index had a row for it, and whether it is to have one.
    pub(super) had: OfIndex<'f, bool>,
    pub(super) has: OfIndex<'f, bool>,
    /// In what numbers of a summary it counted, and does then, if it is counted.
    pub(super) counted: Option<[OfIndex<'f, u64>; 2]>,
    pub(super) keeps_times: bool,
    pub(super) keeps_own: bool,
    /// Whether what it is to be is an entity, and not what a row says.
    pub(super) is_entity: bool,
}

impl ReadSet {
    pub(super) fn new(schema: &'static Schema) -> Self {
        Self { schema, index_mask: IndexMask::NEW, asks: NextRead::Own, backfilling: Vec::new() }
    }

    /// Begins anew, with the entity's own row if that is read.
    pub(super) fn begin(&mut self, reads: bool) {
        self.asks = if reads { NextRead::Own } else { NextRead::Nothing };
        self.backfilling.clear();
    }

    /// Returns what is asked for besides the entity's own row, which has these keys.
    pub(super) fn next(&mut self, kept: Option<&mut Kept>, own: EntityKeys<'_>) -> Option<ReadRequest> {
        match self.asks {
            NextRead::Copies(from) => {
                let next = kept.and_then(|kept| self.next_copy(kept, own, from));
                next.or_else(|| self.next_backfill(own))
            }
            NextRead::Nothing => self.next_backfill(own),
            NextRead::Own | NextRead::ForOwn | NextRead::ForCopy(_) | NextRead::ForBackfill(_) => None,
        }
    }

    /// Returns the key of the next copy that is asked for.
    fn next_copy(&mut self, kept: &mut Kept, own: EntityKeys<'_>, from: usize) -> Option<ReadRequest> {
        self.asks = NextRead::Nothing;
        let sparse = self.schema.indexes.iter().enumerate().skip(from).filter(|(_, index)| index.sparse);
        for (number, _) in sparse {
            let Some(key) = kept.copy_key(self.schema, number) else {
                kept.lacks(number);
                continue;
            };
            self.asks = NextRead::ForCopy(number);
            let (table, keys) = match key {
                (None, key) => (None, KeyPair::of(own.partition, &key)),
                (Some((table, partition)), key) => (Some(table), KeyPair::of(&partition, &key)),
            };
            return Some(ReadRequest { table, keys, is_copy: true, head: None });
        }
        None
    }

    /// Notes where the copies of an entity of these values are in unique indexes that are being filled. One that is not there
    /// yet must not be taken for one that is, nor another's for its own.
    #[cold]
    pub(super) fn ask_backfill(&mut self, values: &Values<'_>) {
        for (number, index) in self.schema.indexes.iter().enumerate() {
            if index.unique && self.index_mask.keeps(number) && self.index_mask.is_backfilling(number) {
                let elsewhere = if index.is_elsewhere() {
                    // An optional part may be absent: then the entity has no copy there.
                    let Some(partition) = values.key(&index.place.partition) else {
                        continue;
                    };
                    Some((index.place.table.source(), partition))
                } else {
                    None
                };
                let keys = values.keys(&index.place.row).into_iter();
                self.backfilling.extend(keys.map(|key| Backfill {
                    index: number,
                    key,
                    elsewhere: elsewhere.clone(),
                    found: None,
                    has: KeyPair::default(),
                }));
            }
        }
    }

    /// Returns the next place of a copy that has not been read.
    fn next_backfill(&mut self, own: EntityKeys<'_>) -> Option<ReadRequest> {
        let next = self.backfilling.iter().enumerate().find(|(_, backfilling)| backfilling.found.is_none());
        let (at, backfilling) = next?;
        self.asks = NextRead::ForBackfill(at);
        let (table, partition) = match &backfilling.elsewhere {
            Some((table, partition)) => (Some(*table), partition.as_str()),
            None => (None, own.partition),
        };
        Some(ReadRequest { table, keys: KeyPair::of(partition, &backfilling.key), is_copy: true, head: None })
    }

    /// Takes what is in the place of a copy of the entity of these keys.
    pub(super) fn found_backfill(
        &mut self,
        at: usize,
        own: EntityKeys<'_>,
        row: Option<(&RowView<'_>, Version)>,
    ) {
        self.asks = NextRead::Nothing;
        let schema = self.schema;
        if let Some(backfilling) = self.backfilling.get_mut(at) {
            backfilling.found = Some(match row {
                None => CopyState::Missing,
                Some((view, version)) if unopened::is_copy(schema, backfilling.index, own, view) => {
                    CopyState::Mine(version)
                }
                Some((view, _)) => {
                    let source = unopened::source_of(schema, backfilling.index, view);
                    backfilling.has = source
                        .map_or_else(KeyPair::default, |(partition, row)| KeyPair::of(&partition, &row));
                    CopyState::Others
                }
            });
        }
    }

    /// Returns the keys of a copy whose place is another entity's, and that entity's, in an index that is being filled.
    pub(super) fn taken<'s>(
        &'s self,
        own: Result<EntityKeys<'s>>,
    ) -> Option<(EntityKeys<'s>, EntityKeys<'s>)> {
        let taken =
            self.backfilling.iter().find(|backfilling| backfilling.found == Some(CopyState::Others))?;
        let partition = match &taken.elsewhere {
            Some((_, partition)) => partition,
            None => own.ok()?.partition,
        };
        Some((EntityKeys::new(partition, &taken.key), taken.has.as_keys()))
    }

    /// Returns what was found in the place of a copy.
    fn found_at(&self, index: usize, key: &str) -> CopyState {
        if !self.index_mask.is_backfilling(index) {
            return CopyState::Unread;
        }
        if self.schema.indexes.get(index).is_none_or(|index| !index.unique) {
            return CopyState::Backfilling;
        }
        let place =
            self.backfilling.iter().find(|backfilling| backfilling.index == index && backfilling.key == key);
        place.and_then(|backfilling| backfilling.found).unwrap_or(CopyState::Missing)
    }

    /// Takes the row under the key of a copy of the entity of these keys.
    pub(super) fn found_copy(
        &mut self,
        index: usize,
        kept: Option<&mut Kept>,
        own: EntityKeys<'_>,
        copy: Option<&RowView<'_>>,
    ) {
        self.asks = NextRead::Copies(index + 1);
        let is_there = copy.is_some_and(|copy| unopened::is_copy(self.schema, index, own, copy));
        if let (Some(kept), false) = (kept, is_there) {
            kept.lacks(index);
        }
    }

    /// Returns the rows that are there and those that are to be.
    pub(super) fn print<'p>(&self, of: Rows<'p, '_>) -> Result<Printed<'p>> {
        let (schema, index_mask) = (self.schema, self.index_mask);
        let Rows { had, has, counted, .. } = of;
        let key = of.key?;
        let old = match of.old {
            Some((kept, values)) => {
                let keeps = |index| index_mask.keeps(index);
                let own = OwnRows { schema, parts: kept.of_parts.len() };
                let mut rows = EntityRows::stored(own, values, key, had, &keeps)?;
                if index_mask.backfills() {
                    rows.take_found(|index, key| self.found_at(index, key));
                }
                if let Some([then, _]) = counted {
                    rows.take_counted(then);
                }
                let Kept { version, is_exact, unknown, of_parts, .. } = kept;
                Some(OldRows { rows, version: *version, is_exact: *is_exact, unknown, of_parts })
            }
            None => None,
        };
        // What is not new and does not move has the key that it is looked for by.
        let key = Some(key).filter(|_| !of.moves);
        let new = match of.new {
            Some(values) => {
                let before = old.as_ref().map(|rows| &rows.rows).zip(of.old.map(|(_, values)| values));
                let before = before.filter(|_| of.is_entity);
                let present = |index| index_mask.keeps(index) && has(index);
                let mut rows = EntityRows::of(schema, values, key, before, &present)?;
                if let (Some([_, now]), true) = (counted, of.is_entity) {
                    rows.take_counted(now);
                }
                Some(rows)
            }
            None => None,
        };
        let epoch = Epoch { kind: schema.kind, number: index_mask.epoch };
        let (keeps_times, keeps_own) = (of.keeps_times, of.keeps_own);
        Ok(Printed { schema, old, new, keeps_times, keeps_own, epoch, index_mask })
    }
}

/// Refuses a change of the entity's primary key: `new` are its values then. A row key may be another if `may_move` says so.
pub(super) fn check_key(
    schema: &'static Schema,
    old_partition: &str,
    old_row: &str,
    new: &Values<'_>,
    may_move: bool,
) -> Result<()> {
    let keys = schema::own_keys(schema, new)?;
    let EntityKeys { partition, row } = keys.as_keys();
    if partition == old_partition && (may_move || row == old_row) {
        return Ok(());
    }
    let why = if partition == old_partition {
        "an update keeps its primary key, and `move_to` can change the row key"
    } else {
        "to change the partition, delete the entity and insert it in a `Store::transaction`"
    };
    let (partition, row) = (partition.escape_debug(), row.escape_debug());
    let because = format!("the change makes it partition `{partition}`, row `{row}`; {why}");
    Err(Error::new(ErrorKind::KeyChanged).because(because))
}
