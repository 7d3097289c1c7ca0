//! table-core: views of derived entities, and of rows whose properties are asked for by name.

use std::ops::Range;
use std::path::Path;

use table_core::{DynamicEntity, DynamicTable, Entity, Store, Table, Ticks};

use super::{Wide, WideMaker, middle_of, name, values};
use crate::company::{Answer, Done};
use crate::wide_struct;
use crate::{Digest, Result};

pub(super) const MAKER: WideMaker = WideMaker {
    name: "typed",
    what: "table-core, derived entity: a view in a snapshot, whose method for the field decodes that one",
    open: |dir, width| {
        let store = Store::open(dir)?;
        Ok(match width {
            6 => Box::new(Typed { table: store.table::<Six>()?, store }),
            50 => Box::new(Typed { table: store.table::<Fifty>()?, store }),
            200 => Box::new(Typed { table: store.table::<TwoHundred>()?, store }),
            _ => return Err(format!("there are no rows of {width} properties").into()),
        })
    },
};

pub(super) const DYNAMIC: WideMaker = WideMaker {
    name: "dynamic",
    what: "table-core without a struct: a row's view in a snapshot, asked for the property by its name",
    open: |dir, width| Ok(Box::new(Dynamic::open(dir, width)?)),
};

wide_struct! {
    6
    #[derive(Entity)]
    #[entity(table = "Wide", kind = "six")]
    #[key(partition = "wide", row = "row_{id:08}")]
    struct Six, texts String, times Ticks;
}
wide_struct! {
    50
    #[derive(Entity)]
    #[entity(table = "Wide", kind = "fifty")]
    #[key(partition = "wide", row = "row_{id:08}")]
    struct Fifty, texts String, times Ticks;
}
wide_struct! {
    200
    #[derive(Entity)]
    #[entity(table = "Wide", kind = "two-hundred")]
    #[key(partition = "wide", row = "row_{id:08}")]
    struct TwoHundred, texts String, times Ticks;
}

struct Typed<E: Entity> {
    store: Store,
    table: Table<E>,
}

macro_rules! typed {
    ($($entity:ident of $width:literal: $middle:ident, $bits:expr;)*) => {
        $(impl Wide for Typed<$entity> {
            fn load(&self, ids: Range<u32>) -> Done {
                let rows = ids.map(|id| $entity::of(id, &values(id, $width))).collect::<Result<Vec<_>>>()?;
                let report = self.table.bulk_insert(&rows)?;
                report.failures.into_iter().next().map_or(Ok(()), |failure| Err(failure.error.into()))
            }

            fn middle(&self, ids: &[u32]) -> Answer {
                let mut digest = Digest::default();
                let snapshot = self.store.snapshot()?;
                let table = self.table.at(&snapshot);
                for id in ids {
                    let view = table.view($entity::key(*id))?.ok_or("there is no such row")?;
                    digest.one($bits(view.$middle()?));
                }
                Ok(digest)
            }
        })*
    };
}

typed! {
    Six of 6: p003, u64::from;
    Fifty of 50: p025, i64::cast_unsigned;
    TwoHundred of 200: p100, Ticks::get;
}

struct Dynamic {
    store: Store,
    table: DynamicTable,
    width: usize,
    middle: String,
}

impl Dynamic {
    fn open(dir: &Path, width: usize) -> Result<Self> {
        let store = Store::open(dir)?;
        Ok(Self {
            table: store.create_table_if_missing("Wide")?,
            store,
            width,
            middle: name(middle_of(width)),
        })
    }
}

const PARTITION: &str = "wide";

fn row_key(id: u32) -> String {
    format!("row_{id:08}")
}

impl Wide for Dynamic {
    fn load(&self, ids: Range<u32>) -> Done {
        let batches = ids.map(|id| {
            let mut entity = DynamicEntity::new(PARTITION, row_key(id));
            for (index, value) in values(id, self.width).into_iter().enumerate() {
                entity.set(&name(index), value);
            }
            self.table.batch(PARTITION).insert(entity)
        });
        let report = self.store.bulk(batches)?;
        report.failures.into_iter().next().map_or(Ok(()), |failure| Err(failure.error.into()))
    }

    fn middle(&self, ids: &[u32]) -> Answer {
        let mut digest = Digest::default();
        let snapshot = self.store.snapshot()?;
        for id in ids {
            let view = snapshot.view(&self.table, PARTITION, &row_key(*id))?.ok_or("there is no such row")?;
            let value = view.get(&self.middle)?.ok_or("there is no such property")?;
            digest.row();
            digest.ours(value);
        }
        Ok(digest)
    }
}
