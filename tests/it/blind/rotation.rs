//! Lookups and uniqueness while several keys are alive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch};

use super::{Employee, Payroll, SSN, Scratch, employee, ids, key, refused, rotate, staff};

#[test]
fn both_keys_find_while_a_rotation_is_under_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    staff.insert(&employee(2, "two")).unwrap();
    rotate(&store);
    staff.insert(&employee(3, "three")).unwrap();
    rotate(&store);
    staff.insert(&Employee { iban: Some("FR76".into()), ..employee(4, "four") }).unwrap();
    for (id, ssn) in [(1, SSN), (2, "two"), (3, "three"), (4, "four")] {
        assert_eq!(staff.get(Employee::by_ssn("Sales", ssn)).unwrap().unwrap().id, id);
        assert_eq!(ids(staff.by_ssn().department("Sales").ssn(ssn)), [id]);
        assert_eq!(ids(staff.rows().department("Sales").filter(|e| e.ssn.eq(ssn))), [id]);
    }
    // Merged by what follows the token, whichever key made it.
    staff.insert(&Employee { pin: 9, ..employee(5, "five") }).unwrap();
    let by_iban = || staff.by_iban().department("Sales").iban("DE02");
    assert_eq!(ids(by_iban().entities()), [1, 2, 3, 5]);
    assert_eq!(ids(by_iban().rev().entities()), [5, 3, 2, 1]);
    assert_eq!(ids(by_iban().top(3).entities()), [1, 2, 3]);
    assert_eq!(by_iban().count().unwrap(), 4);
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = by_iban().page(1, after.as_ref()).unwrap();
        seen.extend(page.entities.iter().map(|row| row.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, [1, 2, 3, 5]);
    let explain = by_iban().explain().unwrap().to_string();
    assert!(explain.ends_with("with 2 more ranges like it, merged"), "{explain}");

    // A page of a filter goes on over a rotation; one by several tokens starts again.
    let filtered = || staff.rows().department("Sales").filter(|e| e.iban.eq("DE02"));
    let page = filtered().page(2, None).unwrap();
    let by_token = by_iban().page(1, None).unwrap();
    rotate(&store);
    let rest = filtered().page(10, page.next.as_ref()).unwrap();
    assert_eq!(rest.entities.iter().map(|e| e.id).collect::<Vec<_>>(), [3, 5]);
    let error = by_iban().page(1, by_token.next.as_ref()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
    // A token of one value is none of another's.
    let other = staff.rows().department("Sales").filter(|e| e.iban.eq("FR76"));
    let error = other.page(1, page.next.as_ref()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
}

#[test]
fn what_is_unique_stays_so_while_a_rotation_is_under_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    let partition = || Employee::partition("Sales");
    staff.insert(&employee(1, SSN)).unwrap();
    staff.insert(&employee(2, "two")).unwrap();
    rotate(&store);
    let (twin, third) = (employee(3, SSN), employee(4, "four"));
    let says = |text: String| assert!(text.contains("unique index `by_ssn`"), "{text}");
    says(refused(&staff, ErrorKind::UniqueConflict, || staff.insert(&twin)));
    says(refused(&staff, ErrorKind::UniqueConflict, || staff.put(&twin)));
    says(refused(&staff, ErrorKind::UniqueConflict, || staff.update(key(2), |e| e.ssn = SSN.into())));
    says(refused(&staff, ErrorKind::UniqueConflict, || {
        staff.merge(key(2), Employee::patch().ssn(SSN.into()), IfMatch::Any)
    }));
    says(refused(&staff, ErrorKind::UniqueConflict, || staff.replace(&employee(2, SSN), IfMatch::Any)));
    says(refused(&staff, ErrorKind::UniqueConflict, || {
        staff.move_to(key(2), |e| (e.id, e.ssn) = (9, SSN.into()))
    }));
    says(refused(&staff, ErrorKind::UniqueConflict, || {
        staff.egt(partition()).insert(&third).insert(&twin).commit()
    }));
    // Beside an operation on the entity that has it.
    let text = refused(&staff, ErrorKind::UniqueConflict, || {
        staff.egt(partition()).update(key(1), |e| e.salary = 1).insert(&twin).commit()
    });
    assert!(text.contains("operation 0") && text.contains("by_ssn"), "{text}");
    let report = staff.bulk_insert([&twin, &third]).unwrap();
    assert_eq!((report.committed, report.failures.len()), (1, 1));
    assert_eq!(report.failures[0].error.kind(), ErrorKind::UniqueConflict);
    let set = store.set::<Payroll>().unwrap();
    let change = DynamicEntity::new("Sales", "empid_000002").with("Ssn", SSN);
    says(refused(&staff, ErrorKind::UniqueConflict, || set.merge_any(&change, IfMatch::Any)));

    // Two may exchange what they have, and one may take what another gives up.
    staff
        .egt(partition())
        .update(key(1), |e| e.ssn = "two".into())
        .update(key(2), |e| e.ssn = SSN.into())
        .commit()
        .unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 2);
    assert_eq!(staff.get(Employee::by_ssn("Sales", "two")).unwrap().unwrap().id, 1);
    staff.egt(partition()).delete(key(2)).insert(&twin).commit().unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 3);
    // An entity doesn't stand in its own way.
    rotate(&store);
    staff.put(&twin).unwrap();
    staff.move_to(key(3), |e| e.id = 33).unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 33);
    // Another partition is another matter.
    staff.insert(&Employee { department: "Other".into(), ..employee(1, SSN) }).unwrap();
}

