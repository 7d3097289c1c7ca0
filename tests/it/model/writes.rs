//! Operations, batches, bulk loads, and tables that come and go.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::rc::Rc;

use table_core::{Batch, DynamicEntity, ETag, Error, ErrorKind, Result};

use super::oracle::{self, Operation, Refusal, Table, Verb};
use super::random::{PARTITIONS, Place, ROWS, partition, row};
use super::{KEPT, Run, TABLES};

/// Compares an answer with what it must be.
fn answers<T: Debug>(expected: Option<Refusal>, actual: Result<T>, what: &impl Debug) -> Option<T> {
    let found = |error: &Error| Refusal { kind: error.kind(), index: error.index() };
    match (&expected, actual) {
        (None, Ok(answer)) => Some(answer),
        (Some(refusal), Err(error)) if found(&error) == *refusal => None,
        (_, actual) => panic!("expected {expected:?}, got {actual:?} from {what:?}"),
    }
}

pub(super) fn no_table<T: Debug>(result: Result<T>) {
    assert_eq!(result.unwrap_err().kind(), ErrorKind::TableNotFound);
}

impl Run {
    fn random_operation(&mut self, table: u32, place: Place) -> Operation {
        let there = self.rows(table).and_then(|rows| rows.get(&place)).cloned();
        let old = self.etags.make_contiguous();
        Operation::random(&mut self.random, place, there.as_deref(), old)
    }

    /// Takes note of a write: its time is after that of every other.
    fn written(&mut self, etag: ETag) {
        assert!(etag.timestamp() > self.last, "{} is not after {}", etag.timestamp(), self.last);
        self.last = etag.timestamp();
        self.etags.push_back(etag);
        if self.etags.len() > 50 {
            self.etags.pop_front();
        }
    }

    pub(super) fn write(&mut self) {
        let table = self.table();
        let place = self.random.place();
        let operation = self.random_operation(table, place);
        let expected = oracle::refuses(self.rows(table), &operation);
        self.count(if expected.is_some() { "writes refused" } else { "writes" });
        if let Some(etag) = answers(expected, operation.run(&self.handles[&table]), &operation) {
            assert_eq!(etag.is_none(), operation.verb == Verb::Delete);
            if let Some(etag) = etag {
                self.written(etag);
            }
            let rows = Rc::make_mut(&mut self.tables.get_mut(&table).unwrap().rows);
            operation.apply(rows, etag);
        }
    }

    /// Some operations on one partition, mostly on distinct rows.
    fn random_batch(&mut self, table: u32) -> (usize, Vec<Operation>, Batch) {
        let partition_key = self.random.below(PARTITIONS.len());
        let length = match self.random.below(60) {
            0 => 0,
            1 => 101,
            2 => 40,
            _ => 1 + self.random.below(5),
        };
        let mut operations = Vec::<Operation>::new();
        let mut batch = self.handles[&table].batch(PARTITIONS[partition_key].as_str());
        while operations.len() < length {
            let (other, row_key) = self.random.place();
            let taken = operations.iter().any(|operation| operation.place.1 == row_key);
            if taken && operations.len() < ROWS.len() && !self.random.once_in(30) {
                continue;
            }
            let place = (if self.random.once_in(200) { other } else { partition_key }, row_key);
            let operation = self.random_operation(table, place).in_batch_of(partition_key);
            batch = operation.join(batch);
            operations.push(operation);
        }
        assert_eq!((batch.len(), batch.partition_key()), (length, PARTITIONS[partition_key].as_str()));
        (partition_key, operations, batch)
    }

    pub(super) fn batch(&mut self) {
        let table = self.table();
        let (partition_key, operations, batch) = self.random_batch(table);
        let expected = oracle::refuses_batch(self.rows(table), partition_key, &operations);
        self.count(if expected.is_some() { "batches refused" } else { "batches" });
        match answers(expected, batch.commit().map(|done| done.etag(0)), &operations) {
            Some(etag) => {
                self.written(etag);
                let rows = Rc::make_mut(&mut self.tables.get_mut(&table).unwrap().rows);
                for operation in &operations {
                    operation.apply(rows, Some(etag));
                }
            }
            None => self.compare_partition(table, partition_key),
        }
    }

