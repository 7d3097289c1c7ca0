//! Values that are sealed anew after a rotation, or sealed at last: by any process, and beside any other.

use std::sync::Arc;

use table_core::crypt::{KeyHandle, KeyProvider, MemoryKeys, Scope};
use table_core::{DynamicEntity, Entity, ErrorKind, Stored, Table};
use table_postgres::PostgresTables;

use crate::support::proxy::{Cut, Proxy};
use crate::support::{options, schema, server, server_at, server_port};

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

fn provider() -> Arc<dyn KeyProvider> {
    Arc::new(MemoryKeys::new().unwrap())
}

/// Returns a store that two programs have open.
fn two() -> [PostgresTables; 2] {
    let options = PostgresTables::options().schema(schema()).encryption(provider());
    [0, 1].map(|_| options.connect(&server()).unwrap())
}

/// Returns the keys that values of the table are sealed with, each once, and how many values are plain.
fn handles<E: Entity>(table: &Table<E>) -> (Vec<KeyHandle>, usize) {
    let (mut handles, mut plain) = (Vec::new(), 0);
    for row in table.dynamic().query(&table_core::Query::new()).unwrap() {
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
    staff.bulk_insert((0..1_200).map(sealed::employee)).unwrap().into_result().unwrap();
    let etag = |id| Stored::etag(&staff.get(sealed::Employee::key("Sales", id)).unwrap().unwrap());
    let before = [0, 700, 1_199].map(etag);
    let keys = ours.encryption().unwrap();
    let first = keys.rotate(&Scope::store()).unwrap();
    let mut job = staff.reencrypt().unwrap().steps_of(100);
    while job.report().changed == 0 {
        assert!(job.step().unwrap());
    }
    let (seen, changed) = (job.report().seen, job.report().changed);
    assert!(changed < 1_200);
    drop(job);

    let late = theirs.table::<sealed::Employee>().unwrap();
    let mut job = late.reencrypt().unwrap();
    assert!(job.step().unwrap());
    assert!(job.report().seen > seen && job.report().changed > changed, "{}", job.report());
    // What is done already is to be done again, which this very job does at its end.
    let done = job.report().changed;
    let second = keys.rotate(&Scope::store()).unwrap();
    let report = job.run().unwrap();
    assert_eq!((report.seen, report.changed, report.failed), (2_400, 1_200 + done, 0));
    assert_eq!(handles(&late), (vec![second], 0));
    assert_eq!(keys.destroy_unused().unwrap(), 2);
    assert_eq!(keys.destroy(first).map_err(|error| error.kind()), Ok(()));
    assert_eq!([0, 700, 1_199].map(etag), before);
    for id in [0, 500, 1_199] {
        assert_eq!(*staff.get(sealed::Employee::key("Sales", id)).unwrap().unwrap(), sealed::employee(id));
    }
    assert!(late.check().unwrap().is_sound());
    assert!(ours.jobs().unwrap().is_empty());
}

#[test]
fn what_others_write_meanwhile_is_left_to_them() {
    let [ours, theirs] = two();
    let staff = ours.table::<sealed::Employee>().unwrap();
    staff.bulk_insert((0..300).map(sealed::employee)).unwrap().into_result().unwrap();
    let keys = ours.encryption().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let late = theirs.table::<sealed::Employee>().unwrap();
            for round in 0..4_u32 {
                for id in (0..300).step_by(7) {
                    let key = sealed::Employee::key("Sales", id);
                    late.update(key, |one| one.name = format!("Round{round}")).unwrap();
                }
            }
        });
        for _ in 0..4 {
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
    assert!(all.iter().all(|one| one.id % 7 > 0 || one.name == "Round3"));
    assert!(staff.check().unwrap().is_sound());
}

#[test]
fn a_property_is_sealed_at_last_when_no_row_holds_it_plain() {
    let [ours, theirs] = two();
    let old = theirs.table::<plain::Employee>().unwrap();
    old.bulk_insert((0..1_100).map(plain::employee)).unwrap().into_result().unwrap();
    // From plain to sealed there is no way.
    assert_eq!(ours.table::<sealed::Employee>().map(drop).unwrap_err().kind(), ErrorKind::LayoutChanged);
    let staff = ours.table::<dual::Employee>().unwrap();
    staff.insert(&dual::employee(1_100)).unwrap();
    assert_eq!(old.insert(&plain::employee(1_101)).unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert_eq!(handles(&staff).1, 2_200);

    let refused = |tables: &PostgresTables| {
        let error = tables.table::<sealed::Employee>().map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
        assert!(!error.to_string().contains("078-05"), "{error}");
        error
    };
    let error = refused(&ours);
    assert!(error.to_string().contains("2200 values of `Ssn` are still plain"), "{error}");
    assert_eq!((error.table_name(), error.row_key()), (Some("Payroll"), Some("empid_000000")), "{error}");
    // A handle that was refused has changed nothing of what others may do.
    staff.update(dual::Employee::key("Sales", 7), |one| one.name = "Other".into()).unwrap();
    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (1_099, 0));
    assert_eq!(handles(&staff).1, 0);
    for tables in [&ours, &theirs] {
        let sealed = tables.table::<sealed::Employee>().unwrap();
        assert_eq!(sealed.get(sealed::Employee::key("Sales", 9)).unwrap().unwrap().ssn, "078-05-0009");
    }
    let sealed = ours.table::<sealed::Employee>().unwrap();
    sealed.insert(&sealed::employee(2_000)).unwrap();
    // It is noted now, and there is no way back.
    assert_eq!(theirs.table::<dual::Employee>().map(drop).unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert_eq!(old.insert(&plain::employee(2_001)).unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert!(sealed.check().unwrap().is_sound());
}

#[test]
fn a_job_that_seals_anew_bears_cuts_at_any_message() {
    let proxy = Proxy::begin(server_port());
    let tables = options().encryption(provider()).connect(&server_at(proxy.port)).unwrap();
    let staff = tables.table::<sealed::Employee>().unwrap();
    staff.bulk_insert((0..30).map(sealed::employee)).unwrap().into_result().unwrap();
    let keys = tables.encryption().unwrap();
    let work = || {
        keys.rotate(&Scope::store()).unwrap();
        let mut job = staff.reencrypt().unwrap().steps_of(12);
        while job.step().unwrap() {}
        let report = job.report();
        assert_eq!((report.changed, report.failed), (30, 0), "{:?}", report.failures);
        assert_eq!(keys.destroy_unused().unwrap(), 1);
    };
    work();
    proxy.stop();
    let mut runs = 0;
    for cut in [Cut::Before, Cut::Behind] {
        for message in (0..400).step_by(3) {
            proxy.cut_at(message, cut);
            work();
            runs += 1;
            if proxy.stop() == 0 {
                break;
            }
        }
    }
    println!("{runs} cuts");
    assert!(runs > 20, "{runs}");
    for id in 0..30 {
        assert_eq!(*staff.get(sealed::Employee::key("Sales", id)).unwrap().unwrap(), sealed::employee(id));
    }
}
