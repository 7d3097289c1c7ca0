//! The same for `native_db`, whose models say what they are by attributes.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::LazyLock;

use native_db::{Builder, Database, Models, ToKey, native_db};
use native_model::{Model, native_model};
use serde::{Deserialize, Serialize};
use table_bench::company::{Answer, Done};
use table_bench::wide::{Wide, WideMaker, values};
use table_bench::{Digest, wide_struct};

pub(crate) const NATIVE_DB: WideMaker = WideMaker {
    name: "native_db",
    what: "native_db: a model with the id as its primary key, its default encoding; the row is decoded",
    open: |dir, width| {
        std::fs::create_dir_all(dir)?;
        let database = Builder::new().create(&MODELS, dir.join("data.native"))?;
        Ok(match width {
            6 => Box::new(NativeDb::<Six> { database, row: PhantomData }),
            50 => Box::new(NativeDb::<Fifty> { database, row: PhantomData }),
            200 => Box::new(NativeDb::<TwoHundred> { database, row: PhantomData }),
            _ => return Err(format!("there are no rows of {width} properties").into()),
        })
    },
};

wide_struct! {
    6
    #[derive(Serialize, Deserialize)]
    #[native_model(id = 2, version = 1)]
    #[native_db(primary_key(key -> u32))]
    struct Six, texts String, times u64;
}
wide_struct! {
    50
    #[derive(Serialize, Deserialize)]
    #[native_model(id = 3, version = 1)]
    #[native_db(primary_key(key -> u32))]
    struct Fifty, texts String, times u64;
}
wide_struct! {
    200
    #[derive(Serialize, Deserialize)]
    #[native_model(id = 4, version = 1)]
    #[native_db(primary_key(key -> u32))]
    struct TwoHundred, texts String, times u64;
}

static MODELS: LazyLock<Models> = LazyLock::new(|| {
    let mut models = Models::new();
    models.define::<Six>().expect("the model is sound");
    models.define::<Fifty>().expect("the model is sound");
    models.define::<TwoHundred>().expect("the model is sound");
    models
});

struct NativeDb<R> {
    database: Database<'static>,
    row: PhantomData<R>,
}

macro_rules! native {
    ($($row:ident of $width:literal: $middle:ident, $bits:expr;)*) => {
        $(
            impl $row {
                fn key(&self) -> u32 {
                    self.id
                }
            }

            impl Wide for NativeDb<$row> {
                fn load(&self, ids: Range<u32>) -> Done {
                    let txn = self.database.rw_transaction()?;
                    for id in ids {
                        txn.insert($row::of(id, &values(id, $width))?)?;
                    }
                    Ok(txn.commit()?)
                }

                fn middle(&self, ids: &[u32]) -> Answer {
                    let mut digest = Digest::default();
                    let txn = self.database.r_transaction()?;
                    for id in ids {
                        let row: $row = txn.get().primary(*id)?.ok_or("there is no such row")?;
                        digest.one($bits(std::hint::black_box(row).$middle));
                    }
                    Ok(digest)
                }
            }
        )*
    };
}

native! {
    Six of 6: p003, u64::from;
    Fifty of 50: p025, i64::cast_unsigned;
    TwoHundred of 200: p100, u64::from;
}
