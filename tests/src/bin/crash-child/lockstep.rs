//! A process that does one thing after another as it is told, and can be stopped in the middle of each.

use std::time::Duration;

use integration_tests::queued::{Done, dealt_with, queue, send};
use integration_tests::random::Random;
use integration_tests::{derived, eventual, relaxed, stops};
use table_core::queue::Received;
use table_core::store::Propagate;
use table_core::typed::Propagation;
use table_core::{ErrorKind, Result, Store};

use crate::{hear, say};

/// `lockstep STORE SEED`: hears a word with two numbers, does what the word says, and says how it went. The second number is
/// the place at which it stops on the way: it says `stopped`, and goes on when it is told to.
pub fn run(arguments: &[&str]) {
    let [path, seed] = arguments else { panic!("arguments") };
    let mut process = Process::open(path, seed.parse().unwrap());
    say("ready");
    while let Some(line) = hear() {
        let words: Vec<_> = line.split(' ').collect();
        let [word, number, place] = words[..] else { panic!("{line}") };
        if word == "reopen" {
            let seed = process.random.number();
            drop(process);
            process = Process::open(path, seed);
            say("done");
            continue;
        }
        stops::stop(place.parse().unwrap(), wait);
        let answer = process.carry_out(word, number.parse().unwrap());
        stops::stop(0, wait);
        say(answer);
    }
}

fn wait() {
    say("stopped");
    assert_eq!(hear().as_deref(), Some("go"));
}

struct Process {
    store: Store,
    random: Random,
    eventual: eventual::Worker,
    derived: derived::Worker,
    /// What was received, and not given back.
    held: Vec<Received<u64>>,
}

/// So short that the next receive may have it.
const SHORT: Duration = Duration::from_nanos(100);

impl Process {
    fn open(path: &str, seed: u64) -> Self {
        let store = relaxed().propagate(Propagate::Manual).open(path).unwrap();
        let mut random = Random::new(seed);
        let eventual = eventual::Worker::new(&store, random.number()).unwrap();
        let derived = derived::Worker::new(&store, random.number()).unwrap();
        store.table::<Done>().unwrap();
        queue(&store);
        Self { store, random, eventual, derived, held: Vec::new() }
    }

    fn carry_out(&mut self, word: &str, number: u64) -> String {
        let Self { store, .. } = self;
        match word {
            "work" => {
                let worked =
                    if number.is_multiple_of(2) { self.eventual.step() } else { self.derived.step() };
                return if worked { "done" } else { "refused" }.into();
            }
            "propagate" => {
                let propagation = store.propagate().unwrap();
                return if propagation == Propagation::Complete {
                    "propagated"
                } else {
                    "pending_propagation"
                }
                .into();
            }
            "rebuild" => match rebuild(store) {
                Ok(()) => {}
                // The other has dropped it meanwhile.
                Err(error) if error.kind() == ErrorKind::TableNotFound => return "refused".into(),
                Err(error) => panic!("{error}"),
            },
            "drop" => drop_some(store, number),
            "check" => check(store),
            "send" => send(store, &queue(store), number).unwrap(),
            "receive" => {
                let Some(received) = queue(store).receive(SHORT).unwrap() else { return "none".into() };
                let answer = format!("received {}", *received);
                self.held.push(received);
                return answer;
            }
            "complete" | "release" => {
                let received = self.held.remove(usize::try_from(number).unwrap());
                let answered = if word == "complete" {
                    dealt_with(&store.table().unwrap(), &received)
                } else {
                    received.release(Duration::ZERO)
                };
                return match answered {
                    Ok(()) => "done".into(),
                    Err(error) if error.kind() == ErrorKind::StaleReceipt => "stale".into(),
                    Err(error) => panic!("{error}"),
                };
            }
            _ => panic!("{word}"),
        }
        "done".into()
    }
}

/// Makes every index right that a dropped table has left to be made.
fn rebuild(store: &Store) -> Result<()> {
    store.table::<eventual::Employee>()?.rebuild()?.run()?;
    derived::open(store)?;
    store.table::<derived::Person>()?.rebuild()?.run()?;
    store.table::<derived::Project>()?.rebuild()?.run()?;
    store.table::<derived::Badge>()?.rebuild()?.run().map(drop)
}

/// Drops all tables of one kind of work, or some without whose rows the others are made right by a rebuild.
fn drop_some(store: &Store, number: u64) {
    let known = store.tables().unwrap();
    let some: &[&str] = match number % 8 {
        0 => &eventual::TABLES,
        1 => &["Company"],
        2 => &["Names"],
        3 => &derived::TABLES,
        4 => &["Deputies"],
        5 => &["Colors"],
        6 => &["Badges", "Colors"],
        _ => &["Skills", "Crafts"],
    };
    let there: Vec<_> = some.iter().copied().filter(|name| known.iter().any(|known| known == name)).collect();
    store.drop_tables(&there).unwrap();
    if some == ["Company"] {
        // Until the index is made again, nothing says that a code is taken.
        rebuild(store).unwrap();
    }
}

/// Looks at every row, once all is made right and propagated.
fn check(store: &Store) {
    rebuild(store).unwrap();
    store.retry_failed().unwrap();
    assert_eq!(
        store.propagate().unwrap(),
        Propagation::Complete,
        "{:?}",
        store.pending_propagation().unwrap()
    );
    eventual::check(store).unwrap();
    derived::check_propagated(store).unwrap();
}
