//! Feeds damaged and hostile bytes to table-core's decoders and parsers.
//!
//! ```text
//! cargo run --release -p table-fuzz -- <target> [--executions N] [--seed S]
//! cargo run --release -p table-fuzz -- <target> --input HEX
//! ```
//!
//! A target is one of `record`, `layout`, `list`, `row`, `shape`, `key`, `filter`, `token`, `time`, `meta`, `leaves`, `walk`,
//! `odata`, `server_wire`, or `all`. Inputs start from sound ones
//! and are damaged a few times over; where a format has checksums, these are mostly made to fit again, or nothing
//! would be tested behind them. What is taken for sound is damaged further. A seed gives the same run again, but for
//! `walk`, whose data files hold the time at which they were made.
//!
//! The process exits with 1 where an oracle failed, and prints the input.
#![allow(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers; an index that is off ends it, and says where"
)]

mod mutate;
mod odata;
mod random;
mod server_wire;
mod targets;

use std::panic;
use std::process::ExitCode;
use std::time::Instant;

use random::Random;
use targets::{ALL, Target};

/// Inputs that are kept beside those of the start, and the longest of them.
const FOUND: usize = 512;
const KEPT: usize = 1 << 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(usage) => {
            eprintln!("{usage}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<bool, String> {
    let names: Vec<&str> = ALL.iter().map(|target| target.name).collect();
    let usage = || format!("usage: <{}|all> [--executions N] [--seed S] [--input HEX]", names.join("|"));
    let (name, mut rest) = arguments.split_first().ok_or_else(usage)?;
    let (mut executions, mut seed, mut input) = (1_000_000, 1, None);
    while let [option, value, more @ ..] = rest {
        match option.as_str() {
            "--executions" => executions = value.parse().map_err(|_| usage())?,
            "--seed" => seed = value.parse().map_err(|_| usage())?,
            "--input" => input = Some(bytes_of(value).ok_or_else(usage)?),
            _ => return Err(usage()),
        }
        rest = more;
    }
    let chosen: Vec<&Target> = ALL.iter().filter(|target| name == "all" || name == target.name).collect();
    if chosen.is_empty() || !rest.is_empty() {
        return Err(usage());
    }
    let mut sound = true;
    for target in chosen {
        sound &= match &input {
            Some(input) => judge(target, input).is_some(),
            None => fuzz(target, executions, seed),
        };
    }
    Ok(sound)
}

/// Runs one target; whether no oracle failed.
fn fuzz(target: &Target, executions: u64, seed: u64) -> bool {
    let start = Instant::now();
    let mut random = Random::new(seed);
    let mut corpus = (target.corpus)(&mut random);
    let mut input = Vec::new();
    if corpus.is_empty() {
        eprintln!("{}: there is no input to start from", target.name);
        return false;
    }
    // An oracle that refuses everything would never fail.
    for made in &corpus {
        input.clone_from(made);
        target.seal.iter().for_each(|seal| seal(&mut input));
        if judge(target, &input) != Some(true) {
            eprintln!("{}: an input of the library's own is refused: {made:02x?}", target.name);
            return false;
        }
    }
    let given = corpus.len();
    let (mut accepted, mut body) = (0_u64, Vec::new());
    for execution in 0..executions {
        let (base, other) = (random.index(corpus.len()), random.index(corpus.len()));
        body.clone_from(&corpus[base]);
        // Now and then as it is: what the library made must be sound.
        if !random.one_in(64) {
            mutate::mutate(&mut body, &corpus[other], target.words, target.most, &mut random);
        }
        input.clone_from(&body);
        if let Some(seal) = target.seal.filter(|_| !random.one_in(16)) {
            seal(&mut input);
            // What was sealed is to be refused, or read as what it says: a token's text can change and its bytes not.
            if random.one_in(8) {
                mutate::mutate(&mut input, &corpus[other], target.words, usize::MAX, &mut random);
            }
        }
        let Some(sound) = judge(target, &input) else {
            eprintln!("in execution {execution} of `{} --seed {seed}`", target.name);
            return false;
        };
        accepted += u64::from(sound);
        if sound && body.len() <= KEPT && random.one_in(32) {
            if corpus.len() < given + FOUND {
                corpus.push(body.clone());
            } else {
                let at = given + random.index(FOUND);
                corpus[at].clone_from(&body);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{}: {executions} executions in {seconds:.1} s, {accepted} taken for sound, seed {seed}",
        target.name
    );
    true
}

/// Whether the input was taken for sound, or `None` if an oracle failed; then the input has been printed.
fn judge(target: &Target, input: &[u8]) -> Option<bool> {
    let judged = panic::catch_unwind(|| (target.judge)(input));
    if judged.is_err() {
        eprint!("{}: an oracle failed on --input ", target.name);
        for byte in input {
            eprint!("{byte:02x}");
        }
        eprintln!();
    }
    judged.ok()
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digits = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    (0..hex.len()).step_by(2).map(digits).collect()
}
