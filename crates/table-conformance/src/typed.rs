//! Typed tables: copies, unique keys, declarations.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use table_derive::Entity;
use table_engine::__executor::Backend;
use table_engine::query::PageBudget;
use table_engine::{Continuation, DynamicEntity, ETag, ErrorKind, IfMatch, Query, Stored};

use super::{check_lacks, tables};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_age, row = "age_{age:03}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u8,
}

fn employee(id: u32, email: &str, age: u8) -> Employee {
    Employee { department: "Sales".into(), id, email: email.into(), age }
}

pub(crate) fn entities_and_their_copies_change_together(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let staff = tables.table::<Employee>().unwrap();
    for (id, age) in [(1, 30), (2, 20), (3, 25)] {
        staff.insert(&employee(id, &format!("{id}@contoso.com"), age)).unwrap();
    }
    let by_age =
        || staff.by_age().department("Sales").into_iter().map(|found| found.unwrap().id).collect::<Vec<_>>();
    assert_eq!(by_age(), [2, 3, 1]);
    staff.update(Employee::key("Sales", 2), |employee| employee.age = 40).unwrap();
    assert_eq!(by_age(), [3, 1, 2]);
    staff.update(Employee::key("Sales", 3), |employee| employee.email = "new@contoso.com".into()).unwrap();
    assert!(staff.get(Employee::by_email("Sales", "3@contoso.com")).unwrap().is_none());
    assert_eq!(staff.get(Employee::by_email("Sales", "new@contoso.com")).unwrap().unwrap().id, 3);
    let foreign: ETag = "\"1\"".parse().unwrap();
    for refused in [
        staff.replace(&employee(2, "2@contoso.com", 50), foreign).map(drop),
        staff.delete_if(Employee::key("Sales", 2), foreign),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConditionNotMet);
    }
    staff.delete(Employee::key("Sales", 1)).unwrap();
    assert_eq!(by_age(), [3, 2]);
    // Nothing is left but two entities with two copies each.
    let rows = tables.dynamic_table("Company").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!(rows, 6);
}

pub(crate) fn each_operation_has_the_version_of_its_entity(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let staff = tables.table::<Employee>().unwrap();
    let version = |id| Stored::etag(&staff.get(Employee::key("Sales", id)).unwrap().unwrap());
    let inserted = staff.insert(&employee(1, "jun@contoso.com", 30)).unwrap();
    assert_eq!(inserted, version(1));
    let updated = staff.update(Employee::key("Sales", 1), |employee| employee.age = 31).unwrap();
    assert_eq!(Stored::etag(&updated), version(1));
    let (second, third) = (employee(2, "ann@contoso.com", 20), employee(3, "cy@contoso.com", 40));
    let egt = staff
        .egt(Employee::partition("Sales"))
        .insert(&second)
        .update(Employee::key("Sales", 1), |first| first.age = 32);
    let committed = egt.delete(Employee::key("Sales", 9));
    assert_eq!(committed.commit().unwrap_err().index(), Some(2));
    let egt = staff
        .egt(Employee::partition("Sales"))
        .insert(&second)
        .update(Employee::key("Sales", 1), |first| first.age = 32);
    let committed = egt.insert(&third).commit().unwrap();
    for (operation, id) in [2, 1, 3].into_iter().enumerate() {
        assert_eq!(committed.etag(operation), version(id), "operation {operation}");
    }
    // It is the version that a change may demand.
    staff.replace(&employee(3, "cy@contoso.com", 41), committed.etag(2)).unwrap();
    let error = staff.delete_if(Employee::key("Sales", 3), committed.etag(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConditionNotMet);

    let rows = tables.create_table("Rows").unwrap();
    let row = |key: &str| DynamicEntity::new("p", key).with("Number", 7);
    rows.insert(&row("b")).unwrap();
    let committed = rows.batch("p").insert(row("a")).delete("b").put(row("c")).commit().unwrap();
    for (operation, key) in [(0, "a"), (2, "c")] {
        assert_eq!(rows.get("p", key).unwrap().unwrap().etag(), Some(committed.etag(operation)), "row {key}");
    }
}

pub(crate) fn a_unique_key_is_of_one_entity(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee(1, "jun@contoso.com", 30)).unwrap();
    staff.insert(&employee(2, "ann@contoso.com", 30)).unwrap();
    let rows = || -> Vec<DynamicEntity> {
        tables.dynamic_table("Company").unwrap().query(&Query::new()).unwrap().map(Result::unwrap).collect()
    };
    let before = rows();
    for refused in [
        staff.insert(&employee(3, "jun@contoso.com", 31)).map(drop),
        staff.put(&employee(3, "jun@contoso.com", 31)).map(drop),
        staff.update(Employee::key("Sales", 2), |ann| ann.email = "jun@contoso.com".into()).map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::UniqueConflict);
        assert_eq!(rows(), before);
    }
    // Of many who want one key at once, one has it.
    thread::scope(|scope| {
        let claims: Vec<_> = (10..18)
            .map(|id| {
                let staff = staff.clone();
                scope.spawn(move || staff.insert(&employee(id, "new@contoso.com", 20)).is_ok())
            })
            .collect();
        let won = claims.into_iter().filter_map(|claim| claim.join().unwrap().then_some(())).count();
        assert_eq!(won, 1);
    });
    assert_eq!(rows().len(), 9);
}

