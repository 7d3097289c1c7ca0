//! Rows that came to refer to a blob of another store by a build that did not check whether they may.

use std::path::Path;
use std::sync::Arc;

use integration_tests::Scratch;
use integration_tests::forge::Forge;
use table_core::blob::{Blob, SealedBlob};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Store, Value};

use super::{Employee, Report, assert_refused, employee, held, key};
use integration_tests::assert_sound;

/// Puts a reference in the place of every empty field of blobs, as builds did that let it in.
fn let_in(store: &Path, blob: Blob) {
    const BINARY: u8 = 1;
    let Value::Binary(reference) = Value::from(blob) else { panic!("a reference is bytes") };
    let forge = Forge::open(store);
    for (key, mut image) in forge.rows() {
        for (_, _, bytes) in
            image.properties.iter_mut().filter(|(_, tag, bytes)| *tag == BINARY && bytes.is_empty())
        {
            bytes.clone_from(&reference);
        }
        forge.put_row(&key, Some(&image));
    }
    forge.close();
}

/// A store of three entities with a copy each, all of which refer to a blob of another store.
fn spoilt(scratch: &Scratch) -> (Store, Blob) {
    let path = scratch.path().join("spoilt");
    let elsewhere = Store::open(scratch.path().join("elsewhere")).unwrap();
    let photo = held(&elsewhere, b"abc");
    let store = Store::open(&path).unwrap();
    let staff = store.table::<Employee>().unwrap();
    for id in 1..=3 {
        staff.insert(&employee(id, Blob::default())).unwrap();
    }
    drop((staff, store));
    let_in(&path, photo);
    (Store::open(&path).unwrap(), photo)
}

/// Makes the first blob of the store, which an entity holds.
fn own(store: &Store) {
    held(store, b"own");
}

#[track_caller]
fn assert_named(store: &Store, rows: usize) {
    let report = store.check().unwrap();
    let words =
        |what: &str| what.contains("`Photo`") && what.contains("another store's") && what.contains("repair");
    assert!(report.problems.iter().all(|problem| words(&problem.what)), "{:#?}", report.problems);
    assert!(report.problems.iter().all(|problem| problem.table.as_deref() == Some("Company")));
    let mut named: Vec<_> = report.problems.iter().map(|problem| problem.row.clone().unwrap()).collect();
    named.sort();
    named.dedup();
    assert_eq!((named.len(), report.problems.len()), (rows, rows), "{:#?}", report.problems);
    assert!(named.iter().all(|(partition, _)| partition == "Sales"));
}

#[test]
fn checks_name_the_rows_before_any_upload_and_after() {
    let scratch = Scratch::new();
    let (store, photo) = spoilt(&scratch);
    let staff = store.table::<Employee>().unwrap();
    for is_first in [true, false] {
        assert_named(&store, 6);
        let report = staff.check().unwrap();
        assert_eq!((report.missing_blobs, report.wrong()), (3, 3), "{report}");
        assert!(!report.is_sound() && report.to_string().contains("3 blobs"), "{report}");
        let problem = &report.problems[0];
        assert_eq!((&*problem.table, &*problem.row, problem.index), ("Company", "empid_000001", "Photo"));
        assert!(problem.what.contains("Store::import_blob"), "{}", problem.what);
        assert_eq!(photo.get(&store).unwrap_err().kind(), ErrorKind::BlobGone);
        if is_first {
            own(&store);
        }
    }
    // A store that is read alone is told of as well.
    drop((staff, store));
    let store = Store::options().read_only(true).open(scratch.path().join("spoilt")).unwrap();
    assert_named(&store, 6);
    assert_eq!(store.table::<Employee>().unwrap().check().unwrap().missing_blobs, 3);
}

#[test]
fn every_write_that_takes_the_reference_away_works() {
    for has_own in [false, true] {
        let scratch = Scratch::new();
        let (store, photo) = spoilt(&scratch);
        let staff = store.table::<Employee>().unwrap();
        if has_own {
            own(&store);
        }
        // What is changed beside it stays as it was, and so does what is moved.
        staff.update(key(1), |employee| employee.name = "eve".into()).unwrap();
        staff.move_to(key(2), |employee| employee.id = 4).unwrap();
        assert_named(&store, 6);
        // One more than there were is refused.
        assert_refused(staff.insert(&employee(9, photo)), &["`Photo`"]);
        assert_refused(
            staff.merge(key(1), Employee::patch().sketch(Some(photo)), IfMatch::Any),
            &["empid_000001"],
        );

        staff.put(&employee(1, Blob::default())).unwrap();
        assert_named(&store, 4);
        staff.delete(key(4)).unwrap();
        assert_named(&store, 2);
        let raw = staff.dynamic().raw();
        raw.delete("Sales", "name_n3_000003").unwrap();
        let empty = DynamicEntity::new("Sales", "empid_000003").with("Photo", Vec::new());
        raw.merge(&empty, IfMatch::Any).unwrap();
        assert_sound(&store);
        assert_eq!(store.stats().unwrap().blobs.blobs, u64::from(has_own));
        staff.repair().unwrap().run().unwrap();
        assert!(staff.check().unwrap().is_sound());
        assert_sound(&store);
    }
}

