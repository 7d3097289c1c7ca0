//! A process that makes an index, and is killed while it does.

use integration_tests::releases::second;
use integration_tests::{elsewhere, relaxed};

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
    let table = store.table::<second::Employee>().unwrap();
    say("ready");
    table.rebuild().unwrap().gentle().run().unwrap();
    say("done");
    std::thread::sleep(std::time::Duration::from_secs(60));
}
