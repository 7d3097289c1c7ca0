//! Random operations of several workers, with clocks that are set, stores that are closed and opened, and receipts that
//! are kept too long. A plain model says what each is to come to.

use std::collections::BTreeMap;

use table_engine::error::ErrorKind;

use super::*;
use crate::tests_scratch::in_memory;

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }
}

fn number_of(found: usize) -> u64 {
    found.try_into().unwrap()
}

/// A message as the model has it.
#[derive(Clone, Debug)]
struct Known {
    text: String,
    unique: Option<String>,
    expires: Option<u64>,
    count: u32,
    error: Option<String>,
    /// Its place among those that are ready, or from when until when it is hidden, and by whom held.
    ready: Option<u64>,
    hidden: (u64, u64),
    holder: Option<u64>,
}

#[derive(Default)]
struct Model {
    messages: BTreeMap<u64, Known>,
    next: u64,
    /// Rises with everything that becomes ready.
    order: u64,
    poison: Vec<(String, Option<String>)>,
    is_paused: bool,
    completed: u64,
    expired: u64,
    sent: u64,
}

const DEQUEUES: u32 = 3;

impl Model {
    fn waits(&mut self, id: u64, now: u64, delay: u64) {
        self.order += 1;
        let order = self.order;
        let message = self.messages.get_mut(&id).unwrap();
        message.holder = None;
        message.ready = (delay == 0).then_some(order);
        message.hidden = (now.saturating_sub(delay), now + delay);
    }

    /// Returns the messages that show, in the order in which they are received.
    fn shown(&self, now: u64) -> Vec<u64> {
        let is_hidden = |known: &Known| known.hidden.0 <= now && now < known.hidden.1;
        let mut back: Vec<_> = self
            .messages
            .iter()
            .filter(|(_, known)| known.ready.is_none() && !is_hidden(known))
            .map(|(id, known)| (known.hidden.1, *id))
            .collect();
        back.sort_unstable();
        let mut ready: Vec<_> =
            self.messages.iter().filter_map(|(id, known)| Some((known.ready?, *id))).collect();
        ready.sort_unstable();
        back.into_iter().chain(ready).map(|(_, id)| id).collect()
    }

    fn set_aside(&mut self, id: u64) {
        let message = self.messages.remove(&id).unwrap();
        let error = message.error.unwrap_or_else(|| {
            format!("received {} times, and never completed or given back", message.count)
        });
        self.poison.push((message.text, Some(error)));
    }

    /// Returns what is received: number, text, count, error.
    fn receive(
        &mut self,
        now: u64,
        most: usize,
        visibility: u64,
        delivery: u64,
    ) -> Vec<(u64, String, u32, Option<String>)> {
        let mut received = Vec::new();
        if self.is_paused {
            return received;
        }
        for id in self.shown(now) {
            if received.len() == most {
                break;
            }
            let message = self.messages.get_mut(&id).unwrap();
            if message.expires.is_some_and(|expires| expires <= now) {
                self.messages.remove(&id);
                self.expired += 1;
            } else if message.count >= DEQUEUES {
                self.set_aside(id);
            } else {
                message.count += 1;
                message.ready = None;
                message.hidden = (now, now + visibility);
                message.holder = Some(delivery);
                received.push((id, message.text.clone(), message.count, message.error.clone()));
            }
        }
        received
    }

    fn holds(&self, id: u64, delivery: u64) -> bool {
        self.messages.get(&id).is_some_and(|known| known.holder == Some(delivery))
    }
}

/// A receipt that a process keeps, with the model's name for the delivery.
#[derive(Clone)]
struct Held {
    receipt: Receipt,
    delivery: u64,
}

