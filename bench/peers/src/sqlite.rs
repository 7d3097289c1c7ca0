//! `SQLite` with two indexes, a connection for writing and others for reading, and statements prepared once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use table_bench::company::{Answer, Done, Employee, Engine, Maker, Opening, SyncMode};
use table_bench::{Digest, Result};

use crate::record::add;

pub(crate) const MAKER: Maker = Maker {
    name: "sqlite",
    what: "rusqlite, bundled SQLite: WAL, prepared statements, WITHOUT ROWID, a unique and a plain index, 1 GiB of mmap, one connection for writing and a pool for reading; owned values",
    sync: "durable: `synchronous = FULL`; lax: `OFF`",
    threads: false,
    reads_only: false,
    open: |dir, opening| Ok(Box::new(Sqlite::open(dir, opening)?)),
};

const TABLE: &str = "
    CREATE TABLE employee (
        department TEXT NOT NULL, id INTEGER NOT NULL, first_name TEXT NOT NULL, last_name TEXT NOT NULL,
        email TEXT NOT NULL, age INTEGER NOT NULL, salary REAL NOT NULL,
        PRIMARY KEY (department, id)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX by_email ON employee (department, email);
    CREATE INDEX by_name ON employee (department, last_name, id);";

struct Sqlite {
    path: PathBuf,
    sync: SyncMode,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

fn employee(row: &Row<'_>) -> rusqlite::Result<Employee> {
    Ok(Employee {
        department: row.get(0)?,
        id: row.get(1)?,
        first_name: row.get(2)?,
        last_name: row.get(3)?,
        email: row.get(4)?,
        age: row.get(5)?,
        salary: row.get(6)?,
    })
}

fn connect(path: &Path, sync: SyncMode) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", if sync == SyncMode::Durable { "FULL" } else { "OFF" })?;
    connection.pragma_update(None, "mmap_size", 1_i64 << 30)?;
    connection.busy_timeout(std::time::Duration::from_secs(60))?;
    Ok(connection)
}

impl Sqlite {
    fn open(dir: &Path, opening: &Opening) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let path = dir.join("data.sqlite");
        let writer = connect(&path, opening.sync)?;
        writer.execute_batch(TABLE)?;
        let indexes: i64 = writer.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
            [],
            |row| row.get(0),
        )?;
        if indexes != 2 {
            return Err("the indexes were not made".into());
        }
        let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode != "wal" {
            return Err(format!("the journal's mode is `{mode}`").into());
        }
        let (writer, readers) = (Mutex::new(writer), Mutex::default());
        Ok(Self { path, sync: opening.sync, writer, readers })
    }

    /// Reads with a connection that nobody else uses meanwhile.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let free = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = free().pop();
        let connection = match connection {
            Some(connection) => connection,
            None => connect(&self.path, self.sync)?,
        };
        let done = work(&connection);
        free().push(connection);
        done
    }

    fn write(&self, work: impl FnOnce(&Connection) -> Done) -> Done {
        let mut connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let txn = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        work(&txn)?;
        Ok(txn.commit()?)
    }
}

impl Engine for Sqlite {
    fn load(&self, staff: &[Employee]) -> Done {
        self.write(|txn| {
            let mut insert = txn.prepare_cached("INSERT INTO employee VALUES (?, ?, ?, ?, ?, ?, ?)")?;
            for e in staff {
                let Employee { department, id, first_name, last_name, email, age, salary } = e;
                insert.execute(params![department, id, first_name, last_name, email, age, salary])?;
            }
            Ok(())
        })
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        self.read(|connection| {
            let mut digest = Digest::default();
            let sql = "SELECT * FROM employee WHERE department = ? AND id = ?";
            let mut select = connection.prepare_cached(sql)?;
            for e in asked {
                if let Some(found) = select.query_row(params![e.department, e.id], employee).optional()? {
                    add(&mut digest, found);
                }
            }
            Ok(digest)
        })
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        self.read(|connection| {
            let mut digest = Digest::default();
            let sql = "SELECT * FROM employee WHERE department = ? AND email = ?";
            let mut select = connection.prepare_cached(sql)?;
            for e in asked {
                if let Some(found) = select.query_row(params![e.department, e.email], employee).optional()? {
                    add(&mut digest, found);
                }
            }
            Ok(digest)
        })
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        self.read(|connection| {
            let mut digest = Digest::default();
            let sql = "SELECT * FROM employee WHERE department = ? AND last_name = ? ORDER BY id";
            let mut select = connection.prepare_cached(sql)?;
            for e in asked {
                for found in select.query_map(params![e.department, e.last_name], employee)? {
                    add(&mut digest, found?);
                }
            }
            Ok(digest)
        })
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        self.read(|connection| {
            let mut digest = Digest::default();
            let sql = "SELECT * FROM employee WHERE department = ? AND id >= ? AND id < ? ORDER BY id";
            let mut select = connection.prepare_cached(sql)?;
            for e in asked {
                for found in select.query_map(params![e.department, e.id, e.id + count], employee)? {
                    add(&mut digest, found?);
                }
            }
            Ok(digest)
        })
    }

    fn scan(&self) -> Answer {
        self.read(|connection| {
            let mut digest = Digest::default();
            for found in connection.prepare_cached("SELECT * FROM employee")?.query_map([], employee)? {
                add(&mut digest, found?);
            }
            Ok(digest)
        })
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        self.write(|txn| {
            let mut update =
                txn.prepare_cached("UPDATE employee SET email = ? WHERE department = ? AND id = ?")?;
            match update.execute(params![email, who.department, who.id])? {
                1 => Ok(()),
                _ => Err("there is no such employee".into()),
            }
        })
    }

    fn delete(&self, who: &Employee) -> Done {
        self.write(|txn| {
            let mut delete = txn.prepare_cached("DELETE FROM employee WHERE department = ? AND id = ?")?;
            match delete.execute(params![who.department, who.id])? {
                1 => Ok(()),
                _ => Err("there is no such employee".into()),
            }
        })
    }

    fn clear(&self) -> Done {
        let connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(connection.execute_batch("DROP TABLE employee")?)
    }
}
