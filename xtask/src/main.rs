//! The project's own commands. Each command line that a contributor or CI runs stands here, once.
//!
//! `cargo xtask help` lists them. The exit code is 0, 1 if something failed, or 2 if the command line was not understood.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers")]

mod aarch64;
mod arguments;
mod check;
mod command;
mod docs;
mod figures;
mod json;
mod once;
mod release;
mod tiers;
mod workspace;

use std::io::{self, Write};
use std::process::ExitCode;

use arguments::{Request, USAGE};
use command::Command;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Request::parse(&arguments) {
        Err(mistake) => {
            eprintln!("error: {mistake}\n\nRun `cargo xtask help` for the commands.");
            ExitCode::from(2)
        }
        Ok(request) => match run(&request) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                eprintln!("error: {failure}");
                ExitCode::from(1)
            }
        },
    }
}

fn run(request: &Request) -> Result<(), String> {
    match request {
        Request::Help => show(USAGE),
        Request::Test { tiers, long } => tiers.iter().try_for_each(|tier| tier.run(*long)),
        Request::TestAarch64 => aarch64::test(),
        Request::Check(checks) => checks.iter().try_for_each(|check| check.run()),
        Request::Bench(script) => Command::new("bash").argument(script.path()).run(),
        Request::Docs => docs::build(),
        Request::Release { list } => release::run(*list),
        Request::Figures => show(&figures::tables()?),
    }
}

/// Writes a text to the standard output. A reader that has seen enough, as `head` has, is no failure.
fn show(text: &str) -> Result<(), String> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("nothing can be printed: {error}"))
        }
        _ => Ok(()),
    }
}
