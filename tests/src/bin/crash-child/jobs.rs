//! Processes that make an index or convert entities, and are killed while they do.

use integration_tests::relaxed;
use integration_tests::releases::second;
use integration_tests::versions;

use super::say;

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
