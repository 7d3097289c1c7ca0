//! A run of the command line, and what it printed.

use std::io::Write;
use std::process::{Command, Stdio};

use snapbox::Assert;
use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::data::Inline;
use table_cli::Cli;

use crate::fixture::company;

/// What a run printed, and the code it ended with.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: u8,
}

impl Ran {
    /// Returns what was printed, with the code at its end, and the messages behind that. What differs from run to run is left
    /// out.
    pub(crate) fn shown(&self) -> String {
        steady(&format!("{}[{}]\n{}", self.out, self.code, self.err))
    }
}

/// Asserts that a text is the one that is expected, to the letter.
#[track_caller]
pub(crate) fn same(text: String, expected: Inline) {
    Assert::new().action_env(DEFAULT_ACTION_ENV).normalize_paths(false).eq(text, expected);
}

/// Runs `tables` with these arguments in this process, with its output in a pipe.
pub(crate) fn tables(arguments: &[&str]) -> Ran {
    run(Cli::new(), arguments, false)
}

/// Runs `tables` on the store that all tests read, with its output in a pipe.
pub(crate) fn on_company(arguments: &[&str]) -> Ran {
    on(company().store(), arguments)
}

/// Runs `tables` on the store that all tests read, with its output on a terminal.
pub(crate) fn to_people(arguments: &[&str]) -> Ran {
    let arguments: Vec<_> = arguments.iter().copied().chain(["--store", company().store()]).collect();
    run(Cli::new(), &arguments, true)
}

/// Runs `tables` on a store, with its output in a pipe.
pub(crate) fn on(store: &str, arguments: &[&str]) -> Ran {
    let arguments: Vec<_> = arguments.iter().copied().chain(["--store", store]).collect();
    run(Cli::new(), &arguments, false)
}

/// Runs a command line in this process.
pub(crate) fn run(cli: Cli, arguments: &[&str], is_terminal: bool) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = ["tables"].iter().chain(arguments);
    let exit = cli.run_with(arguments, &mut out, &mut err, is_terminal);
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Ran { out: text(out), err: text(err), code: exit.code() }
}

/// Runs the binary in a process of its own, with this text as its input.
pub(crate) fn binary(arguments: &[&str], variables: &[(&str, &str)], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tables"))
        .args(arguments)
        .envs(variables.iter().copied())
        .env_remove("TABLES_STORE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that ends before it reads has closed the pipe.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let done = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    let code = done.status.code().and_then(|code| u8::try_from(code).ok()).expect("it ended by itself");
    Ran { out: text(done.stdout), err: text(done.stderr), code }
}

/// Returns a text with `<time>` for each time of this run, `<bytes>` for what is drawn by lot.
pub(crate) fn steady(text: &str) -> String {
    let mut steady = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_first_digit) {
        let (before, found) = rest.split_at(at);
        steady.push_str(before);
        let digits = found.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(found.len());
        let time = ["2026-11-28T17:56:58.7787563Z", "2026-11-28T17%3A56%3A58.7787563Z"];
        if let Some(like) = time.iter().find(|like| is_like(found, like)) {
            steady.push_str("<time>");
            rest = &found[like.len()..];
        } else if digits >= 16 && is_drawn(&found[..digits]) {
            steady.push_str("<bytes>");
            rest = &found[digits..];
        } else {
            steady.push_str(&found[..digits]);
            rest = &found[digits..];
        }
    }
    steady + rest
}

/// Returns whether these are the digits of a key, or of what one gives.
fn is_drawn(digits: &str) -> bool {
    digits.chars().all(|c| c.is_ascii_hexdigit()) && digits.chars().any(|c| c.is_ascii_alphabetic())
}

fn is_first_digit(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// Returns whether a text begins as another does, whatever its digits are.
fn is_like(text: &str, like: &str) -> bool {
    let same = |(one, other): (char, char)| one == other || one.is_ascii_digit() && other.is_ascii_digit();
    text.len() >= like.len() && text.chars().zip(like.chars()).all(same)
}
