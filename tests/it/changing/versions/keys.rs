//! Versions in which entities have other keys.

use integration_tests::Scratch;
use table_core::{Entity, ErrorKind, IfMatch, Tables};

use super::{EmployeeV1, filled, first, v1};

/// Its key says all that the former one says, in another partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
#[key(partition = "{country}", row = "e_{department}_{id:08}")]
#[index(by_email, row = "email_{email}_{department}_{id:08}")]
struct Employee {
    country: String,
    department: String,
    id: u32,
    name: String,
    age: u32,
    email: String,
}

impl From<EmployeeV1> for Employee {
    fn from(former: EmployeeV1) -> Self {
        let EmployeeV1 { department, id, name, age, email } = former;
        let country = if id % 3 == 0 { "DE" } else { "FR" }.to_owned();
        Self { country, department, id, name, age, email }
    }
}

/// Its key does not tell the former one.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
#[key(partition = "{department}", row = "mail_of_{email}")]
struct Mailed {
    department: String,
    email: String,
}

impl From<EmployeeV1> for Mailed {
    fn from(former: EmployeeV1) -> Self {
        let (department, email) = (former.department, former.email);
        Self { department, email: email.rsplit('_').next().unwrap_or_default().to_owned() }
    }
}

/// Its template is the same, and the key is not.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Renumbered {
    department: String,
    id: u32,
}

impl From<EmployeeV1> for Renumbered {
    fn from(former: EmployeeV1) -> Self {
        Self { department: former.department, id: former.id + 1 }
    }
}

fn now(id: u32) -> Employee {
    let v1::Employee { department, id, name, age, email } = first(id);
    let country = if id % 3 == 0 { "DE" } else { "FR" }.to_owned();
    Employee { country, department, id, name, age, email }
}

fn key(id: u32) -> table_core::Key<Employee> {
    table_core::Key::of(&now(id))
}

fn assert_pending<T: std::fmt::Debug>(found: table_core::Result<T>) {
    let error = found.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MigrationPending, "{error}");
}

/// What is to hold while rows are moved: whatever has an answer has the right one.
fn assert_served(store: &Tables, many: u32) {
    let staff = store.table::<Employee>().unwrap();
    let snapshot = store.snapshot().unwrap();
    for id in (0..many).step_by(97) {
        assert_eq!(staff.get(key(id)).unwrap().unwrap(), now(id));
        assert_eq!(staff.at(&snapshot).get(key(id)).unwrap().unwrap(), now(id));
    }
    assert_eq!(staff.get(key(many)).unwrap(), None);
    // One of this number is in another country.
    assert_eq!(staff.get(Employee::key("DE", "Sales", 1)).unwrap(), None);
    assert_pending(staff.all().count());
    assert_pending(staff.rows().country("DE").into_iter().next().unwrap());
    assert_pending(staff.at(&snapshot).rows().country("DE").page(10, None));
    assert_pending(staff.by_email().country("DE").count());
    assert_pending(staff.update(key(1), |e| e.age = 4));
    assert_pending(staff.insert(&now(many)));
    assert_pending(staff.delete(key(1)));
}

#[test]
fn one_is_read_by_its_new_key_wherever_it_is_and_all_else_waits() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 1_200);
    let staff = store.table::<Employee>().unwrap();
    let migration = store.migration::<Employee>().unwrap();
    assert!(!migration.writes_meanwhile() && migration.to_string().contains("none is written"));
    assert_served(&store, 1_200);
    let before = store.snapshot().unwrap();
    let mut job = migration.steps().unwrap();
    let mut steps = 0;
    while store.migration::<Employee>().unwrap().from().is_some() {
        assert_served(&store, 1_200);
        job.step().unwrap();
        steps += 1;
    }
    assert!(steps > 6, "{steps}");
    job.run().unwrap();
    assert_eq!(staff.all().count().unwrap(), 1_200);
    assert_eq!(staff.rows().country("DE").count().unwrap(), 400);
    assert_eq!(staff.by_email().country("FR").email("7@contoso.com").count().unwrap(), 1);
    staff.update(key(1), |e| e.age = 4).unwrap();
    assert!(staff.check().unwrap().is_sound());
    integration_tests::assert_sound(&store);
    // What a snapshot of before sees is as it was: nothing is there where it is looked for.
    assert_pending(staff.at(&before).rows().country("DE").page(10, None));
    assert_eq!(staff.at(&before).get(key(5)).unwrap().unwrap(), now(5));
}

#[test]
fn a_key_that_does_not_tell_the_former_one_waits() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 30);
    let mailed = store.table::<Mailed>().unwrap();
    let get = || mailed.get(Mailed::key("Sales", "7@contoso.com"));
    assert_pending(get());
    let job = store.migration::<Mailed>().unwrap().steps().unwrap();
    assert_pending(get());
    job.run().unwrap();
    assert_eq!(get().unwrap().unwrap().email, "7@contoso.com");
    assert_eq!(mailed.all().count().unwrap(), 30);
}

#[test]
fn two_that_come_to_have_one_key_stop_it() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 30);
    let older = store.table::<v1::Employee>().unwrap();
    older.update(v1::Employee::key("Sales", 20), |e| e.email = "a_3@contoso.com".into()).unwrap();
    for _ in 0..2 {
        let error = store.migration::<Mailed>().unwrap().run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotConverted, "{error}");
        assert!(error.to_string().contains("empid_000020"), "{error}");
    }
    // No typed write is possible before all is moved: the row is written as what it is.
    let company = store.dynamic_table("Company").unwrap();
    let change = table_core::DynamicEntity::new("Sales", "empid_000020").with("Email", "20@contoso.com");
    assert_eq!(company.merge(&change, IfMatch::Any).unwrap_err().kind(), ErrorKind::DeclaredKind);
    company.raw().merge(&change, IfMatch::Any).unwrap();
    store.migration::<Mailed>().unwrap().run().unwrap();
    assert_eq!(store.table::<Mailed>().unwrap().all().count().unwrap(), 30);
}

#[test]
fn a_conversion_that_changes_a_key_behind_its_template_is_refused() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 3);
    let staff = store.table::<Renumbered>().unwrap();
    let error = staff.get(Renumbered::key("Sales", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotConverted, "{error}");
    assert!(error.to_string().contains("keeps its key"), "{error}");
    assert_eq!(staff.all().into_iter().filter(Result::is_err).count(), 3);
    let error = store.migration::<Renumbered>().unwrap().run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotConverted, "{error}");
}

integration_tests::on_executors_with_jobs! {
    a_key_that_does_not_tell_the_former_one_waits
    two_that_come_to_have_one_key_stop_it
    a_conversion_that_changes_a_key_behind_its_template_is_refused
}

integration_tests::on_azure! {
    a_key_that_does_not_tell_the_former_one_waits
    a_conversion_that_changes_a_key_behind_its_template_is_refused
}

// A call that is awaited reads what is there now, and so do calls that are run as such.
#[cfg(feature = "postgres")]
mod blocking_on_postgres {
    use integration_tests::executors::Executor;

    #[test]
    fn one_is_read_by_its_new_key_wherever_it_is_and_all_else_waits() {
        Executor::Postgres.run(super::one_is_read_by_its_new_key_wherever_it_is_and_all_else_waits);
    }
}
