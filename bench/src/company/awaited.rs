//! The derive's table with calls that are awaited, each polled by the thread that asks.

use std::path::Path;

use table_core::Store;
use table_core::asynchronous::{AsyncTable, block_on};

use super::Employee;
use super::employee::{DEPARTMENTS, department};
use super::engine::{Answer, Done, Engine, Maker, Opening};
use super::typed::{add, store};
use crate::{Digest, Result};

pub(crate) const MAKER: Maker = Maker {
    name: "awaited",
    what: "table-core, derived entity, owned values; each call a future that the calling thread polls",
    sync: "as `typed`",
    threads: false,
    reads_only: false,
    open: |dir, opening| Ok(Box::new(Awaited::open(dir, opening)?)),
};

struct Awaited {
    store: Store,
    staff: AsyncTable<Employee>,
}

impl Awaited {
    fn open(dir: &Path, opening: &Opening) -> Result<Self> {
        let store = store(dir, opening)?;
        Ok(Self { staff: store.table::<Employee>()?.to_async(), store })
    }
}

impl Engine for Awaited {
    fn load(&self, staff: &[Employee]) -> Done {
        let report = self.staff.blocking().bulk_insert(staff)?;
        match report.failures.into_iter().next() {
            None => Ok(()),
            Some(failure) => Err(failure.error.into()),
        }
    }

    fn insert(&self, employee: &Employee) -> Done {
        block_on(self.staff.insert(employee))?;
        Ok(())
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        block_on(async {
            for e in asked {
                if let Some(found) = self.staff.get(Employee::key(&e.department, e.id)).await? {
                    add(&mut digest, &found);
                }
            }
            Ok(digest)
        })
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        block_on(async {
            for e in asked {
                if let Some(found) = self.staff.get(Employee::by_email(&e.department, &e.email)).await? {
                    add(&mut digest, &found);
                }
            }
            Ok(digest)
        })
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        block_on(async {
            for e in asked {
                let mut rows =
                    self.staff.by_name().department(&e.department).last_name(&e.last_name).stream();
                while let Some(found) = rows.next().await {
                    let found = found?;
                    add(&mut digest, &found);
                }
            }
            Ok(digest)
        })
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        let mut digest = Digest::default();
        block_on(async {
            for e in asked {
                let mut rows = self.staff.rows().department(&e.department).id(e.id..e.id + count).stream();
                while let Some(found) = rows.next().await {
                    let found = found?;
                    add(&mut digest, &found);
                }
            }
            Ok(digest)
        })
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        block_on(async {
            for number in 0..DEPARTMENTS {
                let mut rows = self.staff.rows().department(department(number)).stream();
                while let Some(found) = rows.next().await {
                    let found = found?;
                    add(&mut digest, &found);
                }
            }
            Ok(digest)
        })
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        let key = Employee::key(&who.department, who.id);
        block_on(self.staff.update(key, |e| email.clone_into(&mut e.email)))?;
        Ok(())
    }

    fn delete(&self, who: &Employee) -> Done {
        block_on(self.staff.delete(Employee::key(&who.department, who.id)))?;
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
