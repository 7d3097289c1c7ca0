//! Entities of declared kinds, written by their properties without their struct: what it has beside them is kept.

mod batches;
mod noted;
mod random;
mod refusals;
mod sealed;
mod shapes;
mod transactions;
mod values;

use integration_tests::executors::Executor;
use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, DynamicTable, Entity, ErrorKind, IfMatch, KeyPart, Query, Table, Tables};

/// The kinds of employment.
#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
pub(crate) enum Contract {
    Fixed,
    Open,
}

/// An employee with a row of each sort that a layout says all of.
#[expect(clippy::duplicated_attributes, reason = "each index says for itself what it is")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_contract, row = "contract_{contract}_{id:06}", copy = keys)]
#[index(by_desk, partition = "desks", row = "desk_{desk:05}", copy(email), unique, atomic)]
#[index(
    by_name,
    table = "Names",
    partition = "name_{last_name}",
    row = "{department}_{id:06}",
    copy(email, age),
    atomic
)]
#[index_list(by_last_name, row = "last_{last_name}", of = id)]
#[index_list(by_age, table = "Ages", partition = "all", row = "age_{age}", of(department, id), atomic)]
#[summarized_in(Payroll, Age)]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) email: String,
    pub(crate) last_name: String,
    pub(crate) contract: Contract,
    pub(crate) desk: Option<u16>,
    pub(crate) age: u8,
    pub(crate) salary: i64,
    pub(crate) bonus: Option<i32>,
    #[property(json)]
    pub(crate) skills: Vec<String>,
    #[property(default)]
    pub(crate) rank: i32,
    #[series]
    pub(crate) hours: [Option<u8>; 3],
}

/// What a department pays.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "payroll")]
#[key(partition = "{department}", row = "payroll")]
#[summary(of = Employee)]
pub(crate) struct Payroll {
    pub(crate) department: String,
    #[summary(count)]
    pub(crate) employees: u64,
    #[summary(sum = salary)]
    pub(crate) salaries: i64,
    #[summary(sum = bonus)]
    pub(crate) bonuses: i64,
}

/// Those of one age, in a table of its own.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ages", kind = "age")]
#[key(partition = "sums", row = "age_{age:03}")]
#[summary(of = Employee, atomic)]
pub(crate) struct Age {
    pub(crate) age: u8,
    #[summary(count)]
    pub(crate) employees: u64,
}

pub(crate) fn employee(department: &str, id: u32) -> Employee {
    Employee {
        department: department.into(),
        id,
        email: format!("{department}{id}@contoso.com"),
        last_name: format!("n{}", id % 2),
        contract: Contract::Open,
        desk: u16::try_from(id).ok(),
        age: 30,
        salary: 100,
        bonus: None,
        skills: vec!["a".into()],
        rank: 1,
        hours: [Some(8), None, Some(7)],
    }
}

/// An employee by the properties.
pub(crate) fn dynamic(of: &Employee) -> DynamicEntity {
    let contract = match of.contract {
        Contract::Fixed => "Fixed",
        Contract::Open => "Open",
    };
    let skills: Vec<_> = of.skills.iter().map(|skill| format!("\"{skill}\"")).collect();
    let mut entity = DynamicEntity::new(&*of.department, format!("empid_{:06}", of.id))
        .with("EntityType", "employee")
        .with("Email", &*of.email)
        .with("LastName", &*of.last_name)
        .with("Contract", contract)
        .with("Age", i32::from(of.age))
        .with("Salary", of.salary)
        .with("Skills", format!("[{}]", skills.join(",")))
        .with("Rank", of.rank);
    for (name, value) in [("Desk", of.desk.map(i32::from)), ("Bonus", of.bonus)] {
        if let Some(value) = value {
            entity.set(name, value);
        }
    }
    for (slot, hours) in of.hours.iter().enumerate() {
        if let Some(hours) = hours {
            entity.set(&format!("Hours_{slot:02}"), i32::from(*hours));
        }
    }
    entity
}

/// Every row of the store's tables.
pub(crate) fn seen(store: &Tables) -> Vec<(String, DynamicEntity)> {
    let mut seen = Vec::new();
    for name in store.tables().unwrap() {
        for row in store.dynamic_table(&name).unwrap().query(&Query::new()).unwrap() {
            seen.push((name.clone(), row.unwrap()));
        }
    }
    seen
}

/// Makes sure that two stores have the same rows.
pub(crate) fn assert_same(one: &Tables, other: &Tables) {
    let plain = |(table, row): (String, DynamicEntity)| {
        let properties: Vec<_> =
            row.properties().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        (table, row.partition_key().to_owned(), row.row_key().to_owned(), properties)
    };
    let sorted = |store: &Tables| {
        let mut rows: Vec<_> = seen(store).into_iter().map(plain).collect();
        rows.iter_mut().for_each(|(.., properties)| properties.sort_by(|a, b| a.0.cmp(&b.0)));
        rows
    };
    pretty(&sorted(one), &sorted(other));
}

fn pretty<T: std::fmt::Debug + PartialEq>(one: &[T], other: &[T]) {
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one, other);
    }
    assert_eq!(one.len(), other.len(), "{:#?}", one.get(other.len()..).or(other.get(one.len()..)));
}

/// A store in which the layout of employees is noted, and which holds none.
pub(crate) fn company(scratch: &Scratch) -> (Tables, Table<Employee>, DynamicTable) {
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    staff.note_kind().unwrap();
    // A handle that knows nothing of the struct.
    let table = store.dynamic_table("Company").unwrap();
    (store, staff, table)
}

pub(crate) const EXECUTORS: [Executor; 2] = [Executor::Lmdb, Executor::Map];

