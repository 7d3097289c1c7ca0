//! table-core without the derive: rows of named properties, the copies kept by hand. And the same rows by view.

use std::fmt::Write;
use std::path::Path;

use table_core::store::RowView;
use table_core::{DynamicEntity, DynamicTable, IfMatch, Query, Snapshot, Store, Value, ValueRef};

use super::employee::{DEPARTMENTS, department};
use super::engine::{Answer, Done, Engine, Maker, Opening};
use super::{Employee, typed};
use crate::{Digest, Result};

/// Owned entities of any shape.
pub(crate) const MAKER: Maker = Maker {
    name: "dynamic",
    what: "table-core without the derive: `DynamicEntity`, copies kept by hand in batches",
    sync: "as `typed`",
    threads: false,
    reads_only: false,
    open: |dir, opening| Ok(Box::new(Dynamic::open(dir, opening, false)?)),
};

/// Rows seen in place, each asked for every property by name. Typed views are to take this place.
pub(crate) const VIEWS: Maker = Maker {
    name: "views",
    what: "table-core, borrowed: `Snapshot::view` and `views`, every property asked for by name; a snapshot for each call",
    sync: "as `typed`",
    threads: false,
    reads_only: true,
    open: |dir, opening| Ok(Box::new(Dynamic::open(dir, opening, true)?)),
};

struct Dynamic {
    store: Store,
    table: DynamicTable,
    views: bool,
}

/// Row keys and types, and which of its own fields each row's key gives back.
fn rows_of(e: &Employee) -> [DynamicEntity; 3] {
    let rest = |row: DynamicEntity| {
        row.with("FirstName", e.first_name.as_str()).with("Age", e.age).with("Salary", e.salary)
    };
    let new =
        |row: String, kind: &str| rest(DynamicEntity::new(&*e.department, row).with("EntityType", kind));
    [
        new(row_key(e.id), "employee").with("LastName", e.last_name.as_str()).with("Email", e.email.as_str()),
        new(format!("email_{}", e.email), "employee.by_email")
            .with("Id", i64::from(e.id))
            .with("LastName", e.last_name.as_str()),
        new(format!("name_{}_{:08}", e.last_name, e.id), "employee.by_name").with("Email", e.email.as_str()),
    ]
}

fn row_key(id: u32) -> String {
    format!("empid_{id:08}")
}

/// One commit for all: as many batches as a hundred operations each make necessary.
pub(super) fn load(store: &Store, table: &DynamicTable, staff: &[Employee]) -> Done {
    let batches = staff.chunks(33).map(|staff| {
        let department = staff.first().map_or("", |e| e.department.as_str());
        staff.iter().flat_map(rows_of).fold(table.batch(department), table_core::Batch::insert)
    });
    let mut report = store.bulk(batches)?;
    match report.failures.pop() {
        None => Ok(()),
        Some(failure) => Err(failure.error.into()),
    }
}

/// The fields of a row, wherever they lie; `None` where one is missing.
struct Fields<'a> {
    first_name: Option<&'a str>,
    last_name: Option<&'a str>,
    email: Option<&'a str>,
    id: Option<u32>,
    age: Option<i32>,
    salary: Option<f64>,
}

impl<'a> Fields<'a> {
    /// With what the row's key gives back.
    fn of(row: &'a str) -> Self {
        let mut fields =
            Self { first_name: None, last_name: None, email: None, id: None, age: None, salary: None };
        if let Some(id) = row.strip_prefix("empid_") {
            fields.id = id.parse().ok();
        } else if let Some(email) = row.strip_prefix("email_") {
            fields.email = Some(email);
        } else if let Some((name, id)) = row.strip_prefix("name_").and_then(|rest| rest.split_once('_')) {
            (fields.last_name, fields.id) = (Some(name), id.parse().ok());
        }
        fields
    }

    fn set(&mut self, name: &str, value: ValueRef<'a>) {
        match (name, value) {
            ("FirstName", ValueRef::String(text)) => self.first_name = Some(text),
            ("LastName", ValueRef::String(text)) => self.last_name = Some(text),
            ("Email", ValueRef::String(text)) => self.email = Some(text),
            ("Id", ValueRef::Int64(id)) => self.id = u32::try_from(id).ok(),
            ("Age", ValueRef::Int32(age)) => self.age = Some(age),
            ("Salary", ValueRef::Double(salary)) => self.salary = Some(salary),
            _ => {}
        }
    }

    fn add(&self, digest: &mut Digest, department: &str) {
        let Self {
            first_name: Some(first_name),
            last_name: Some(last_name),
            email: Some(email),
            id: Some(id),
            age: Some(age),
            salary: Some(salary),
        } = *self
        else {
            return;
        };
        digest.employee(department, id, first_name, last_name, email, age, salary);
    }
}

