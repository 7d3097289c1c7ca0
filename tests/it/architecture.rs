//! The map in `docs/internals/architecture.md` is what the folders are, and the store's imports run the way that it
//! says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The names in the first column of the table that follows this line of the map, in order.
fn table(after: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/internals/architecture.md")).unwrap();
    let (_, rest) = text.split_once(after).unwrap_or_else(|| panic!("no line `{after}`"));
    let rows =
        rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let names = rows.skip(2).flat_map(|row| {
        let first = row.split('|').nth(1).unwrap().to_owned();
        first
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|name| name.trim_end_matches('/').to_owned())
            .collect::<Vec<_>>()
    });
    let names: Vec<_> = names.collect();
    assert!(!names.is_empty(), "`{after}` has no table");
    names
}

/// The names of the files and folders straight in a folder, without their extensions.
fn stems(folder: &Path) -> BTreeSet<String> {
    // A folder that is left without a file is none to the version control either.
    let has_code = |path: &PathBuf| path.is_file() || fs::read_dir(path).unwrap().next().is_some();
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(has_code);
    entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The modules straight in a folder, but for those of tests.
fn modules(folder: &Path) -> BTreeSet<String> {
    let names = stems(folder).into_iter();
    let own = ["mod", "lib", "private", "executors", "fuzzing", "guide"];
    names.filter(|name| !own.contains(&name.as_str()) && !name.contains("tests")).collect()
}

#[test]
fn the_map_has_the_modules_that_there_are() {
    for (after, folder) in [
        ("Inside `crates/table-engine/src`:", "crates/table-engine/src"),
        ("Inside `crates/lmdb-verify/src`:", "crates/lmdb-verify/src"),
        ("Inside `crates/table-lmdb/src`, from the bottom up", "crates/table-lmdb/src"),
        ("Inside `typed`", "crates/table-engine/src/typed"),
    ] {
        let folder = root().join(folder);
        let mapped: BTreeSet<_> = table(after).into_iter().collect();
        assert_eq!(mapped, modules(&folder), "{after}");
    }
}

/// The source files in a folder, but for those of tests.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.contains("tests") {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// The code of a file without comments and without its tests, which stand at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let is_test = |at: usize| {
        lines[at].starts_with("#[cfg(test)]")
            && lines[at..].iter().find(|line| !line.starts_with("#[")).is_some_and(|line| line.ends_with('{'))
    };
    let end = (0..lines.len()).find(|at| is_test(*at)).unwrap_or(lines.len());
    lines[..end]
        .iter()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |code, line| code + line + "\n")
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The first names of what follows a path: one, or those in its braces.
fn firsts(text: &str) -> Vec<&str> {
    let Some(list) = text.strip_prefix('{') else { return vec![identifier(text)] };
    let (mut depth, mut starts, mut found) = (0, true, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => starts = true,
            c if starts && !c.is_whitespace() => {
                found.push(identifier(&list[at..]));
                starts = false;
            }
            _ => {}
        }
    }
    found
}

/// The crate's modules that a file names which stands so many modules deep: by paths from the crate, or up from where the
/// file stands.
fn named(code: &str, depth: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let whole = "crate::";
    for (at, _) in code.match_indices(whole) {
        found.extend(firsts(&code[at + whole.len()..]));
    }
    let mut rest = code;
    while let Some(at) = rest.find("super::") {
        let mut path = &rest[at..];
        let mut up = 0;
        while let Some(next) = path.strip_prefix("super::") {
            path = next;
            up += 1;
        }
        if up == depth {
            found.extend(firsts(path));
        }
        rest = path;
    }
    found
}

#[test]
fn what_is_named_is_found() {
    let code = "use crate::row::Row;\nuse crate::{key, records::{meta, names}, open};\n\
                use super::super::lmdb::{self, Db};\nuse super::near;\nfn f(e: super::super::super::Elsewhere) {}\n";
    assert_eq!(named(code, 2), ["row", "key", "records", "open", "lmdb"]);
    assert_eq!(named(code, 1).last(), Some(&"near"));
}

