//! A process that makes an index, and is killed while it does.

use integration_tests::relaxed;
use integration_tests::releases::second;

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
