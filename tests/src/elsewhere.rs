//! Entities whose copies lie in other partitions and other tables, and what must be in the store whichever thread wrote.

use std::collections::BTreeMap;

use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Key, Query, Result, Table, Tables};

use crate::random::Random;

/// An employee with a copy in another partition, two in another table, and one beside the entity.
#[expect(clippy::duplicated_attributes, reason = "each index says for itself when its copies come")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, partition = "all", row = "email_{email}", atomic, unique)]
#[index(
    by_name,
    table = "Names",
    partition = "name_{last_name}",
    row = "{department}_{id:06}",
    copy(email),
    atomic
)]
#[index(by_badge, table = "Names", partition = "badges", row = "{badge:05}", copy = keys, when = Employee::is_inside, unique, atomic)]
#[index(by_skill, table = "Skills", partition = "{department}", row = "{skills[]}_{id:06}", copy = keys, as = skill, atomic)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
pub struct Employee {
    /// The partition.
    pub department: String,
    /// The row.
    pub id: u32,
    /// In another table.
    pub last_name: String,
    /// Unique over all departments.
    pub email: String,
    /// Unique over all departments, if the employee has one and is inside.
    pub badge: Option<u32>,
    /// Whether the badge counts.
    pub is_inside: bool,
    /// A row for each, in a table of its own.
    #[property(json)]
    pub skills: Vec<String>,
    /// In the entity's own partition.
    pub age: u32,
}

impl Employee {
    fn is_inside(&self) -> bool {
        self.is_inside
    }
}

/// The partitions of the entities.
pub const DEPARTMENTS: [&str; 3] = ["Legal", "Sales", "all"];

/// An employee with choices by chance, of few values each.
pub fn employee(random: &mut Random) -> Employee {
    let mut below = |end| u32::try_from(random.below(end)).unwrap_or_default();
    let department =
        DEPARTMENTS.get(usize::try_from(below(3)).unwrap_or_default()).copied().unwrap_or_default();
    Employee {
        department: department.into(),
        id: below(5),
        last_name: format!("n{}", below(3)),
        email: format!("e{}", below(14)),
        badge: Some(below(16)).filter(|badge| *badge < 12),
        is_inside: below(2) == 0,
        skills: (0..below(3)).map(|_| format!("s{}", below(4))).collect(),
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
                ];
                assert!(expected.contains(&error.kind()), "{error}");
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
            4 => table.update(key, |found| *found = new.clone()).map(drop),
            5 => table
                .merge(key, Employee::patch().email(new.email.as_str()).badge(new.badge), IfMatch::Any)
                .map(drop),
            6 => table.move_to(key, |found| found.id = other.id).map(drop),
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
                // The two exchange their addresses and badges, in whatever departments they are.
                let (Some(a), Some(b)) = (table.get(Key::of(&new))?, table.get(Key::of(&other))?) else {
                    return Ok(());
                };
                let give = |to: &Employee, of: &Employee| Employee {
                    email: of.email.clone(),
                    badge: of.badge,
                    ..to.clone()
                };
                let (a, b) = (give(&a, &b), give(&b, &a));
                let transaction = self.store.transaction();
                transaction.update(Key::of(&a), |found| found.clone_from(&a)).put(&b).commit().map(drop)
            }
        }
    }
}

/// Every row that an employee implies, written out by hand, with its table.
pub fn implied(employee: &Employee) -> Vec<(&'static str, DynamicEntity)> {
    let Employee { department, id, last_name, email, badge, is_inside, skills, age } = employee;
    let row = |partition: &str, key: String, kind: &str| {
        DynamicEntity::new(partition, key).with("EntityType", kind)
    };
    let rest = |row: DynamicEntity| {
        let row = row
            .with("LastName", last_name.as_str())
            .with("IsInside", *is_inside)
            .with("Age", i64::from(*age));
        let texts: Vec<_> = skills.iter().map(|skill| format!("\"{skill}\"")).collect();
        let row = row.with("Skills", format!("[{}]", texts.join(",")));
        match badge {
            Some(badge) => row.with("Badge", i64::from(*badge)),
            None => row,
        }
    };
    let of = |row: DynamicEntity| row.with("Department", department.as_str()).with("Id", i64::from(*id));
    let own = row(department, format!("empid_{id:06}"), "employee").with("Email", email.as_str());
    let mut rows = vec![
        ("Company", rest(own)),
        ("Company", rest(of(row("all", format!("email_{email}"), "employee.by_email")))),
        ("Company", row(department, format!("age_{age:03}_{id:06}"), "employee.by_age")),
        (
            "Names",
            row(&format!("name_{last_name}"), format!("{department}_{id:06}"), "employee.by_name")
                .with("Email", email.as_str()),
        ),
    ];
    if let (Some(badge), true) = (badge, is_inside) {
        rows.push(("Names", of(row("badges", format!("{badge:05}"), "employee.by_badge"))));
    }
    let mut skills = skills.clone();
    skills.sort();
    skills.dedup();
    for skill in skills {
        rows.push(("Skills", row(department, format!("{skill}_{id:06}"), "employee.by_skill")));
    }
    rows
}

/// Looks at every row of each table: each must be what the employees imply, and none may be missing. Returns the employees.
pub fn check(store: &Tables) -> Result<Vec<Employee>> {
    let table = store.table::<Employee>()?;
    let (mut found, mut expected) = (BTreeMap::new(), BTreeMap::new());
    let at = |table: &str, row: &DynamicEntity| {
        (table.to_owned(), row.partition_key().to_owned(), row.row_key().to_owned())
    };
    let mut employees = Vec::new();
    for name in ["Company", "Names", "Skills"] {
        for row in store.dynamic_table(name)?.query(&Query::new())? {
            let row = row?;
            if row.get("EntityType").and_then(|kind| kind.as_str()) == Some("employee") {
                let id = row.row_key().trim_start_matches("empid_").parse().unwrap_or(u32::MAX);
                let employee = table.get(Employee::key(row.partition_key(), id))?;
                let employee = employee.map(table_core::Stored::into_inner);
                let employee = employee.ok_or(()).unwrap_or_else(|()| panic!("{row:?} is not found"));
                for (table, row) in implied(&employee) {
                    let twice = expected.insert(at(table, &row), row);
                    assert!(twice.is_none(), "two employees have {twice:?}");
                }
                employees.push(employee);
            }
            found.insert(at(name, &row), row);
        }
    }
    for (key, row) in &expected {
        assert_eq!(found.get(key), Some(row), "{key:?}");
    }
    for key in found.keys() {
        assert!(expected.contains_key(key), "{key:?} is nobody's");
    }
    Ok(employees)
}