#[test]
fn an_entity_comes_changes_and_goes_with_all_that_is_derived_of_it() {
    for executor in EXECUTORS {
        executor.run(|| {
            let (here, there) = (Scratch::new(), Scratch::new());
            let ((store, staff, table), (typed, other, _)) = (company(&here), company(&there));
            let jun = employee("Sales", 7);
            let first = table.insert(&dynamic(&jun)).unwrap();
            other.insert(&jun).unwrap();
            assert_same(&store, &typed);
            assert_eq!(*staff.get(Employee::key("Sales", 7)).unwrap().unwrap(), jun);

            let error = table.insert(&dynamic(&jun)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::EntityAlreadyExists, "{error}");
            assert_eq!((error.table_name(), error.row_key()), (Some("Company"), Some("empid_000007")));

            // The copies follow, and what is summed up.
            let change = DynamicEntity::new("Sales", "empid_000007")
                .with("Email", "jun@contoso.com")
                .with("LastName", "Cao")
                .with("Age", 31_i64)
                .with("Salary", 120);
            let second = table.merge(&change, first).unwrap();
            other
                .update(Employee::key("Sales", 7), |jun| {
                    jun.email = "jun@contoso.com".into();
                    jun.last_name = "Cao".into();
                    jun.age = 31;
                    jun.salary = 120;
                })
                .unwrap();
            assert_same(&store, &typed);
            let error = table.merge(&change, first).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConditionNotMet, "{error}");

            let bare = Employee { desk: None, hours: [None; 3], ..employee("Sales", 7) };
            let third = table.replace(&dynamic(&bare), second).unwrap();
            other.replace(&bare, IfMatch::Any).unwrap();
            assert_same(&store, &typed);

            let error = table.delete_if("Sales", "empid_000007", second).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConditionNotMet, "{error}");
            table.delete_if("Sales", "empid_000007", third).unwrap();
            other.delete(Employee::key("Sales", 7)).unwrap();
            assert_same(&store, &typed);
            assert!(seen(&store).is_empty());
            for missing in [
                table.merge(&dynamic(&jun), IfMatch::Any).map(drop),
                table.replace(&dynamic(&jun), IfMatch::Any).map(drop),
                table.delete("Sales", "empid_000007"),
            ] {
                assert_eq!(missing.unwrap_err().kind(), ErrorKind::EntityNotFound);
            }

            table.put(&dynamic(&jun)).unwrap();
            table.put(&dynamic(&bare)).unwrap();
            table.insert_or_merge(&change).unwrap();
            table.insert_or_merge(&dynamic(&employee("Sales", 8))).unwrap();
            let both = [
                Employee {
                    email: "jun@contoso.com".into(),
                    last_name: "Cao".into(),
                    age: 31,
                    salary: 120,
                    ..bare
                },
                employee("Sales", 8),
            ];
            for one in &both {
                other.put(one).unwrap();
            }
            assert_same(&store, &typed);
            assert_sound(&store);
            assert!(staff.check().map_or(true, |report| report.is_sound()));
        });
    }
}

#[test]
fn what_is_unique_stays_so() {
    for executor in EXECUTORS {
        executor.run(|| {
            let scratch = Scratch::new();
            let (store, _, table) = company(&scratch);
            table.insert(&dynamic(&employee("Sales", 1))).unwrap();
            let before = seen(&store);
            let same_mail = Employee { email: "Sales1@contoso.com".into(), ..employee("Sales", 2) };
            let same_desk = Employee { desk: Some(1), ..employee("Legal", 3) };
            for taken in [same_mail, same_desk] {
                let error = table.insert(&dynamic(&taken)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
                assert_eq!(seen(&store), before);
            }
            assert_sound(&store);
        });
    }
}

/// Another process, or the next one, that never had the struct.
#[test]
fn a_program_without_the_struct_plans_by_what_is_noted() {
    let scratch = Scratch::new();
    drop(company(&scratch));
    let store = scratch.tables();
    let table = store.dynamic_table("Company").unwrap();
    table.insert(&dynamic(&employee("Sales", 1))).unwrap();
    drop((store, table));
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(
        *staff.get(Employee::by_email("Sales", "Sales1@contoso.com")).unwrap().unwrap(),
        employee("Sales", 1)
    );
    assert_eq!(store.table::<Payroll>().unwrap().get(Payroll::key("Sales")).unwrap().unwrap().employees, 1);
    assert_sound(&store);
}

/// An index that comes and goes while rows are written without the struct.
#[test]
fn states_of_indexes_are_kept_to() {
    let scratch = Scratch::new();
    let (store, staff, table) = company(&scratch);
    for id in 1..4 {
        table.insert(&dynamic(&employee("Sales", id))).unwrap();
    }
    // All that was in it is gone, and it is to be made anew.
    store.drop_table("Names").unwrap();
    let staff_again = store.table::<Employee>().unwrap();
    table.insert(&dynamic(&employee("Sales", 4))).unwrap();
    table.merge(&DynamicEntity::new("Sales", "empid_000001").with("LastName", "Cao"), IfMatch::Any).unwrap();
    table.delete("Sales", "empid_000002").unwrap();
    staff_again.rebuild().unwrap().run().unwrap();
    assert_eq!(staff_again.by_name().across_partitions().count().unwrap(), 3);
    // It goes for good, by a job.
    let job = staff_again.drop_index("by_contract").unwrap();
    job.run().unwrap();
    table.insert(&dynamic(&employee("Sales", 5))).unwrap();
    let copies =
        |store: &Tables| seen(store).iter().filter(|(_, row)| row.row_key().starts_with("contract_")).count();
    assert_eq!(copies(&store), 0);
    drop(staff);
    assert_sound(&store);
}
