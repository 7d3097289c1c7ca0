//! Lists that raw writes have damaged, and those that are too long.

use integration_tests::Scratch;
use table_core::{DynamicEntity, ErrorKind, IfMatch};

use super::{Employee, assert_listed, employee};

#[test]
fn check_finds_what_a_raw_write_has_done_to_a_list_and_repair_mends_it() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    let people: Vec<_> = (0..20).map(|id| employee("Sales", id, ["Jones", "Cao"][id as usize % 2])).collect();
    staff.bulk_insert(people.clone()).unwrap();
    let raw = staff.dynamic().raw();
    let list = |row: &str, ids: &str| DynamicEntity::new("Sales", row).with("Ids", ids);
    // Two are missing; one is of no entity, and one of an entity with another name.
    raw.merge(
        &list("last_Jones", "000000,000001,000002,000004,000006,000008,000010,000012,000099"),
        IfMatch::Any,
    )
    .unwrap();
    raw.delete("Sales", "last_Cao", IfMatch::Any).unwrap();
    raw.insert(&list("last_Smith", "000003").with("EntityType", "employee.by_last_name")).unwrap();
    raw.insert(&list("skill_x", "what").with("EntityType", "employee.by_skill")).unwrap();
    let report = staff.check().unwrap();
    assert_eq!((report.unlisted, report.mislisted, report.lists), (3 + 10, 4, 3), "{report}");
    assert!(report.problems.iter().any(|problem| problem.index == "by_skill" && problem.row == "skill_x"));
    assert!(report.to_string().contains("3 index lists, 17 wrong ids"), "{report}");

    // Reads say so, entity by entity.
    let jones = staff.list(Employee::by_last_name("Sales", "Jones")).unwrap();
    let (found, wrong): (Vec<_>, Vec<_>) = jones.entities().partition(Result::is_ok);
    assert_eq!((found.len(), wrong.len()), (7, 2));
    for error in wrong.into_iter().map(Result::unwrap_err) {
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(
            error.to_string().contains("last_Jones") && error.to_string().contains("`Table::repair`"),
            "{error}"
        );
    }
    let error = staff.list(Employee::by_skill("Sales", "x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("skill_x"), "{error}");

    let repaired = staff.repair().unwrap();
    assert_eq!(repaired.mended, 17, "{repaired}");
    assert_listed(&store, &people);
}

#[test]
fn a_list_that_is_none_refuses_changes_until_it_is_mended() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    let mut people: Vec<_> = (0..5).map(|id| employee("Sales", id, "Jones")).collect();
    staff.bulk_insert(people.clone()).unwrap();
    let raw = staff.dynamic().raw();
    let list = |ids: table_core::Value| {
        let row = DynamicEntity::new("Sales", "last_Jones").with("EntityType", "employee.by_last_name");
        row.with("Ids", ids)
    };
    for wrong in ["000002,000001".into(), "000001,000001,000002".into(), 7.into(), "".into()] {
        raw.insert_or_replace(&list(wrong)).unwrap();
        assert!(!staff.check().unwrap().is_sound());
        let is_empty_id = staff.list(Employee::by_last_name("Sales", "Jones"));
        assert_eq!(is_empty_id.unwrap_err().kind(), ErrorKind::Corrupt);
        staff.repair().unwrap();
        assert_listed(&store, &people);
    }
    raw.insert_or_replace(&list("000002,000001".into())).unwrap();
    let error = staff.insert(&employee("Sales", 9, "Jones")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(
        error.to_string().contains("cannot change a list in") && error.to_string().contains("last_Jones"),
        "{error}"
    );
    assert!(staff.get(Employee::key("Sales", 9)).unwrap().is_none());
    staff.repair().unwrap();
    people.push(employee("Sales", 9, "Jones"));
    staff.insert(&people[5]).unwrap();
    assert_listed(&store, &people);
}

#[test]
fn a_row_of_another_kind_in_the_place_of_a_list_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    staff.dynamic().insert(&DynamicEntity::new("Sales", "last_Jones").with("Note", "mine")).unwrap();
    let error = staff.insert(&employee("Sales", 1, "Jones")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("the list `by_last_name`"), "{error}");
    let error = staff.list(Employee::by_last_name("Sales", "Jones")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(staff.rows().across_partitions().count().unwrap(), 0);
}

mod long {
    use table_core::Entity;

    #[derive(Entity, Clone)]
    #[entity(table = "Long", kind = "row")]
    #[key(partition = "all", row = "row_{name}")]
    #[index_list(by_group, row = "group_{group}", of = name)]
    pub(super) struct Row {
        pub(super) name: String,
        pub(super) group: u8,
    }
}

#[test]
fn a_list_that_its_row_does_not_hold_refuses_the_change() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<long::Row>().unwrap();
    // 100 of them are more than a property holds, and 1,600 more than a row.
    let name = |at: u32| format!("{at:05}{}", "n".repeat(395));
    let (mut inserted, mut refused) = (0, None);
    for step in 0..40 {
        let rows: Vec<_> =
            (step * 50..step * 50 + 50).map(|at| long::Row { name: name(at), group: 1 }).collect();
        let batch = rows.iter().fold(table.egt(long::Row::partition()), |batch, row| batch.insert(row));
        match batch.commit() {
            Ok(_) => inserted += 50,
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let error = refused.expect("the list is full");
    assert_eq!(error.kind(), ErrorKind::EntityTooLarge, "{error}");
    let text = error.to_string();
    assert!(text.contains("`#[index(by_group, ..)]`") && text.contains("group_"), "{text}");
    assert!(inserted > 1_000, "{inserted}");
    let list = table.list(long::Row::by_group(1)).unwrap();
    assert_eq!(list.len(), inserted);
    assert_eq!(table.rows().count().unwrap(), inserted as u64);
    assert!(table.check().unwrap().is_sound());
    // The row holds as many properties as it takes, and none too many when it shrinks.
    let row = table.dynamic().get("all", "group_001").unwrap().unwrap();
    assert!(row.get("Ids15").is_some() && row.get("Ids16").is_none());
    let mut job = table.delete_partition(long::Row::partition()).unwrap();
    while job.step().unwrap() {}
    assert!(table.dynamic().get("all", "group_001").unwrap().is_none());
}
