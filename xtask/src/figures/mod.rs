//! Figures that anybody can count again: the size of the code, habits that are to go, words of the documents, and the
//! arrows between the packages.

mod count;
mod source;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::workspace::{Package, packages, root};
use count::{Counts, LONG};

/// Returns all figures as Markdown.
pub(crate) fn tables() -> Result<String, String> {
    let packages = packages()?;
    let mut lines = source_lines(&packages)?;
    lines.extend(word_lines()?);
    lines.push("| package | needs |\n|---|---|".into());
    lines.extend(arrows(&packages).iter().map(|[package, needed]| format!("| {package} | {needed} |")));
    Ok(lines.join("\n") + "\n")
}

fn source_lines(packages: &[Package]) -> Result<Vec<String>, String> {
    let mut lines = vec![
        format!(
            "| package | files | over {LONG} lines | code | documentation | comments | comments per code | \
             code of tests | `pub(in` | tuple parameters | over five parameters | \"The same\" |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|".into(),
    ];
    let mut all = Counts::default();
    for package in packages {
        let counts = count_package(&package.folder)
            .map_err(|error| format!("the files of {} can't be read: {error}", package.name))?;
        lines.push(row(&package.name, &counts));
        all.add(counts);
    }
    lines.push(row("all", &all) + "\n");
    Ok(lines)
}

fn row(name: &str, counts: &Counts) -> String {
    let per_mille = (counts.comments * 1000).checked_div(counts.code).unwrap_or(0);
    format!(
        "| {name} | {} | {} | {} | {} | {} | {}.{} % | {} | {} | {} | {} | {} |",
        counts.files,
        counts.long_files,
        counts.code,
        counts.docs,
        counts.comments,
        per_mille / 10,
        per_mille % 10,
        counts.test_code,
        counts.restricted,
        counts.tuple_parameters,
        counts.many_parameters,
        counts.the_same,
    )
}

fn count_package(folder: &Path) -> io::Result<Counts> {
    let mut counts = Counts::default();
    for file in files(folder, "rs")? {
        let inside = file.strip_prefix(root()).unwrap_or(&file);
        let is_test = inside.components().any(|part| part.as_os_str().to_string_lossy().contains("tests"));
        counts.add(Counts::of(&fs::read_to_string(&file)?, is_test));
    }
    Ok(counts)
}

/// Returns the files with this extension in a folder, but for those of packages inside it and of builds.
fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let is_other = name.starts_with('.') || name == "target" || path.join("Cargo.toml").is_file();
            if !is_other {
                found.extend(files(&path, extension)?);
            }
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn word_lines() -> Result<Vec<String>, String> {
    let root = root();
    let pages = fs::read_dir(&root)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>())
        .and_then(|found| {
            let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
            let mut pages: Vec<_> = found.into_iter().filter(is_page).collect();
            pages.sort();
            pages.extend(files(&root.join("docs"), "md")?);
            Ok(pages)
        })
        .map_err(|error| format!("the documents can't be listed: {error}"))?;
    let mut lines = vec!["| document | words |\n|---|---:|".to_owned()];
    let (mut all, mut of_format) = (0, 0);
    for page in pages {
        let name = page.strip_prefix(&root).unwrap_or(&page).display().to_string();
        let words = fs::read_to_string(&page)
            .map_err(|error| format!("{name} can't be read: {error}"))?
            .split_whitespace()
            .count();
        lines.push(format!("| {name} | {words} |"));
        all += words;
        of_format += if page.file_name().is_some_and(|name| name == "format.md") { words } else { 0 };
    }
    lines.push(format!("| all | {all} |\n| all but the format | {} |\n", all - of_format));
    Ok(lines)
}

/// Returns which member needs which other to be built, in the order of their names.
fn arrows(packages: &[Package]) -> Vec<[&str; 2]> {
    let is_member = |name: &str| packages.iter().any(|package| package.name == name);
    let mut arrows: Vec<_> = packages
        .iter()
        .flat_map(|package| package.needed().map(|needed| [package.name.as_str(), needed.name.as_str()]))
        .filter(|[_, needed]| is_member(needed))
        .collect();
    arrows.sort_unstable();
    arrows.dedup();
    arrows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::package;

    #[test]
    fn arrows_are_those_between_members() {
        let packages =
            [package("b", "1.0.0", &[["a", "^1"], ["elsewhere", "^1"]]), package("a", "1.0.0", &[])];
        assert_eq!(arrows(&packages), [["b", "a"]]);
    }

    #[test]
    fn files_of_other_packages_and_of_builds_are_left_out() {
        let here = files(&root().join("xtask"), "rs").unwrap();
        assert!(here.iter().any(|file| file.ends_with("figures/mod.rs")), "{here:?}");
        let all = files(&root(), "rs").unwrap();
        assert!(!all.iter().any(|file| file.ends_with("xtask/src/main.rs")), "{all:?}");
    }
}
