//! Two processes do one thing after another by chance, and are killed, stopped and overtaken in the middle of it: a seed gives
//! the same again. They write entities of which everything is derived that there is, propagate, drop tables, rebuild, and deal
//! with messages; a plain look at every row finds what the entities imply.

use std::collections::BTreeMap;

use integration_tests::Scratch;
use integration_tests::child::Child;
use integration_tests::random::Random;

use super::{child, size};

/// A process, and what it has received and still holds: which message, and by which of all receipts.
struct Program {
    child: Child,
    held: Vec<(u64, u64)>,
}

#[derive(Debug, Default)]
struct Tally {
    kills: u64,
    stops: u64,
    killed_at_stops: u64,
    refused: u64,
    propagated: u64,
    drops: u64,
    checks: u64,
    sent: u64,
    stale: u64,
}

struct Explorer {
    path: String,
    random: Random,
    programs: [Program; 2],
    /// By message: who received it last, if anybody may still complete it.
    open: BTreeMap<u64, Option<u64>>,
    receipts: u64,
    tally: Tally,
}

#[test]
fn whatever_two_processes_do_in_between_propagated_is_what_the_entities_say() {
    let (steps, seed) = (size("LOCKSTEP_STEPS", 10_000), size("LOCKSTEP_SEED", 15));
    let scratch = Scratch::new();
    let path = scratch.path().join("store").to_str().unwrap().to_owned();
    let mut random = Random::new(seed);
    let programs = [start(&path, &mut random), start(&path, &mut random)];
    let mut explorer =
        Explorer { path, random, programs, open: BTreeMap::new(), receipts: 0, tally: Tally::default() };
    for _ in 0..steps {
        explorer.step();
    }
    for who in 0..2 {
        explorer.tell(who, "check", 0, 0);
    }
    // What is still open is received, and completed.
    while !explorer.open.is_empty() {
        explorer.receive(0);
        explorer.complete(0);
    }
    explorer.receive(1);
    let Explorer { programs, tally, .. } = explorer;
    for program in programs {
        program.child.finish();
    }
    println!("{steps} steps: {tally:?}");
    assert!(tally.checks > 0 && tally.killed_at_stops > 0 && tally.stale > 0, "{tally:?}");
    let store = integration_tests::relaxed().open(scratch.path().join("store")).unwrap();
    integration_tests::assert_sound(&store);
}

fn start(path: &str, random: &mut Random) -> Program {
    let mut child = child("lockstep", &[path, &random.number().to_string()]);
    child.expect("ready");
    Program { child, held: Vec::new() }
}

impl Explorer {
    fn step(&mut self) {
        let who = usize::try_from(self.random.below(2)).unwrap();
        let number = self.random.number() >> 32;
        // Most things are done without a stop.
        let place = if self.random.below(5) == 0 { 1 + self.random.below(6) } else { 0 };
        match self.random.below(1_000) {
            0..=2 => self.kill(who),
            3..=7 => {
                self.tell(who, "check", 0, 0);
                self.tally.checks += 1;
            }
            8..=11 => {
                self.tell(who, "drop", number, 0);
                self.tally.drops += 1;
            }
            12..=16 => self.tell(who, "rebuild", 0, place),
            17 | 18 => {
                self.tell(who, "reopen", 0, 0);
                self.programs[who].held.clear();
            }
            19..=119 => self.tell(who, "propagate", 0, place),
            120..=149 => {
                let message = self.tally.sent;
                self.tell(who, "send", message, 0);
                self.open.insert(message, None);
                self.tally.sent += 1;
            }
            150..=209 => self.receive(who),
            210..=249 => self.complete(who),
            250..=269 => self.release(who),
            _ => self.tell(who, "work", number, place),
        }
    }

    /// Has a process do something. If it stops in the middle, the other does some things, and it goes on or is killed.
    fn tell(&mut self, who: usize, word: &str, number: u64, place: u64) {
        self.programs[who].child.say(&format!("{word} {number} {place}"));
        loop {
            match &*self.programs[who].child.line() {
                "stopped" => {
                    self.tally.stops += 1;
                    for _ in 0..self.random.below(4) {
                        let (other, number) = (1 - who, self.random.number() >> 32);
                        match self.random.below(12) {
                            0..=2 => self.tell(other, "propagate", 0, 0),
                            3 if self.random.below(6) == 0 => self.tell(other, "drop", number, 0),
                            4 if self.random.below(6) == 0 => self.tell(other, "rebuild", 0, 0),
                            5 if self.random.below(6) == 0 => self.kill(other),
                            _ => self.tell(other, "work", number, 0),
                        }
                    }
                    if self.random.below(8) == 0 {
                        self.tally.killed_at_stops += 1;
                        return self.kill(who);
                    }
                    self.programs[who].child.say("go");
                }
                "done" => return,
                "refused" => return self.tally.refused += 1,
                "propagated" | "pending_propagation" => return self.tally.propagated += 1,
                line => panic!("{word}: {line}"),
            }
        }
    }

    fn kill(&mut self, who: usize) {
        self.tally.kills += 1;
        let new = start(&self.path, &mut self.random);
        let killed = std::mem::replace(&mut self.programs[who], new);
        assert_eq!(killed.child.kill(), [""; 0]);
    }

    /// Has a process receive: whatever is open shows, in whichever process.
    fn receive(&mut self, who: usize) {
        let child = &mut self.programs[who].child;
        child.say("receive 0 0");
        let line = child.line();
        let Some(message) = line.strip_prefix("received ") else {
            assert_eq!(line, "none");
            return assert!(self.open.is_empty(), "{:?} do not show", self.open);
        };
        let message = message.parse().unwrap();
        let holder = self.open.get_mut(&message).expect("it was sent, and not completed");
        *holder = Some(self.receipts);
        self.programs[who].held.push((message, self.receipts));
        self.receipts += 1;
    }

    /// Has a process give back or complete something that it has received: it may if nobody has received it since.
    fn answer(&mut self, who: usize, word: &str) -> Option<u64> {
        let program = &mut self.programs[who];
        let at = self.random.below((program.held.len() as u64).max(1));
        let at = usize::try_from(at).unwrap();
        if program.held.is_empty() {
            return None;
        }
        let (message, receipt) = program.held.remove(at);
        program.child.say(&format!("{word} {at} 0"));
        let is_held = self.open.get(&message) == Some(&Some(receipt));
        assert_eq!(program.child.line(), if is_held { "done" } else { "stale" }, "{word} {message}");
        self.tally.stale += u64::from(!is_held);
        is_held.then_some(message)
    }

    fn complete(&mut self, who: usize) {
        if let Some(message) = self.answer(who, "complete") {
            self.open.remove(&message);
        }
    }

    fn release(&mut self, who: usize) {
        if let Some(message) = self.answer(who, "release") {
            self.open.insert(message, None);
        }
    }
}
