//! Processes that die, disks that are full or fail, bits that flip: `docs/internals/testing.md` says how to run the long
//! forms.

mod bank;
mod blobs;
mod destroying;
mod elsewhere;
mod eventual;
mod faults;
mod flips;
mod full;
mod group;
mod key_flips;
mod kill;
mod lockstep;
mod periods;
mod processes;
mod queues;
mod staff;
mod vault;

use integration_tests::child::Child;

/// The program whose roles the children play.
const PROGRAM: &str = env!("CARGO_BIN_EXE_crash-child");

/// A child in one of the roles of `src/bin/crash-child`.
fn child<S: AsRef<str>>(role: &str, arguments: &[S]) -> Child {
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    Child::start(PROGRAM, role, &arguments)
}

/// How much to do: from the environment, or as much as every run can afford.
fn size(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

/// What the choices of a test depend on; another one with `CRASH_SEED`.
fn seed() -> u64 {
    size("CRASH_SEED", 20_261_121)
}
