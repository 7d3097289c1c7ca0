//! A session that reads changes no file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::fixture::copy;
use crate::run::on;

/// What a directory holds: the bytes of each file. Of LMDB's lock file that is its size alone, since readers note in it that
/// they read.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
            files.insert(path, Vec::new());
        } else if path.ends_with("lock.mdb") {
            let bytes = fs::metadata(&path).unwrap().len();
            files.insert(path, bytes.to_le_bytes().to_vec());
        } else {
            let bytes = fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
    files
}

#[test]
fn commands_that_look_leave_every_file_as_it_is() {
    let (directory, place) = copy();
    // The process that opened the store before has left its lock file.
    on(place.store(), &["ls", "--write"]);
    on(place.store(), &["ls", "--write", "--keys", place.ring()]);
    let before = files(directory.path());
    let commands: [&[&str]; 20] = [
        &["ls", "--count"],
        &["schema"],
        &["get", "Company", "Sales", "empid_000042", "--with-copies"],
        &["query", "Company", "--copies"],
        &["query", "Payroll", "--keys", place.ring()],
        &["explain", "Company", "Age ge 40", "--run"],
        &["stats"],
        &["check"],
        &["jobs"],
        &["outbox"],
        &["queues"],
        &["peek", "hires"],
        &["poison", "hires"],
        &["poison", "payments"],
        &["blobs"],
        &["blobs", "photos", "--get", "mia.png"],
        &["logs", "requests"],
        &["keys", "--keys", place.ring()],
        // Those that would write are not let.
        &["drop", "Company"],
        &["put", "Notes", "p", "r", "A=1"],
    ];
    for command in commands {
        on(place.store(), command);
        assert_eq!(files(directory.path()), before, "{command:?}");
    }
}
