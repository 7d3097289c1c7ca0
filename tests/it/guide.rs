//! The guide's chapters are all shown and all run, and the one on errors has an entry for each kind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use table_core::ErrorKind;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

#[test]
fn every_chapter_is_in_the_documentation_and_its_programs_run() {
    let files = fs::read_dir(root().join("table-core/guide")).unwrap().map(|file| file.unwrap().path());
    let chapters: BTreeSet<_> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "md"))
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "SUMMARY")
        .collect();
    assert!(chapters.len() > 5, "{chapters:?}");

    let modules = fs::read_to_string(root().join("table-core/src/guide.rs")).unwrap();
    let (_, listed) = modules.split_once("\nchapters! {").unwrap();
    let listed: BTreeSet<_> =
        listed.split_whitespace().filter(|word| *word != "}").map(str::to_owned).collect();
    assert_eq!(listed, chapters);

    let doctests = fs::read_to_string(root().join("tests/src/lib.rs")).unwrap();
    for chapter in chapters {
        assert!(doctests.contains(&format!("table-core/guide/{chapter}.md")), "`{chapter}` is not run");
    }
}

#[test]
fn every_kind_of_error_has_its_entry() {
    let chapter = fs::read_to_string(root().join("table-core/guide/troubleshooting.md")).unwrap();
    // An entry is a heading, and what to do below it.
    let entries: Vec<_> =
        chapter.split("\n### ").skip(1).map(|entry| entry.split_once("\n\n").unwrap()).collect();
    for (kind, text) in &entries {
        let cure = text.lines().next().unwrap();
        assert!(cure.ends_with('.') && cure.split(' ').count() > 3, "`{kind}` has no text: {cure}");
    }
    let kinds: BTreeSet<_> = ErrorKind::ALL.iter().map(|kind| format!("{kind:?}")).collect();
    let described: BTreeSet<_> = entries.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    assert_eq!(described, kinds);
    assert_eq!(entries.len(), kinds.len(), "a kind has two entries");
}