/// A folder names those above it in the map's table, and never one below: so there is no circle between folders.
#[test]
fn the_stores_imports_run_upward_in_the_map() {
    let order = table("Inside `crates/table-lmdb/src`, from the bottom up");
    let store = root().join("crates/table-lmdb/src");
    let mut wrong = Vec::new();
    for (level, folder) in order.iter().enumerate() {
        let mut found = Vec::new();
        files(&store.join(folder), &mut found);
        assert!(!found.is_empty(), "{folder} has no file");
        for path in found {
            let code = code(&path);
            let inside = path.strip_prefix(&store).unwrap();
            // The module of `a/mod.rs` is `a`, that of `a/b.rs` is `a::b`.
            let depth = inside.components().count() - usize::from(inside.ends_with("mod.rs"));
            // What the root shows is of the folders.
            for name in
                named(&code, depth).into_iter().filter(|name| name.starts_with(|c: char| c.is_lowercase()))
            {
                match order.iter().position(|known| known == name) {
                    Some(other) if other <= level => {}
                    Some(_) => wrong.push(format!("{} names `{name}`, which is below it", inside.display())),
                    None => wrong.push(format!("{} names `{name}`, which is no folder", inside.display())),
                }
            }
            if code.contains("table_engine::typed") {
                wrong.push(format!("{} names `typed`", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What the store does with keys and without them is told apart in its folder, and in few places besides.
#[test]
fn the_feature_of_encryption_is_asked_for_in_its_folder() {
    let store = root().join("crates/table-lmdb/src");
    let mut found = Vec::new();
    files(&store, &mut found);
    let elsewhere = found.iter().filter(|path| !path.starts_with(store.join("encryption")));
    let asked: usize = elsewhere.map(|path| code(path).matches("feature = \"encrypt\"").count()).sum();
    assert!(asked <= 30, "{asked} places outside `encryption/` ask for the feature");
}

/// A crate needs those that the map says, and its code names no other: so the arrows between crates point down, and LMDB is
/// where it belongs.
#[test]
fn the_arrows_between_crates_are_those_of_the_map() {
    let ours =
        ["table-words", "table-engine", "lmdb-verify", "table-lmdb", "table-derive", "table-core", "heed"];
    for (package, seen) in [
        ("crates/table-words", &[][..]),
        ("crates/table-engine", &["table-words"]),
        ("crates/lmdb-verify", &["heed"]),
        ("crates/table-lmdb", &["heed", "lmdb-verify", "table-engine"]),
        ("table-derive", &["table-words"]),
        ("table-core", &["table-derive", "table-engine", "table-lmdb"]),
    ] {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let (_, needs) = manifest.split_once("\n[dependencies]\n").unwrap();
        let needs = needs.split("\n[").next().unwrap();
        let mut needed: Vec<_> = needs.lines().map(|line| line.split(['.', ' ']).next().unwrap()).collect();
        needed.retain(|name| ours.contains(name));
        needed.sort_unstable();
        assert_eq!(needed, seen, "{package}");

        let mut found = Vec::new();
        files(&root().join(package).join("src"), &mut found);
        for path in found {
            let code = code(&path);
            for other in ours.iter().filter(|other| !seen.contains(other)) {
                let name = format!("{}::", other.replace('-', "_"));
                // The engine's examples and generated code name the facade; the macros write that name.
                let is_named =
                    code.contains(&name) && !(*other == "table-core" && package != "crates/table-lmdb");
                assert!(!is_named, "{} names `{name}`", path.display());
            }
        }
    }
}

/// But for those of tests.
#[test]
fn every_file_that_the_map_names_is_there() {
    let mut all = Vec::new();
    for part in ["crates", "table-core", "table-derive", "tests", "bench", "fuzz", "examples"] {
        files(&root().join(part), &mut all);
    }
    let text = fs::read_to_string(root().join("docs/internals/architecture.md")).unwrap();
    let named = text.split('`').skip(1).step_by(2).filter(|word| !word.contains("tests")).filter(|word| {
        word.strip_suffix(".rs")
            .is_some_and(|path| path.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-_".contains(&b)))
    });
    let named: BTreeSet<_> = named.collect();
    assert!(named.len() > 20, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !all.iter().any(|path| path.ends_with(name))).collect();
    assert!(missing.is_empty(), "docs/internals/architecture.md names {missing:?}");
}

/// The names that the page gives are `module::..::test`: the test is a function of a file whose path ends in its modules.
#[test]
fn every_fault_that_was_found_has_its_tests() {
    let text = fs::read_to_string(root().join("docs/internals/findings.md")).unwrap();
    let names: BTreeSet<_> = text.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).collect();
    let names: Vec<_> = names.into_iter().filter(|name| !name.ends_with("::")).collect();
    assert!(names.len() > 40, "{}", names.len());
    for name in names {
        let (modules, test) = name.rsplit_once("::").unwrap();
        let modules = modules.trim_end_matches("::tests").replace("::", "/");
        let is_there =
            ["tests/it", "crates/table-engine/src", "crates/lmdb-verify/src", "crates/table-lmdb/src"]
                .into_iter()
                .any(|folder| {
                    let place = root().join(folder).join(&modules);
                    let files = [place.with_extension("rs"), place.join("mod.rs"), place.join("tests.rs")];
                    let texts = files.into_iter().filter_map(|file| fs::read_to_string(file).ok());
                    texts.into_iter().any(|text| text.contains(&format!("fn {test}()")))
                });
        assert!(is_there, "there is no test `{name}`");
    }
}

/// The modules that a file declares.
fn declared(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let names = text.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    names.map(str::to_owned).collect()
}

/// A module that is in no program is not compiled, and its tests are not run.
#[test]
fn every_module_of_tests_is_in_one_program() {
    let manifest = fs::read_to_string(root().join("tests/Cargo.toml")).unwrap();
    let programs = manifest.split("path = \"it/").skip(1).map(|rest| rest.split_once(".rs\"").unwrap().0);
    let programs: BTreeSet<_> = programs.map(str::to_owned).collect();
    let folder = root().join("tests/it");
    let mut listed = BTreeSet::new();
    for program in &programs {
        for module in declared(&folder.join(program).with_extension("rs")) {
            assert!(listed.insert(module.clone()), "`{module}` is in two programs, and `{program}` is one");
        }
    }
    let there = stems(&folder).into_iter().filter(|module| !programs.contains(module)).collect();
    assert_eq!(listed, there, "each module of `tests/it` is named in one of the roots {programs:?}");
}

#[test]
fn the_map_of_what_tests_share_is_whole() {
    let path = root().join("tests/src/lib.rs");
    let text = fs::read_to_string(&path).unwrap();
    let map: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
    for module in declared(&path) {
        let is_mapped = map.contains(&format!("[`{module}`]"));
        assert!(is_mapped, "the map at the top of tests/src/lib.rs does not name `{module}`");
    }
}

/// Cargo builds the core once more for the macros' own tests if these ask for other features.
#[test]
fn the_core_is_built_once_for_all_tests() {
    let features = |package: &str| -> BTreeSet<String> {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let line = manifest.lines().find(|line| line.starts_with("table-core = {")).unwrap();
        let (_, features) = line.split_once("features = [").unwrap();
        features.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    };
    assert_eq!(features("table-derive"), features("tests"));
}
