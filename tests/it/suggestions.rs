//! What messages advise exists: each method that one names is a method, and each name that is taken is taken by one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The source files of the crates, but for those of tests and expansions.
fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.contains("tests") || name == "snapshots" {
                continue;
            }
            if path.is_dir() {
                walk(&path, found);
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for folder in
        ["crates/table-engine/src", "crates/table-lmdb/src", "table-derive/src", "crates/table-words/src"]
    {
        walk(&root.join(folder), &mut found);
    }
    assert!(found.len() > 100);
    found
}

/// The name at the start of a text.
fn name(text: &str) -> &str {
    text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).next().unwrap()
}

/// The name of the public function that a line begins, if it begins one.
fn function(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix("pub ")?;
    let line = line.strip_prefix("const ").or(line.strip_prefix("async ")).unwrap_or(line);
    line.strip_prefix("fn ").map(name)
}

/// The public methods of a type, wherever they are written.
fn methods(of: &str, sources: &[(PathBuf, String)]) -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    // A store lends its tables: their methods are called on it.
    if of == "Store" {
        methods = self::methods("Tables", sources);
    }
    for (_, text) in sources {
        let mut is_inside = false;
        for line in text.lines() {
            if line.starts_with("impl") {
                // `impl<E: Entity> Table<E> {`: the type is the last word, with its parameters.
                let head = line.trim_end_matches(" {");
                let own = head.strip_prefix("impl").unwrap();
                let own =
                    if own.starts_with('<') { own.rsplit_once("> ").map_or("", |(_, own)| own) } else { own };
                is_inside = !head.contains(" for ") && name(own.trim_start()) == of;
            } else if line == "}" {
                is_inside = false;
            } else if is_inside {
                methods.extend(function(line).map(str::to_owned));
            }
        }
    }
    methods
}

/// What stands between backticks in the code of a file, not in its comments: the names in its messages.
fn quoted(text: &str) -> Vec<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn a_method_that_a_message_names_is_one() {
    let sources = sources();
    let all: BTreeSet<&str> = sources
        .iter()
        .flat_map(|(_, text)| {
            text.lines().filter_map(|line| line.split_once("fn ").map(|(_, rest)| name(rest)))
        })
        .collect();
    let (mut of_types, mut chained) = (BTreeSet::new(), 0);
    for (path, text) in &sources {
        for span in quoted(text) {
            // `Store::options().encryption(..)`: a method of a type, and others of what comes of it.
            let mut parts = span.split("()").flat_map(|part| part.split("(..)"));
            let first = parts.next().unwrap();
            if let Some((of, method)) = first.split_once("::")
                && of.starts_with(|c: char| c.is_ascii_uppercase())
                && method.starts_with(|c: char| c.is_ascii_lowercase())
                && name(of) == of
                && name(method) == method
            {
                let known = methods(of, &sources);
                assert!(known.contains(method), "{}: `{span}`: {known:?}", path.display());
                of_types.insert(span);
            }
            for method in span.split('.').skip(1).filter(|rest| rest.contains('(')) {
                let method = name(method);
                if !method.is_empty() {
                    assert!(all.contains(method), "{}: `{span}`", path.display());
                    chained += 1;
                }
            }
        }
    }
    // The messages are found at all.
    assert!(of_types.len() >= 6 && chained >= 5, "{of_types:?}, {chained}");
    assert!(
        of_types.contains("SetTable::merge_any") && of_types.contains("Table::reencrypt"),
        "{of_types:?}"
    );
}

/// The texts of a list of names that are taken.
fn list(of: &str, sources: &[(PathBuf, String)]) -> BTreeSet<String> {
    let (_, text) = sources.iter().find(|(path, _)| path.ends_with("src/taken.rs")).unwrap();
    let (_, list) = text.split_once(&format!("const {of}: ")).unwrap();
    let (list, _) = list.split_once("];").unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_names_that_are_taken_are_those_of_methods() {
    let sources = sources();
    let mut of_table = methods("Table", &sources);
    // A table in a snapshot has the methods of the indexes, too.
    of_table.extend(methods("TableAt", &sources));
    of_table.extend(methods("AsyncTable", &sources));
    // By a trait, and by the derive for each entity.
    of_table.extend(["clone", "rows"].map(str::to_owned));
    let taken = list("TABLE_METHODS", &sources);
    assert_eq!(taken, of_table);
    assert!(list("TABLE_RESERVED", &sources).is_disjoint(&taken));

    // Those of a query stand in the code that writes them, or in the macro that it calls.
    let writers = ["expand/path/query.rs", "asynchronous/query.rs"];
    let writers: Vec<_> =
        sources.iter().filter(|(path, _)| writers.iter().any(|end| path.ends_with(end))).collect();
    for method in list("QUERY_METHODS", &sources) {
        assert!(writers.iter().any(|(_, text)| text.contains(&format!("fn {method}"))), "{method}");
    }
}
