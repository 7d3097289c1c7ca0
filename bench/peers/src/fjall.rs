//! fjall: a keyspace of employees, and one for each index that points into it, in single-writer transactions.

use std::path::Path;

use fjall::{
    KeyspaceCreateOptions, PersistMode, Readable, SingleWriterTxDatabase, SingleWriterTxKeyspace,
    SingleWriterWriteTx as WriteTx,
};
use table_bench::company::{Answer, Done, Employee, Engine, Maker, Opening, SyncMode};
use table_bench::{Digest, Result};

use crate::record::{add, decode, encode};

pub(crate) const MAKER: Maker = Maker {
    name: "fjall",
    what: "fjall, single-writer transactions: postcard values, and two keyspaces from index keys to ids, not compacted before reads; owned values; its own threads' time counts in writes",
    sync: "durable: `PersistMode::SyncAll` for each commit; lax: not persisted",
    threads: true,
    reads_only: false,
    open: |dir, opening| Ok(Box::new(Fjall::open(dir, opening)?)),
};

struct Fjall {
    database: SingleWriterTxDatabase,
    staff: SingleWriterTxKeyspace,
    emails: SingleWriterTxKeyspace,
    names: SingleWriterTxKeyspace,
    sync: SyncMode,
}

/// Ends a text in a key.
const END: u8 = 0;

fn join(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.join(&END)
}

fn key(department: &str, id: u32) -> Vec<u8> {
    join(&[department.as_bytes(), &id.to_be_bytes()])
}

fn id_of(bytes: &[u8]) -> Result<u32> {
    Ok(u32::from_be_bytes(*bytes.last_chunk().ok_or("a key has no id")?))
}

/// An employee from key and value.
fn employee(key: &[u8], value: &[u8]) -> Result<Employee> {
    let department = key.len().checked_sub(5).and_then(|end| key.get(..end)).ok_or("a key is short")?;
    decode(std::str::from_utf8(department)?, id_of(key)?, value)
}

impl Fjall {
    fn open(dir: &Path, opening: &Opening) -> Result<Self> {
        let database = SingleWriterTxDatabase::builder(dir).open()?;
        let keyspace = |name| database.keyspace(name, KeyspaceCreateOptions::default);
        let (staff, emails, names) = (keyspace("staff")?, keyspace("emails")?, keyspace("names")?);
        Ok(Self { staff, emails, names, sync: opening.sync, database })
    }

    fn write(&self, work: impl FnOnce(&mut WriteTx<'_>) -> Done) -> Done {
        let durable = (self.sync == SyncMode::Durable).then_some(PersistMode::SyncAll);
        let mut txn = self.database.write_tx().durability(durable);
        work(&mut txn)?;
        Ok(txn.commit()?)
    }

    fn find(&self, txn: &impl Readable, department: &str, id: u32) -> Result<Employee> {
        let value = txn.get(&self.staff, key(department, id))?.ok_or("there is no such employee")?;
        decode(department, id, &value)
    }
}

impl Engine for Fjall {
    fn load(&self, staff: &[Employee]) -> Done {
        self.write(|txn| {
            for e in staff {
                let (department, id) = (e.department.as_bytes(), e.id.to_be_bytes());
                let (key, email) = (key(&e.department, e.id), join(&[department, e.email.as_bytes()]));
                if txn.contains_key(&self.staff, &key)? || txn.contains_key(&self.emails, &email)? {
                    return Err("the key or the address is taken".into());
                }
                txn.insert(&self.staff, key, encode(e)?);
                txn.insert(&self.emails, email, id);
                txn.insert(&self.names, join(&[department, e.last_name.as_bytes(), &id]), []);
            }
            Ok(())
        })
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.database.read_tx();
            add(&mut digest, self.find(&txn, &e.department, e.id)?);
        }
        Ok(digest)
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.database.read_tx();
            let email = join(&[e.department.as_bytes(), e.email.as_bytes()]);
            if let Some(id) = txn.get(&self.emails, email)? {
                add(&mut digest, self.find(&txn, &e.department, id_of(&id)?)?);
            }
        }
        Ok(digest)
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.database.read_tx();
            let start = join(&[e.department.as_bytes(), e.last_name.as_bytes(), &[]]);
            for row in txn.prefix(&self.names, start) {
                add(&mut digest, self.find(&txn, &e.department, id_of(&row.key()?)?)?);
            }
        }
        Ok(digest)
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.database.read_tx();
            for row in txn.range(&self.staff, key(&e.department, e.id)..key(&e.department, e.id + count)) {
                let (key, value) = row.into_inner()?;
                add(&mut digest, employee(&key, &value)?);
            }
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        for row in self.database.read_tx().iter(&self.staff) {
            let (key, value) = row.into_inner()?;
            add(&mut digest, employee(&key, &value)?);
        }
        Ok(digest)
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        self.write(|txn| {
            let old = self.find(txn, &who.department, who.id)?;
            let department = who.department.as_bytes();
            let new_key = join(&[department, email.as_bytes()]);
            if old.email != email && txn.contains_key(&self.emails, &new_key)? {
                return Err("the address is taken".into());
            }
            txn.remove(&self.emails, join(&[department, old.email.as_bytes()]));
            txn.insert(&self.emails, new_key, who.id.to_be_bytes());
            let new = Employee { email: email.to_owned(), ..old };
            txn.insert(&self.staff, key(&who.department, who.id), encode(&new)?);
            Ok(())
        })
    }

    fn delete(&self, who: &Employee) -> Done {
        self.write(|txn| {
            let old = self.find(txn, &who.department, who.id)?;
            let department = who.department.as_bytes();
            txn.remove(&self.staff, key(&who.department, who.id));
            txn.remove(&self.emails, join(&[department, old.email.as_bytes()]));
            txn.remove(&self.names, join(&[department, old.last_name.as_bytes(), &who.id.to_be_bytes()]));
            Ok(())
        })
    }

    fn clear(&self) -> Done {
        for keyspace in [&self.staff, &self.emails, &self.names] {
            keyspace.inner().clear()?;
        }
        Ok(())
    }
}
