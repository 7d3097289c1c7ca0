//! `native_db`: one model with computed keys, as text, since a compound of parts has no separator there.

use std::path::Path;
use std::sync::LazyLock;

use native_db::{Builder, Database, Models, ToKey, native_db};
use native_model::{Model, native_model};
use serde::{Deserialize, Serialize};
use table_bench::company::{Answer, Done, Employee, Engine, Maker, Opening};
use table_bench::{Digest, Result};

pub(crate) const MAKER: Maker = Maker {
    name: "native_db",
    what: "native_db: a model with a unique and a plain computed key, its default encoding; owned values",
    sync: "durable: the only mode that it has; lax: the same, and files in memory",
    threads: false,
    reads_only: false,
    open: |dir, opening| Ok(Box::new(NativeDb::open(dir, opening)?)),
};

#[derive(Serialize, Deserialize, Clone, Debug)]
#[native_model(id = 1, version = 1)]
#[native_db(
    primary_key(key -> String),
    secondary_key(by_email -> String, unique),
    secondary_key(by_name -> String)
)]
struct Person {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
    age: i32,
    salary: f64,
}

fn key(department: &str, id: u32) -> String {
    format!("{department}\0{id:08}")
}

fn email_key(department: &str, email: &str) -> String {
    format!("{department}\0{email}")
}

fn name_key(department: &str, last_name: &str) -> String {
    format!("{department}\0{last_name}\0")
}

impl Person {
    fn key(&self) -> String {
        key(&self.department, self.id)
    }

    fn by_email(&self) -> String {
        email_key(&self.department, &self.email)
    }

    fn by_name(&self) -> String {
        name_key(&self.department, &self.last_name)
    }

    /// Cloned, since an insert takes it.
    fn of(e: &Employee) -> Self {
        let Employee { department, id, first_name, last_name, email, age, salary } = e.clone();
        Self { department, id, first_name, last_name, email, age, salary }
    }
}

fn add(digest: &mut Digest, e: Person) {
    let e = std::hint::black_box(e);
    digest.employee(&e.department, e.id, &e.first_name, &e.last_name, &e.email, e.age, e.salary);
}

static MODELS: LazyLock<Models> = LazyLock::new(|| {
    let mut models = Models::new();
    models.define::<Person>().expect("the model is sound");
    models
});

struct NativeDb(Database<'static>);

impl NativeDb {
    fn open(dir: &Path, _: &Opening) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        Ok(Self(Builder::new().create(&MODELS, dir.join("data.native"))?))
    }
}

impl Engine for NativeDb {
    fn load(&self, staff: &[Employee]) -> Done {
        let txn = self.0.rw_transaction()?;
        for e in staff {
            txn.insert(Person::of(e))?;
        }
        Ok(txn.commit()?)
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.0.r_transaction()?;
            if let Some(found) = txn.get().primary::<Person>(key(&e.department, e.id))? {
                add(&mut digest, found);
            }
        }
        Ok(digest)
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.0.r_transaction()?;
            let key = email_key(&e.department, &e.email);
            if let Some(found) = txn.get().secondary::<Person>(PersonKey::by_email, key)? {
                add(&mut digest, found);
            }
        }
        Ok(digest)
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.0.r_transaction()?;
            let scan = txn.scan().secondary::<Person>(PersonKey::by_name)?;
            for found in scan.start_with(name_key(&e.department, &e.last_name))? {
                add(&mut digest, found?);
            }
        }
        Ok(digest)
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let txn = self.0.r_transaction()?;
            let scan = txn.scan().primary::<Person>()?;
            for found in scan.range(key(&e.department, e.id)..key(&e.department, e.id + count))? {
                add(&mut digest, found?);
            }
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        for found in self.0.r_transaction()?.scan().primary::<Person>()?.all()? {
            add(&mut digest, found?);
        }
        Ok(digest)
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        let txn = self.0.rw_transaction()?;
        let old: Person =
            txn.get().primary(key(&who.department, who.id))?.ok_or("there is no such employee")?;
        let new = Person { email: email.to_owned(), ..old.clone() };
        txn.update(old, new)?;
        Ok(txn.commit()?)
    }

    fn delete(&self, who: &Employee) -> Done {
        let txn = self.0.rw_transaction()?;
        let old: Person =
            txn.get().primary(key(&who.department, who.id))?.ok_or("there is no such employee")?;
        txn.remove(old)?;
        Ok(txn.commit()?)
    }

    fn clear(&self) -> Done {
        let txn = self.0.rw_transaction()?;
        txn.drain().primary::<Person>()?;
        Ok(txn.commit()?)
    }
}
