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

/// The modules straight in a folder, but for those of tests.
fn modules(folder: &Path) -> BTreeSet<String> {
    // A folder that is left without a file is none to the version control either.
    let has_code = |path: &PathBuf| path.is_file() || fs::read_dir(path).unwrap().next().is_some();
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(has_code);
    let names = entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    let own = ["mod", "lib", "private", "executors", "fuzzing", "guide"];
    names.filter(|name| !own.contains(&name.as_str()) && !name.contains("tests")).collect()
}

#[test]
fn the_map_has_the_modules_that_there_are() {
    let source = root().join("table-core/src");
    for (after, folder) in [
        ("Inside `table-core/src`:", source.clone()),
        ("Inside `store`, from the bottom up", source.join("store")),
        ("Inside `typed`", source.join("typed")),
    ] {
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

/// The names straight under `module` that a file of the module at this place under it names: by paths from the crate, or up
/// from where the file stands.
fn named<'c>(code: &'c str, module: &str, depth: usize) -> Vec<&'c str> {
    let mut found = Vec::new();
    let whole = format!("crate::{module}::");
    for (at, _) in code.match_indices(&whole) {
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
    let code = "use crate::store::row::Row;\nuse crate::store::{key, records::{meta, names}, open};\n\
                use super::super::lmdb::{self, Db};\nuse super::near;\nfn f(e: super::super::super::Elsewhere) {}\n";
    assert_eq!(named(code, "store", 2), ["row", "key", "records", "open", "lmdb"]);
    assert_eq!(named(code, "typed", 1), ["near"]);
}

/// A folder names those above it in the map's table, and never one below: so there is no circle between folders.
#[test]
fn the_stores_imports_run_upward_in_the_map() {
    let order = table("Inside `store`, from the bottom up");
    let store = root().join("table-core/src/store");
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
            for name in named(&code, "store", depth) {
                match order.iter().position(|known| known == name) {
                    Some(other) if other <= level => {}
                    Some(_) => wrong.push(format!("{} names `{name}`, which is below it", inside.display())),
                    None => wrong.push(format!("{} names `{name}`, which is no folder", inside.display())),
                }
            }
            if code.contains("crate::typed") {
                wrong.push(format!("{} names `typed`", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What the store does with keys and without them is told apart in its folder, and in few places besides.
#[test]
fn the_feature_of_encryption_is_asked_for_in_its_folder() {
    let store = root().join("table-core/src/store");
    let mut found = Vec::new();
    files(&store, &mut found);
    let elsewhere = found.iter().filter(|path| !path.starts_with(store.join("encryption")));
    let asked: usize = elsewhere.map(|path| code(path).matches("feature = \"encrypt\"").count()).sum();
    assert!(asked <= 30, "{asked} places outside `encryption/` ask for the feature");
}

/// What lies above the seam knows no executor: neither LMDB nor a type of the store on it.
#[test]
fn what_lies_above_the_seam_names_no_executor() {
    let source = root().join("table-core/src");
    let mut found = Vec::new();
    for folder in [
        "typed", "queue", "json", "messages", "plan", "query", "schema", "model", "row", "sealing",
        "executor", "handle",
    ] {
        let before = found.len();
        files(&source.join(folder), &mut found);
        assert!(found.len() > before, "{folder} has no file");
    }
    // What the derive writes names what this file gives, and no other.
    found.push(source.join("private.rs"));
    let names = |path: &PathBuf| {
        let code = code(path);
        ["crate::store", "heed", "lmdb", "Lmdb", "LMDB"].into_iter().find(|name| code.contains(name))
    };
    let wrong: Vec<_> = found
        .iter()
        .filter_map(|path| {
            Some(format!("{} names `{}`", path.strip_prefix(&source).ok()?.display(), names(path)?))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
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
        let is_there = ["tests/it", "table-core/src"].into_iter().any(|folder| {
            let place = root().join(folder).join(&modules);
            let files = [place.with_extension("rs"), place.join("mod.rs"), place.join("tests.rs")];
            let texts = files.into_iter().filter_map(|file| fs::read_to_string(file).ok());
            texts.into_iter().any(|text| text.contains(&format!("fn {test}()")))
        });
        assert!(is_there, "there is no test `{name}`");
    }
}
