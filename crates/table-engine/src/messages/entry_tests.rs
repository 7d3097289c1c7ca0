//! The rules, tried in every order of a small world, with and without each of them.

use std::collections::{BTreeMap, VecDeque};

use super::*;

/// How long a message is hidden in the small world.
const VISIBILITY: u64 = 2;
/// A message is received so often at most.
const MOST: u32 = 3;

fn ticks(at: u64) -> Ticks {
    Ticks::new(at).unwrap()
}

fn span(ticks: u64) -> Duration {
    Duration::from_nanos(ticks * 100)
}

fn clock(now: u64) -> Clock {
    Clock { now: ticks(now), store: ticks(now) }
}

/// The rules that are tried: as they are, or one of them other than it is.
#[derive(Clone, Copy, PartialEq)]
enum Rules {
    Whole,
    /// A message stays hidden until its time, whatever the clock says.
    UntilAlone,
    /// A receipt is compared by the time at which the message shows again.
    ReceiptsByTime,
}

/// All there is: the message, the clock, what two workers hold, whether the message was completed, and how often the clock
/// may still be set.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    message: Option<(Entry, Vec<u8>)>,
    now: u64,
    workers: [Option<(u32, u64)>; 2],
    completed: u32,
    settings: u32,
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.key(1, 1), self.encode()).cmp(&(other.key(1, 1), other.encode()))
    }
}

fn is_visible(rules: Rules, entry: &Entry, now: u64) -> bool {
    match entry.spot {
        Spot::Hidden { until, .. } if rules == Rules::UntilAlone => until <= ticks(now),
        _ => entry.is_visible(ticks(now)),
    }
}

fn holds(rules: Rules, entry: &Entry, delivery: u32, until: u64) -> bool {
    if rules == Rules::ReceiptsByTime {
        return matches!(entry.spot, Spot::Hidden { until: found, .. } if found == ticks(until));
    }
    entry.is_held_by(Receipt { id: 1, delivery, until: ticks(until) })
}

/// Goes through all that can happen; what is wrong, with the way to it, and how many states there are.
fn explore(rules: Rules) -> Result<usize, String> {
    let first = World {
        message: Some((Entry::sent(clock(1), Duration::ZERO), Vec::new())),
        now: 1,
        workers: [None; 2],
        completed: 0,
        settings: 3,
    };
    let mut seen: BTreeMap<World, Option<(World, String)>> = BTreeMap::from([(first.clone(), None)]);
    let mut queue = VecDeque::from([first]);
    let story = |seen: &BTreeMap<World, Option<(World, String)>>, world: &World| {
        let (mut steps, mut at) = (Vec::new(), world.clone());
        while let Some((before, step)) = &seen[&at] {
            steps.push(step.clone());
            at = before.clone();
        }
        steps.reverse();
        steps.join(" | ")
    };
    while let Some(world) = queue.pop_front() {
        if world.completed > 1 {
            return Err(format!("completed twice: {}", story(&seen, &world)));
        }
        if let Some((entry, _)) = &world.message
            && world.workers == [None; 2]
            && (world.now..=world.now + 2 * VISIBILITY).all(|now| !is_visible(rules, entry, now))
        {
            return Err(format!("hidden too long: {}", story(&seen, &world)));
        }
        let mut next = Vec::new();
        if world.settings > 0 {
            for by in [-4_i64, -1, 1, 4] {
                let now = world.now.saturating_add_signed(by);
                next.push((
                    format!("clock {by:+}"),
                    World { now, settings: world.settings - 1, ..world.clone() },
                ));
            }
        }
        for worker in 0..2 {
            let with = |held, change: &dyn Fn(&mut World)| {
                let mut world = world.clone();
                world.workers[worker] = held;
                change(&mut world);
                world
            };
            let Some(held) = world.workers[worker] else {
                let Some((entry, _)) = &world.message else { continue };
                if !is_visible(rules, entry, world.now)
                    || entry.fate(None, ticks(world.now), MOST) != Fate::Deliver
                {
                    continue;
                }
                let received = entry.clone().received(clock(world.now), span(VISIBILITY));
                let receipt = received.receipt(1);
                let held = Some((receipt.delivery, receipt.until.get()));
                let change = |world: &mut World| world.message = Some((received.clone(), Vec::new()));
                next.push((format!("{worker} receives"), with(held, &change)));
                continue;
            };
            next.push((format!("{worker} dies"), with(None, &|_| {})));
            let Some((entry, _)) =
                world.message.as_ref().filter(|(entry, _)| holds(rules, entry, held.0, held.1))
            else {
                next.push((format!("{worker} is refused"), with(None, &|_| {})));
                continue;
            };
            // A worker with the receipt of another delivery that is let through completes what another worker completes, too.
            let is_stale = entry.delivery != held.0;
            let complete = |world: &mut World| {
                world.message = None;
                world.completed += if is_stale { 2 } else { 1 };
            };
            next.push((format!("{worker} completes"), with(None, &complete)));
            let extended = entry.clone().extended(clock(world.now), span(VISIBILITY));
            let receipt = extended.receipt(1);
            let extend = |world: &mut World| world.message = Some((extended.clone(), Vec::new()));
            next.push((
                format!("{worker} extends"),
                with(Some((receipt.delivery, receipt.until.get())), &extend),
            ));
            for delay in [0, 1] {
                for is_untried in [false, true] {
                    let back = entry.clone().released(clock(world.now), span(delay), None, is_untried);
                    let release = |world: &mut World| world.message = Some((back.clone(), Vec::new()));
                    next.push((format!("{worker} releases for {delay}"), with(None, &release)));
                }
            }
        }
        for (step, next) in next {
            // What is untried forever would be received forever.
            if next.message.as_ref().is_some_and(|(entry, _)| entry.delivery > 5) || next.now > 12 {
                continue;
            }
            if !seen.contains_key(&next) {
                seen.insert(next.clone(), Some((world.clone(), step)));
                queue.push_back(next);
            }
        }
    }
    Ok(seen.len())
}

