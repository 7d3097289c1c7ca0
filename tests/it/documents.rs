//! The documents: their links lead to files and headings that are there, and all of them together stay short.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most words that all documents may have together, but for [`UNCOUNTED`].
const MOST_WORDS: usize = 35_000;
/// Not counted: the bytes on disk, which are as many as they are, and what grows by itself.
const UNCOUNTED: [&str; 2] = ["format.md", "CHANGELOG.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Collects the Markdown files in a folder, each under one name: links of the file system are left out.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let is_made = ["target", "book"].iter().any(|name| entry.file_name() == *name);
        if kind.is_dir() && !is_made {
            documents(&path, found);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Returns every document of the project.
fn every_document() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["docs", "table-core", "table-derive"] {
        documents(&root().join(folder), &mut found);
    }
    let beside = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    found.extend(beside.filter(|path| path.is_file() && path.extension().is_some_and(|e| e == "md")));
    found.sort();
    assert!(found.len() > 30, "{found:?}");
    found
}

/// Returns the text without what stands in blocks of code.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.fold(String::new(), |prose, line| prose + line + "\n")
}

/// Returns where the links of a document lead within the project: not addresses, and not paths of Rust.
fn links(prose: &str) -> Vec<&str> {
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
    let defined =
        prose.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: ")).map(|(_, to)| to);
    inline.chain(defined).filter(|link| !link.contains(':') && !link.contains('@')).collect()
}

/// Returns the anchors of a document's headings, as they are made of their texts: small letters, `-` for spaces.
fn anchors(prose: &str) -> BTreeSet<String> {
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let texts = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
    texts
        .map(|text| {
            let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[test]
fn links_and_headings_are_read() {
    let text =
        "# A row's bytes\n[a](b.md#c) `x`, [d](crate::D), [e](https://e)\n```\n[f](g)\n```\n[h]: i.md\n";
    let prose = prose(text);
    assert_eq!(links(&prose), ["b.md#c", "i.md"]);
    assert_eq!(anchors(&prose), BTreeSet::from(["a-rows-bytes".to_owned()]));
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    let mut count = 0;
    // Of the crates beside the library the server has a page that is written for its users.
    let server = root().join("crates/table-server/README.md");
    for document in every_document().into_iter().chain([server]) {
        let prose = prose(&fs::read_to_string(&document).unwrap());
        for link in links(&prose) {
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = document.parent().unwrap();
            let target = if path.is_empty() { document.clone() } else { folder.join(path) };
            let text = || fs::read_to_string(&target).unwrap_or_default();
            let is_there =
                target.exists() && (anchor.is_empty() || anchors(&self::prose(&text())).contains(anchor));
            if !is_there {
                dead.push(format!("{}: {link}", document.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(count > 100, "{count}");
    assert!(dead.is_empty(), "\n{}", dead.join("\n"));
}

#[test]
fn the_page_of_the_server_names_files_that_are_there() {
    let folder = root().join("crates/table-server");
    let text = fs::read_to_string(folder.join("README.md")).unwrap();
    let words = text.split(|c: char| c.is_whitespace() || "`;,".contains(c));
    let named =
        words.filter(|word| ["clients/", "crates/", "examples/"].iter().any(|at| word.starts_with(at)));
    let mut count = 0;
    for path in named {
        count += 1;
        assert!(folder.join(path).exists() || root().join(path).exists(), "{path}");
    }
    assert!(count > 2, "{count}");
    let packages = text.split(" -p ").skip(1).filter_map(|rest| rest.split_whitespace().next());
    for package in packages {
        let folders = ["crates", "examples"].map(|folder| root().join(folder).join(package));
        let example = root().join("examples").join(package.trim_end_matches("-example"));
        assert!(folders.iter().any(|folder| folder.exists()) || example.exists(), "{package}");
    }
}

/// What scripts write is not counted either: the tables of the benchmarks.
#[test]
fn the_documents_stay_short() {
    let generated = root().join("docs/internals/benchmarks");
    let words: usize = every_document()
        .iter()
        .filter(|path| !path.starts_with(&generated))
        .filter(|path| !UNCOUNTED.iter().any(|name| path.ends_with(name)))
        .map(|path| fs::read_to_string(path).unwrap().split_whitespace().count())
        .sum();
    assert!(words <= MOST_WORDS, "{words} words");
}
