//! The packages of the workspace, as cargo describes them.

use std::path::{Path, PathBuf};

use crate::command::Command;
use crate::json::Json;

/// Returns the folder that the workspace lies in.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

/// A member of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The oldest Rust that it promises to build with.
    pub(crate) rust_version: String,
    /// Whether it goes to the registry.
    pub(crate) is_published: bool,
    /// The folder that it lies in.
    pub(crate) folder: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

/// What a package says of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// The versions that it takes, as cargo writes them: `^1.0`, `=0.1.0`.
    pub(crate) requirement: String,
    /// Whether tests, examples and benchmarks alone need it.
    pub(crate) is_for_development: bool,
}

/// Returns the members, in the order of their names.
pub(crate) fn packages() -> Result<Vec<Package>, String> {
    let output = Command::cargo("metadata --no-deps --format-version 1 --locked").output()?;
    if !output.is_success {
        return Err(format!("cargo can't describe the workspace: {}", output.errors));
    }
    of_metadata(&Json::parse(&output.standard)?)
}

fn of_metadata(metadata: &Json) -> Result<Vec<Package>, String> {
    let text = |value: &Json, name: &str| {
        value.get(name).text().map(str::to_owned).ok_or_else(|| format!("cargo's metadata lacks `{name}`"))
    };
    let mut packages = Vec::new();
    for package in metadata.get("packages").items() {
        let mut dependencies = Vec::new();
        for dependency in package.get("dependencies").items() {
            dependencies.push(Dependency {
                name: text(dependency, "name")?,
                requirement: text(dependency, "req")?,
                is_for_development: dependency.get("kind").text() == Some("dev"),
            });
        }
        let manifest = PathBuf::from(text(package, "manifest_path")?);
        packages.push(Package {
            name: text(package, "name")?,
            version: text(package, "version")?,
            rust_version: package.get("rust_version").text().unwrap_or_default().to_owned(),
            // Null stands for every registry, and an empty list for none.
            is_published: package.get("publish") == &Json::Null,
            folder: manifest.parent().unwrap_or(&manifest).to_owned(),
            dependencies,
        });
    }
    packages.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(packages)
}

/// Returns the published packages, each behind those that it depends on.
pub(crate) fn published(packages: &[Package]) -> Result<Vec<&Package>, String> {
    let mut left: Vec<&Package> = packages.iter().filter(|package| package.is_published).collect();
    let mut ordered: Vec<&Package> = Vec::new();
    while !left.is_empty() {
        let waits = |package: &Package| {
            package.needed().any(|needed| left.iter().any(|other| other.name == needed.name))
        };
        let Some(next) = left.iter().position(|package| !waits(package)) else {
            let names: Vec<_> = left.iter().map(|package| package.name.as_str()).collect();
            return Err(format!("these packages depend on each other in a circle: {}", names.join(", ")));
        };
        ordered.push(left.remove(next));
    }
    Ok(ordered)
}

impl Package {
    /// Returns what the package needs to be built. What its tests alone need is not among it.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|dependency| !dependency.is_for_development)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A published package that needs others, each given with its requirement.
    pub(crate) fn package(name: &str, version: &str, needs: &[[&str; 2]]) -> Package {
        let dependency = |[name, requirement]: &[&str; 2]| Dependency {
            name: (*name).into(),
            requirement: (*requirement).into(),
            is_for_development: false,
        };
        Package {
            name: name.into(),
            version: version.into(),
            rust_version: "1.89".into(),
            is_published: true,
            folder: PathBuf::new(),
            dependencies: needs.iter().map(dependency).collect(),
        }
    }

    #[test]
    fn metadata_is_read() {
        let text = r#"{"packages": [
            {"name": "b", "version": "0.1.0", "rust_version": null, "publish": [], "manifest_path": "/w/b/Cargo.toml",
             "dependencies": [{"name": "a", "req": "=0.1.0", "kind": null}, {"name": "t", "req": "^1", "kind": "dev"}]},
            {"name": "a", "version": "0.1.0", "rust_version": "1.89", "publish": null, "manifest_path": "/w/a/Cargo.toml",
             "dependencies": []}]}"#;
        let packages = of_metadata(&Json::parse(text).unwrap()).unwrap();
        let [a, b] = packages.as_slice() else { panic!("{packages:?}") };
        assert!(a.is_published && !b.is_published);
        assert_eq!((a.rust_version.as_str(), b.folder.to_str()), ("1.89", Some("/w/b")));
        let needed: Vec<_> = b.needed().map(|needed| needed.name.as_str()).collect();
        assert_eq!(needed, ["a"]);
        assert!(
            of_metadata(&Json::parse(r#"{"packages": [{}]}"#).unwrap())
                .unwrap_err()
                .contains("`manifest_path`")
        );
    }

    #[test]
    fn packages_follow_what_they_need() {
        let packages = [
            package("a", "1.0.0", &[["c", "=1.0.0"]]),
            package("b", "1.0.0", &[]),
            package("c", "1.0.0", &[["b", "=1.0.0"], ["elsewhere", "^1"]]),
        ];
        let names: Vec<_> =
            published(&packages).unwrap().into_iter().map(|package| package.name.clone()).collect();
        assert_eq!(names, ["b", "c", "a"]);
    }

    #[test]
    fn a_circle_is_refused() {
        let packages = [package("a", "1.0.0", &[["b", "=1.0.0"]]), package("b", "1.0.0", &[["a", "=1.0.0"]])];
        assert!(published(&packages).unwrap_err().ends_with("in a circle: a, b"));
    }

    #[test]
    fn this_workspace_is_described() {
        let packages = packages().unwrap();
        let names: Vec<_> = published(&packages).unwrap().into_iter().map(|package| &package.name).collect();
        let place = |name| names.iter().position(|other| *other == name).unwrap();
        let order = ["table-words", "table-engine", "table-lmdb", "table-core"].map(place);
        let before = |one, other| place(one) < place(other);
        let is_right = order.is_sorted() && before("lmdb-verify", "table-lmdb");
        assert!(is_right && before("table-derive", "table-core"), "{names:?}");
        assert!(!names.contains(&&"xtask".to_owned()));
    }
}