#[test]
fn a_rotation_makes_no_transaction_too_large() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(0, "zero")).unwrap();
    rotate(&store);
    // Five rows each, which are as many as a transaction may touch; and another is looked at for each.
    let many: Vec<_> = (1..=20).map(|id| employee(id, &format!("ssn{id}"))).collect();
    let partition = || Employee::partition("Sales");
    let egt = || many.iter().fold(staff.egt(partition()), |egt, employee| egt.insert(employee));
    assert_eq!(egt().explain().unwrap().rows(), 100);
    egt().commit().unwrap();
    assert_eq!(staff.by_ssn().department("Sales").count().unwrap(), 21);
}

#[test]
fn uniqueness_holds_between_writers_and_rotations() {
    const WRITERS: u32 = 3;
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(0, "first")).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 1..=WRITERS {
            let (staff, is_over) = (&staff, &is_over);
            scope.spawn(move || {
                for number in 0..40 {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let ssn = format!("ssn{number}");
                    match staff.insert(&employee(writer * 1_000 + number, &ssn)) {
                        Ok(_) => {}
                        Err(error) => assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}"),
                    }
                    assert!(staff.get(Employee::by_ssn("Sales", ssn.as_str())).unwrap().is_some());
                }
            });
        }
        for _ in 0..15 {
            rotate(&store);
        }
    });
    is_over.store(true, Ordering::Relaxed);
    let mut seen: Vec<_> =
        staff.rows().department("Sales").into_iter().map(|e| e.unwrap().ssn.clone()).collect();
    assert!(seen.len() > 1);
    let all = seen.len();
    seen.sort_by(|a, b| a.expose().cmp(b.expose()));
    seen.dedup();
    assert_eq!(seen.len(), all);
}

/// A key that holds one token twice.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Twice", kind = "twice")]
#[key(partition = "p", row = "{id:03}")]
#[index(by_code, row = "{code:blind}_{code:blind}", unique)]
struct Twice {
    id: u16,
    #[encrypt(blind)]
    code: String,
}

#[test]
fn a_token_that_stands_twice_in_a_key_is_looked_for_once_for_each_key() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<Twice>().unwrap();
    table.insert(&Twice { id: 1, code: "a".into() }).unwrap();
    // So many keys that all pairs of their tokens would be more than a lookup may try.
    for _ in 0..32 {
        rotate(&store);
    }
    table.insert(&Twice { id: 2, code: "b".into() }).unwrap();
    for (code, id) in [("a", 1), ("b", 2)] {
        assert_eq!(table.get(Twice::by_code(code)).unwrap().unwrap().id, id);
    }
    assert!(table.get(Twice::by_code("c")).unwrap().is_none());
}

integration_tests::on_executors_with_jobs! {
    both_keys_find_while_a_rotation_is_under_way
    what_is_unique_stays_so_while_a_rotation_is_under_way
    a_rotation_makes_no_transaction_too_large
    uniqueness_holds_between_writers_and_rotations
    a_token_that_stands_twice_in_a_key_is_looked_for_once_for_each_key
}
