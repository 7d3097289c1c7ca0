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

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use integration_tests::broken::{STEPS, Step};

/// The modules of the tests that are needed. In the copy they are one program, and the only one that is built.
const MODULES: &[&str] = &["jobs", "changing", "elsewhere"];
/// Becomes that program in the copy.
const PROGRAM: &str = "maintenance";
/// A step that is left out may have a test go on for ever.
const PATIENCE: Duration = Duration::from_secs(600);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Where everything is built: what the workspace depends on is not built once more.
fn built() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The sources as they are when this begins, each file by its name. An editor that goes on writing them meanwhile changes
/// nothing of what is tried.
fn sources() -> BTreeMap<String, Vec<u8>> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    let names = String::from_utf8(listed.stdout).unwrap();
    let read = |name: &str| Some((name.to_owned(), fs::read(root().join(name)).ok()?));
    let mut files: BTreeMap<_, _> = names.lines().filter_map(read).collect();
    let program = MODULES.iter().map(|module| format!("mod {module};\n")).collect::<String>();
    let replaced = files.insert(format!("tests/it/{PROGRAM}.rs"), program.into_bytes());
    assert!(replaced.is_some(), "there is no program `{PROGRAM}`");
    files
}

/// Brings the sources into a copy. A file that is there already stays, and with it what is built of it.
fn copy(sources: &BTreeMap<String, Vec<u8>>, to: &Path) {
    for (name, bytes) in sources {
        let to = to.join(name);
        if fs::read(&to).is_ok_and(|there| there == *bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(&to, bytes).unwrap();
    }
}

/// Runs a program in the copy; what it has said, and whether it has come to a good end.
fn run(tree: &Path, command: &mut Command) -> (bool, String) {
    let file = tree.join("target-said");
    let said = fs::File::create(&file).unwrap();
    let mut child = command
        .env("CARGO_TARGET_DIR", built())
        .stdin(Stdio::null())
        .stdout(said.try_clone().unwrap())
        .stderr(said)
        .spawn()
        .expect("it can be started");
    let said = || String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
    let begun = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return (status.success(), said()),
            None if begun.elapsed() > PATIENCE => {
                child.kill().unwrap();
                child.wait().unwrap();
                return (false, said() + "\npanicked at: it does not end");
            }
            None => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// Builds the test program, the library as quickly as may be; where it is then.
fn build(tree: &Path) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--no-run", "--locked", "-p", "integration-tests", "--test", PROGRAM]);
    cargo.args(["--config", "profile.dev.package.table-core.opt-level=0"]).current_dir(tree);
    let (is_built, said) = run(tree, &mut cargo);
    assert!(is_built, "it does not compile:\n{said}");
    let executable = format!("Executable it/{PROGRAM}.rs (");
    let line = said.lines().find_map(|line| line.trim().strip_prefix(&executable));
    let path = line.and_then(|line| line.strip_suffix(')'));
    tree.join(path.unwrap_or_else(|| panic!("cargo does not say where the program is:\n{said}")))
}

/// Runs tests; the first words of the failure, if one fails.
fn tried(tree: &Path, program: &Path, step: Option<&Step>, tests: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(tests).envs(step.and_then(|step| step.variable)).current_dir(tree.join("tests"));
    let (is_well, said) = run(tree, &mut command);
    assert!(!said.contains("running 0 tests"), "there is no test called {tests:?}");
    if is_well {
        return None;
    }
    let mut lines = said.lines().skip_while(|line| !line.contains("panicked at"));
    let place = lines.next().unwrap_or("it fails, and says nothing");
    let words: Vec<_> = lines.take(3).collect();
    Some(format!("{} {}", place.trim(), words.join(" ").chars().take(160).collect::<String>()))
}

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |step: &&Step| asked.is_empty() || asked.iter().any(|words| step.without.contains(words));
    let steps: Vec<&Step> = STEPS.iter().filter(is_asked).collect();
    let (tree, sources) = (built().join("broken/tree"), sources());
    let mut is_well = !steps.is_empty();
    if asked.is_empty() {
        copy(&sources, &tree);
        let program = build(&tree);
        let all: BTreeSet<_> = steps.iter().flat_map(|step| step.tests).copied().collect();
        let failed = tried(&tree, &program, None, &all.into_iter().collect::<Vec<_>>());
        is_well &= failed.is_none();
        println!("with each step: {}", failed.unwrap_or_else(|| "no test fails".into()));
    }
    for step in steps {
        copy(&sources, &tree);
        step.leave_out(&tree).unwrap_or_else(|gone| panic!("{gone}"));
        let begun = Instant::now();
        let program = build(&tree);
        println!("{} (built in {} s)", step.without, begun.elapsed().as_secs());
        for test in step.tests {
            let begun = Instant::now();
            let failed = tried(&tree, &program, Some(step), &[test]);
            is_well &= failed.is_some();
            let found = failed.unwrap_or_else(|| "IT DOES NOT FAIL".into());
            println!("    {test} ({} s): {found}", begun.elapsed().as_secs());
        }
    }
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