#[test]
fn a_dropped_table_and_a_compaction_leave_nothing_of_it() {
    for has_own in [false, true] {
        let scratch = Scratch::new();
        let (store, _) = spoilt(&scratch);
        if has_own {
            own(&store);
        }
        let store = store.compact().unwrap();
        assert_named(&store, 6);
        store.drop_table("Company").unwrap();
        // Nobody reads the rows any more.
        assert_sound(&store);
        store.reclaim().unwrap();
        assert_sound(&store);
        let stats = store.stats().unwrap();
        assert!(stats.reclaim_failure.is_none(), "{:?}", stats.reclaim_failure);
        assert_eq!((stats.blobs.blobs, stats.blobs.bytes), (0, 0));
        own(&store);
        assert_sound(&store);
    }
}

#[test]
fn a_repair_empties_the_fields() {
    for has_own in [false, true] {
        let scratch = Scratch::new();
        let (store, _) = spoilt(&scratch);
        let staff = store.table::<Employee>().unwrap();
        if has_own {
            own(&store);
        }
        // A copy that is missing, and one that says something else, of entities that are to be emptied.
        let raw = staff.dynamic().raw();
        raw.delete("Sales", "name_n1_000001").unwrap();
        let stale = DynamicEntity::new("Sales", "name_n2_000002").with("Name", "other");
        raw.merge(&stale, IfMatch::Any).unwrap();
        let report = staff.repair().unwrap().run().unwrap();
        assert_eq!((report.missing_blobs, report.missing, report.stale), (3, 1, 1), "{report}");
        let checked = staff.check().unwrap();
        assert!(checked.is_sound(), "{checked} {:#?}", checked.problems);
        assert_sound(&store);
        for id in 1..=3 {
            let found = staff.get(key(id)).unwrap().unwrap();
            assert_eq!((&*found, found.sketch), (&employee(id, Blob::default()), None));
            assert_eq!(
                *staff.get(Employee::by_name("Sales", format!("n{id}"), id)).unwrap().unwrap(),
                *found
            );
        }
        assert_eq!(store.stats().unwrap().blobs.blobs, u64::from(has_own));
        assert!(store.jobs().unwrap().is_empty());
        assert_eq!(staff.repair().unwrap().run().unwrap().mended, 0);
    }
}

