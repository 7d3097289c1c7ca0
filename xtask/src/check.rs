//! Checks that run no test: format, lints, the oldest Rust, other systems, dependencies, the public API.

use crate::command::{Command, find};
use crate::workspace::{packages, published};

/// A check, by its flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    Formatting,
    Lints,
    Peers,
    Oldest,
    Systems,
    Dependencies,
    Semver,
}

impl Check {
    /// The checks that need nothing but a toolchain: those that run if none is named.
    pub(crate) const USUAL: [Self; 5] =
        [Self::Formatting, Self::Lints, Self::Peers, Self::Oldest, Self::Systems];

    const ALL: [Self; 7] = [
        Self::Formatting,
        Self::Lints,
        Self::Peers,
        Self::Oldest,
        Self::Systems,
        Self::Dependencies,
        Self::Semver,
    ];

    /// Returns the flag that names the check.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Formatting => "--formatting",
            Self::Lints => "--lints",
            Self::Peers => "--peers",
            Self::Oldest => "--oldest",
            Self::Systems => "--systems",
            Self::Dependencies => "--dependencies",
            Self::Semver => "--semver",
        }
    }

    /// Returns the check that a flag names.
    pub(crate) fn of_flag(flag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.flag() == flag)
    }

    /// Runs the check.
    pub(crate) fn run(self) -> Result<(), String> {
        match self {
            Self::Formatting => formatting(),
            Self::Lints => lints(),
            Self::Peers => peers(),
            Self::Oldest => oldest(),
            Self::Systems => systems(),
            Self::Dependencies => dependencies(),
            Self::Semver => semver(),
        }
    }
}

fn formatting() -> Result<(), String> {
    Command::cargo("fmt --all --check").run()?;
    Command::cargo("fmt --manifest-path bench/peers/Cargo.toml --check").run()
}

fn lints() -> Result<(), String> {
    let clippy = |targets| {
        let command = Command::cargo("clippy --workspace --all-features --locked").arguments(targets);
        command.arguments("-- -D warnings").run()
    };
    clippy("--all-targets")?;
    // Those that `cargo test` leaves out are not among cargo's "all".
    clippy("--test slow --test ui")
}

/// The engines to compare with are outside the workspace, so that `cargo test` builds no other database. Here they are
/// only kept compiling: `bench/run.sh` tests that they do the same before it measures them.
fn peers() -> Result<(), String> {
    Command::cargo("clippy --manifest-path bench/peers/Cargo.toml --target-dir target/peers")
        .arguments("--all-targets --locked -- -D warnings")
        .run()
}

/// Builds with the oldest toolchain that the crates promise, where it is there or can be fetched.
fn oldest() -> Result<(), String> {
    let packages = packages()?;
    let published = published(&packages)?;
    let version = published.first().map_or("", |package| package.rust_version.as_str());
    if version.is_empty() {
        return Err("the published packages have no `rust-version`".into());
    }
    let is_there = Command::new("rustup").arguments("run").argument(version).arguments("rustc --version");
    let install = format!("toolchain install {version} --profile minimal --no-self-update");
    if !is_there.output()?.is_success && fetch(&install).run().is_err() {
        eprintln!("Rust {version} is not here and can't be fetched: nothing was built with it.");
        eprintln!("The lints have compared functions of the standard library with it, and not the language.");
        return Ok(());
    }
    let cargo = |arguments| {
        let target = format!("target/rust-{version}");
        let command = Command::new("rustup").arguments("run").argument(version).argument("cargo");
        command.arguments(arguments).arguments("--locked --target-dir").argument(&target)
    };
    let features =
        ["encrypt", "odata", "queue", "blob", "metrics", "tracing", "sas", "jiff", "chrono", "serde"];
    let features: Vec<_> = features.iter().map(|feature| format!("table-core/{feature}")).collect();
    cargo("check -p table-words -p table-engine -p lmdb-verify -p table-lmdb -p table-core -p table-derive")
        .argument("--features")
        .argument(&features.join(","))
        .run()?;
    // What the macros write is compiled where they are used.
    cargo("run --quiet -p examples").silent().run()
}

