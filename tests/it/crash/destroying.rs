//! What is on the disk before a key is destroyed: the calls that reach it are seen, and made to fail, by `strace`.

use std::process::{Command, Stdio};

use integration_tests::child::Child;
use integration_tests::{Scratch, vault};

use super::PROGRAM;
use super::faults::traces;

/// Runs a child that destroys keys in a store of level `Relaxed`: what it said, and its calls in order.
fn traced(how: &str, inject: Option<&str>) -> (Vec<String>, Vec<String>) {
    let scratch = Scratch::new();
    vault::prepare(&vault::open(scratch.path()).unwrap()).unwrap();
    let log = scratch.path().join("log");
    let mut command = Command::new("strace");
    command.args(["-y", "-e", "trace=pwrite64,pwritev,write,writev,fsync,fdatasync", "-o"]).arg(&log);
    if let Some(inject) = inject {
        command.args(["-e", &format!("inject={inject}")]);
    }
    command.args([PROGRAM, "destroy"]).arg(scratch.path()).arg(how).stderr(Stdio::null());
    let (_, lines) = Child::spawn(&mut command).end();
    let log = std::fs::read_to_string(&log).unwrap();
    (lines, log.lines().map(str::to_owned).collect())
}

/// The flush of the data that comes after the last write of data and before the first write of a new root key.
fn flush(calls: &[String]) -> Option<usize> {
    let sealed = calls.iter().position(|call| call.contains("sealed\\n"))?;
    let writes = |call: &String| call.contains("/store/data.mdb") && call.starts_with("pwrite");
    let last = calls.iter().rposition(writes)?;
    let rest = calls.get(sealed.max(last)..)?;
    let flush =
        rest.iter().position(|call| call.starts_with("fdatasync") && call.contains("/store/data.mdb"))?;
    let root = rest.iter().position(|call| call.starts_with("write") && call.contains("/keys/root-"))?;
    (flush < root).then_some(sealed.max(last) + flush)
}

#[test]
fn the_data_are_on_the_disk_before_a_key_is_destroyed() {
    if !traces() {
        return;
    }
    let entities = format!("opened {}", vault::ACCOUNTS);
    for (how, keys) in [("one", "keys 1"), ("unused", "keys 1"), ("shred", "keys 2")] {
        let (lines, calls) = traced(how, None);
        assert_eq!(lines, ["sealed", "done", keys, &entities], "{how}");
        let flush = flush(&calls).unwrap_or_else(|| panic!("{how}: {calls:#?}"));

        // If that flush fails nothing is destroyed. How many come before it goes by the steps of the job, and those by the
        // time: if it is another one that fails, it is tried again, with one more or fewer.
        let number = calls[..=flush].iter().filter(|call| call.starts_with("fdatasync")).count();
        let numbers = [0, 1, -1, 2, -2].into_iter().cycle().take(40);
        let mut tried = numbers.filter_map(|more| {
            let number = number.checked_add_signed(more).filter(|number| *number > 0)?;
            Some(traced(how, Some(&format!("fdatasync:error=EIO:when={number}"))))
        });
        let is_it = |(lines, calls): &(Vec<String>, Vec<String>)| {
            let failed = calls.iter().find(|call| call.contains("INJECTED"));
            lines.len() > 1 && failed.is_some_and(|call| call.contains("/store/data.mdb"))
        };
        let (lines, calls) = tried.find(is_it).unwrap_or_else(|| panic!("{how}: it never failed"));
        assert!(
            lines[1].starts_with("Io cannot ") && lines[1].ends_with("; no key was destroyed"),
            "{lines:?}"
        );
        assert_eq!(lines[2..], ["keys 2", &entities], "{how}");
        let failed = calls.iter().position(|call| call.contains("INJECTED")).unwrap();
        assert!(calls[failed].contains("/store/data.mdb"), "{}", calls[failed]);
        assert!(!calls[failed..].iter().any(|call| call.contains("/keys/root-")), "{how}");
    }
}
