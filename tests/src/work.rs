//! Work whose outcome is known from how far it came: what a process that is killed must leave behind.

use std::collections::BTreeMap;

use table_core::{DynamicEntity, DynamicTable, ETag, IfMatch, Query, Result, Store};

use crate::random::Random;

/// The tables that writers write to, in turn.
pub const TABLES: [&str; 2] = ["First", "Second"];

/// Most rows of a writer in one table.
const ROWS: u64 = 40;
/// Most operations in one of its batches.
const OPERATIONS: u64 = 20;

/// One operation of a batch.
#[derive(Clone, Debug)]
pub enum Operation {
    /// There is no such row.
    Insert(DynamicEntity),
    /// There is one.
    Replace(DynamicEntity),
    /// There is one.
    Merge(DynamicEntity),
    /// There may be one.
    InsertOrReplace(DynamicEntity),
    /// There may be one.
    InsertOrMerge(DynamicEntity),
    /// There is one.
    Delete(String),
}

/// A writer with a partition of its own in each table, and what must be in them after so many batches.
#[derive(Clone, Debug)]
pub struct Writer {
    seed: u64,
    partition: String,
    /// How many batches have been done.
    pub done: u64,
    /// The rows of each table.
    pub rows: [BTreeMap<String, DynamicEntity>; 2],
}

impl Writer {
    /// A writer that has done nothing.
    pub fn new(number: usize, seed: u64) -> Self {
        let seed = Random::new(seed ^ u64::try_from(number).unwrap_or_default()).number();
        Self { seed, partition: format!("writer {number}"), done: 0, rows: Default::default() }
    }

    /// The writer of this number after `done` batches, with the rows that are in the store.
    pub fn resume(number: usize, seed: u64, done: u64, store: &Store) -> Result<Self> {
        let mut writer = Self::new(number, seed);
        writer.done = done;
        for (name, rows) in TABLES.iter().zip(&mut writer.rows) {
            let query = Query::new().partition(&writer.partition);
            for entity in store.dynamic_table(name)?.query(&query)? {
                let entity = entity?;
                rows.insert(entity.row_key().to_owned(), entity);
            }
        }
        Ok(writer)
    }

    /// The partition that is the writer's.
    pub fn partition(&self) -> &str {
        &self.partition
    }

    /// The table of the next batch.
    pub fn table(&self) -> usize {
        usize::from(self.done % 2 == 1)
    }

    /// The next batch. Its number stands in every row that it writes.
    pub fn batch(&self) -> Vec<Operation> {
        let number = self.done + 1;
        let mut random = Random::new(self.seed ^ number);
        let rows = &self.rows[self.table()];
        let mut left: Vec<u64> = (0..ROWS).collect();
        let mut keys = Vec::new();
        for _ in 0..=random.below(OPERATIONS) {
            let at = usize::try_from(random.below(ROWS)).unwrap_or_default() % left.len();
            keys.push(format!("row {:03}", left.swap_remove(at)));
        }
        keys.into_iter()
            .map(|key| {
                let entity = self.entity(&key, number, &mut random);
                match (rows.contains_key(&key), random.below(4)) {
                    (false, 0 | 1) => Operation::Insert(entity),
                    (true, 0) => Operation::Replace(entity),
                    (true, 1) => Operation::Delete(key),
                    (true, 2) => Operation::Merge(entity),
                    (_, 3) => Operation::InsertOrMerge(entity),
                    _ => Operation::InsertOrReplace(entity),
                }
            })
            .collect()
    }

    fn entity(&self, key: &str, number: u64, random: &mut Random) -> DynamicEntity {
        let mut entity = DynamicEntity::new(&self.partition, key)
            .with("Batch", i64::try_from(number).unwrap_or_default())
            .with("EntityType", ["head", "tail"][usize::from(random.below(2) == 1)]);
        for _ in 0..random.below(4) {
            // Names that come and go, so that the dictionary grows while the process is being killed.
            let name = format!("P{}", random.below(8 + number % 200));
            // Few lie on pages of their own: hashing them is slow without optimisation.
            let length = match random.below(32) {
                0 => 9_000,
                1..8 => 700,
                _ => 24,
            };
            let letter = char::from(b'a' + u8::try_from(random.below(26)).unwrap_or_default());
            entity.set(&name, String::from(letter).repeat(length));
        }
        entity
    }

    /// Notes that the next batch was done.
    pub fn advance(&mut self) {
        let operations = self.batch();
        let rows = &mut self.rows[usize::from(self.done % 2 == 1)];
        for operation in operations {
            match operation {
                Operation::Insert(entity)
                | Operation::Replace(entity)
                | Operation::InsertOrReplace(entity) => {
                    rows.insert(entity.row_key().to_owned(), entity);
                }
                Operation::Merge(entity) | Operation::InsertOrMerge(entity) => {
                    let row = rows
                        .entry(entity.row_key().to_owned())
                        .or_insert_with(|| DynamicEntity::new(entity.partition_key(), entity.row_key()));
                    for (name, value) in entity.properties() {
                        row.set(name, value.clone());
                    }
                }
                Operation::Delete(key) => {
                    rows.remove(&key);
                }
            }
        }
        self.done += 1;
    }
}

/// Does a batch in a table.
pub fn commit(table: &DynamicTable, partition: &str, operations: &[Operation]) -> Result<ETag> {
    let batch = operations.iter().cloned().fold(table.batch(partition), |batch, operation| match operation {
        Operation::Insert(entity) => batch.insert(entity),
        Operation::Replace(entity) => batch.replace(entity, IfMatch::Any),
        Operation::Merge(entity) => batch.merge(entity, IfMatch::Any),
        Operation::InsertOrReplace(entity) => batch.put(entity),
        Operation::InsertOrMerge(entity) => batch.insert_or_merge(entity),
        Operation::Delete(key) => batch.delete(key),
    });
    batch.commit().map(|committed| committed.etag(0))
}

/// The name of a period's table. There are few, so that names come again.
pub fn period(period: u64) -> String {
    format!("Period{}", period % 3)
}

/// Rows of a period's table: each batch of 100, by its partition.
pub const PERIOD_ROWS: usize = 100;
