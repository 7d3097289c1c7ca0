//! Lists that raw writes have damaged.

use integration_tests::Scratch;
use table_core::{DynamicEntity, ErrorKind, IfMatch};

use super::{Employee, assert_listed, employee};

#[test]
fn check_finds_what_a_raw_write_has_done_to_a_list_and_repair_mends_it() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    let people: Vec<_> = (0..20).map(|id| employee("Sales", id, ["Jones", "Cao"][id as usize % 2])).collect();
    staff.bulk_insert(people.clone()).unwrap().into_result().unwrap();
    let raw = staff.dynamic().raw();
    let list = |row: &str, ids: &str| DynamicEntity::new("Sales", row).with("Ids", ids);
    // Two are missing; one is of no entity, and one of an entity with another name.
    raw.merge(
        &list("last_Jones", "000000,000001,000002,000004,000006,000008,000010,000012,000099"),
        IfMatch::Any,
    )
    .unwrap();
    raw.delete("Sales", "last_Cao").unwrap();
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

    let repaired = staff.repair().unwrap().run().unwrap();
    assert_eq!(repaired.mended, 17, "{repaired}");
    assert_listed(&store, &people);
}

#[test]
fn a_list_that_is_none_refuses_changes_until_it_is_mended() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    let mut people: Vec<_> = (0..5).map(|id| employee("Sales", id, "Jones")).collect();
    staff.bulk_insert(people.clone()).unwrap().into_result().unwrap();
    let raw = staff.dynamic().raw();
    let list = |ids: table_core::Value| {
        let row = DynamicEntity::new("Sales", "last_Jones").with("EntityType", "employee.by_last_name");
        row.with("Ids", ids)
    };
    for wrong in ["000002,000001".into(), "000001,000001,000002".into(), 7.into(), "".into()] {
        raw.put(&list(wrong)).unwrap();
        assert!(!staff.check().unwrap().is_sound());
        let is_empty_id = staff.list(Employee::by_last_name("Sales", "Jones"));
        assert_eq!(is_empty_id.unwrap_err().kind(), ErrorKind::Corrupt);
        staff.repair().unwrap().run().unwrap();
        assert_listed(&store, &people);
    }
    raw.put(&list("000002,000001".into())).unwrap();
    let error = staff.insert(&employee("Sales", 9, "Jones")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(
        error.to_string().contains("cannot change a list in") && error.to_string().contains("last_Jones"),
        "{error}"
    );
    assert!(staff.get(Employee::key("Sales", 9)).unwrap().is_none());
    staff.repair().unwrap().run().unwrap();
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
