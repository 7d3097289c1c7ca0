//! A release, tried: the published packages fit each other, and each is packed, unpacked and built as the registry
//! would do it.

use std::{fs, process};

use crate::command::Command;
use crate::workspace::{Package, packages, published, root};

/// Checks the packages and packs them; or, for scripts, prints their names in the order of publishing.
pub(crate) fn run(only_list: bool) -> Result<(), String> {
    let packages = packages()?;
    let published = published(&packages)?;
    if only_list {
        for package in published {
            println!("{}", package.name);
        }
        return Ok(());
    }
    let mistakes = mistakes(&published);
    if !mistakes.is_empty() {
        return Err(format!("the packages can't be released together:\n  {}", mistakes.join("\n  ")));
    }
    let [first, ..] = published.as_slice() else { return Err("no package is published".into()) };
    let changes = fs::read_to_string(root().join("CHANGELOG.md"))
        .map_err(|error| format!("CHANGELOG.md can't be read: {error}"))?;
    if !has_section(&changes, &first.version) {
        return Err(format!(
            "CHANGELOG.md has neither a section `## [{}]` nor one `## [Unreleased]`: write what changes for users",
            first.version
        ));
    }
    // Cargo keeps what it has unpacked of a version, by the folder that it was packed in: of a folder that was there before it
    // would build what the packages were then.
    let target = root().join("target").join(format!("release-{}", process::id()));
    // Together, since each is built against what was packed of those before it. A working tree with changes may be tried.
    let publish = Command::cargo("publish --dry-run --locked --allow-dirty --target-dir");
    let publish = publish.argument(&target.to_string_lossy());
    let packages =
        published.iter().fold(publish, |command, package| command.argument("-p").argument(&package.name));
    let done = packages.run();
    // A folder that can't be removed keeps nothing from being released.
    drop(fs::remove_dir_all(&target));
    done
}

/// Returns what keeps packages from being released together.
fn mistakes(published: &[&Package]) -> Vec<String> {
    let mut mistakes = Vec::new();
    if let [first, rest @ ..] = published {
        for other in rest.iter().filter(|other| other.version != first.version) {
            mistakes.push(format!(
                "{} has version {} and {} has {}: take `version.workspace = true`",
                first.name, first.version, other.name, other.version
            ));
        }
    }
    for package in published {
        for needed in package.needed() {
            let Some(other) = published.iter().find(|other| other.name == needed.name) else { continue };
            let pinned = format!("={}", other.version);
            if needed.requirement != pinned {
                mistakes.push(format!(
                    "{} needs {} {}: they are released together, so write `version = \"{pinned}\"`",
                    package.name, needed.name, needed.requirement
                ));
            }
        }
    }
    mistakes
}

/// Returns whether a changelog has a section of this version, or of what is not released yet.
fn has_section(changes: &str, version: &str) -> bool {
    let headings = changes.lines().filter_map(|line| line.strip_prefix("## ["));
    headings.filter_map(|heading| heading.split_once(']')).any(|(of, _)| of == version || of == "Unreleased")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::package;

    #[test]
    fn packages_that_fit_have_no_mistakes() {
        let [one, two] =
            [package("a", "0.2.0", &[["other", "^3"]]), package("b", "0.2.0", &[["a", "=0.2.0"]])];
        assert_eq!(mistakes(&[&one, &two]), <[String; 0]>::default());
    }

    #[test]
    fn versions_that_differ_are_named() {
        let [one, two] = [package("a", "0.2.0", &[]), package("b", "0.3.0", &[["a", "=0.2.0"]])];
        let mistakes = mistakes(&[&one, &two]);
        assert_eq!(mistakes, ["a has version 0.2.0 and b has 0.3.0: take `version.workspace = true`"]);
    }

    #[test]
    fn a_requirement_that_takes_other_versions_is_named() {
        let [one, two] = [package("a", "0.2.0", &[]), package("b", "0.2.0", &[["a", "^0.2.0"]])];
        let mistakes = mistakes(&[&one, &two]);
        assert_eq!(
            mistakes,
            ["b needs a ^0.2.0: they are released together, so write `version = \"=0.2.0\"`"]
        );
    }

    #[test]
    fn a_changelog_has_a_section_for_the_version() {
        assert!(has_section("# Changelog\n\n## [0.2.0] - 2027-01-01\n", "0.2.0"));
        assert!(has_section("## [Unreleased]\n", "0.2.0"));
        assert!(!has_section("## [0.1.0] - 2026-01-01\n## 0.2.0\n", "0.2.0"));
    }
}
