//! Entities whose copies follow them into other partitions and tables, and what must be in the store once all is propagated.

use std::collections::{BTreeMap, BTreeSet};

use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Key, Query, Result, Table, Tables};

use crate::random::Random;
use crate::stops::{self, Texts};

/// An employee with copies that follow into another partition and two other tables, one that comes with the entity into
/// another table, and one beside it; and on lists that follow, in another partition and in another table.
#[expect(clippy::duplicated_attributes, reason = "each index says for itself when its copies come")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, partition = "all", row = "email_{email}_{department}_{id:06}", eventual)]
#[index(
    by_name,
    table = "Names",
    partition = "name_{last_name}",
    row = "{department}_{id:06}",
    copy(email),
    eventual
)]
#[index(by_badge, table = "Names", partition = "badges", row = "{badge:05}_{department}_{id:06}", copy = keys, when = Employee::is_inside, eventual)]
#[index(by_skill, table = "Skills", partition = "{department}", row = "{skills[]}_{id:06}", copy = keys, as = skill, eventual)]
#[index(by_code, table = "Codes", partition = "codes", row = "{code:05}", copy = keys, unique, atomic)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
#[index_list(
    by_surname,
    table = "Names",
    partition = "surnames",
    row = "{last_name}",
    of(department, id),
    eventual
)]
#[index_list(by_talent, partition = "talents", row = "talent_{skills[]}", of(department, id), eventual)]
pub struct Employee {
    /// The partition.
    pub department: String,
    /// The row.
    pub id: u32,
    /// In another table, later.
    pub last_name: String,
    /// In another partition, later.
    pub email: String,
    /// In another table, later, if the employee has one and is inside.
    pub badge: Option<u32>,
    /// Whether the badge counts.
    pub is_inside: bool,
    /// A row for each, in a table of its own, later.
    #[property(json)]
    pub skills: Texts,
    /// Unique over all departments, at once.
    pub code: Option<u32>,
    /// In the entity's own partition.
    pub age: u32,
}

impl Employee {
    fn is_inside(&self) -> bool {
        self.is_inside
    }
}

/// The tables where rows of employees lie.
pub const TABLES: [&str; 4] = ["Company", "Names", "Skills", "Codes"];

/// The partitions of the entities. One is that of a table's copies, too.
pub const DEPARTMENTS: [&str; 3] = ["Legal", "Sales", "all"];

/// An employee with choices by chance, of few values each.
pub fn employee(random: &mut Random) -> Employee {
    let mut below = |end| u32::try_from(random.below(end)).unwrap_or_default();
    let department =
        DEPARTMENTS.get(usize::try_from(below(3)).unwrap_or_default()).copied().unwrap_or_default();
    Employee {
        department: department.into(),
        id: below(4),
        last_name: format!("n{}", below(3)),
        email: format!("e{}", below(3)),
        badge: Some(below(6)).filter(|badge| *badge < 4),
        is_inside: below(2) == 0,
        skills: Texts((0..below(3)).map(|_| format!("s{}", below(4))).collect()),
        code: Some(below(16)).filter(|code| *code < 12),
        age: below(2),
    }
}

/// One who writes: whatever comes to mind, again and again.
#[derive(Debug)]
pub struct Worker {
    store: Tables,
    table: Table<Employee>,
    random: Random,
    /// How many operations succeeded.
    pub done: u64,
}

impl Worker {
    /// A worker with choices of its own.
    pub fn new(store: &Tables, seed: u64) -> Result<Self> {
        Ok(Self { store: store.clone(), table: store.table()?, random: Random::new(seed), done: 0 })
    }

    /// Does one thing, and says whether it was done. Panics if it is refused for a reason that there can't be.
    pub fn step(&mut self) -> bool {
        match self.attempt() {
            Ok(()) => {
                self.done += 1;
                true
            }
            Err(error) => {
                let expected = [
                    ErrorKind::DuplicateRow,
                    ErrorKind::EntityAlreadyExists,
                    ErrorKind::EntityNotFound,
                    ErrorKind::UniqueConflict,
                    ErrorKind::ConditionNotMet,
                    // Another thread drops the tables.
                    ErrorKind::TableNotFound,
                    ErrorKind::IndexBuilding,
                ];
                assert!(expected.contains(&error.kind()), "{error}");
                if error.kind() == ErrorKind::TableNotFound
                    && let Ok(table) = self.store.table()
                {
                    self.table = table;
                }
                false
            }
        }
    }

    fn attempt(&mut self) -> Result<()> {
        let (new, other) = (employee(&mut self.random), employee(&mut self.random));
        let (table, key) = (&self.table, Key::of(&new));
        match self.random.below(10) {
            0 | 1 => table.insert(&new).map(drop),
            2 => table.put(&new).map(drop),
            3 => table.delete(key),
            4 => table
                .update(key, |found| {
                    stops::here();
                    *found = new.clone();
                })
                .map(drop),
            5 => table
                .merge(key, Employee::patch().email(new.email.as_str()).badge(new.badge), IfMatch::Any)
                .map(drop),
            6 => table
                .move_to(key, |found| {
                    stops::here();
                    found.id = other.id;
                })
                .map(drop),
            7 => {
                let Some(found) = table.get(key)? else { return Ok(()) };
                table.replace(&new, table_core::Stored::etag(&found)).map(drop)
            }
            8 => {
                let egt = table.egt(Employee::partition(new.department.as_str()));
                let other = Employee { department: new.department.clone(), ..other };
                egt.put(&new).delete(Key::of(&other)).commit().map(drop)
            }
            _ => {
                let transaction = self.store.transaction();
                transaction.put(&new).delete(Key::of(&other)).commit().map(drop)
            }
        }
    }
}

