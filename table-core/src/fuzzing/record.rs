//! The bodies of small records: states of kinds, jobs, those of queues, and those of what is to follow.

use crate::executor::{JobRecord, Position};
use crate::messages::{Directory, Entry, Message, State};
use crate::model::Ticks;
use crate::pending::{self, CopyKey};
use crate::schema::{Blocked, IndexState, KindState, Lives};
use crate::store::records::lives;

/// Reads the body of a small record, of the sort of the first byte. One that is read must be written as the same bytes.
pub fn record(bytes: &[u8]) -> bool {
    let Some((sort, body)) = bytes.split_first() else { return false };
    let written = match sort % 9 {
        0 => lives::decode_lives(body).map(|lives| lives::encode_lives(&lives)),
        1 => lives::decode_job(body).map(|job| lives::encode_job(&job)),
        2 => Message::decode(body).map(|message| message.encode()),
        3 => State::decode(body).map(|state| state.encode()),
        4 => Directory::decode(body).map(|directory| directory.encode()),
        5 => Entry::ready(Ticks::UNIX_EPOCH, body).map(|entry| entry.encode()),
        6 => Entry::hidden(body).map(|entry| entry.encode()),
        7 => pending::Entry::decode(body).map(|entry| entry.encode()),
        _ => pending::Ledger::decode(body).map(pending::Ledger::encode),
    };
    let Some(written) = written else { return false };
    assert!(written == body, "the record is written in another form");
    true
}

/// A record of each sort.
pub fn sample_record() -> Vec<Vec<u8>> {
    let keys = |row: &str| ("p".to_owned(), row.to_owned());
    let blocked = Blocked { key: keys("mail_a"), has: keys("a"), wants: keys("b") };
    let states = [
        IndexState::Sweep,
        IndexState::Fill,
        IndexState::Blocked(blocked),
        IndexState::Ready { since: 9 },
        IndexState::Dropping,
    ];
    let kind = KindState::Stopped { from: 1, entity: keys("a"), why: "no".into() };
    let indexes = states.into_iter().map(|state| ("by_mail".to_owned(), state)).collect();
    let position = Some(Position { partition: "p".into(), row: "a".into() });
    let job = JobRecord { position, ..JobRecord::new(7, "Company\nNames".into()) };
    let message = Message { sent: Ticks::UNIX_EPOCH, expires: None, unique: Some("key"), text: "{\"a\":1}" };
    let mut directory = Directory::default();
    directory.add("hires");
    directory.add("hires-poison");
    let waiting = Entry::ready(Ticks::UNIX_EPOCH, b"\x01\0\0\0\x02\0\0\0the sea is rough");
    let mut held = waiting.iter().flat_map(Entry::encode).take(8).collect::<Vec<_>>();
    held.extend([[0; 8], 1_u64.to_le_bytes()].concat());
    held.push(1);
    let mut pending = pending::Entry::new("employee", Ticks::UNIX_EPOCH);
    let copy = |row: &str| CopyKey { index: "by_name".into(), partition: "Jones".into(), row: row.into() };
    pending.take("employee", &[copy("a"), copy("b")], &["by_badge"], Ticks::UNIX_EPOCH);
    pending.fail("the sea is rough", Ticks::UNIX_EPOCH);
    let bodies = [
        lives::encode_lives(&Lives { epoch: 3, kind, indexes }),
        lives::encode_job(&job),
        message.encode(),
        State::default().encode(),
        directory.encode(),
        waiting.map(|entry| entry.encode()).unwrap_or_default(),
        held,
        pending.encode(),
        pending::Ledger::default().encode(),
    ];
    (0_u8..).zip(bodies).map(|(sort, body)| [&[sort][..], &body].concat()).collect()
}
