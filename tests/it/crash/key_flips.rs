//! Bits flip in the keys' file. What needs a key then gets the right one, or an error: nothing is taken for absent.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use integration_tests::Scratch;
use integration_tests::child::Child;

use super::{PROGRAM, seed, size};

#[test]
fn after_a_flipped_bit_in_the_keys_everything_is_right_or_an_error() {
    let flips = size("CRASH_KEY_FLIPS", 300);
    let scratch = Scratch::new();
    let (mut next, mut tally, mut bad) = (0, BTreeMap::<String, u64>::new(), Vec::new());
    while next < flips {
        let mut command = Command::new(PROGRAM);
        command.arg("key-flips").arg(scratch.path()).args([seed(), next, 1, flips].map(|n| n.to_string()));
        let mut child = Child::spawn(command.env("CRASH_CHILD_SECONDS", "3600").stderr(Stdio::null()));
        let mut flip = None::<String>;
        loop {
            let Ok(Some(line)) = child.next_within(Duration::from_secs(60)) else {
                let flip = flip.take().expect("a child dies of a flip alone");
                bad.push(format!("died or hung: {flip}"));
                *tally.entry("died".into()).or_default() += 1;
                next += 1;
                break;
            };
            let words: Vec<_> = line.splitn(5, ' ').collect();
            let outcome = match *words {
                ["flip", ..] => {
                    flip = Some(line);
                    continue;
                }
                ["bytes", ..] => continue,
                ["end"] => {
                    next = flips;
                    break;
                }
                ["refused", _, kind] => format!("refused: {kind}"),
                ["used", _, errors, problems, wrong] => {
                    let (errors, problems) = (errors != "0", problems != "0");
                    if !wrong.is_empty() || errors && !problems {
                        bad.push(format!("{} -> {line}", flip.clone().unwrap_or_default()));
                    }
                    format!("used, errors: {errors}, problems of a check: {problems}")
                }
                _ => panic!("{line}"),
            };
            *tally.entry(outcome).or_default() += 1;
            next += 1;
        }
    }
    println!("{flips} flips: {tally:#?}");
    assert_eq!(bad, [""; 0]);
    assert_eq!(tally.values().sum::<u64>(), flips);
}
