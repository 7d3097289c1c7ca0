//! table-core, used as its documentation says.

use std::error::Error;
use std::path::Path;

use table_core::store::RowView;
use table_core::{DynamicEntity, DynamicTable, IfMatch, OpenOptions, Query, Store};

use crate::digest::Digest;
use crate::engine::{Answer, Done, Engine};
use crate::rows::{Key, Sample};

pub(crate) struct Ours {
    pub(crate) store: Store,
    pub(crate) table: DynamicTable,
}

fn add_properties(digest: &mut Digest, entity: &DynamicEntity) {
    for (name, value) in entity.properties() {
        digest.text(name);
        digest.ours(value.as_value_ref());
    }
}

fn add(digest: &mut Digest, entity: &DynamicEntity) {
    digest.row();
    digest.text(entity.partition_key());
    digest.text(entity.row_key());
    add_properties(digest, entity);
}

impl Ours {
    pub(crate) fn open(dir: &Path, options: &OpenOptions) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let store = options.open(dir)?;
        let table = store.create_table_if_missing("Company")?;
        Ok(Self { store, table })
    }

    /// Loads many rows, which stand in the order of their keys.
    pub(crate) fn load(&self, rows: &[Sample]) -> Done {
        let partitions = rows.chunk_by(|a, b| a.key.partition == b.key.partition);
        let report =
            self.store.bulk(partitions.flat_map(|rows| rows.chunks(100)).map(|rows| self.batch_of(rows)))?;
        report.failures.into_iter().next().map_or(Ok(()), |failure| Err(failure.error.into()))
    }

    fn batch_of(&self, rows: &[Sample]) -> table_core::Batch {
        let partition = rows.first().map_or("", |row| row.key.partition.as_str());
        rows.iter().fold(self.table.batch(partition), |batch, row| batch.insert(row.ours.clone()))
    }

    /// The whole table by views into a snapshot, each asked for one property.
    pub(crate) fn scan_one(&self, name: &str) -> Answer {
        let mut digest = Digest::default();
        self.each_view(|view| {
            digest.row();
            if let Some(value) = view.get(name)? {
                digest.ours(value);
            }
            Ok(())
        })?;
        Ok(digest)
    }

    /// The whole table by views into a snapshot, each asked for its keys and every property.
    pub(crate) fn scan_all(&self) -> Answer {
        let mut digest = Digest::default();
        self.each_view(|view| {
            digest.row();
            digest.text(&view.partition_key());
            digest.text(&view.row_key());
            for property in view.properties() {
                let (name, value) = property?;
                digest.text(name);
                digest.ours(value);
            }
            Ok(())
        })?;
        Ok(digest)
    }

    fn each_view(&self, mut each: impl FnMut(&RowView<'_>) -> table_core::Result<()>) -> Done {
        let snapshot = self.store.snapshot()?;
        for view in snapshot.views(&self.table, &Query::new())? {
            each(&view?)?;
        }
        Ok(())
    }

    fn query(&self, query: &Query) -> Answer {
        let mut digest = Digest::default();
        for entity in self.table.query(query)? {
            add(&mut digest, &entity?);
        }
        Ok(digest)
    }
}

impl Engine for Ours {
    fn get(&self, keys: &[Key]) -> Answer {
        let mut digest = Digest::default();
        for key in keys {
            if let Some(entity) = self.table.get(&key.partition, &key.row)? {
                digest.row();
                add_properties(&mut digest, &entity);
            }
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        self.query(&Query::new())
    }

    fn range(&self, from: &Key, to: &str) -> Answer {
        self.query(&Query::new().partition(&from.partition).rows(from.row.as_str()..to))
    }

    fn insert(&self, rows: &[Sample]) -> Done {
        for row in rows {
            self.table.insert(&row.ours)?;
        }
        Ok(())
    }

    fn batch(&self, rows: &mut [Sample]) -> Done {
        for rows in rows.chunks_mut(100) {
            let partition = rows.first().map_or("", |row| row.key.partition.as_str());
            let batch = self.table.batch(partition);
            let taken =
                rows.iter_mut().map(|row| std::mem::replace(&mut row.ours, DynamicEntity::new("", "")));
            taken.fold(batch, table_core::Batch::insert).commit()?;
        }
        Ok(())
    }

    fn replace(&self, rows: &[Sample]) -> Done {
        for row in rows {
            self.table.replace(&row.ours, IfMatch::Any)?;
        }
        Ok(())
    }

    fn merge(&self, keys: &[Key], age: i32) -> Done {
        for key in keys {
            let change = DynamicEntity::new(key.partition.as_str(), key.row.as_str()).with("Age", age);
            self.table.merge(&change, IfMatch::Any)?;
        }
        Ok(())
    }

    fn delete(&self, keys: &[Key]) -> Done {
        for keys in keys.chunk_by(|a, b| a.partition == b.partition) {
            for keys in keys.chunks(100) {
                let Some(first) = keys.first() else { continue };
                let batch = self.table.batch(first.partition.as_str());
                keys.iter().fold(batch, |batch, key| batch.delete(key.row.as_str())).commit()?;
            }
        }
        Ok(())
    }

    fn one_property(&self, keys: &[Key], name: &str) -> Answer {
        let mut digest = Digest::default();
        let snapshot = self.store.snapshot()?;
        for key in keys {
            let view = snapshot.view(&self.table, &key.partition, &key.row)?.ok_or("there is no such row")?;
            if let Some(value) = view.get(name)? {
                digest.row();
                digest.ours(value);
            }
        }
        Ok(digest)
    }
}
