//! Summaries: rows that count entities of another kind and add up what they hold, kept by every change of those.

mod beside;
mod declared;
mod made;
mod random;

use std::collections::BTreeMap;

use integration_tests::executors::Executor;
use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Tables};

/// Somebody who is paid.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[summarized_in(Payroll, Level)]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) email: String,
    pub(crate) level: u8,
    pub(crate) salary: i64,
    pub(crate) bonus: Option<i32>,
}

fn is_senior(employee: &Employee) -> bool {
    employee.level > 4
}

/// What a department pays, in its partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "payroll")]
#[key(partition = "{department}", row = "payroll")]
#[summary(of = Employee)]
pub(crate) struct Payroll {
    pub(crate) department: String,
    #[summary(count)]
    pub(crate) employees: u64,
    #[summary(count, when = is_senior)]
    pub(crate) seniors: u64,
    #[summary(sum = salary)]
    pub(crate) salaries: i64,
    #[summary(sum = bonus)]
    pub(crate) bonuses: i64,
}

/// Those of one level in all departments, in a table of its own.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Levels", kind = "level")]
#[key(partition = "all", row = "level_{level:03}")]
#[summary(of = Employee, atomic)]
pub(crate) struct Level {
    pub(crate) level: u8,
    #[summary(count)]
    pub(crate) employees: u64,
    #[property(rename = "Paid")]
    #[summary(sum = salary)]
    pub(crate) salaries: i64,
}

pub(crate) fn employee(department: &str, id: u32, level: u8, salary: i64) -> Employee {
    let email = format!("{department}{id}@contoso.com");
    Employee { department: department.into(), id, email, level, salary, bonus: None }
}

/// What the summaries are to say, made of the entities by a plain look.
pub(crate) fn assert_summarized(store: &Tables, staff: &[Employee]) {
    let mut payrolls = BTreeMap::<String, Payroll>::new();
    let mut levels = BTreeMap::<u8, Level>::new();
    for one in staff {
        let department = one.department.clone();
        let payroll = payrolls.entry(department.clone()).or_insert(Payroll {
            department,
            employees: 0,
            seniors: 0,
            salaries: 0,
            bonuses: 0,
        });
        payroll.employees += 1;
        payroll.seniors += u64::from(one.level > 4);
        payroll.salaries += one.salary;
        payroll.bonuses += i64::from(one.bonus.unwrap_or(0));
        let level = levels.entry(one.level).or_insert(Level { level: one.level, employees: 0, salaries: 0 });
        level.employees += 1;
        level.salaries += one.salary;
    }
    let kind = |table: &str, kind: &str| {
        let rows = store.dynamic_table(table).unwrap().query(&Query::new()).unwrap();
        let is_of = |row: &DynamicEntity| row.get("EntityType").and_then(|v| v.as_str()) == Some(kind);
        rows.map(Result::unwrap).filter(is_of).count()
    };
    assert_eq!((kind("Company", "payroll"), kind("Levels", "level")), (payrolls.len(), levels.len()));
    let table = store.table::<Payroll>().unwrap();
    for payroll in payrolls.into_values() {
        let found = table.get(Payroll::key(&*payroll.department)).unwrap().unwrap();
        assert_eq!(*found, payroll);
    }
    let table = store.table::<Level>().unwrap();
    for level in levels.into_values() {
        assert_eq!(*table.get(Level::key(level.level)).unwrap().unwrap(), level);
    }
    let found: Vec<_> = store
        .table::<Employee>()
        .unwrap()
        .rows()
        .across_partitions()
        .into_iter()
        .map(|one| table_core::Stored::into_inner(one.unwrap()))
        .collect();
    let mut wanted = staff.to_vec();
    wanted.sort_by(|a, b| (&a.department, a.id).cmp(&(&b.department, b.id)));
    assert_eq!(found, wanted);
}

/// The check of the whole store knows of a summary what is noted: its rows are no copies, and what they count only the struct
/// knows; but each entity has one.
#[test]
fn the_check_of_the_store_takes_no_row_of_a_summary_for_a_copy() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    for id in 0..3 {
        staff.insert(&employee("Sales", id, 5, 100)).unwrap();
    }
    let sound = store.check().unwrap();
    assert!(sound.problems.is_empty() && sound.wrong_copies.is_empty(), "{:?}", sound.wrong_copies);
    assert_eq!((sound.copies, &*sound.untold), (3, &["level", "payroll"].map(str::to_owned)[..]));

    let levels = store.dynamic_table("Levels").unwrap().raw();
    levels.delete("all", "level_005").unwrap();
    let report = store.check().unwrap();
    assert_eq!(report.wrong_copies.len(), 3, "{:?}", report.wrong_copies);
    assert!(report.wrong_copies.iter().all(|problem| problem.what.contains("row of the summary `level`")));
    assert_eq!(staff.repair().unwrap().run().unwrap().mended, 1);
    assert!(store.check().unwrap().wrong_copies.is_empty());
}

