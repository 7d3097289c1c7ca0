//! The bytes of queues' records, written out by hand after `docs/internals/format.md`.

use super::keys::{self, Kind};
use super::{Directory, Entry, Message, Spot, State};
use crate::model::Ticks;

fn ticks(at: u64) -> Ticks {
    Ticks::new(at).unwrap()
}

#[test]
fn keys_are_these_bytes() {
    assert_eq!(keys::DIRECTORY, [0]);
    assert_eq!(keys::state(0x0102), [1, 0, 0, 1, 2]);
    assert_eq!(keys::message(7, 0x0304), [2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 3, 4]);
    let timed = [0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 3, 4];
    assert_eq!(keys::ready(7, ticks(0x0506), 0x0304), [&[3][..], &timed].concat());
    assert_eq!(keys::hidden(7, ticks(0x0506), 0x0304), [&[4][..], &timed].concat());
    assert_eq!(keys::lease(7, 0x0304), [5, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 3, 4]);
    assert_eq!(keys::unique(7, "ab"), [6, 0, 0, 0, 7, b'a', b'b']);
    assert_eq!(keys::service(7, "ab"), [9, 0, 0, 0, 7, b'a', b'b']);
}

#[test]
fn messages_and_entries_are_these_bytes() {
    let message = Message { sent: ticks(0x0102), expires: None, unique: None, text: "{}" };
    let mut bytes = vec![2, 1, 0, 0, 0, 0, 0, 0];
    bytes.extend([0; 8]);
    bytes.extend([0xff, 0xff, b'{', b'}']);
    assert_eq!(message.encode(), bytes);
    let message = Message { sent: ticks(1), expires: Some(ticks(3)), unique: Some("k"), text: "7" };
    assert_eq!(message.encode(), [1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, b'k', b'7']);

    let ready = Entry { spot: Spot::Ready(ticks(9)), delivery: 2, count: 1, error: "no".into() };
    assert_eq!(ready.encode(), [2, 0, 0, 0, 1, 0, 0, 0, b'n', b'o']);
    let spot = Spot::Hidden { from: ticks(4), until: ticks(5), is_held: true };
    let held = Entry { spot, delivery: 3, count: 2, error: Box::default() };
    assert_eq!(held.encode(), [3, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn the_directory_and_the_counts_are_these_bytes() {
    let mut directory = Directory::default();
    directory.add("abc").unwrap();
    directory.add("de-f").unwrap();
    directory.queues[0].is_dropped = true;
    let bytes = [3, 0, 0, 0, 1, 0, 0, 0, 1, 3, b'a', b'b', b'c', 2, 0, 0, 0, 0, 4, b'd', b'e', b'-', b'f'];
    assert_eq!(directory.encode(), bytes);

    let mut state = State { next: 2, is_paused: true, latest_from: ticks(3), bytes: 4, ..State::default() };
    (state.totals.sent, state.totals.completed) = (5, 6);
    (state.totals.poisoned, state.totals.expired) = (7, 8);
    state.set_digest_mut(Kind::Message).unwrap().add(9);
    state.set_digest_mut(Kind::Ready).unwrap().add(10);
    let numbers = [2, 3, 4, 5, 6, 7, 8, 1, 9, 1, 10, 0, 0, 0, 0, 0, 0];
    let mut bytes = vec![1];
    for number in numbers {
        bytes.extend(u64::to_le_bytes(number));
    }
    assert_eq!(state.encode(), bytes);
    assert_eq!(bytes.len(), 57 + 5 * 16);

    // Service records are counted where there are some.
    state.set_digest_mut(Kind::Service).unwrap().add(11);
    for number in [1, 11] {
        bytes.extend(u64::to_le_bytes(number));
    }
    assert_eq!(state.encode(), bytes);
    assert_eq!(State::decode(&bytes), Some(state));
    bytes.truncate(57 + 5 * 16);
    bytes.extend([0; 16]);
    assert_eq!(State::decode(&bytes), None, "without any, they are left out");
}
