//! Processes that make an index or convert entities, and are killed while they do.

use integration_tests::releases::second;
use integration_tests::{elsewhere, migrated, relaxed, vault, versions};
use table_core::store::Propagate;

use super::say;

/// Runs a job of this kind, and says how many it has changed: `job PATH KIND`.
pub(super) fn any(arguments: &[&str]) {
    let [path, kind] = arguments else { panic!("job PATH KIND") };
    let store = relaxed().open(path).unwrap();
    let staff = || store.table::<second::Employee>().unwrap();
    let job = || match *kind {
        "rebuild" => staff().rebuild(),
        "drop" => staff().drop_index("by_email"),
        "delete-where" => {
            let table = staff();
            let old = table.rows().department("Sales").filter(|e| e.age.ge(45)).entities();
            table.delete_where(old)
        }
        "delete-partition" => staff().delete_partition(second::Employee::partition("Sales")),
        "elsewhere" => store.table::<elsewhere::Employee>().unwrap().rebuild(),
        kind => panic!("no such job: {kind}"),
    };
    let job = job().unwrap().gentle();
    say("ready");
    say(format_args!("done {}", job.run().unwrap().changed));
    std::thread::sleep(std::time::Duration::from_secs(60));
}

/// Makes the index of the second release: `rebuild PATH`.
pub(super) fn rebuild(arguments: &[&str]) {
    let [path] = arguments else { panic!("rebuild PATH") };
    let store = relaxed().open(path).unwrap();
    let job = store.table::<second::Employee>().unwrap().rebuild().unwrap().gentle();
    // From here on the store says how far it is, unless it is through.
    say("ready");
    job.run().unwrap();
    say("done");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

/// Converts the employees to their second version: `convert PATH`.
pub(super) fn convert(arguments: &[&str]) {
    let [path] = arguments else { panic!("convert PATH") };
    let store = relaxed().open(path).unwrap();
    let job = store.migration::<versions::second::Employee>().unwrap().steps().unwrap().gentle();
    say("ready");
    job.run().unwrap();
    say("done");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

/// Converts employees with copies in other tables, and says after each step of the conversion how many rows were changed:
/// `convert-counted PATH`.
pub(super) fn convert_counted(arguments: &[&str]) {
    let [path] = arguments else { panic!("convert-counted PATH") };
    let store = relaxed().propagate(Propagate::Manual).open(path).unwrap();
    let mut job = store.migration::<migrated::second::Employee>().unwrap().steps().unwrap().gentle();
    let is_converting = || store.jobs().unwrap().iter().any(|job| job.name.starts_with("convert"));
    say("ready");
    loop {
        let was_converting = is_converting();
        let more = job.step().unwrap();
        if was_converting {
            say(job.progress().changed);
        }
        if !more {
            break;
        }
    }
    say("done");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

/// Mends the copies of the second release's employees: `repair PATH`.
pub(super) fn repair(arguments: &[&str]) {
    let [path] = arguments else { panic!("repair PATH") };
    let store = relaxed().open(path).unwrap();
    let job = store.table::<second::Employee>().unwrap().repair().unwrap().gentle();
    // From here on the store says how far it is, unless it is through.
    say("ready");
    let report = job.run().unwrap();
    say(format_args!("mended {} of {}", report.mended, report.wrong()));
    std::thread::sleep(std::time::Duration::from_secs(60));
}

/// Seals the accounts anew: `reencrypt DIRECTORY`.
pub(super) fn reencrypt(arguments: &[&str]) {
    let [dir] = arguments else { panic!("reencrypt DIRECTORY") };
    let store = vault::open(std::path::Path::new(dir)).unwrap();
    let job = store.table::<vault::Account>().unwrap().reencrypt().unwrap().gentle();
    say("ready");
    let report = job.run().unwrap();
    assert_eq!(report.failed, 0, "{:?}", report.failures);
    say(format_args!("done {}", report.changed));
    std::thread::sleep(std::time::Duration::from_secs(60));
}