/// A repair that was begun keeps what it has counted, and takes nobody's own blob away.
#[test]
fn a_repair_in_steps_leaves_what_others_put_meanwhile() {
    let scratch = Scratch::new();
    let path = scratch.path().join("spoilt");
    let elsewhere = Store::open(scratch.path().join("elsewhere")).unwrap();
    let photo = held(&elsewhere, b"abc");
    let store = Store::open(&path).unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.bulk_insert((1..=900).map(|id| employee(id, Blob::default()))).unwrap().into_result().unwrap();
    drop((staff, store));
    let_in(&path, photo);
    let store = Store::open(&path).unwrap();
    let staff = store.table::<Employee>().unwrap();
    let mut job = staff.repair().unwrap();
    job.step().unwrap();
    drop(job);
    let right = store.upload("image/jpeg", &b"right"[..]).unwrap();
    staff.update(key(900), |employee| employee.photo = right).unwrap();
    drop((staff, store));
    let store = Store::open(&path).unwrap();
    let staff = store.table::<Employee>().unwrap();
    let report = staff.repair().unwrap().run().unwrap();
    assert_eq!((report.missing_blobs, report.mended), (899, 899), "{report}");
    assert_eq!(staff.get(key(900)).unwrap().unwrap().photo.get(&store).unwrap(), b"right");
    assert!(staff.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn parts_of_wide_entities_and_rows_of_no_struct_are_named_and_mended() {
    let scratch = Scratch::new();
    let path = scratch.path().join("spoilt");
    let elsewhere = Store::open(scratch.path().join("elsewhere")).unwrap();
    let photo = held(&elsewhere, b"abc");
    let store = Store::open(&path).unwrap();
    let reports = store.table::<Report>().unwrap();
    reports.insert(&Report { office: "Oslo".into(), id: 1, drawing: Blob::default() }).unwrap();
    let notes = store.create_table("Notes").unwrap();
    let note = DynamicEntity::new("p", "1").with("Text", "words").with("Scan", Vec::new());
    notes.insert(&note).unwrap();
    drop((reports, notes, store));
    let_in(&path, photo);
    let store = Store::open(&path).unwrap();
    let named = |store: &Store| {
        let mut rows: Vec<_> = store
            .check()
            .unwrap()
            .problems
            .into_iter()
            .map(|problem| {
                let (table, (_, row)) = (problem.table.unwrap(), problem.row.unwrap());
                assert!(problem.what.contains("another store's"), "{}", problem.what);
                (table, row, problem.what.split('`').nth(1).unwrap().to_owned())
            })
            .collect();
        rows.sort();
        rows
    };
    let row = |table: &str, row: &str, property: &str| [table, row, property].map(str::to_owned).into();
    assert_eq!(named(&store), [row("Notes", "1", "Scan"), row("Reports", "report_000001_01", "Drawing")]);
    let reports = store.table::<Report>().unwrap();
    let report = reports.check().unwrap();
    assert_eq!((report.missing_blobs, report.wrong()), (1, 1), "{report}");
    assert_eq!(reports.repair().unwrap().run().unwrap().mended, 1);
    assert!(reports.check().unwrap().is_sound());
    assert_eq!(named(&store), [row("Notes", "1", "Scan")]);
    own(&store);
    let notes = store.dynamic_table("Notes").unwrap();
    notes.merge(&DynamicEntity::new("p", "1").with("Text", "other"), IfMatch::Any).unwrap();
    assert_eq!(named(&store).len(), 1);
    notes.delete("p", "1").unwrap();
    assert_sound(&store);
}

/// A patient whose scan is sealed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{ward}", row = "patient_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Patient {
    ward: String,
    id: u32,
    name: String,
    #[encrypt]
    scan: SealedBlob,
}

#[test]
fn a_sealed_field_is_emptied_and_sealed() {
    let scratch = Scratch::new();
    let path = scratch.path().join("spoilt");
    let keys = Arc::new(table_core::crypt::MemoryKeys::new().unwrap());
    let open = || Store::options().encryption(keys.clone()).open(&path).unwrap();
    let store = open();
    let patients = store.table::<Patient>().unwrap();
    let patient = |id, scan| Patient { ward: "a".into(), id, name: format!("n{id}"), scan };
    for id in 1..=2 {
        let scan = store.upload_sealed("image/dicom", &b"two broken ribs"[..]).unwrap();
        patients.insert(&patient(id, scan)).unwrap();
    }
    drop((patients, store));
    let forge = Forge::open(&path);
    let of_one: Vec<_> = forge.rows().into_iter().filter(|(key, _)| key.ends_with(b"000001")).collect();
    forge.close();
    assert_eq!(of_one.len(), 2);
    let store = open();
    store.table::<Patient>().unwrap().delete(Patient::key("a", 1)).unwrap();
    drop(store);
    // The rows come back, and the blob does not.
    let forge = Forge::open(&path);
    for (key, image) in &of_one {
        forge.put_row(key, Some(image));
    }
    forge.close();

    let store = open();
    let problems = store.check().unwrap().problems;
    assert_eq!(problems.len(), 2, "{problems:#?}");
    assert!(
        problems.iter().all(|problem| problem.what.contains("`Scan`") && problem.what.contains("it is lost"))
    );
    let patients = store.table::<Patient>().unwrap();
    assert_eq!(patients.check().unwrap().missing_blobs, 1);
    assert_eq!(patients.repair().unwrap().run().unwrap().mended, 1);
    let empty = SealedBlob::default();
    assert_eq!(*patients.get(Patient::key("a", 1)).unwrap().unwrap(), patient(1, empty.clone()));
    assert_eq!(patients.get(Patient::by_name("a", "n1", 1)).unwrap().unwrap().scan, empty);
    let second = patients.get(Patient::key("a", 2)).unwrap().unwrap();
    assert_eq!(second.scan.get(&store).unwrap(), b"two broken ribs");
    assert!(patients.check().unwrap().is_sound());
    assert_sound(&store);
}