#[test]
fn every_change_of_an_entity_keeps_its_summaries() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    let mut ann = employee("Sales", 1, 5, 100);
    let mut bob = Employee { bonus: Some(-7), ..employee("Sales", 2, 3, 40) };
    staff.insert(&ann).unwrap();
    assert_summarized(&store, std::slice::from_ref(&ann));
    staff.put(&bob).unwrap();
    assert_summarized(&store, &[ann.clone(), bob.clone()]);
    // What is summed changes, or what is counted by a function, or neither.
    staff.update(Employee::key("Sales", 1), |ann| (ann.salary, ann.level) = (120, 4)).unwrap();
    (ann.salary, ann.level) = (120, 4);
    staff.merge(Employee::key("Sales", 2), Employee::patch().bonus(Some(9)), IfMatch::Any).unwrap();
    bob.bonus = Some(9);
    bob.email = "bob@contoso.com".into();
    staff.replace(&bob, IfMatch::Any).unwrap();
    assert_summarized(&store, &[ann.clone(), bob.clone()]);
    ann.level = 9;
    staff.put(&ann).unwrap();
    staff.move_to(Employee::key("Sales", 2), |bob| (bob.id, bob.salary) = (20, 41)).unwrap();
    (bob.id, bob.salary) = (20, 41);
    assert_summarized(&store, &[ann.clone(), bob.clone()]);
    assert!(staff.insert(&ann).is_err());
    assert!(staff.delete(Employee::key("Sales", 3)).is_err());
    let taken = Employee { email: bob.email.clone(), ..employee("Sales", 7, 1, 1) };
    assert_eq!(staff.insert(&taken).unwrap_err().kind(), ErrorKind::UniqueConflict);
    assert_summarized(&store, &[ann.clone(), bob.clone()]);

    // Several in one transaction add up, and what comes to nothing is not written.
    let cleo = employee("Legal", 1, 4, 10);
    store
        .transaction()
        .delete(Employee::key("Sales", 1))
        .insert(&Employee { department: "Legal".into(), id: 5, ..ann.clone() })
        .insert(&cleo)
        .update(Employee::key("Sales", 20), |bob| bob.salary += 1)
        .commit()
        .unwrap();
    ann = Employee { department: "Legal".into(), id: 5, ..ann };
    bob.salary += 1;
    assert_summarized(&store, &[ann.clone(), bob.clone(), cleo.clone()]);
    let report = staff.bulk_insert((30..40).map(|id| employee("Legal", id, 4, 1))).unwrap();
    assert!(report.failures.is_empty());
    let many: Vec<_> = (30..40).map(|id| employee("Legal", id, 4, 1)).collect();
    let all: Vec<_> = [vec![ann, bob, cleo], many].concat();
    assert_summarized(&store, &all);
    assert!(staff.check().unwrap().is_sound());
    for one in &all {
        staff.delete(Employee::key(&*one.department, one.id)).unwrap();
    }
    assert_summarized(&store, &[]);
    assert_sound(&store);
}

#[test]
fn several_entities_of_one_batch_add_up() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    let people: Vec<_> = (0..8).map(|id| employee("Sales", id, 4 + (id % 2) as u8, 10)).collect();
    let batch =
        || people.iter().fold(staff.egt(Employee::partition("Sales")), |batch, one| batch.insert(one));
    let explained = batch().explain().unwrap();
    assert_eq!(explained.rows(), 8 * 2 + 1 + 2);
    assert!(explained.to_string().contains("add to  `payroll`  the summary payroll"), "{explained}");
    batch().commit().unwrap();
    assert_summarized(&store, &people);
    // One goes and one comes: the department's count stays, and its sum.
    let other = employee("Sales", 9, 4, 10);
    let batch = || staff.egt(Employee::partition("Sales")).delete(Employee::key("Sales", 0)).insert(&other);
    assert!(!batch().explain().unwrap().to_string().contains("summary"));
    batch().commit().unwrap();
    let people: Vec<_> = people.into_iter().skip(1).chain([other]).collect();
    assert_summarized(&store, &people);
}

#[test]
fn what_no_number_holds_is_refused_and_nothing_written() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    let rich = employee("Sales", 1, 5, i64::MAX);
    staff.insert(&rich).unwrap();
    let error = staff.insert(&employee("Sales", 2, 5, 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange, "{error}");
    let text = error.to_string();
    assert!(text.contains("`Salaries` of the summary `payroll`") && text.contains("payroll"), "{text}");
    assert_summarized(&store, std::slice::from_ref(&rich));
    // It is what all of a transaction come to that counts.
    store
        .transaction()
        .insert(&employee("Sales", 2, 5, 1))
        .update(Employee::key("Sales", 1), |rich| rich.salary -= 1)
        .commit()
        .unwrap();
    let error = store.transaction().insert(&employee("Legal", 1, 5, i64::MAX)).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange, "{error}");
    assert_eq!(error.index(), Some(0));
    let both = [Employee { salary: i64::MAX - 1, ..rich }, employee("Sales", 2, 5, 1)];
    assert_summarized(&store, &both);
}

