//! Shapes through paths, where the modules of neither go: series in periods, blobs in everything, lists in sets.
//! The guide's chapter on modelling has the table of all pairs, and `cells.md` says which test holds each. `repeated` tries what
//! each change of a field makes of each kind of row that repeats it.

mod blobs;
mod lists;
mod periods;
mod repeated;

use std::path::Path;

/// Every test that `cells.md` names is there.
#[test]
fn the_table_of_pairs_names_tests_that_there_are() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = include_str!("cells.md");
    let mut named = 0;
    for cell in tests.lines().filter_map(|line| line.strip_prefix('|')?.rsplit('|').nth(1)) {
        for name in cell.split('`').skip(1).step_by(2) {
            named += 1;
            if name.starts_with("ui/") {
                assert!(package.join(format!("{name}.stderr")).exists(), "{name}");
                continue;
            }
            let (module, function) = name.rsplit_once("::").unwrap();
            let place = package.join("it").join(module.replace("::", "/"));
            let source = std::fs::read_to_string(place.join("mod.rs"));
            let source = source.or_else(|_| std::fs::read_to_string(place.with_extension("rs")));
            let is_there =
                source.is_ok_and(|source| source.contains(&format!("#[test]\nfn {function}() {{")));
            assert!(is_there, "{name}");
        }
    }
    assert!(named > 50, "{named}");
}
