//! The bodies of small records: states of kinds, jobs, those of queues and blobs, and those of what is to follow; and the
//! keys that say what they are.

use table_engine::contents::{self, BlobId, BlobRecord, NameRecord, Waiting, name, reference};
use table_engine::executor::{JobRecord, Position};
use table_engine::messages::{self, Directory, Entry, Message, State};
use table_engine::model::Ticks;
use table_engine::outbox::{self, CopyKey, DependentKey, DependentProgress};
use table_engine::schema::{Blocked, IndexState, IndexStates, KindState};

use super::keyed;
use crate::records::index_states;

/// Sorts of which the body is the whole input; those above are of records that are bound to their keys.
const UNDER_KEYS: u8 = 17;
const SORTS: u8 = UNDER_KEYS + keyed::SORTS;

/// Reads the body of a small record, of the sort of the first byte. One that is read must be written as the same bytes.
pub fn record(bytes: &[u8]) -> bool {
    let Some((sort, body)) = bytes.split_first() else { return false };
    let written = match sort % SORTS {
        0 => index_states::decode_index_states(body)
            .map(|index_states| index_states::encode_index_states(&index_states)),
        1 => index_states::decode_job(body).map(|job| index_states::encode_job(&job)),
        2 => Message::decode(body).map(|message| message.encode()),
        3 => State::decode(body).map(|state| state.encode()),
        4 => Directory::decode(body).map(|directory| directory.encode()),
        5 => Entry::ready(Ticks::UNIX_EPOCH, body).map(|entry| entry.encode()),
        6 => Entry::hidden(body).map(|entry| entry.encode()),
        7 => outbox::OutboxRecord::decode(body).map(|entry| entry.encode()),
        8 => outbox::Counters::decode(body).map(outbox::Counters::encode),
        9 => BlobRecord::decode(body).map(|blob| blob.encode()),
        10 => NameRecord::decode(body).map(NameRecord::encode),
        11 => Waiting::decode(body).map(Waiting::encode),
        12 => contents::Counters::decode(body).map(|counters| counters.encode()),
        13 => Directory::decode_with(body, name::is_container).map(|directory| directory.encode()),
        14 => reference::decode(body).map(|(id, length)| reference::encode(id, length)),
        15 => contents::keys::Key::parse(body).map(key_of_blob),
        16 => messages::keys::Key::parse(body).map(key_of_queue),
        sort => keyed::again(sort - UNDER_KEYS, body),
    };
    let Some(written) = written else { return false };
    assert!(written == body, "the record is written in another form");
    true
}

fn key_of_blob(key: contents::keys::Key<'_>) -> Vec<u8> {
    use contents::keys::{COUNTERS, DIRECTORY, Key, blob, name, segment, waiting};
    match key {
        Key::Directory => DIRECTORY.to_vec(),
        Key::Counters => COUNTERS.to_vec(),
        Key::Name(container, of) => name(container, of),
        Key::Blob(id) => blob(id),
        Key::Waiting(id) => waiting(id),
        Key::Segment(id, number) => segment(id, number),
    }
}

fn key_of_queue(key: messages::keys::Key<'_>) -> Vec<u8> {
    use messages::keys::{DIRECTORY, Key, hidden, lease, message, ready, service, state, unique};
    match key {
        Key::Directory => DIRECTORY.to_vec(),
        Key::State(queue) => state(queue).to_vec(),
        Key::Message(queue, id) => message(queue, id),
        Key::Ready(queue, since, id) => ready(queue, since, id),
        Key::Hidden(queue, until, id) => hidden(queue, until, id),
        Key::Lease(queue, id) => lease(queue, id),
        Key::Unique(queue, text) => unique(queue, text),
        Key::Service(queue, name) => service(queue, name),
    }
}

