//! Values that are sealed anew after a rotation: by any process, and beside any other.

use std::sync::Arc;

use table_azure::AzureTables;
use table_core::crypt::{KeyHandle, MemoryKeys, Scope};
use table_core::{DynamicEntity, Entity, ErrorKind, Query, Table};

use super::Shared;

/// One declaration of an employee, with this attribute on what becomes encrypted.
macro_rules! declared {
    ($name:ident $(, #[$($encrypt:tt)*])?) => {
        mod $name {
            use table_core::Entity;

            #[derive(Clone, Debug, PartialEq, Entity)]
            #[entity(table = "Payroll", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{id:06}")]
            #[index(by_name, row = "name_{name}_{id:06}", copy(ssn))]
            pub(super) struct Employee {
                pub(super) department: String,
                pub(super) id: u32,
                pub(super) name: String,
                $(#[$($encrypt)*])?
                pub(super) ssn: String,
            }

            pub(super) fn employee(id: u32) -> Employee {
                let name = format!("Name{}", id % 9);
                Employee { department: "Sales".into(), id, name, ssn: format!("078-05-{id:04}") }
            }
        }
    };
}

declared!(plain);
declared!(dual, #[encrypt(dual)]);
declared!(sealed, #[encrypt]);

/// Returns tables that two programs have open.
fn two() -> [AzureTables; 2] {
    let (shared, provider) = (Shared::new(), Arc::new(MemoryKeys::new().unwrap()));
    let options = shared.options().encryption(provider);
    [0, 1].map(|_| options.clone().connect(&shared.connection).unwrap())
}

/// Returns the keys that values of the table are sealed with, each once, and how many values are plain.
fn handles<E: Entity>(table: &Table<E>) -> (Vec<KeyHandle>, usize) {
    let (mut handles, mut plain) = (Vec::new(), 0);
    for row in table.dynamic().query(&Query::new()).unwrap() {
        let row: DynamicEntity = row.unwrap();
        match row.get("Ssn").map(|value| value.as_bytes().and_then(KeyHandle::of)) {
            Some(Some(handle)) if !handles.contains(&handle) => handles.push(handle),
            Some(None) => plain += 1,
            _ => {}
        }
    }
    (handles, plain)
}

#[test]
fn a_job_that_seals_anew_goes_on_in_another_process_and_again_after_a_rotation() {
    let [ours, theirs] = two();
    let staff = ours.table::<sealed::Employee>().unwrap();
    staff.bulk_insert((0..300).map(sealed::employee)).unwrap().into_result().unwrap();
    let keys = ours.encryption().unwrap();
    let first = keys.rotate(&Scope::store()).unwrap();
    let mut job = staff.reencrypt().unwrap().steps_of(50);
    while job.report().changed == 0 {
        assert!(job.step().unwrap());
    }
    let (seen, changed) = (job.report().seen, job.report().changed);
    assert!(changed < 300);
    drop(job);

    let late = theirs.table::<sealed::Employee>().unwrap();
    let mut job = late.reencrypt().unwrap().steps_of(50);
    assert!(job.step().unwrap());
    assert!(job.report().seen > seen && job.report().changed > changed, "{}", job.report());
    // What is done already is to be done again, which this very job does at its end.
    let second = keys.rotate(&Scope::store()).unwrap();
    let report = job.run().unwrap();
    assert_eq!((report.seen, report.failed), (600, 0));
    assert_eq!(handles(&late), (vec![second], 0));
    assert_eq!(keys.destroy_unused().unwrap(), 2);
    assert_eq!(keys.destroy(first).map_err(|error| error.kind()), Ok(()));
    for id in [0, 150, 299] {
        assert_eq!(*staff.get(sealed::Employee::key("Sales", id)).unwrap().unwrap(), sealed::employee(id));
    }
    assert!(late.check().unwrap().is_sound());
    assert!(ours.jobs().unwrap().is_empty());
}

#[test]
fn what_others_write_meanwhile_is_left_to_them() {
    let [ours, theirs] = two();
    let staff = ours.table::<sealed::Employee>().unwrap();
    staff.bulk_insert((0..100).map(sealed::employee)).unwrap().into_result().unwrap();
    let keys = ours.encryption().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let late = theirs.table::<sealed::Employee>().unwrap();
            for round in 0..8_u32 {
                for id in (0..100).step_by(7) {
                    let key = sealed::Employee::key("Sales", id);
                    late.update(key, |one| one.name = format!("Round{round}")).unwrap();
                }
            }
        });
        for _ in 0..3 {
            keys.rotate(&Scope::store()).unwrap();
            let report = staff.reencrypt().unwrap().run().unwrap();
            assert_eq!(report.failed, 0, "{:?}", report.failures);
            assert_eq!(keys.destroy_unused().unwrap(), 1);
        }
    });
    let current = keys.keys().unwrap();
    assert_eq!((current.len(), handles(&staff)), (1, (vec![current[0].handle], 0)));
    let all: Vec<_> = staff.all().into_iter().map(|one| one.unwrap()).collect();
    assert!(all.iter().all(|one| one.ssn == sealed::employee(one.id).ssn));
    assert!(all.iter().all(|one| one.id % 7 > 0 || one.name == "Round7"));
    assert!(staff.check().unwrap().is_sound());
}

