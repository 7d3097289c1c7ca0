//! redb: a table of employees, and one for each index that points into it.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use table_bench::company::{Answer, Done, Employee, Engine, Maker, Opening, SyncMode};
use table_bench::{Digest, Result};

use crate::record::{add, decode, encode};

pub(crate) const MAKER: Maker = Maker {
    name: "redb",
    what: "redb: postcard values under (department, id), and two tables from index keys to ids; owned values",
    sync: "durable: `Durability::Immediate`; lax: `None`, and every 100th commit `Immediate`, since the file grows otherwise",
    threads: false,
    reads_only: false,
    open: |dir, opening| Ok(Box::new(Redb::open(dir, opening)?)),
};

const STAFF: TableDefinition<'_, (&str, u32), &[u8]> = TableDefinition::new("staff");
const EMAILS: TableDefinition<'_, (&str, &str), u32> = TableDefinition::new("emails");
const NAMES: TableDefinition<'_, (&str, &str, u32), ()> = TableDefinition::new("names");

struct Redb {
    database: Database,
    sync: SyncMode,
    commits: AtomicU32,
}

type Staff = ReadOnlyTable<(&'static str, u32), &'static [u8]>;

fn find(staff: &Staff, department: &str, id: u32) -> Result<Employee> {
    let value = staff.get((department, id))?.ok_or("there is no such employee")?;
    decode(department, id, value.value())
}

impl Redb {
    fn open(dir: &Path, opening: &Opening) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let database = Database::create(dir.join("data.redb"))?;
        let txn = database.begin_write()?;
        txn.open_table(STAFF)?;
        txn.open_table(EMAILS)?;
        txn.open_table(NAMES)?;
        txn.commit()?;
        Ok(Self { database, sync: opening.sync, commits: AtomicU32::new(0) })
    }

    fn write(&self, work: impl FnOnce(&WriteTransaction) -> Done) -> Done {
        let mut txn = self.database.begin_write()?;
        let turn = self.commits.fetch_add(1, Ordering::Relaxed);
        if self.sync == SyncMode::Lax && !turn.is_multiple_of(100) {
            txn.set_durability(Durability::None)?;
        }
        work(&txn)?;
        Ok(txn.commit()?)
    }
}

impl Engine for Redb {
    fn load(&self, staff: &[Employee]) -> Done {
        self.write(|txn| {
            let mut data = txn.open_table(STAFF)?;
            let mut emails = txn.open_table(EMAILS)?;
            let mut names = txn.open_table(NAMES)?;
            for e in staff {
                let department = e.department.as_str();
                if data.insert((department, e.id), encode(e)?.as_slice())?.is_some() {
                    return Err("the key is taken".into());
                }
                if emails.insert((department, e.email.as_str()), e.id)?.is_some() {
                    return Err("the address is taken".into());
                }
                names.insert((department, e.last_name.as_str(), e.id), ())?;
            }
            Ok(())
        })
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let staff = self.database.begin_read()?.open_table(STAFF)?;
            add(&mut digest, find(&staff, &e.department, e.id)?);
        }
        Ok(digest)
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.database.begin_read()?;
            let (emails, staff) = (txn.open_table(EMAILS)?, txn.open_table(STAFF)?);
            if let Some(id) = emails.get((e.department.as_str(), e.email.as_str()))? {
                add(&mut digest, find(&staff, &e.department, id.value())?);
            }
        }
        Ok(digest)
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.database.begin_read()?;
            let (names, staff) = (txn.open_table(NAMES)?, txn.open_table(STAFF)?);
            let (department, name) = (e.department.as_str(), e.last_name.as_str());
            for row in names.range((department, name, 0)..=(department, name, u32::MAX))? {
                add(&mut digest, find(&staff, department, row?.0.value().2)?);
            }
        }
        Ok(digest)
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let staff = self.database.begin_read()?.open_table(STAFF)?;
            let department = e.department.as_str();
            for row in staff.range((department, e.id)..(department, e.id + count))? {
                let (key, value) = row?;
                let (department, id) = key.value();
                add(&mut digest, decode(department, id, value.value())?);
            }
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        for row in self.database.begin_read()?.open_table(STAFF)?.iter()? {
            let (key, value) = row?;
            let (department, id) = key.value();
            add(&mut digest, decode(department, id, value.value())?);
        }
        Ok(digest)
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        self.write(|txn| {
            let mut staff = txn.open_table(STAFF)?;
            let mut emails = txn.open_table(EMAILS)?;
            let department = who.department.as_str();
            let old = match staff.get((department, who.id))? {
                Some(value) => decode(department, who.id, value.value())?,
                None => return Err("there is no such employee".into()),
            };
            emails.remove((department, old.email.as_str()))?;
            if emails.insert((department, email), who.id)?.is_some() {
                return Err("the address is taken".into());
            }
            let new = Employee { email: email.to_owned(), ..old };
            staff.insert((department, who.id), encode(&new)?.as_slice())?;
            Ok(())
        })
    }

    fn delete(&self, who: &Employee) -> Done {
        self.write(|txn| {
            let mut staff = txn.open_table(STAFF)?;
            let department = who.department.as_str();
            let old = match staff.remove((department, who.id))? {
                Some(value) => decode(department, who.id, value.value())?,
                None => return Err("there is no such employee".into()),
            };
            txn.open_table(EMAILS)?.remove((department, old.email.as_str()))?;
            txn.open_table(NAMES)?.remove((department, old.last_name.as_str(), who.id))?;
            Ok(())
        })
    }

    fn clear(&self) -> Done {
        let txn = self.database.begin_write()?;
        txn.delete_table(STAFF)?;
        txn.delete_table(EMAILS)?;
        txn.delete_table(NAMES)?;
        Ok(txn.commit()?)
    }
}