/// Checks the types for another Unix, without LMDB's C, which would need that system's headers; that a 32-bit target is
/// refused; and that what is no store on LMDB needs neither a Unix nor a C compiler.
fn systems() -> Result<(), String> {
    const REFUSAL: &str = "needs a 64-bit little-endian Unix";
    const TARGETS: &str = "target add aarch64-apple-darwin i686-unknown-linux-gnu x86_64-pc-windows-gnu";
    // A compiler that fails: a build script that calls it would, too.
    let without_lmdb = || {
        let check = Command::cargo("check -p table-core --locked --no-default-features --features derive");
        check.arguments("--target-dir target/elsewhere").variable("CC", "false")
    };
    without_lmdb().run()?;
    if fetch(TARGETS).run().is_err() {
        eprintln!("The standard libraries of other systems can't be fetched: nothing was checked for them.");
        return Ok(());
    }
    let elsewhere = |target: &str| {
        let name = target.replace('-', "_");
        Command::cargo(
            "check -p table-core --locked --features encrypt,json,blob,sas,metrics-adapter,tracing,odata,jiff,chrono,serde",
        )
        .arguments("--target-dir target/elsewhere --target")
        .argument(target)
        .variable(&format!("CC_{name}"), "true")
        .variable(&format!("AR_{name}"), "true")
    };
    elsewhere("aarch64-apple-darwin").run()?;
    let refused = elsewhere("i686-unknown-linux-gnu").output()?;
    if refused.is_success || !refused.errors.contains(REFUSAL) {
        return Err(format!("a 32-bit target is not refused with {REFUSAL:?}: {}", refused.errors));
    }
    without_lmdb().arguments("--target x86_64-pc-windows-gnu").run()
}

/// Holds licences, sources, advisories and the places of crates to `deny.toml`.
fn dependencies() -> Result<(), String> {
    need("cargo-deny")?;
    Command::cargo("deny --all-features check").run()
}

/// Compares the public API of the library with that of the last version that was tagged.
fn semver() -> Result<(), String> {
    let last = Command::new("git").arguments("describe --tags --abbrev=0 --match v*").output()?;
    if !last.is_success {
        eprintln!("No commit has a tag `v..`: there is no version to compare the public API with.");
        return Ok(());
    }
    need("cargo-semver-checks")?;
    // What is `#[doc(hidden)]` is outside, by the tool's own rule. What `table-core` shows of the others is theirs. Macros
    // have no API that it knows.
    let packages = "--package table-core --package table-engine --package table-lmdb --package lmdb-verify";
    Command::cargo("semver-checks")
        .arguments(packages)
        .argument("--baseline-rev")
        .argument(last.standard.trim())
        .run()
}

/// Fails with what to do if a tool of cargo is not installed.
fn need(tool: &str) -> Result<(), String> {
    if find(tool).is_some() {
        Ok(())
    } else {
        Err(format!("{tool} is not installed: `cargo install --locked {tool}`"))
    }
}

/// Returns a command of rustup that fetches something, and gives up where nothing answers.
fn fetch(arguments: &str) -> Command {
    let command = if find("timeout").is_some() {
        Command::new("timeout").arguments("300 rustup")
    } else {
        Command::new("rustup")
    };
    command.arguments(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_names_one_check() {
        for check in Check::ALL {
            assert_eq!(Check::of_flag(check.flag()), Some(check));
        }
        assert_eq!(Check::of_flag("lints"), None);
    }

    #[test]
    fn a_missing_tool_is_named_with_what_to_do() {
        assert_eq!(need("sh"), Ok(()));
        let missing = need("cargo-no-such-tool").unwrap_err();
        assert!(missing.ends_with("`cargo install --locked cargo-no-such-tool`"), "{missing}");
    }
}
