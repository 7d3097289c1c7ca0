//! The job that converts: step by step, resumed by others, and taken over by a still later version.

use integration_tests::Scratch;
use table_core::{Entity, ErrorKind};

use super::v2::Employee;
use super::{assert_converted, filled, key, second};

/// The second release, once there is a third.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(kind = "employee", version = 2, former, from = super::EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct EmployeeV2 {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    age: u8,
    email: String,
    #[property(default = 1)]
    level: i32,
}

impl TryFrom<super::EmployeeV1> for EmployeeV2 {
    type Error = String;

    fn try_from(former: super::EmployeeV1) -> Result<Self, String> {
        let Employee { department, id, first_name, last_name, age, email, level } =
            Employee::try_from(former)?;
        Ok(Self { department, id, first_name, last_name, age, email, level })
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee", version = 3, from = EmployeeV2)]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_initials, row = "initials_{initials}_{id:06}")]
struct Third {
    department: String,
    id: u32,
    initials: String,
    level: i64,
}

impl From<EmployeeV2> for Third {
    fn from(former: EmployeeV2) -> Self {
        let first = |name: &str| name.chars().next().unwrap_or('-');
        let initials = format!("{}{}", first(&former.first_name), first(&former.last_name));
        Self { department: former.department, id: former.id, initials, level: i64::from(former.level) }
    }
}

fn third(id: u32) -> Third {
    Third { department: "Sales".into(), id, initials: "JC".into(), level: 1 }
}

#[test]
fn anybody_goes_on_with_what_somebody_has_begun() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 1_300);
    let mut converted = Vec::new();
    // Each handle takes one step, and is dropped.
    for round in 0..100 {
        let migration = store.migration::<Employee>().unwrap();
        let from = migration.from();
        let mut job = migration.steps().unwrap();
        if !job.step().unwrap() {
            break;
        }
        let progress = job.progress().clone();
        if from.is_some() && progress.total > 0 {
            converted.push((progress.done, progress.changed));
        }
        assert!(round < 90);
        let listed = store.jobs().unwrap();
        assert!(listed.iter().all(|job| job.name.contains("employee")), "{listed:?}");
    }
    store.migration::<Employee>().unwrap().run().unwrap();
    // No row was done twice.
    assert!(converted.is_sorted(), "{converted:?}");
    assert_eq!(converted.last().unwrap().1, 1_300);
    assert_converted(&store, 1_300);
}

#[test]
fn a_conversion_that_is_begun_is_not_given_up() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 20);
    let job = store.migration::<Employee>().unwrap().steps().unwrap();
    let error = job.cancel().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("bring the migration to its end"), "{error}");
    store.migration::<Employee>().unwrap().run().unwrap();
    assert_converted(&store, 20);
    // What is given up after it is the index alone.
    store.migration::<Employee>().unwrap().steps().unwrap().cancel().unwrap();
    assert_converted(&store, 20);
}

#[test]
fn two_handles_share_the_work() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 1_000);
    let mut one = store.migration::<Employee>().unwrap().steps().unwrap();
    let mut other = store.migration::<Employee>().unwrap().steps().unwrap();
    let mut more = [true; 2];
    while more.contains(&true) {
        more = [one.step().unwrap(), other.step().unwrap()];
    }
    assert_converted(&store, 1_000);
}

#[test]
fn rows_of_every_version_become_the_last_one() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 1_400);
    // A conversion to the second version is under way when the third release comes.
    let mut job = store.migration::<Employee>().unwrap().steps().unwrap();
    job.step().unwrap();
    job.step().unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&second(2_000)).unwrap();
    let kinds = super::kinds(&store);
    assert!(
        kinds.iter().any(|(kind, _)| kind == "employee")
            && kinds.iter().any(|(kind, _)| kind == "employee@2")
    );

    let thirds = store.table::<Third>().unwrap();
    assert_eq!(thirds.get(Third::key("Sales", 0)).unwrap().unwrap(), third(0));
    assert_eq!(thirds.get(Third::key("Sales", 1_399)).unwrap().unwrap(), third(1_399));
    assert_eq!(thirds.all().filter(|e| e.initials.eq("JC")).count().unwrap(), 1_401);
    let migration = store.migration::<Third>().unwrap();
    assert_eq!((migration.from(), migration.to()), (Some(1), 3));
    let later = migration.steps().unwrap();

    // The second release goes no further.
    for error in [job.step().unwrap_err(), staff.update(key(3), |e| e.age = 1).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
        assert!(error.to_string().contains("version 3"), "{error}");
    }
    thirds.update(Third::key("Sales", 1_398), |e| e.level = 7).unwrap();
    later.run().unwrap();
    assert_eq!(
        super::kinds(&store),
        [("employee@3".to_owned(), 1_401), ("employee@3.by_initials".to_owned(), 1_401)]
    );
    assert_eq!(thirds.get(Third::key("Sales", 1_398)).unwrap().unwrap().level, 7);
    assert_eq!(thirds.by_initials().department("Sales").initials("JC").count().unwrap(), 1_401);
    assert!(thirds.check().unwrap().is_sound() && store.jobs().unwrap().is_empty());
    integration_tests::assert_sound(&store);
}

#[test]
fn a_row_of_a_former_version_that_turns_up_later_is_read_as_well() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 5);
    let company = store.dynamic_table("Company").unwrap();
    let row = company.get("Sales", "empid_000003").unwrap().unwrap();
    store.migration::<Employee>().unwrap().run().unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.delete(key(3)).unwrap();
    // Only by the way that asks nobody.
    assert_eq!(company.insert(&row).unwrap_err().kind(), ErrorKind::DeclaredKind);
    company.raw().insert(&row).unwrap();
    assert_eq!(staff.get(key(3)).unwrap().unwrap(), second(3));
    assert_eq!(staff.all().count().unwrap(), 5);
    staff.update(key(3), |e| e.age = 44).unwrap();
    assert_eq!(staff.get(Employee::by_email("Sales", "3@contoso.com")).unwrap().unwrap().age, 44);
    assert_converted(&store, 5);
}

#[test]
fn what_a_property_was_called_is_written_anew_by_the_migration() {
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{mail}", unique)]
    #[index(by_age, row = "age_{age}_{id:06}", copy(name))]
    struct Renamed {
        department: String,
        id: u32,
        name: String,
        age: u32,
        #[property(was = "Email")]
        mail: String,
    }

    let scratch = Scratch::new();
    let store = filled(&scratch, 700);
    let staff = store.table::<Renamed>().unwrap();
    let migration = store.migration::<Renamed>().unwrap();
    assert!(migration.is_needed() && migration.from().is_none());
    let before = staff.get(Renamed::key("Sales", 9)).unwrap().unwrap();
    let done = migration.run().unwrap();
    assert_eq!(done.changed, 700);
    for row in store.dynamic_table("Company").unwrap().query(&table_core::Query::new()).unwrap() {
        assert!(row.unwrap().get("Email").is_none());
    }
    assert_eq!(staff.get(Renamed::key("Sales", 9)).unwrap().unwrap(), before);
    assert_eq!(store.migration::<Renamed>().unwrap().run().unwrap().changed, 0);
    assert!(staff.check().unwrap().is_sound());
    integration_tests::assert_sound(&store);
}

integration_tests::on_executors_with_jobs! {
    anybody_goes_on_with_what_somebody_has_begun
    a_conversion_that_is_begun_is_not_given_up
    two_handles_share_the_work
    rows_of_every_version_become_the_last_one
    a_row_of_a_former_version_that_turns_up_later_is_read_as_well
    what_a_property_was_called_is_written_anew_by_the_migration
}