fn add(digest: &mut Digest, entity: &DynamicEntity) {
    let mut fields = Fields::of(entity.row_key());
    for (name, value) in entity.properties() {
        fields.set(name, value.as_value_ref());
    }
    fields.add(digest, entity.partition_key());
}

fn add_view(digest: &mut Digest, view: &RowView<'_>) -> Done {
    let (partition, row) = (view.partition_key(), view.row_key());
    let mut fields = Fields::of(&row);
    for property in view.properties() {
        let (name, value) = property?;
        fields.set(name, value);
    }
    fields.add(digest, &partition);
    Ok(())
}

/// The row keys that start so.
fn starting(partition: &str, from: &str, to: &str) -> Query {
    Query::new().partition(partition).rows(from..to)
}

impl Dynamic {
    fn open(dir: &Path, opening: &Opening, views: bool) -> Result<Self> {
        let store = typed::store(dir, opening)?;
        Ok(Self { table: store.create_table_if_missing("Company")?, store, views })
    }

    fn point(&self, digest: &mut Digest, partition: &str, row: &str) -> Done {
        if self.views {
            let snapshot = self.store.snapshot()?;
            if let Some(view) = snapshot.view(&self.table, partition, row)? {
                add_view(digest, &view)?;
            }
        } else if let Some(entity) = self.table.get(partition, row)? {
            add(digest, &entity);
        }
        Ok(())
    }

    fn query(&self, digest: &mut Digest, query: &Query) -> Done {
        if self.views {
            return self.walk(digest, &self.store.snapshot()?, query);
        }
        for entity in self.table.query(query)? {
            add(digest, &entity?);
        }
        Ok(())
    }

    fn walk(&self, digest: &mut Digest, snapshot: &Snapshot, query: &Query) -> Done {
        for view in snapshot.views(&self.table, query)? {
            add_view(digest, &view?)?;
        }
        Ok(())
    }

    /// The row that is there, which must be one.
    fn read(&self, who: &Employee) -> Result<Employee> {
        let row = self.table.get(&who.department, &row_key(who.id))?.ok_or("there is no such employee")?;
        let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Employee {
            department: who.department.clone(),
            id: who.id,
            first_name: text("FirstName"),
            last_name: text("LastName"),
            email: text("Email"),
            age: row.get("Age").and_then(Value::as_i32).unwrap_or(0),
            salary: row.get("Salary").and_then(Value::as_f64).unwrap_or(0.0),
        })
    }
}

impl Engine for Dynamic {
    fn load(&self, staff: &[Employee]) -> Done {
        load(&self.store, &self.table, staff)
    }

    fn insert(&self, employee: &Employee) -> Done {
        let batch = self.table.batch(employee.department.as_str());
        rows_of(employee).into_iter().fold(batch, table_core::Batch::insert).commit()?;
        Ok(())
    }

    fn get(&self, asked: &[Employee]) -> Answer {
        let (mut digest, mut row) = (Digest::default(), String::new());
        for e in asked {
            row.clear();
            write!(row, "empid_{:08}", e.id)?;
            self.point(&mut digest, &e.department, &row)?;
        }
        Ok(digest)
    }

    fn get_by_email(&self, asked: &[Employee]) -> Answer {
        let (mut digest, mut row) = (Digest::default(), String::new());
        for e in asked {
            row.clear();
            row.push_str("email_");
            row.push_str(&e.email);
            self.point(&mut digest, &e.department, &row)?;
        }
        Ok(digest)
    }

    fn list_by_last_name(&self, asked: &[Employee]) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            let (from, to) = (format!("name_{}_", e.last_name), format!("name_{}`", e.last_name));
            self.query(&mut digest, &starting(&e.department, &from, &to))?;
        }
        Ok(digest)
    }

    fn range(&self, asked: &[Employee], count: u32) -> Answer {
        let mut digest = Digest::default();
        for e in asked {
            self.query(&mut digest, &starting(&e.department, &row_key(e.id), &row_key(e.id + count)))?;
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        for number in 0..DEPARTMENTS {
            self.query(&mut digest, &starting(&department(number), "empid_", "empid`"))?;
        }
        Ok(digest)
    }

    fn change_email(&self, who: &Employee, email: &str) -> Done {
        let old = self.read(who)?;
        let new = Employee { email: email.to_owned(), ..old.clone() };
        let [row, by_email, by_name] = rows_of(&new);
        self.table
            .batch(who.department.as_str())
            .replace(row, IfMatch::Any)
            .delete(format!("email_{}", old.email))
            .insert(by_email)
            .replace(by_name, IfMatch::Any)
            .commit()?;
        Ok(())
    }

    fn delete(&self, who: &Employee) -> Done {
        let old = self.read(who)?;
        let batch = self.table.batch(who.department.as_str());
        rows_of(&old).iter().fold(batch, |batch, row| batch.delete(row.row_key())).commit()?;
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