#[expect(clippy::too_many_lines, reason = "an arm for each thing that can be done")]
fn explore(seed: u64, steps: u64) {
    let dir = in_memory();
    let path = dir.path().join("store");
    let options = Store::options().durability(crate::Durability::Relaxed).map_size(1 << 28);
    let mut store = options.open(&path).unwrap();
    let mut queue = queues(&store).open("work").unwrap();
    let (mut random, mut model, mut held) = (Random(seed), Model { next: 1, ..Model::default() }, Vec::new());
    let (mut now, mut turns, mut stale, mut right) = (1_000_000_u64, 0, 0_u64, 0_u64);
    for step in 0..steps {
        now += random.below(4);
        if random.below(50) == 0 {
            now = if random.below(2) == 0 { now + random.below(60) } else { now - random.below(60) };
        }
        set_clock(now);
        let moment = format!("seed {seed}, step {step}, at {now}");
        match random.below(24) {
            0..=6 => {
                let (unique, lives) = (random.below(4) == 0, random.below(6) == 0);
                let after = if random.below(4) == 0 { 1 + random.below(20) } else { 0 };
                let unique = unique.then(|| format!("key {}", random.below(6)));
                let lives = lives.then(|| after + 1 + random.below(40));
                let text = format!("{step}");
                let sending = Sending {
                    after: span(after),
                    lives: lives.map(span),
                    unique: unique.as_deref().map(Arc::from),
                    ..sending(&text)
                };
                let answer = ask(&store, queue, vec![Task::Send(sending)]).unwrap();
                let same = |known: &&Known| unique.is_some() && known.unique == unique;
                if let Some((id, _)) = model.messages.iter().find(|(_, known)| same(known)) {
                    assert_eq!(answer, [Answer::Sent { id: *id, is_new: false }], "{moment}");
                    continue;
                }
                let id = model.next;
                assert_eq!(answer, [Answer::Sent { id, is_new: true }], "{moment}");
                model.next += 1;
                model.sent += 1;
                let expires = lives.map(|lives| now + lives);
                let known = Known {
                    text,
                    unique,
                    expires,
                    count: 0,
                    error: None,
                    ready: None,
                    hidden: (0, 0),
                    holder: None,
                };
                model.messages.insert(id, known);
                model.waits(id, now, after);
            }
            7..=12 => {
                let most = usize::try_from(1 + random.below(4)).unwrap();
                let visibility = 1 + random.below(30);
                turns += 1;
                let expected = model.receive(now, most, visibility, turns);
                let found = receive(&store, queue, most, visibility, DEQUEUES).unwrap();
                let told: Vec<_> = found
                    .iter()
                    .map(|d| {
                        (d.receipt.id, d.body.to_string(), d.count, d.error.as_deref().map(str::to_owned))
                    })
                    .collect();
                assert_eq!(told, expected, "{moment}");
                held.extend(found.iter().map(|d| Held { receipt: d.receipt, delivery: turns }));
            }
            13..=20 if !held.is_empty() => {
                let at = usize::try_from(random.below(number_of(held.len()))).unwrap();
                // Some receipts are kept after they were used, and used again.
                let Held { receipt, delivery } =
                    if random.below(4) == 0 { held[at].clone() } else { held.swap_remove(at) };
                let (id, holds) = (receipt.id, model.holds(receipt.id, delivery));
                let delay = if random.below(2) == 0 { 0 } else { 1 + random.below(20) };
                let what = random.below(6);
                let task = match what {
                    0..=2 => Task::Complete(receipt),
                    3 => Task::Extend(receipt, span(1 + delay)),
                    4 => Task::Release(receipt, release(delay, Some("it failed"), DEQUEUES)),
                    _ => Task::Update(receipt, Arc::from(format!("{step}")), span(1 + delay)),
                };
                let answer = ask(&store, queue, vec![task]);
                if !holds {
                    assert_eq!(answer.unwrap_err().kind(), ErrorKind::StaleReceipt, "{moment}");
                    stale += 1;
                    continue;
                }
                answer.unwrap_or_else(|error| panic!("{moment}: {error}"));
                right += 1;
                let message = model.messages.get_mut(&id).unwrap();
                match what {
                    0..=2 => {
                        model.messages.remove(&id);
                        model.completed += 1;
                    }
                    4 => {
                        message.error = Some("it failed".into());
                        if message.count >= DEQUEUES {
                            model.set_aside(id);
                        } else {
                            model.waits(id, now, delay);
                        }
                    }
                    _ => {
                        message.hidden = (now, now + 1 + delay);
                        if what == 5 {
                            message.text = format!("{step}");
                        }
                    }
                }
            }
            21 => {
                let peeked = queues(&store).peek(queue, 1_000).unwrap();
                let is_alive = |id: &u64| model.messages[id].expires.is_none_or(|expires| expires > now);
                let mut expected = model.shown(now);
                expected.retain(is_alive);
                expected.retain(|_| !model.is_paused);
                assert_eq!(
                    peeked.iter().map(|peeked| peeked.receipt.id).collect::<Vec<_>>(),
                    expected,
                    "{moment}"
                );
            }
            22 if random.below(8) == 0 => {
                model.is_paused = !model.is_paused;
                ask(&store, queue, vec![Task::Pause(model.is_paused)]).unwrap();
            }
            23 if random.below(40) == 0 => {
                let answer = ask(&store, queue, vec![Task::Clear { below: None, most: 1_000 }]).unwrap();
                let gone = number_of(model.messages.len());
                assert_eq!(answer, [Answer::Cleared { gone, below: model.next, is_all: true }], "{moment}");
                model.messages.clear();
            }
            // A process ends: it holds nothing any more, or comes back with its receipt.
            _ if random.below(10) == 0 => {
                drop(store);
                store = options.open(&path).unwrap();
                queue = queues(&store).open("work").unwrap();
                if random.below(2) == 0 {
                    held.clear();
                }
            }
            _ => {}
        }
        if step % 500 == 0 {
            assert_sound(&store);
        }
    }
    let stats = queues(&store).stats(queue).unwrap();
    let ready = number_of(model.shown(now).len());
    assert_eq!((stats.ready, stats.ready + stats.hidden), (ready, number_of(model.messages.len())));
    let poisoned = number_of(model.poison.len());
    assert_eq!(
        (stats.sent, stats.completed, stats.poisoned, stats.expired),
        (model.sent, model.completed, poisoned, model.expired)
    );
    assert_sound(&store);
    assert!(
        right > steps / 20 && stale > steps / 200 && poisoned > 0 && model.expired > 0,
        "it did too little"
    );
    let poison = queues(&store).open("work-poison").unwrap();
    let mut aside = Vec::new();
    loop {
        let found = receive(&store, poison, 100, 1_000_000, 1).unwrap();
        if found.is_empty() {
            break;
        }
        aside.extend(found.into_iter().map(|d| (d.body.to_string(), d.error.map(|error| error.to_string()))));
    }
    aside.sort();
    model.poison.sort();
    assert_eq!(aside, model.poison);
}

/// `TABLE_CORE_QUEUE_STEPS` makes it longer.
#[test]
fn whatever_is_done_in_whatever_order_comes_to_what_the_model_says() {
    let steps = std::env::var("TABLE_CORE_QUEUE_STEPS").map_or(10_000, |steps| steps.parse().unwrap());
    let seed = std::env::var("TABLE_CORE_SEED").map_or(20_261_122, |seed| seed.parse().unwrap());
    explore(seed, steps);
}
