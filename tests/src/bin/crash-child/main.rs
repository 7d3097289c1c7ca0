//! The processes that the tests in `it/crash` start, and mostly kill: `crash-child ROLE ARGUMENTS`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails panics")]

mod apart;
mod bank;
mod blobs;
mod compact;
mod elsewhere;
mod eventual;
mod fault;
mod flips;
mod full;
mod jobs;
mod key_flips;
mod kill;
mod lockstep;
mod peer;
mod periods;
mod queues;
mod rolling;
mod service;
mod space;
mod staff;
mod vault;
mod verify;

use std::io::Write;
use std::time::Duration;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let role = arguments.next().expect("a role is given");
    let arguments: Vec<String> = arguments.collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // A child that its parent forgets ends by itself.
    let patience: u64 = std::env::var("CRASH_CHILD_SECONDS").map_or(300, |text| text.parse().unwrap());
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(patience));
        eprintln!("the child was forgotten");
        std::process::abort();
    });
    match role.as_str() {
        "apart" => apart::work(&arguments),
        "bank" => bank::forever(&arguments),
        "write" => kill::write(&arguments),
        "increment" => peer::increment(&arguments),
        "old-handle" => peer::old_handle(&arguments),
        "echo" => peer::echo(&arguments),
        "undeclared" => peer::undeclared(&arguments),
        "intern" => peer::intern(&arguments),
        "read-and-stay" => peer::read_and_stay(&arguments),
        "load" => peer::load(&arguments),
        "come-and-go" => peer::come_and_go(&arguments),
        "flips" => flips::run(&arguments),
        "key-flips" => key_flips::run(&arguments),
        "elsewhere" => elsewhere::forever(&arguments),
        "eventual" => eventual::forever(&arguments),
        "lockstep" => lockstep::run(&arguments),
        "left" => eventual::left(&arguments),
        "derived" => eventual::derived_forever(&arguments),
        "periods" => periods::forever(&arguments),
        "fill" => full::fill(&arguments),
        "crowd" => full::crowd(&arguments),
        "bulk" => full::bulk(&arguments),
        "prepare" => fault::prepare(&arguments),
        "batches" => fault::batches(&arguments),
        "steps" => fault::steps(&arguments),
        "hold" => space::hold(&arguments),
        "blob-work" => blobs::work(&arguments),
        "queue-work" => queues::work(&arguments),
        "staff" => staff::work(&arguments),
        "staff-forever" => staff::forever(&arguments),
        "verify" => verify::run(&arguments),
        "witness" => compact::witness(&arguments),
        "go-on" => compact::go_on(&arguments),
        "compact" => compact::compact(&arguments),
        "drop" => space::drop_and_die(&arguments),
        "overwrite" => space::overwrite(&arguments),
        "read-only" => space::read_only(&arguments),
        "vault" => vault::run(&arguments),
        "destroy" => vault::destroy(&arguments),
        "job" => jobs::any(&arguments),
        "rolling" => rolling::work(&arguments),
        "service" => service::count(&arguments),
        "rebuild" => jobs::rebuild(&arguments),
        "repair" => jobs::repair(&arguments),
        "reencrypt" => jobs::reencrypt(&arguments),
        "convert" => jobs::convert(&arguments),
        "convert-counted" => jobs::convert_counted(&arguments),
        role => panic!("no such role: {role}"),
    }
}

/// Writes a line at once, so that it stands whatever happens next.
fn say(line: impl std::fmt::Display) {
    let line = format!("{line}\n");
    // One call for a whole line: lines of several threads stay whole.
    let mut output = std::io::stdout().lock();
    output.write_all(line.as_bytes()).and_then(|()| output.flush()).expect("the parent listens");
}

/// The next line of the parent's, or `None` when it has no more to say.
fn hear() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line).expect("the parent can be heard");
    (read > 0).then(|| line.trim_end().to_owned())
}