pub(crate) fn rows_of_a_declared_kind_are_their_structs(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee(1, "jun@contoso.com", 30)).unwrap();
    let company = tables.dynamic_table("Company").unwrap();
    let all = || company.query(&Query::new()).unwrap().map(Result::unwrap).collect::<Vec<_>>();
    let before = all();
    let change = DynamicEntity::new("Sales", "empid_000001").with("Email", "cao@contoso.com");
    let copy = DynamicEntity::new("Sales", "x").with("EntityType", "employee.by_email");
    for refused in [
        company.replace(&change, IfMatch::Any).map(drop),
        company.insert(&copy).map(drop),
        company.merge(&copy_of(&before), IfMatch::Any).map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::DeclaredKind);
    }
    assert_eq!(all(), before);
    company.raw().merge(&change, IfMatch::Any).unwrap();
    assert_ne!(all(), before);
}

/// Returns a copy among the rows, without what it holds.
fn copy_of(rows: &[DynamicEntity]) -> DynamicEntity {
    let is_copy = |row: &&DynamicEntity| row.row_key().starts_with("email_");
    let copy = rows.iter().find(is_copy).unwrap();
    DynamicEntity::new(copy.partition_key(), copy.row_key()).with("Age", 31)
}

pub(crate) fn rows_of_a_declared_kind_are_planned_by_their_layout(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee(1, "jun@contoso.com", 30)).unwrap();
    let company = tables.dynamic_table("Company").unwrap();
    let row = |id: u32| DynamicEntity::new("Sales", format!("empid_{id:06}"));
    company.merge(&row(1).with("Email", "cao@contoso.com").with("Age", 31), IfMatch::Any).unwrap();
    assert!(staff.get(Employee::by_email("Sales", "jun@contoso.com")).unwrap().is_none());
    assert_eq!(
        *staff.get(Employee::by_email("Sales", "cao@contoso.com")).unwrap().unwrap(),
        employee(1, "cao@contoso.com", 31)
    );
    let whole =
        |id: u32, email: &str| row(id).with("EntityType", "employee").with("Email", email).with("Age", 20);
    company.insert(&whole(2, "ann@contoso.com")).unwrap();
    let taken = company.put(&whole(3, "ann@contoso.com")).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::UniqueConflict);
    let wrong = company.insert(&whole(4, "eve@contoso.com").with("Age", 256)).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::SchemaMismatch);
    let batch = company.batch("Sales").delete("empid_000001").put(whole(3, "cao@contoso.com"));
    batch.commit().unwrap();
    let found: Vec<_> = staff.by_age().department("Sales").into_iter().map(|one| one.unwrap().id).collect();
    assert_eq!(found, [2, 3]);
    company.delete("Sales", "empid_000002").unwrap();
    company.delete("Sales", "empid_000003").unwrap();
    assert_eq!(company.query(&Query::new()).unwrap().count(), 0);
}

mod changed {
    use table_derive::Entity;

    /// An employee whose key is another.
    #[derive(Entity, Clone, Debug)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "no_{id:06}")]
    pub(super) struct Moved {
        pub department: String,
        pub id: u32,
        pub email: String,
        pub age: u8,
    }
}

pub(crate) fn a_changed_declaration_is_refused(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee(1, "jun@contoso.com", 30)).unwrap();
    let refused = tables.table::<changed::Moved>().map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LayoutChanged, "{refused}");
    assert!(refused.to_string().contains("- row \"empid_\""), "{refused}");
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap().unwrap().age, 30);
}

