//! What does not compile, and what the compiler says about it: a folder for each word that a user knows.
//! `docs/internals/testing.md` has the cases of each rule.
//!
//! After a change of a message, `TRYBUILD=overwrite cargo test -p integration-tests --test ui` writes what is said now.
//! Read it then: is it on the smallest token, is it true, is it alone?

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn messages() {
    // No case that passes among them: then a check is enough, and the store is not built once more.
    trybuild::TestCases::new().compile_fail("ui/*/*.rs");
}

#[test]
fn the_documentation_lists_every_case() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documentation = fs::read_to_string(package.join("../docs/internals/testing.md")).unwrap();
    // The last column of the section's table.
    let section = documentation.split("\n## ").find(|text| text.starts_with("Messages of the compiler"));
    let rows = section.unwrap().lines().filter_map(|line| line.strip_prefix('|')?.rsplit('|').nth(1));
    let listed: BTreeSet<_> =
        rows.flat_map(|cases| cases.split('`').skip(1).step_by(2)).map(str::to_owned).collect();

    let mut cases = BTreeSet::new();
    for folder in fs::read_dir(package.join("ui")).unwrap() {
        let folder = folder.unwrap().path();
        for case in fs::read_dir(&folder).unwrap() {
            let case = case.unwrap().path();
            if case.extension().is_some_and(|extension| extension == "rs") {
                let [folder, case] = [&folder, &case].map(|path| path.file_stem().unwrap().to_str().unwrap());
                cases.insert(format!("{folder}/{case}"));
            }
        }
    }
    assert!(cases.len() > 50, "{cases:?}");
    assert_eq!(listed, cases);
}
