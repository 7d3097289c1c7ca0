//! One property of rows of 6, 50 and 200: each row as a user of the engine would keep it.

use std::ops::Range;
use std::path::Path;

use fjall::{KeyspaceCreateOptions, Readable, SingleWriterTxDatabase, SingleWriterTxKeyspace};
use redb::{Database, ReadableDatabase, TableDefinition};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};
use table_bench::company::{Answer, Done};
use table_bench::wide::{Value, Wide, WideMaker, middle_of, name, positional, values};
use table_bench::{Digest, Result};

pub(crate) const REDB: WideMaker = WideMaker {
    name: "redb",
    what: "redb: postcard by position under the id; the row is decoded, its texts not copied",
    open: |dir, width| Ok(Box::new(Redb::open(dir, width)?)),
};

pub(crate) const SQLITE: WideMaker = WideMaker {
    name: "sqlite",
    what: "rusqlite, bundled SQLite: a column for each property, the id as the primary key; a prepared statement selects the one column",
    open: |dir, width| Ok(Box::new(Sqlite::open(dir, width)?)),
};

pub(crate) const FJALL: WideMaker = WideMaker {
    name: "fjall",
    what: "fjall: postcard by position under the id; the row is decoded, its texts not copied",
    open: |dir, width| Ok(Box::new(Fjall::open(dir, width)?)),
};

const ROWS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("wide");

struct Redb {
    database: Database,
    width: usize,
}

impl Redb {
    fn open(dir: &Path, width: usize) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        Ok(Self { database: Database::create(dir.join("data.redb"))?, width })
    }
}

impl Wide for Redb {
    fn load(&self, ids: Range<u32>) -> Done {
        let txn = self.database.begin_write()?;
        {
            let mut rows = txn.open_table(ROWS)?;
            for id in ids {
                rows.insert(id, positional::encode(id, self.width)?.as_slice())?;
            }
        }
        Ok(txn.commit()?)
    }

    fn middle(&self, ids: &[u32]) -> Answer {
        let mut digest = Digest::default();
        let rows = self.database.begin_read()?.open_table(ROWS)?;
        for id in ids {
            let bytes = rows.get(id)?.ok_or("there is no such row")?;
            positional::add_middle(&mut digest, self.width, bytes.value())?;
        }
        Ok(digest)
    }
}

struct Fjall {
    database: SingleWriterTxDatabase,
    rows: SingleWriterTxKeyspace,
    width: usize,
}

impl Fjall {
    fn open(dir: &Path, width: usize) -> Result<Self> {
        let database = SingleWriterTxDatabase::builder(dir).open()?;
        let rows = database.keyspace("wide", KeyspaceCreateOptions::default)?;
        Ok(Self { database, rows, width })
    }
}

impl Wide for Fjall {
    fn load(&self, ids: Range<u32>) -> Done {
        let mut txn = self.database.write_tx();
        for id in ids {
            txn.insert(&self.rows, id.to_be_bytes(), positional::encode(id, self.width)?);
        }
        Ok(txn.commit()?)
    }

    fn middle(&self, ids: &[u32]) -> Answer {
        let mut digest = Digest::default();
        let txn = self.database.read_tx();
        for id in ids {
            let bytes = txn.get(&self.rows, id.to_be_bytes())?.ok_or("there is no such row")?;
            positional::add_middle(&mut digest, self.width, &bytes)?;
        }
        Ok(digest)
    }
}

struct Sqlite {
    connection: Connection,
    width: usize,
    select: String,
}

fn column(value: Value) -> Result<SqlValue> {
    Ok(match value {
        Value::String(v) => v.into(),
        Value::Int64(v) => v.into(),
        Value::Int32(v) => v.into(),
        Value::Double(v) => v.into(),
        Value::Boolean(v) => v.into(),
        Value::DateTime(v) => i64::try_from(v.get())?.into(),
        other => return Err(format!("no row has {other:?}").into()),
    })
}

impl Sqlite {
    fn open(dir: &Path, width: usize) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let connection = Connection::open(dir.join("data.sqlite"))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "mmap_size", 1_i64 << 30)?;
        let types = values(0, width).into_iter().map(|value| match value {
            Value::String(_) => "TEXT",
            Value::Double(_) => "REAL",
            _ => "INTEGER",
        });
        let columns: String =
            (0..).zip(types).map(|(index, kind)| format!(", {} {kind} NOT NULL", name(index))).collect();
        connection.execute_batch(&format!("CREATE TABLE wide (id INTEGER PRIMARY KEY{columns})"))?;
        let select = format!("SELECT {} FROM wide WHERE id = ?1", name(middle_of(width)));
        Ok(Self { connection, width, select })
    }
}

impl Wide for Sqlite {
    fn load(&self, ids: Range<u32>) -> Done {
        let txn = self.connection.unchecked_transaction()?;
        {
            let marks = ", ?".repeat(self.width);
            let mut insert = txn.prepare(&format!("INSERT INTO wide VALUES (?{marks})"))?;
            for id in ids {
                let columns = values(id, self.width).into_iter().map(column).collect::<Result<Vec<_>>>()?;
                insert.execute(params_from_iter(std::iter::once(id.into()).chain(columns)))?;
            }
        }
        // The log goes into the file, so that readers don't look into both.
        txn.commit()?;
        Ok(self.connection.pragma_query(None, "wal_checkpoint", |_| Ok(()))?)
    }

    fn middle(&self, ids: &[u32]) -> Answer {
        let mut digest = Digest::default();
        let txn = self.connection.unchecked_transaction()?;
        {
            let mut select = txn.prepare_cached(&self.select)?;
            for id in ids {
                digest.one(select.query_row([id], |row| row.get::<_, i64>(0))?.cast_unsigned());
            }
        }
        txn.commit()?;
        Ok(digest)
    }
}
