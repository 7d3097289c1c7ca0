//! table-core with the derive, used as its documentation says.

use std::path::Path;

use table_core::{Durability, Store, Table, View};

use super::Employee;
use super::employee::{DEPARTMENTS, department};
use super::engine::{Answer, Done, Engine, Maker, Opening, SyncMode};
use crate::{Digest, Result};

/// The derive's table: owned entities.
pub(crate) const MAKER: Maker = Maker {
    name: "typed",
    what: "table-core, derived entity, owned values; loads by `bulk_insert`",
    sync: "durable: the default (LMDB's two flushes a commit); lax: `Durability::Relaxed` (one flush)",
    threads: false,
    reads_only: false,
    open: |dir, opening| Ok(Box::new(Typed::open(dir, opening)?)),
};

/// The derive's table: entities seen in place. What is found by an index comes as owned copies.
pub(crate) const VIEWS: Maker = Maker {
    name: "typed-views",
    what: "table-core, derived entity, borrowed: `Table::view`, and `views` of a snapshot for each call, every field asked for",
    sync: "as `typed`",
    threads: false,
    reads_only: true,
    open: |dir, opening| Ok(Box::new(Typed { views: true, ..Typed::open(dir, opening)? })),
};

struct Typed {
    store: Store,
    staff: Table<Employee>,
    views: bool,
}

/// Opens a store as the sync mode asks.
pub(super) fn store(dir: &Path, opening: &Opening) -> Result<Store> {
    let durability = match opening.sync {
        SyncMode::Durable => Durability::Durable,
        SyncMode::Lax => Durability::Relaxed,
    };
    Ok(Store::options().durability(durability).map_size(opening.map).open(dir)?)
}

pub(super) fn add(digest: &mut Digest, e: &Employee) {
    digest.employee(&e.department, e.id, &e.first_name, &e.last_name, &e.email, e.age, e.salary);
}

/// Adds every field of an employee seen in place.
fn add_view(digest: &mut Digest, e: &View<'_, Employee>) -> table_core::Result<()> {
    let (department, id) = (e.department()?, e.id()?);
    digest.employee(&department, id, e.first_name()?, e.last_name()?, e.email()?, e.age()?, e.salary()?);
    Ok(())
}

impl Typed {
    fn open(dir: &Path, opening: &Opening) -> Result<Self> {
        let store = store(dir, opening)?;
        Ok(Self { staff: store.table()?, store, views: false })
    }
}

impl Engine for Typed {
    fn load(&self, staff: &[Employee]) -> Done {
        let report = self.staff.bulk_insert(staff)?;
        match report.failures.into_iter().next() {
            None => Ok(()),
            Some(failure) => Err(failure.error.into()),
        }
    }

    fn insert(&self, employee: &Employee) -> Done {
        self.staff.insert(employee)?;
        Ok(())
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            if self.views {
                self.staff.view(Employee::key(&e.department, e.id), |e| add_view(&mut digest, &e))?;
            } else if let Some(found) = self.staff.get(Employee::key(&e.department, e.id))? {
                add(&mut digest, &found);
            }
        }
        Ok(digest)
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            if let Some(found) = self.staff.get(Employee::by_email(&e.department, &e.email))? {
                add(&mut digest, &found);
            }
        }
        Ok(digest)
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            for found in self.staff.by_name().department(&e.department).last_name(&e.last_name) {
                let found = found?;
                add(&mut digest, &found);
            }
        }
        Ok(digest)
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        let mut digest = Digest::default();
        let snapshot = self.store.snapshot()?;
        let then = self.staff.at(&snapshot);
        for e in asked {
            if self.views {
                for found in then.rows().department(&e.department).id(e.id..e.id + count).views() {
                    add_view(&mut digest, &found?)?;
                }
                continue;
            }
            for found in self.staff.rows().department(&e.department).id(e.id..e.id + count) {
                let found = found?;
                add(&mut digest, &found);
            }
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        let snapshot = self.store.snapshot()?;
        let then = self.staff.at(&snapshot);
        for number in 0..DEPARTMENTS {
            if self.views {
                for found in then.rows().department(department(number)).views() {
                    add_view(&mut digest, &found?)?;
                }
                continue;
            }
            for found in self.staff.rows().department(department(number)) {
                let found = found?;
                add(&mut digest, &found);
            }
        }
        Ok(digest)
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        let key = Employee::key(&who.department, who.id);
        self.staff.update(key, |e| email.clone_into(&mut e.email))?;
        Ok(())
    }

    fn delete(&self, who: &Employee) -> Done {
        self.staff.delete(Employee::key(&who.department, who.id))?;
        Ok(())
    }

    fn clear(&self) -> Done {
        Ok(self.store.drop_table("Company")?)
    }

    fn commits(&self) -> Result<Option<(u64, u64)>> {
        let stats = self.store.stats()?;
        Ok(Some((stats.commits, stats.batches)))
    }

    fn reclaim(&self) -> Done {
        self.store.reclaim()?;
        Ok(())
    }
}