mod before {
    use table_core::Entity;

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Members", kind = "member")]
    #[key(partition = "{club}", row = "member_{id:06}")]
    pub(super) struct Member {
        pub(super) club: String,
        pub(super) id: u32,
        #[encrypt(blind)]
        pub(super) ssn: String,
    }
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Members", kind = "member")]
#[key(partition = "{club}", row = "member_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn:blind}_{id:06}")]
struct Member {
    club: String,
    id: u32,
    #[encrypt(blind)]
    ssn: String,
}

#[test]
fn an_index_by_tokens_is_made_of_entities_that_are_there_under_older_keys() {
    let [ours, theirs] = two();
    let old = theirs.table::<before::Member>().unwrap();
    let ssn = |id: u32| format!("078-05-{:04}", id % 7);
    let fill = |ids: std::ops::Range<u32>| {
        ids.for_each(|id| {
            old.insert(&before::Member { club: "Chess".into(), id, ssn: ssn(id) }).unwrap();
        });
    };
    fill(0..20);
    // Filters go by tokens without an index.
    let filtered = old.rows().club("Chess").filter(|one| one.ssn.eq("078-05-0003"));
    assert_eq!(filtered.count().unwrap(), 3);
    let keys = ours.encryption().unwrap();
    keys.rotate(&Scope::store()).unwrap();
    fill(20..40);
    assert_eq!(old.rows().club("Chess").filter(|one| one.ssn.eq("078-05-0003")).count().unwrap(), 6);

    let members = ours.table::<Member>().unwrap();
    members.rebuild().unwrap().run().unwrap();
    let found = |tables: &AzureTables| -> Vec<u32> {
        let members = tables.table::<Member>().unwrap();
        let query = members.by_ssn().club("Chess").ssn("078-05-0003");
        query.entities().into_iter().map(|one| one.unwrap().id).collect()
    };
    assert_eq!(found(&theirs), [3, 10, 17, 24, 31, 38]);
    assert_eq!(members.reencrypt().unwrap().run().unwrap().failed, 0);
    assert_eq!(keys.destroy_unused().unwrap(), 1);
    assert_eq!((found(&theirs), found(&ours)), (vec![3, 10, 17, 24, 31, 38], vec![3, 10, 17, 24, 31, 38]));
    assert!(members.check().unwrap().is_sound());
}

/// The store can't tell at one moment that no row holds the property plain.
#[test]
fn a_property_that_may_be_plain_is_sealed_and_stays_one_that_may_be_plain() {
    let [ours, theirs] = two();
    let old = theirs.table::<plain::Employee>().unwrap();
    old.bulk_insert((0..100).map(plain::employee)).unwrap().into_result().unwrap();
    let staff = ours.table::<dual::Employee>().unwrap();
    staff.insert(&dual::employee(100)).unwrap();
    assert_eq!(handles(&staff).1, 200);
    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (100, 0), "{:?}", report.failures);
    assert_eq!(handles(&staff).1, 0);
    assert_eq!(*staff.get(dual::Employee::key("Sales", 9)).unwrap().unwrap(), dual::employee(9));
    let refused = theirs.table::<sealed::Employee>().map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    assert!(refused.to_string().contains("#[encrypt(dual)]"), "{refused}");
}