/// Every row that an employee implies once all is propagated, written out by hand, with its table.
pub fn implied(employee: &Employee) -> Vec<(&'static str, DynamicEntity)> {
    let Employee { department, id, last_name, email, badge, is_inside, skills, code, age } = employee;
    let row = |partition: &str, key: String, kind: &str| {
        DynamicEntity::new(partition, key).with("EntityType", kind)
    };
    let rest = |row: DynamicEntity| {
        let row = row
            .with("LastName", last_name.as_str())
            .with("IsInside", *is_inside)
            .with("Age", i64::from(*age));
        let texts: Vec<_> = skills.0.iter().map(|skill| format!("\"{skill}\"")).collect();
        let row = row.with("Skills", format!("[{}]", texts.join(",")));
        let row = match badge {
            Some(badge) => row.with("Badge", i64::from(*badge)),
            None => row,
        };
        match code {
            Some(code) => row.with("Code", i64::from(*code)),
            None => row,
        }
    };
    let of = |row: DynamicEntity| row.with("Department", department.as_str()).with("Id", i64::from(*id));
    let mut rows = vec![
        (
            "Company",
            rest(row(department, format!("empid_{id:06}"), "employee").with("Email", email.as_str())),
        ),
        ("Company", rest(row("all", format!("email_{email}_{department}_{id:06}"), "employee.by_email"))),
        ("Company", row(department, format!("age_{age:03}_{id:06}"), "employee.by_age")),
        (
            "Names",
            row(&format!("name_{last_name}"), format!("{department}_{id:06}"), "employee.by_name")
                .with("Email", email.as_str()),
        ),
    ];
    if let (Some(badge), true) = (badge, is_inside) {
        rows.push(("Names", row("badges", format!("{badge:05}_{department}_{id:06}"), "employee.by_badge")));
    }
    if let Some(code) = code {
        rows.push(("Codes", of(row("codes", format!("{code:05}"), "employee.by_code"))));
    }
    let mut skills = skills.0.clone();
    skills.sort();
    skills.dedup();
    for skill in skills {
        rows.push(("Skills", row(department, format!("{skill}_{id:06}"), "employee.by_skill")));
    }
    rows
}

/// Every list that an employee is on once all is propagated, with its table, its key and its kind; and by what id.
fn lists(employee: &Employee) -> Vec<(At, &'static str, String)> {
    let Employee { department, id, last_name, skills, .. } = employee;
    let listed = |table: &str, partition: &str, row: &str, kind| {
        ((table.to_owned(), partition.to_owned(), row.to_owned()), kind, format!("{department};{id:06}"))
    };
    let surname = listed("Names", "surnames", last_name, "employee.by_surname");
    let talents = skills
        .0
        .iter()
        .map(|skill| listed("Company", "talents", &format!("talent_{skill}"), "employee.by_talent"));
    std::iter::once(surname).chain(talents).collect()
}

/// A table, a partition and a row.
type At = (String, String, String);

/// Looks at every row of each table once all is propagated: each must be what the employees imply, and none may be missing. A
/// copy is as of its entity's version. Returns the employees.
pub fn check(store: &Tables) -> Result<Vec<Employee>> {
    let table = store.table::<Employee>()?;
    let (mut found, mut expected, mut versions) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let at = |table: &str, row: &DynamicEntity| {
        (table.to_owned(), row.partition_key().to_owned(), row.row_key().to_owned())
    };
    let follows = ["employee.by_email", "employee.by_name", "employee.by_badge", "employee.by_skill"];
    let mut employees = Vec::new();
    let mut listed = BTreeMap::<At, (&str, BTreeSet<String>)>::new();
    for name in TABLES {
        for row in store.dynamic_table(name)?.query(&Query::new())? {
            let row = row?;
            if row.get("EntityType").and_then(|kind| kind.as_str()) == Some("employee") {
                let id = row.row_key().trim_start_matches("empid_").parse().unwrap_or(u32::MAX);
                let employee = table.get(Employee::key(row.partition_key(), id))?;
                let employee = employee.map(table_core::Stored::into_inner);
                let employee = employee.ok_or(()).unwrap_or_else(|()| panic!("{row:?} is not found"));
                for (table, implied) in implied(&employee) {
                    let kind = implied.get("EntityType").and_then(|kind| kind.as_str()).unwrap_or_default();
                    if follows.contains(&kind) {
                        versions.insert(at(table, &implied), row.etag());
                    }
                    let twice = expected.insert(at(table, &implied), implied);
                    assert!(twice.is_none(), "two employees have {twice:?}");
                }
                for (key, kind, id) in lists(&employee) {
                    listed.entry(key).or_insert_with(|| (kind, BTreeSet::new())).1.insert(id);
                }
                employees.push(employee);
            }
            found.insert(at(name, &row), row);
        }
    }
    for (key, (kind, ids)) in listed {
        let ids = ids.into_iter().collect::<Vec<_>>().join(",");
        let row = DynamicEntity::new(&*key.1, &*key.2).with("EntityType", kind).with("Ids", ids);
        expected.insert(key, row);
    }
    for (key, row) in &expected {
        assert_eq!(found.get(key), Some(row), "{key:?}");
    }
    for (key, row) in &found {
        assert!(expected.contains_key(key), "{key:?} is nobody's");
        if let Some(version) = versions.get(key) {
            let time = |etag: Option<table_core::ETag>| etag.map(table_core::ETag::timestamp);
            assert!(time(row.etag()) <= time(*version), "{key:?} is of a version to come");
        }
    }
    Ok(employees)
}
