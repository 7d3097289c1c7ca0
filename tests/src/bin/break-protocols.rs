//! Leaves each step of a protocol out of a copy of the sources, and has the tests run that must fail then.
//!
//! ```sh
//! cargo run -p integration-tests --bin break-protocols             # each
//! cargo run -p integration-tests --bin break-protocols -- epoch    # those of which it is said
//! ```
//!
//! It ends with 1 if a step was left out and one of its tests has not failed, or if a test fails with all of them.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what goes wrong here goes wrong before anything is shown"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use integration_tests::broken::{STEPS, Step};

/// The modules of the test program that are needed: to build all of it each time would take most of the time.
const MODULES: &[&str] = &["jobs", "changing", "elsewhere"];
/// A step that is left out may have a test go on for ever.
const PATIENCE: Duration = Duration::from_secs(600);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Where everything is built: what the workspace depends on is not built once more.
fn built() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Brings the files of the sources, as they are now, into a copy.
fn copy(to: &Path) {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    for file in String::from_utf8(listed.stdout).unwrap().lines() {
        let (from, to) = (root().join(file), to.join(file));
        let Ok(bytes) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            // What is built of it stays as it is.
            continue;
        }
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(&to, bytes).unwrap();
    }
    let main = to.join("tests/it/main.rs");
    let text = fs::read_to_string(&main).unwrap();
    let is_needed = |line: &&str| {
        let module = line.strip_prefix("mod ").and_then(|line| line.strip_suffix(';'));
        module.is_none_or(|module| MODULES.contains(&module))
    };
    fs::write(&main, text.lines().filter(is_needed).collect::<Vec<_>>().join("\n")).unwrap();
}

/// Runs cargo in the copy; what it has said if it has failed or has not come to an end.
fn cargo(tree: &Path, arguments: &[&str], variable: Option<(&str, &str)>) -> Result<(), String> {
    let said = tree.join("target-said");
    let file = fs::File::create(&said).unwrap();
    let mut child = Command::new(env!("CARGO"))
        .args(arguments)
        .envs(variable)
        .env("CARGO_TARGET_DIR", built())
        .current_dir(tree)
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .expect("cargo can be started");
    let begun = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) if status.success() => return Ok(()),
            Some(_) => return Err(String::from_utf8_lossy(&fs::read(&said).unwrap()).into_owned()),
            None if begun.elapsed() > PATIENCE => {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err("panicked at: it does not end".to_owned());
            }
            None => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// What builds the test program: the library as quickly as may be.
const PROGRAM: [&str; 9] = [
    "test",
    "--quiet",
    "--locked",
    "-p",
    "integration-tests",
    "--test",
    "it",
    "--config",
    "profile.dev.package.table-core.opt-level=0",
];

/// Builds the test program.
fn build(tree: &Path) {
    let build = [&PROGRAM[..], &["--no-run"]].concat();
    cargo(tree, &build, None).unwrap_or_else(|said| panic!("it does not compile:\n{said}"));
}

/// Runs tests; the first words of the failure, if one fails.
fn tried(tree: &Path, tests: &[&str], variable: Option<(&str, &str)>) -> Option<String> {
    let run = [&PROGRAM[..], &["--"], tests].concat();
    let said = cargo(tree, &run, variable).err()?;
    let mut lines = said.lines().skip_while(|line| !line.contains("panicked at"));
    let place = lines.next().unwrap_or("it fails, and says nothing");
    let words: Vec<_> = lines.take(3).collect();
    Some(format!("{} {}", place.trim(), words.join(" ").chars().take(160).collect::<String>()))
}

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |step: &&Step| asked.is_empty() || asked.iter().any(|words| step.without.contains(words));
    let steps: Vec<&Step> = STEPS.iter().filter(is_asked).collect();
    let tree = built().join("broken/tree");
    let mut is_well = true;
    if asked.is_empty() {
        copy(&tree);
        build(&tree);
        let all: std::collections::BTreeSet<_> = steps.iter().flat_map(|step| step.tests).copied().collect();
        let all: Vec<_> = all.into_iter().collect();
        let failed = tried(&tree, &all, None);
        is_well &= failed.is_none();
        println!("with each step: {}", failed.unwrap_or_else(|| "no test fails".into()));
    }
    for step in steps {
        copy(&tree);
        step.leave_out(&tree).unwrap_or_else(|gone| panic!("{gone}"));
        build(&tree);
        for test in step.tests {
            let begun = Instant::now();
            let failed = tried(&tree, &[test], step.variable);
            is_well &= failed.is_some();
            let found = failed.unwrap_or_else(|| "IT DOES NOT FAIL".into());
            println!("{}: {test} ({} s): {found}", step.without, begun.elapsed().as_secs());
        }
    }
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
