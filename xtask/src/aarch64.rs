//! Tests for 64-bit ARM: cross-compiled, and run by qemu's user mode. On an ARM machine `cargo test` does it.

use crate::command::{Command, find};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";
/// What has the linker, the system's headers, and the emulator.
const PACKAGES: &str = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user";

/// Builds the crates and their tests for ARM, and runs them: first one program that opens a store.
pub(crate) fn test() -> Result<(), String> {
    if find(LINKER).is_none() || find(EMULATOR).is_none() {
        install()?;
    }
    if emulator_version()?.is_some_and(|version| version < FRUGAL_VERSION) {
        eprintln!(
            "note: {EMULATOR} before {FRUGAL_VERSION}.0 keeps a record of every page of a map, up to 24 GB for a \
             program that opens many stores; later ones need 150 MB (for Debian 12 they are in bookworm-backports)"
        );
    }
    Command::new("rustup").arguments("target add").argument(TARGET).run()?;
    cargo("run --quiet -p examples --bin compound_key").silent().run()?;
    tests().run()
}

/// The first version that keeps a tree of ranges instead of a record for each page that has ever been mapped.
const FRUGAL_VERSION: u32 = 8;

/// Returns the emulator's major version, or `None` if what it says of itself names none.
fn emulator_version() -> Result<Option<u32>, String> {
    let said = Command::new(EMULATOR).argument("--version").output()?.standard;
    let version = said.split_once("version ").and_then(|(_, version)| version.split('.').next());
    Ok(version.and_then(|major| major.parse().ok()))
}

/// Returns the command that runs the unit tests and the integration tests, but for those that the emulator can't run.
fn tests() -> Command {
    let command = cargo(
        "test --no-fail-fast -p table-engine -p lmdb-verify -p table-lmdb -p integration-tests --tests --",
    );
    LEFT_OUT.iter().fold(command, |command, name| command.argument("--skip").argument(name))
}

/// Tests that are left out, by the beginnings of their names.
const LEFT_OUT: [&str; 27] = [
    // They start processes: the emulator runs the program that it is given, and the system can't run the others.
    "changing::kept::the_variable",
    "changing::rolling",
    "changing::versions::apart",
    "changing::versions::killed",
    "damage::",
    "jobs::apart",
    "jobs::beside",
    "jobs::killed",
    "jobs::repaired",
    "jobs::resealed",
    "space::compact",
    "space::read_only",
    "space::stats",
    "service_records::no_process_loses",
    "service_records::what_was_acknowledged",
    "open::tests::creating",
    "open::tests::cut",
    "open::tests::sharing",
    "open::tests::turns",
    "verify::",
    "writes::declared",
    // They count steps, each of which does as much as its time allows: emulated there are more.
    "jobs::unending::a_rebuild_ends",
    "jobs::unending::a_repair_ends",
    // They take minutes, emulated.
    "schema::periods::tests::every_period_of_ten_thousand_years",
    "matrix::each_check_is_missed",
    "blobs::tests::model",
    "blobs::tests::rows::blobs_are_there",
];

fn cargo(arguments: &str) -> Command {
    let (verb, rest) = arguments.split_once(' ').unwrap_or((arguments, ""));
    Command::cargo(verb)
        .arguments("--locked --target")
        .argument(TARGET)
        .arguments(rest)
        .variable("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
        .variable("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu")
        .variable("CC_aarch64_unknown_linux_gnu", LINKER)
        .variable("AR_aarch64_unknown_linux_gnu", "aarch64-linux-gnu-ar")
}

/// Installs what is missing, where Debian's packages can be had.
fn install() -> Result<(), String> {
    if find("apt-get").is_none() {
        return Err(format!("`{LINKER}` or `{EMULATOR}` is missing: install {PACKAGES} (Debian's names)"));
    }
    Command::new("apt-get").arguments("update -q").run()?;
    Command::new("apt-get").arguments("install -qy --no-install-recommends").arguments(PACKAGES).run()
}
