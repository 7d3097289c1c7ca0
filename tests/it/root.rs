//! What stands at the crate's root: what a program imports, and no more.

use std::fs;
use std::path::Path;

/// The names that `lib.rs` gives at the root, but for modules.
fn names() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../table-core/src/lib.rs");
    let text = fs::read_to_string(path).unwrap();
    let mut names = Vec::new();
    for use_ in text.split("\npub use ").skip(1) {
        let list = use_.split_once(';').unwrap().0;
        let list = list.rsplit_once("::").unwrap().1.trim_matches(['{', '}']);
        names.extend(list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()));
    }
    // Modules, macros and functions have small letters: of them `prefix` and `prop` are to be imported.
    let is_imported = |name: &String| {
        name.starts_with(|c: char| c.is_uppercase())
            || ["prefix", "prop", "assert_layouts"].contains(&&**name)
    };
    names.retain(is_imported);
    names.sort();
    // A trait and its derive have one name.
    names.dedup();
    names
}

#[test]
fn the_root_has_what_a_program_imports() {
    let names = names();
    assert!(
        names.iter().any(|name| name == "Store") && names.iter().any(|name| name == "prefix"),
        "{names:?}"
    );
    assert!(names.len() <= 38, "{} names: {names:?}", names.len());
}
