//! The floor: table-core's rows written by hand on heed, with nothing that could be left out.
//!
//! One database. Key `department 0x00 row key`, value postcard. The employee and two whole copies of it are rows of
//! the department, and a row does not store what its key gives back. No checksums, no timestamps, no versions, no
//! property names, no limits checked, no group commit.

use std::ops::Bound;
use std::path::Path;

use heed::{PutFlags, RoTxn, RwTxn};
use serde::{Deserialize, Serialize};

use super::Employee;
use super::engine::{Answer, Done, Engine, Maker, Opening};
use super::lmdb::{Data, END, KeyBuffer, Lmdb, digits, id_of, split};
use crate::{Digest, Result};

/// Owned values.
pub(crate) const MAKER: Maker = Maker {
    name: "floor",
    what: "heed by hand: the same rows as table-core's in one database, postcard values, no checksums, owned values",
    sync: "durable: LMDB's default (two flushes a commit); lax: `NO_SYNC`",
    threads: false,
    reads_only: false,
    open: |dir, opening| Ok(Box::new(Floor::<false>::open(dir, opening)?)),
};

/// Texts seen in place.
pub(crate) const BORROWED: Maker = Maker {
    name: "floor-borrowed",
    what: "the floor, texts not copied out",
    sync: "as `floor`",
    threads: false,
    reads_only: true,
    open: |dir, opening| Ok(Box::new(Floor::<true>::open(dir, opening)?)),
};

struct Floor<const BORROWED: bool> {
    lmdb: Lmdb<1>,
}

/// The value of the employee's own row.
#[derive(Serialize, Deserialize)]
struct Own<'a> {
    first_name: &'a str,
    last_name: &'a str,
    email: &'a str,
    age: i32,
    salary: f64,
}

/// The value of the copy under `email_{email}`.
#[derive(Serialize, Deserialize)]
struct ByEmail<'a> {
    id: u32,
    first_name: &'a str,
    last_name: &'a str,
    age: i32,
    salary: f64,
}

/// The value of the copy under `name_{last_name}_{id:08}`.
#[derive(Serialize, Deserialize)]
struct ByName<'a> {
    first_name: &'a str,
    email: &'a str,
    age: i32,
    salary: f64,
}

fn own(e: &Employee) -> Own<'_> {
    Own { first_name: &e.first_name, last_name: &e.last_name, email: &e.email, age: e.age, salary: e.salary }
}

/// A whole employee whose texts lie in the map.
struct Seen<'a> {
    department: &'a str,
    id: u32,
    first_name: &'a str,
    last_name: &'a str,
    email: &'a str,
    age: i32,
    salary: f64,
}

impl Seen<'_> {
    fn to_employee(&self) -> Employee {
        Employee {
            department: self.department.to_owned(),
            id: self.id,
            first_name: self.first_name.to_owned(),
            last_name: self.last_name.to_owned(),
            email: self.email.to_owned(),
            age: self.age,
            salary: self.salary,
        }
    }
}

impl<const BORROWED: bool> Floor<BORROWED> {
    fn open(dir: &Path, opening: &Opening) -> Result<Self> {
        Ok(Self { lmdb: Lmdb::open(dir, opening, ["Company"])? })
    }

    fn data(&self) -> Data {
        let [data] = self.lmdb.databases;
        data
    }

    fn add(digest: &mut Digest, seen: &Seen<'_>) {
        let add = |digest: &mut Digest, e: &Seen<'_>| {
            digest.employee(e.department, e.id, e.first_name, e.last_name, e.email, e.age, e.salary);
        };
        if BORROWED {
            return add(digest, seen);
        }
        let e = std::hint::black_box(seen.to_employee());
        digest.employee(&e.department, e.id, &e.first_name, &e.last_name, &e.email, e.age, e.salary);
    }

    fn put(&self, txn: &mut RwTxn<'_>, e: &Employee, key: &mut KeyBuffer, flags: PutFlags) -> Done {
        let (department, id) = (e.department.as_bytes(), digits(e.id));
        let value = postcard::to_allocvec(&own(e))?;
        let row = key.of(&[department, &[END], b"empid_", &id]);
        self.data().put_with_flags(txn, flags, row, &value)?;
        self.put_by_name(txn, e, key, flags)?;
        self.put_by_email(txn, e, key)
    }

    /// Fails if another employee has the address.
    fn put_by_email(&self, txn: &mut RwTxn<'_>, e: &Employee, key: &mut KeyBuffer) -> Done {
        let value = postcard::to_allocvec(&ByEmail {
            id: e.id,
            first_name: &e.first_name,
            last_name: &e.last_name,
            age: e.age,
            salary: e.salary,
        })?;
        let row = key.of(&[e.department.as_bytes(), &[END], b"email_", e.email.as_bytes()]);
        Ok(self.data().put_with_flags(txn, PutFlags::NO_OVERWRITE, row, &value)?)
    }

    fn put_by_name(&self, txn: &mut RwTxn<'_>, e: &Employee, key: &mut KeyBuffer, flags: PutFlags) -> Done {
        let copy = ByName { first_name: &e.first_name, email: &e.email, age: e.age, salary: e.salary };
        let value = postcard::to_allocvec(&copy)?;
        let (name, id) = (e.last_name.as_bytes(), digits(e.id));
        let row = key.of(&[e.department.as_bytes(), &[END], b"name_", name, b"_", &id]);
        Ok(self.data().put_with_flags(txn, flags, row, &value)?)
    }

    fn read(&self, txn: &RoTxn<'_>, who: &Employee, key: &mut KeyBuffer) -> Result<Employee> {
        let row = key.of(&[who.department.as_bytes(), &[END], b"empid_", &digits(who.id)]);
        let value = self.data().get(txn, row)?.ok_or("there is no such employee")?;
        let Own { first_name, last_name, email, age, salary } = postcard::from_bytes(value)?;
        let seen =
            Seen { department: &who.department, id: who.id, first_name, last_name, email, age, salary };
        Ok(seen.to_employee())
    }

    /// The employees' own rows from a key up to another.
    fn walk(&self, txn: &RoTxn<'_>, digest: &mut Digest, from: &[u8], to: &[u8]) -> Done {
        for row in self.data().range(txn, &(Bound::Included(from), Bound::Excluded(to)))? {
            let (key, value) = row?;
            let (department, row) = split(key, END)?;
            let id = id_of(row.strip_prefix(b"empid_").ok_or("a row is of another kind")?)?;
            let Own { first_name, last_name, email, age, salary } = postcard::from_bytes(value)?;
            Self::add(digest, &Seen { department, id, first_name, last_name, email, age, salary });
        }
        Ok(())
    }
}

