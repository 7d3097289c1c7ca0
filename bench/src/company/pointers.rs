//! The usual layout written by hand on heed: a database of employees, and one for each index that points into it.

use std::ops::Bound;

use heed::{PutFlags, RoTxn};
use serde::{Deserialize, Serialize};

use super::Employee;
use super::engine::{Answer, Done, Engine, Maker};
use super::lmdb::{END, KeyBuffer, Lmdb, split};
use crate::{Digest, Result};

/// Three databases.
pub(crate) const MAKER: Maker = Maker {
    name: "pointers",
    what: "heed by hand: postcard values, and two databases from index keys to ids; owned values",
    sync: "as `floor`",
    threads: false,
    reads_only: false,
    open: |dir, opening| {
        Ok(Box::new(Pointers { lmdb: Lmdb::open(dir, opening, ["staff", "emails", "names"])? }))
    },
};

struct Pointers {
    lmdb: Lmdb<3>,
}

/// The value of an employee, whose key is `department 0x00 id`.
#[derive(Serialize, Deserialize)]
struct Value<'a> {
    first_name: &'a str,
    last_name: &'a str,
    email: &'a str,
    age: i32,
    salary: f64,
}

fn employee(department: &str, id: u32, value: &[u8]) -> Result<Employee> {
    let Value { first_name, last_name, email, age, salary } = postcard::from_bytes(value)?;
    Ok(Employee {
        department: department.to_owned(),
        id,
        first_name: first_name.to_owned(),
        last_name: last_name.to_owned(),
        email: email.to_owned(),
        age,
        salary,
    })
}

fn value(e: &Employee) -> Result<Vec<u8>> {
    let Employee { first_name, last_name, email, age, salary, .. } = e;
    Ok(postcard::to_allocvec(&Value { first_name, last_name, email, age: *age, salary: *salary })?)
}

fn add(digest: &mut Digest, e: Employee) {
    let e = std::hint::black_box(e);
    digest.employee(&e.department, e.id, &e.first_name, &e.last_name, &e.email, e.age, e.salary);
}

fn id_of(bytes: &[u8]) -> Result<u32> {
    let bytes = bytes.try_into().map_err(|_| "an id has four bytes")?;
    Ok(u32::from_be_bytes(bytes))
}

impl Pointers {
    fn read(&self, txn: &RoTxn<'_>, department: &str, id: u32, key: &mut KeyBuffer) -> Result<Employee> {
        let [staff, ..] = self.lmdb.databases;
        let key = key.of(&[department.as_bytes(), &[END], &id.to_be_bytes()]);
        employee(department, id, staff.get(txn, key)?.ok_or("there is no such employee")?)
    }
}

impl Engine for Pointers {
    fn load(&self, staff: &[Employee]) -> Done {
        let [data, emails, names] = self.lmdb.databases;
        let mut key = KeyBuffer::default();
        let mut txn = self.lmdb.env.write_txn()?;
        for e in staff {
            let (department, id) = (e.department.as_bytes(), e.id.to_be_bytes());
            let new = PutFlags::NO_OVERWRITE;
            data.put_with_flags(&mut txn, new, key.of(&[department, &[END], &id]), &value(e)?)?;
            emails.put_with_flags(&mut txn, new, key.of(&[department, &[END], e.email.as_bytes()]), &id)?;
            let name = key.of(&[department, &[END], e.last_name.as_bytes(), &[END], &id]);
            names.put(&mut txn, name, &[])?;
        }
        Ok(txn.commit()?)
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        let (mut digest, mut key) = (Digest::default(), KeyBuffer::default());
        for e in asked {
            let txn = self.lmdb.env.read_txn()?;
            add(&mut digest, self.read(&txn, &e.department, e.id, &mut key)?);
        }
        Ok(digest)
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        let (mut digest, mut key) = (Digest::default(), KeyBuffer::default());
        let [_, emails, _] = self.lmdb.databases;
        for e in asked {
            let txn = self.lmdb.env.read_txn()?;
            if let Some(id) =
                emails.get(&txn, key.of(&[e.department.as_bytes(), &[END], e.email.as_bytes()]))?
            {
                add(&mut digest, self.read(&txn, &e.department, id_of(id)?, &mut key)?);
            }
        }
        Ok(digest)
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        let (mut start, mut key) = (KeyBuffer::default(), KeyBuffer::default());
        let [.., names] = self.lmdb.databases;
        for e in asked {
            let txn = self.lmdb.env.read_txn()?;
            let start = start.of(&[e.department.as_bytes(), &[END], e.last_name.as_bytes(), &[END]]);
            for row in names.prefix_iter(&txn, start)? {
                let id = id_of(row?.0.get(start.len()..).unwrap_or_default())?;
                add(&mut digest, self.read(&txn, &e.department, id, &mut key)?);
            }
        }
        Ok(digest)
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        let mut digest = Digest::default();
        let (mut from, mut to) = (KeyBuffer::default(), KeyBuffer::default());
        let [staff, ..] = self.lmdb.databases;
        for e in asked {
            let txn = self.lmdb.env.read_txn()?;
            let from = from.of(&[e.department.as_bytes(), &[END], &e.id.to_be_bytes()]);
            let to = to.of(&[e.department.as_bytes(), &[END], &(e.id + count).to_be_bytes()]);
            for row in staff.range(&txn, &(Bound::Included(from), Bound::Excluded(to)))? {
                let (key, value) = row?;
                let (department, id) = split(key, END)?;
                add(&mut digest, employee(department, id_of(id)?, value)?);
            }
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        let [staff, ..] = self.lmdb.databases;
        let txn = self.lmdb.env.read_txn()?;
        for row in staff.iter(&txn)? {
            let (key, value) = row?;
            let (department, id) = split(key, END)?;
            add(&mut digest, employee(department, id_of(id)?, value)?);
        }
        Ok(digest)
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        let [staff, emails, _] = self.lmdb.databases;
        let (department, id) = (who.department.as_bytes(), who.id.to_be_bytes());
        let mut key = KeyBuffer::default();
        let mut txn = self.lmdb.env.write_txn()?;
        let old = self.read(&txn, &who.department, who.id, &mut key)?;
        emails.delete(&mut txn, key.of(&[department, &[END], old.email.as_bytes()]))?;
        let entry = key.of(&[department, &[END], email.as_bytes()]);
        emails.put_with_flags(&mut txn, PutFlags::NO_OVERWRITE, entry, &id)?;
        let new = Employee { email: email.to_owned(), ..old };
        staff.put(&mut txn, key.of(&[department, &[END], &id]), &value(&new)?)?;
        Ok(txn.commit()?)
    }

    fn delete(&self, who: &Employee) -> Done {
        let [staff, emails, names] = self.lmdb.databases;
        let (department, id) = (who.department.as_bytes(), who.id.to_be_bytes());
        let mut key = KeyBuffer::default();
        let mut txn = self.lmdb.env.write_txn()?;
        let old = self.read(&txn, &who.department, who.id, &mut key)?;
        staff.delete(&mut txn, key.of(&[department, &[END], &id]))?;
        emails.delete(&mut txn, key.of(&[department, &[END], old.email.as_bytes()]))?;
        names.delete(&mut txn, key.of(&[department, &[END], old.last_name.as_bytes(), &[END], &id]))?;
        Ok(txn.commit()?)
    }

    fn clear(&self) -> Done {
        let mut txn = self.lmdb.env.write_txn()?;
        for database in self.lmdb.databases {
            database.clear(&mut txn)?;
        }
        Ok(txn.commit()?)
    }
}