#[test]
fn a_summary_is_not_written_by_hand() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    store.table::<Employee>().unwrap().insert(&employee("Sales", 1, 5, 10)).unwrap();
    let payrolls = store.table::<Payroll>().unwrap();
    let mine = Payroll { department: "Sales".into(), employees: 7, seniors: 0, salaries: 0, bonuses: 0 };
    let key = || Payroll::key("Sales");
    let refused = [
        payrolls.insert(&mine).unwrap_err(),
        payrolls.put(&mine).unwrap_err(),
        payrolls.replace(&mine, IfMatch::Any).unwrap_err(),
        payrolls.update(key(), |mine| mine.employees = 7).unwrap_err(),
        payrolls.merge(key(), Payroll::patch().employees(7), IfMatch::Any).unwrap_err(),
        payrolls.delete(key()).unwrap_err(),
        payrolls.move_to(key(), |_| {}).unwrap_err(),
        payrolls.bulk_insert([mine.clone()]).unwrap().failures.remove(0).error,
        payrolls.egt(Payroll::partition("Sales")).put(&mine).commit().unwrap_err(),
        store.transaction().put(&mine).commit().unwrap_err(),
        store.transaction().put(&mine).explain().unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
        assert!(error.to_string().contains("`Payroll` is a summary of `Employee`"), "{error}");
    }
    // By its properties no more than a copy.
    let company = store.dynamic_table("Company").unwrap();
    let row = DynamicEntity::new("Sales", "payroll").with("EntityType", "payroll").with("Employees", 7_i64);
    for error in [
        company.merge(&row, IfMatch::Any).unwrap_err(),
        company.put(&row).unwrap_err(),
        company.insert(&DynamicEntity::new("Other", "x").with("EntityType", "payroll")).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
        assert!(error.to_string().contains("the summary `payroll`"), "{error}");
    }
    assert_summarized(&store, &[employee("Sales", 1, 5, 10)]);
}

#[test]
fn a_snapshot_has_entities_and_their_summaries_of_one_moment() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 1, 5, 10)).unwrap();
    let (snapshot, payrolls) = (store.snapshot().unwrap(), store.table::<Payroll>().unwrap());
    staff.insert(&employee("Sales", 2, 5, 10)).unwrap();
    let then = payrolls.at(&snapshot).get(Payroll::key("Sales")).unwrap().unwrap();
    let now = payrolls.get(Payroll::key("Sales")).unwrap().unwrap();
    assert_eq!((then.employees, now.employees), (1, 2));
    let found: Vec<_> =
        payrolls.rows().department("Sales").into_iter().map(|row| row.unwrap().employees).collect();
    assert_eq!(found, [2]);
    assert_eq!(
        payrolls.rows().department("Sales").filter(|payroll| payroll.salaries.ge(20)).count().unwrap(),
        1
    );
}

mod on_the_map {
    use super::*;

    #[test]
    fn every_change_of_an_entity_keeps_its_summaries() {
        Executor::Map.run(|| {
            let scratch = Scratch::new();
            let store = scratch.tables();
            let staff = store.table::<Employee>().unwrap();
            staff.insert(&employee("Sales", 1, 5, 10)).unwrap();
            staff.insert(&employee("Sales", 2, 3, 10)).unwrap();
            staff.update(Employee::key("Sales", 2), |two| two.level = 7).unwrap();
            staff.delete(Employee::key("Sales", 1)).unwrap();
            assert_summarized(&store, &[employee("Sales", 2, 7, 10)]);
            staff.delete(Employee::key("Sales", 2)).unwrap();
            assert_summarized(&store, &[]);
        });
    }
}

on_other_executors! {
    a_store_that_cannot_add_says_so_and_writes_nothing
}

/// Somebody who is counted in his own partition alone.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Club", kind = "member")]
#[key(partition = "{club}", row = "member_{id:06}")]
#[summarized_in(Club)]
struct Member {
    club: String,
    id: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Club", kind = "club")]
#[key(partition = "{club}", row = "club")]
#[summary(of = Member)]
struct Club {
    club: String,
    #[summary(count)]
    members: u64,
}

#[test]
fn a_store_that_cannot_add_says_so_and_writes_nothing() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let members = store.table::<Member>().unwrap();
    let done = members.insert(&Member { club: "Chess".into(), id: 1 });
    let clubs = store.table::<Club>().unwrap();
    if !Executor::of_test().abilities().additions {
        let error = done.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("`additions`"), "{error}");
        assert_eq!(clubs.get(Club::key("Chess")).unwrap(), None);
        assert_eq!(members.rows().across_partitions().count().unwrap(), 0);
    } else {
        done.unwrap();
        assert_eq!(clubs.get(Club::key("Chess")).unwrap().unwrap().members, 1);
    }
}