impl<const BORROWED: bool> Engine for Floor<BORROWED> {
    fn load(&self, staff: &[Employee]) -> Done {
        let mut key = KeyBuffer::default();
        let mut txn = self.lmdb.env.write_txn()?;
        for e in staff {
            self.put(&mut txn, e, &mut key, PutFlags::NO_OVERWRITE)?;
        }
        Ok(txn.commit()?)
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        let (mut digest, mut key) = (Digest::default(), KeyBuffer::default());
        for e in asked {
            let txn = self.lmdb.env.read_txn()?;
            let row = key.of(&[e.department.as_bytes(), &[END], b"empid_", &digits(e.id)]);
            if let Some(value) = self.data().get(&txn, row)? {
                let Own { first_name, last_name, email, age, salary } = postcard::from_bytes(value)?;
                let (department, id) = (e.department.as_str(), e.id);
                Self::add(&mut digest, &Seen { department, id, first_name, last_name, email, age, salary });
            }
        }
        Ok(digest)
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        let (mut digest, mut key) = (Digest::default(), KeyBuffer::default());
        for e in asked {
            let txn = self.lmdb.env.read_txn()?;
            let row = key.of(&[e.department.as_bytes(), &[END], b"email_", e.email.as_bytes()]);
            if let Some(value) = self.data().get(&txn, row)? {
                let ByEmail { id, first_name, last_name, age, salary } = postcard::from_bytes(value)?;
                let (department, email) = (e.department.as_str(), e.email.as_str());
                Self::add(&mut digest, &Seen { department, id, first_name, last_name, email, age, salary });
            }
        }
        Ok(digest)
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        let (mut digest, mut key) = (Digest::default(), KeyBuffer::default());
        for e in asked {
            let txn = self.lmdb.env.read_txn()?;
            let start = key.of(&[e.department.as_bytes(), &[END], b"name_", e.last_name.as_bytes(), b"_"]);
            for row in self.data().prefix_iter(&txn, start)? {
                let (key, value) = row?;
                let (department, row) = split(key, END)?;
                let row = row.strip_prefix(b"name_").ok_or("a row is of another kind")?;
                let (last_name, id) = split(row, b'_')?;
                let id = id_of(id)?;
                let ByName { first_name, email, age, salary } = postcard::from_bytes(value)?;
                Self::add(&mut digest, &Seen { department, id, first_name, last_name, email, age, salary });
            }
        }
        Ok(digest)
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        let mut digest = Digest::default();
        let (mut from, mut to) = (KeyBuffer::default(), KeyBuffer::default());
        for e in asked {
            let txn = self.lmdb.env.read_txn()?;
            let department = e.department.as_bytes();
            let from = from.of(&[department, &[END], b"empid_", &digits(e.id)]);
            let to = to.of(&[department, &[END], b"empid_", &digits(e.id + count)]);
            self.walk(&txn, &mut digest, from, to)?;
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        let (mut from, mut to) = (KeyBuffer::default(), KeyBuffer::default());
        let txn = self.lmdb.env.read_txn()?;
        for number in 0..super::employee::DEPARTMENTS {
            let department = super::employee::department(number);
            let from = from.of(&[department.as_bytes(), &[END], b"empid_"]);
            let to = to.of(&[department.as_bytes(), &[END], b"empid`"]);
            self.walk(&txn, &mut digest, from, to)?;
        }
        Ok(digest)
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        let mut key = KeyBuffer::default();
        let mut txn = self.lmdb.env.write_txn()?;
        let old = self.read(&txn, who, &mut key)?;
        let row = key.of(&[who.department.as_bytes(), &[END], b"email_", old.email.as_bytes()]);
        self.data().delete(&mut txn, row)?;
        let new = Employee { email: email.to_owned(), ..old };
        self.put(&mut txn, &new, &mut key, PutFlags::empty())?;
        Ok(txn.commit()?)
    }

    fn delete(&self, who: &Employee) -> Done {
        let mut key = KeyBuffer::default();
        let mut txn = self.lmdb.env.write_txn()?;
        let old = self.read(&txn, who, &mut key)?;
        let (department, id) = (who.department.as_bytes(), digits(who.id));
        for row in [
            &[b"empid_", &id[..], b"", b""],
            &[b"email_", old.email.as_bytes(), b"", b""],
            &[&b"name_"[..], old.last_name.as_bytes(), b"_", &id],
        ] {
            let [a, b, c, d] = row;
            self.data().delete(&mut txn, key.of(&[department, &[END], a, b, c, d]))?;
        }
        Ok(txn.commit()?)
    }

    fn clear(&self) -> Done {
        let mut txn = self.lmdb.env.write_txn()?;
        self.data().clear(&mut txn)?;
        Ok(txn.commit()?)
    }
}
