//! What files hold, and under which keys.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use table_core::crypt::KeyHandle;
use table_core::{DynamicEntity, Query};

use super::{CANARY, Employee, Scratch, employee, key, sealed, staff};

#[test]
fn the_plaintext_is_in_no_file_at_any_time() {
    fn search(dir: &Path, files: &mut usize) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                search(&path, files);
            } else {
                *files += 1;
                let bytes = fs::read(&path).unwrap();
                let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
                assert!(!found, "{} shows the plaintext", path.display());
            }
        }
    }
    let scratch = Scratch::new();
    let look = || {
        let mut files = 0;
        search(scratch.dir.path(), &mut files);
        assert!(files >= 3, "{files} files");
    };
    let store = scratch.store();
    let staff = staff(&store);
    for id in 0..20 {
        staff.insert(&employee(id)).unwrap();
    }
    look();
    for id in 0..20 {
        staff.update(key(id), |e| e.note = Some(format!("{CANARY} again"))).unwrap();
        staff.move_to(key(id), |e| e.id += 100).unwrap();
    }
    look();
    let (one, two) = (employee(1), employee(2));
    staff.egt(Employee::partition("Archive")).commit().unwrap_err();
    for id in 100..110 {
        staff.delete(key(id)).unwrap();
    }
    staff.egt(Employee::partition("Sales")).put(&one).put(&two).commit().unwrap();
    store.encryption().unwrap().rotate_all().unwrap();
    staff.put(&employee(5)).unwrap();
    look();
    store.copy_to(scratch.dir.path().join("copy")).unwrap();
    drop((staff, store));
    look();
}

#[test]
fn nothing_is_written_under_a_key_that_a_later_transaction_saw_retired() {
    const WRITERS: u32 = 3;
    const ROTATIONS: usize = 12;
    /// A writer that has failed is not waited for for ever.
    const PATIENCE: Duration = Duration::from_secs(10);
    let scratch = Scratch::new();
    let store = scratch.store();
    let (staff, encryption) = (staff(&store), store.encryption().unwrap());
    staff.insert(&employee(0)).unwrap();
    let barrier = store.create_table("Barrier").unwrap();
    let is_over = AtomicBool::new(false);
    let written = AtomicUsize::new(0);
    let mut retired = Vec::new();
    thread::scope(|scope| {
        for writer in 1..=WRITERS {
            let (staff, is_over, written) = (&staff, &is_over, &written);
            scope.spawn(move || {
                for number in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let first = writer * 100_000 + number * 10;
                    // One of them many at once.
                    if writer == 1 {
                        let report = staff.bulk_insert((first..first + 10).map(employee)).unwrap();
                        assert_eq!((report.committed, report.failures.len()), (10, 0));
                    } else {
                        staff.insert(&employee(first)).unwrap();
                    }
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for rotation in 0..ROTATIONS {
            // A writer that was held up is what is looked for: something is written between any two rotations.
            let (before, begun) = (written.load(Ordering::Relaxed), Instant::now());
            while written.load(Ordering::Relaxed) == before && begun.elapsed() < PATIENCE {
                thread::yield_now();
            }
            let old = encryption.keys().unwrap().into_iter().find(|key| key.current).unwrap();
            encryption.rotate(&old.scope).unwrap();
            let row = DynamicEntity::new("b", format!("{rotation:03}"));
            retired.push((old.handle, barrier.insert(&row).unwrap().timestamp()));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let mut seen = 0;
    for row in staff.dynamic().query(&Query::new().partition("Sales").row_prefix("empid_")).unwrap() {
        let row = row.unwrap();
        let handle = KeyHandle::of(&sealed(&row, "Ssn").unwrap()).unwrap();
        let late = retired.iter().find(|(old, _)| *old == handle);
        assert!(late.is_none_or(|(_, at)| row.timestamp().unwrap() < *at), "{} is late", row.row_key());
        seen += 1;
    }
    assert!(seen > 1, "only {seen} rows");
    assert_eq!(staff.rows().department("Sales").into_iter().filter(Result::is_ok).count(), seen);
}