/// Returns a record of each sort, and a key of each.
pub fn sample_record() -> Vec<Vec<u8>> {
    let keys = |row: &str| ("p".to_owned(), row.to_owned());
    let blocked = Blocked { key: keys("mail_a"), has: keys("a"), wants: keys("b") };
    let states = [
        IndexState::Purge,
        IndexState::Backfill,
        IndexState::Blocked(blocked),
        IndexState::Ready { since: 9 },
        IndexState::Dropping,
    ];
    let kind = KindState::Stopped { from: 1, entity: keys("a"), why: "no".into() };
    let indexes = states.into_iter().map(|state| ("by_mail".to_owned(), state)).collect();
    let position = Some(Position { partition: "p".into(), row: "a".into() });
    let end = Some(Position { partition: "p".into(), row: "b".into() });
    let job =
        JobRecord { position, end, counts: vec![3, 1 << 40], ..JobRecord::new(7, "Company\nNames".into()) };
    let message = Message { sent: Ticks::UNIX_EPOCH, expires: None, unique: Some("key"), text: "{\"a\":1}" };
    let mut directory = Directory::default();
    directory.add("hires");
    directory.add("hires-poison");
    let waiting = Entry::ready(Ticks::UNIX_EPOCH, b"\x01\0\0\0\x02\0\0\0the sea is rough");
    let mut held = waiting.iter().flat_map(Entry::encode).take(8).collect::<Vec<_>>();
    held.extend([[0; 8], 1_u64.to_le_bytes()].concat());
    held.push(1);
    let mut pending = outbox::OutboxRecord::new("employee", Ticks::UNIX_EPOCH);
    let copy = |row: &str| CopyKey { index: "by_name".into(), partition: "Jones".into(), row: row.into() };
    pending.take("employee", &[copy("a"), copy("b")], &["by_badge"], Ticks::UNIX_EPOCH);
    pending.fail("the sea is rough", Ticks::UNIX_EPOCH);
    let mut with_dependents = pending.clone();
    let key = |property: &str| DependentKey { kind: "badge".into(), property: property.into() };
    with_dependents.take_dependents("employee", &[key("Boss"), key("Owner")], Ticks::UNIX_EPOCH);
    with_dependents
        .advance(&[DependentProgress { key: key("Owner"), after: Some(copy("b")) }], Ticks::UNIX_EPOCH);
    let bodies = [
        index_states::encode_index_states(&IndexStates { epoch: 3, kind, indexes }),
        index_states::encode_job(&job),
        message.encode(),
        State::default().encode(),
        directory.encode(),
        waiting.map(|entry| entry.encode()).unwrap_or_default(),
        held,
        pending.encode(),
        outbox::Counters::default().encode(),
    ];
    let numbered = (0_u8..).zip(bodies);
    let under_keys = keyed::samples().into_iter().map(|(sort, body)| (sort + UNDER_KEYS, body));
    let all = numbered
        .chain([(7, with_dependents.encode())])
        .chain(of_blobs())
        .chain(keys_of_queues())
        .chain(under_keys);
    all.map(|(sort, body)| [&[sort][..], &body].concat()).collect()
}

fn of_blobs() -> Vec<(u8, Vec<u8>)> {
    use contents::keys::{COUNTERS, DIRECTORY, blob, name, segment, waiting};
    let (id, time) = (BlobId([7; 16]), Ticks::UNIX_EPOCH);
    let content_type = contents::ANY_TYPE.into();
    let record =
        BlobRecord { length: 70_000, digest: 3, references: 1, made: time, changed: time, content_type };
    let mut containers = Directory::default();
    containers.add("photos");
    containers.add("a-b");
    let keys =
        [DIRECTORY.to_vec(), COUNTERS.to_vec(), name(1, "cat.jpg"), blob(id), waiting(id), segment(id, 2)];
    let bodies = [
        (9, record.encode()),
        (10, NameRecord { id }.encode()),
        (11, Waiting::Upload(time).encode()),
        (11, Waiting::Gone.encode()),
        (12, contents::Counters { bytes: 70_000, ..contents::Counters::default() }.encode()),
        (13, containers.encode()),
        (14, reference::encode(id, 70_000)),
    ];
    bodies.into_iter().chain(keys.map(|key| (15, key))).collect()
}

fn keys_of_queues() -> Vec<(u8, Vec<u8>)> {
    use messages::keys::{DIRECTORY, hidden, lease, message, ready, state, unique};
    let time = Ticks::UNIX_EPOCH;
    let keys = [
        DIRECTORY.to_vec(),
        state(7).to_vec(),
        message(7, 9),
        ready(7, time, 9),
        hidden(7, time, 9),
        lease(7, 9),
        unique(7, "employee 9"),
    ];
    keys.map(|key| (16, key)).to_vec()
}