/// Of updates at once none is lost.
pub(crate) fn a_lost_update_is_tried_again(backend: &Arc<dyn Backend>) {
    let staff = tables(backend).table::<Employee>().unwrap();
    staff.insert(&employee(1, "jun@contoso.com", 0)).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            let staff = staff.clone();
            scope.spawn(move || {
                for _ in 0..25 {
                    staff.update(Employee::key("Sales", 1), |employee| employee.age += 1).unwrap();
                }
            });
        }
    });
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap().unwrap().age, 100);
    let found: Vec<_> =
        staff.by_age().department("Sales").age(100).into_iter().map(|found| found.unwrap().id).collect();
    assert_eq!(found, [1]);
}

/// What devices say, spread over four ranges of keys that are read as one.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Events", kind = "event")]
#[key(partition = "{day:06}_{device:shard(4)}", row = "{number:06}_{device}")]
struct Event {
    day: u32,
    device: String,
    number: u32,
    level: u8,
}

/// What needs an ability of reads is refused by its name, before a row is read.
pub(crate) fn entities_come_backwards_or_are_refused(backend: &Arc<dyn Backend>) {
    let staff = tables(backend).table::<Employee>().unwrap();
    for id in 1..=3 {
        staff.insert(&employee(id, &format!("{id}@contoso.com"), 30)).unwrap();
    }
    let turned = || staff.rows().department("Sales").rev();
    let by_email = || staff.by_email().department("Sales").rev();
    if backend.abilities().reverse {
        assert_eq!(turned().into_iter().map(|found| found.unwrap().id).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(by_email().first().unwrap().unwrap().id, 3);
        assert_eq!(turned().top(2).count().unwrap(), 2);
        return;
    }
    for refused in [
        turned().into_iter().next().unwrap().map(drop),
        turned().page(2, None).map(drop),
        turned().first().map(drop),
        turned().exists().map(drop),
        turned().count().map(drop),
        by_email().entities().into_iter().next().unwrap().map(drop),
        staff.rows().across_partitions().rev().first().map(drop),
    ] {
        let error = refused.unwrap_err();
        check_lacks(&error, "`reverse`");
        assert!(error.to_string().contains("table `Company`"), "{error}");
    }
    assert_eq!(turned().rev().count().unwrap(), 3);
}

pub(crate) fn pages_of_merged_ranges_end_early(backend: &Arc<dyn Backend>) {
    let events = tables(backend).table::<Event>().unwrap();
    for number in 0..60 {
        let event = Event { day: 1, device: format!("device {}", number * 7 % 11), number, level: 1 };
        events.insert(&Event { level: u8::from(number % 10 == 0), ..event }).unwrap();
    }
    let number = |event: &Event| event.number;
    for is_reverse in [false, true].into_iter().filter(|turned| !turned || backend.abilities().reverse) {
        let mut query = events.rows().day(1).all_shards().filter(|event| event.level.eq(1));
        let mut expected: Vec<u32> = (0..60).step_by(10).collect();
        if is_reverse {
            query = query.rev();
            expected.reverse();
        }
        for budget in [
            PageBudget::new(100),
            PageBudget::new(2),
            PageBudget::new(100).rows_read(13),
            PageBudget::new(2).rows_read(13),
            PageBudget::new(100).rows_read(0),
            PageBudget::new(3).time(Duration::ZERO),
        ] {
            let (mut found, mut after, mut pages) = (Vec::new(), None::<Continuation>, 0);
            loop {
                let page = query.page(budget, after.as_ref()).unwrap();
                found.extend(page.entities.iter().map(|event| number(event)));
                pages += 1;
                assert!(pages <= 61, "pages without an end");
                match page.next {
                    None => break,
                    next => after = next.map(|next| next.to_string().parse().unwrap()),
                }
            }
            assert_eq!(found, expected, "{budget:?}");
            assert!(budget == PageBudget::new(100) || pages > 2, "{budget:?}: {pages} pages");
        }
        // The limit counts what is found, over all pages.
        let (mut limited, mut after) = (Vec::new(), None);
        let query = query.top(4);
        loop {
            let page = query.page(PageBudget::new(3).rows_read(20), after.as_ref()).unwrap();
            limited.extend(page.entities.iter().map(|event| number(event)));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(limited, expected[..4]);
    }
}