    /// Nothing of a batch that failed is there.
    fn compare_partition(&self, table: u32, partition_key: usize) {
        let Some(rows) = self.rows(table) else { return };
        let query = table_core::Query::new().partition(&PARTITIONS[partition_key]);
        let read: Vec<_> = self.handles[&table].query(&query).unwrap().map(Result::unwrap).collect();
        let expected = rows.range((partition_key, 0)..(partition_key + 1, 0));
        assert_eq!(expected.clone().count(), read.len());
        assert!(expected.zip(&read).all(|((place, entity), read)| entity.is(*place, read, None)));
    }

    pub(super) fn bulk(&mut self) {
        self.count("bulk loads");
        let (mut batches, mut expected) = (Vec::new(), Vec::new());
        // The batches that wrote each row last, and the tables as they will be.
        let mut writers = BTreeMap::<(u32, Place), usize>::new();
        for number in 0..=self.random.below(20) {
            let table = self.table();
            let (partition_key, operations, batch) = self.random_batch(table);
            let refusal = oracle::refuses_batch(self.rows(table), partition_key, &operations);
            if refusal.is_none() {
                let rows = Rc::make_mut(&mut self.tables.get_mut(&table).unwrap().rows);
                for operation in &operations {
                    operation.apply(rows, None);
                    writers.insert((table, operation.place), number);
                }
            }
            batches.push(batch);
            expected.push(refusal);
        }
        let report = self.store.bulk(batches).unwrap();
        let failures = report.failures.iter().map(|failure| {
            let refusal = Refusal { kind: failure.error.kind(), index: failure.error.index() };
            (failure.index as usize, refusal)
        });
        let refused: Vec<_> =
            expected.iter().enumerate().filter_map(|(at, refusal)| Some((at, (*refusal)?))).collect();
        assert_eq!(failures.collect::<Vec<_>>(), refused);
        assert_eq!(report.committed as usize, expected.len() - refused.len());
        self.learn_etags(&writers);
    }

    /// A bulk load does not say the times of its batches: they rise from batch to batch.
    fn learn_etags(&mut self, writers: &BTreeMap<(u32, Place), usize>) {
        let mut times = BTreeMap::<usize, ETag>::new();
        for (&(table, place), &number) in writers {
            let read = self.handles[&table].get(partition(place), row(place)).unwrap();
            let rows = Rc::make_mut(&mut self.tables.get_mut(&table).unwrap().rows);
            let Some(entity) = rows.get_mut(&place) else {
                assert_eq!(read, None);
                continue;
            };
            let etag = read.as_ref().and_then(DynamicEntity::etag).unwrap();
            assert_eq!(*times.entry(number).or_insert(etag), etag);
            Rc::make_mut(entity).etag = Some(etag);
            assert!(entity.is(place, &read.unwrap(), None));
        }
        for etag in times.into_values() {
            self.written(etag);
        }
    }

    pub(super) fn create(&mut self) {
        let name = *self.random.pick(&TABLES);
        let name = if self.random.once_in(2) { name.to_ascii_uppercase() } else { name.to_owned() };
        let there = self.find(&name);
        let handle = match (there, self.random.below(3)) {
            (Some(_), 0) => {
                let error = self.store.create_table(&name).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TableAlreadyExists);
                return;
            }
            (Some(_), 1) => self.store.dynamic_table(&name).unwrap(),
            (None, 0) => {
                no_table(self.store.dynamic_table(&name));
                self.store.create_table(&name).unwrap()
            }
            (None, 1) => self.store.create_table(&name).unwrap(),
            _ => self.store.create_table_if_missing(&name).unwrap(),
        };
        let id = there.unwrap_or_else(|| {
            self.count("tables created");
            self.created += 1;
            self.tables.insert(self.created, Table { name, rows: Rc::default() });
            self.created
        });
        assert_eq!(handle.name(), self.tables[&id].name);
        self.handles.insert(id, handle);
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.tables.iter().find(|(_, table)| table.name.eq_ignore_ascii_case(name)).map(|(id, _)| *id)
    }

    pub(super) fn drop_table(&mut self) {
        let name = self.random.pick(&TABLES).to_ascii_lowercase();
        match self.find(&name) {
            None => no_table(self.store.drop_table(&name)),
            Some(id) => {
                self.count("tables dropped");
                self.store.drop_table(&name).unwrap();
                self.tables.remove(&id);
                // Some handles are kept, to see that they fail.
                let dropped: Vec<u32> =
                    self.handles.keys().filter(|id| !self.tables.contains_key(id)).copied().collect();
                if dropped.len() > KEPT {
                    self.handles.remove(&dropped[0]);
                }
            }
        }
    }
}