#[test]
fn in_no_order_of_events_is_a_message_lost_hidden_or_completed_twice() {
    let states = explore(Rules::Whole).unwrap();
    assert!(states > 1_000, "{states}");
}

#[test]
fn without_each_rule_it_would_be() {
    let hidden = explore(Rules::UntilAlone).unwrap_err();
    assert!(hidden.starts_with("hidden too long"), "{hidden}");
    let twice = explore(Rules::ReceiptsByTime).unwrap_err();
    assert!(twice.starts_with("completed twice"), "{twice}");
}

#[test]
fn a_turn_that_was_given_back_untried_holds_nothing_when_the_count_comes_again() {
    let entry = Entry::sent(clock(5), Duration::ZERO).received(clock(5), span(10));
    let first = entry.receipt(1);
    let back = entry.released(clock(6), Duration::ZERO, None, true);
    assert!(!back.is_held_by(first));
    let again = back.received(clock(5), span(10));
    assert_eq!(
        (again.count, again.receipt(1).until),
        (1, first.until),
        "the counts and the times are the same"
    );
    assert!(!again.is_held_by(first) && again.is_held_by(again.receipt(1)));
}

#[test]
fn a_delay_outlasts_a_clock_that_is_set_back_a_little_and_ends_with_one_set_back_far() {
    let entry = Entry::sent(clock(1_000), span(100));
    assert!(!entry.is_visible(ticks(1_099)) && entry.is_visible(ticks(1_100)));
    assert!(!entry.is_visible(ticks(950)) && entry.is_visible(ticks(899)));
    assert!(!Entry::sent(clock(10), span(100)).is_visible(Ticks::MIN), "time has no less than its beginning");
}

#[test]
fn what_becomes_of_a_message_goes_by_its_time_first_and_then_by_its_count() {
    let entry = Entry { count: 5, ..Entry::sent(clock(1), Duration::ZERO) };
    let now = ticks(50);
    assert_eq!(entry.fate(Some(now), now, 5), Fate::Expire);
    assert_eq!(entry.fate(Some(ticks(51)), now, 5), Fate::SetAside);
    assert_eq!(entry.fate(None, now, 6), Fate::Deliver);
    assert_eq!(entry.fate(None, now, 0), Fate::SetAside);
}

#[test]
fn an_entry_is_read_as_it_was_written_and_nothing_else_is_one() {
    let at = clock(7);
    let waiting = Entry::sent(at, Duration::ZERO);
    let held = waiting.clone().received(at, span(3));
    let back = held.clone().released(at, span(4), Some("no \u{e9}mail"), false);
    for entry in [waiting, held, back] {
        let body = entry.encode();
        let read = |body: &[u8]| match entry.spot {
            Spot::Ready(since) => Entry::ready(since, body),
            Spot::Hidden { .. } => Entry::hidden(body),
        };
        assert_eq!(read(&body).as_ref(), Some(&entry));
        let fixed = if matches!(entry.spot, Spot::Ready(_)) { 8 } else { 25 };
        for length in 0..fixed {
            assert_eq!(read(&body[..length]), None);
        }
        assert_eq!(read(&[&body[..], &[0xff]].concat()), None, "an error is text");
    }
    let held = Entry::sent(at, Duration::ZERO).received(at, span(3));
    let mut body = held.encode();
    body[24] = 2;
    assert_eq!(Entry::hidden(&body), None, "no such flag");
    body[24] = 1;
    body[16] = 6;
    assert_eq!(Entry::hidden(&body), None, "it would end before it began");
}

#[test]
fn of_a_long_error_the_beginning_is_kept() {
    let long = "\u{e9}".repeat(1_000);
    let kept = shortened(&long);
    assert!(long.starts_with(kept) && kept.len() == 1_024);
    let odd = format!("a{long}");
    assert_eq!(shortened(&odd).len(), 1_023);
    assert_eq!(shortened("short"), "short");
}

#[test]
fn times_at_the_ends_of_the_calendar_are_no_trouble() {
    let end = Clock { now: Ticks::MAX, store: Ticks::MAX };
    let held = Entry::sent(end, span(5)).received(end, Duration::MAX);
    assert_eq!(held.receipt(1).until, Ticks::MAX);
    assert!(held.is_visible(Ticks::MAX), "it is never hidden beyond the end");
}
