//! The bodies of a queue's other records: messages, what a queue counts, and the directory of queues.

use super::keys::Kind;
use super::task::QueueStats;
use super::{MESSAGE_BYTES, MOST_QUEUES, UNIQUE_BYTES, name};
use crate::fields::Fields;
use crate::model::Ticks;

/// What was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'m> {
    pub sent: Ticks,
    pub expires: Option<Ticks>,
    pub unique: Option<&'m str>,
    /// It as JSON.
    pub text: &'m str,
}

/// The length that stands for no unique key.
const NO_UNIQUE: u16 = u16::MAX;

impl<'m> Message<'m> {
    pub fn encode(&self) -> Vec<u8> {
        let unique = self.unique.unwrap_or_default();
        let mut body = Vec::with_capacity(18 + unique.len() + self.text.len() + 8);
        body.extend_from_slice(&self.sent.get().to_le_bytes());
        body.extend_from_slice(&self.expires.unwrap_or(Ticks::MIN).get().to_le_bytes());
        let length = self.unique.map(|unique| u16::try_from(unique.len()).unwrap_or(NO_UNIQUE));
        body.extend_from_slice(&length.unwrap_or(NO_UNIQUE).to_le_bytes());
        body.extend_from_slice(unique.as_bytes());
        body.extend_from_slice(self.text.as_bytes());
        body
    }

    pub fn decode(body: &'m [u8]) -> Option<Self> {
        let mut body = Fields(body);
        let (sent, expires) = (body.ticks()?, body.ticks()?);
        let unique = match body.u16()? {
            NO_UNIQUE => None,
            length => Some(body.text(length.into())?),
        };
        let expires = Some(expires).filter(|expires| *expires != Ticks::MIN);
        let text = body.rest()?;
        let fits = text.len() <= MESSAGE_BYTES && unique.is_none_or(|unique| unique.len() <= UNIQUE_BYTES);
        fits.then_some(Self { sent, expires, unique, text })
    }
}

/// How many records of a kind a queue has, and the sum of their checksums, modulo 2^64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetDigest {
    pub count: u64,
    pub(crate) digest: u64,
}

impl SetDigest {
    pub fn add(&mut self, checksum: u64) {
        self.count = self.count.wrapping_add(1);
        self.digest = self.digest.wrapping_add(checksum);
    }

    pub fn subtract(&mut self, checksum: u64) {
        self.count = self.count.wrapping_sub(1);
        self.digest = self.digest.wrapping_sub(checksum);
    }
}

/// What became of messages so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub sent: u64,
    pub completed: u64,
    pub poisoned: u64,
    pub expired: u64,
}

/// What a queue counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The number of the next message.
    pub next: u64,
    pub is_paused: bool,
    /// Whether it was dropped, and its records go.
    pub is_dropped: bool,
    /// Of the records of each kind of `Kind::MANY`.
    pub set_digests: [SetDigest; 6],
    /// No message is hidden from a later time on. If the clock is set back to before it, some may show.
    pub latest_from: Ticks,
    /// Bytes of all messages.
    pub bytes: u64,
    pub totals: Totals,
}

const PAUSED: u8 = 1;
const DROPPED: u8 = 2;

impl Default for State {
    fn default() -> Self {
        Self {
            next: 1,
            is_paused: false,
            is_dropped: false,
            set_digests: Default::default(),
            latest_from: Ticks::MIN,
            bytes: 0,
            totals: Totals::default(),
        }
    }
}

impl State {
    pub fn set_digest(&self, kind: Kind) -> SetDigest {
        kind.set_digest().and_then(|at| self.set_digests.get(at)).copied().unwrap_or_default()
    }

    pub fn set_digest_mut(&mut self, kind: Kind) -> Option<&mut SetDigest> {
        self.set_digests.get_mut(kind.set_digest()?)
    }

    /// Returns whether it has no record left.
    pub fn is_empty(&self) -> bool {
        self.set_digests.iter().all(|set_digest| set_digest.count == 0)
    }

    pub fn stats(&self, name: &str) -> QueueStats {
        QueueStats {
            name: name.into(),
            ready: self.set_digest(Kind::Ready).count,
            hidden: self.set_digest(Kind::Hidden).count,
            bytes: self.bytes,
            unique: self.set_digest(Kind::Unique).count,
            is_paused: self.is_paused,
            sent: self.totals.sent,
            completed: self.totals.completed,
            poisoned: self.totals.poisoned,
            expired: self.totals.expired,
            oldest_ready: None,
        }
    }

    pub fn encode(&self) -> Vec<u8> {
        let flags = if self.is_paused { PAUSED } else { 0 } | if self.is_dropped { DROPPED } else { 0 };
        let mut body = Vec::with_capacity(150);
        body.push(flags);
        let Totals { sent, completed, poisoned, expired } = self.totals;
        for number in [self.next, self.latest_from.get(), self.bytes, sent, completed, poisoned, expired] {
            body.extend_from_slice(&number.to_le_bytes());
        }
        let mut set_digests = &self.set_digests[..];
        // Service records are rare: without any, nothing is said of them.
        if let [others @ .., SetDigest { count: 0, digest: 0 }] = set_digests {
            set_digests = others;
        }
        for set_digest in set_digests {
            body.extend_from_slice(&set_digest.count.to_le_bytes());
            body.extend_from_slice(&set_digest.digest.to_le_bytes());
        }
        body
    }

    /// Reads what a queue counts. Each message has one entry, or it is not right.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let flags = body.u8().filter(|flags| flags & !(PAUSED | DROPPED) == 0)?;
        let (next, latest_from, bytes) = (body.u64()?, body.ticks()?, body.u64()?);
        let totals =
            Totals { sent: body.u64()?, completed: body.u64()?, poisoned: body.u64()?, expired: body.u64()? };
        let mut set_digests = [SetDigest::default(); 6];
        let [always @ .., service] = &mut set_digests;
        for set_digest in always {
            *set_digest = SetDigest { count: body.u64()?, digest: body.u64()? };
        }
        if !body.0.is_empty() {
            *service = SetDigest { count: body.u64()?, digest: body.u64()? };
            // One way to say that there are none is enough.
            (*service != SetDigest::default()).then_some(())?;
        }
        let state = Self {
            next,
            is_paused: flags & PAUSED != 0,
            is_dropped: flags & DROPPED != 0,
            set_digests,
            latest_from,
            bytes,
            totals,
        };
        let entries =
            state.set_digest(Kind::Ready).count.checked_add(state.set_digest(Kind::Hidden).count)?;
        let is_right = body.0.is_empty()
            && entries == state.set_digest(Kind::Message).count
            && state.set_digest(Kind::Lease).count == state.set_digest(Kind::Hidden).count;
        is_right.then_some(state)
    }
}

/// A queue in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    pub number: u32,
    /// Whether it was dropped, and its records go.
    pub is_dropped: bool,
    pub name: Box<str>,
}

/// The queues that there are, in the order in which they came. It is one record: one that is not in it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The number of the next queue. None is used again.
    pub(crate) next: u32,
    pub queues: Vec<DirectoryEntry>,
}

impl Default for Directory {
    fn default() -> Self {
        Self { next: 1, queues: Vec::new() }
    }
}

impl Directory {
    /// Returns the queue of this name.
    pub fn find(&self, name: &str) -> Option<&DirectoryEntry> {
        self.queues.iter().find(|queue| !queue.is_dropped && &*queue.name == name)
    }

    /// Returns the queue of this number, dropped or not.
    pub fn get(&self, number: u32) -> Option<&DirectoryEntry> {
        self.queues.iter().find(|queue| queue.number == number)
    }

    /// Adds a queue, of which there must be none of this name; its number, or `None` if there is no room for it.
    pub fn add(&mut self, name: &str) -> Option<u32> {
        if self.queues.len() >= MOST_QUEUES {
            return None;
        }
        let number = self.next;
        self.next = number.checked_add(1)?;
        self.queues.push(DirectoryEntry { number, is_dropped: false, name: name.into() });
        Some(number)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut body = self.next.to_le_bytes().to_vec();
        for queue in &self.queues {
            body.extend_from_slice(&queue.number.to_le_bytes());
            body.push(u8::from(queue.is_dropped));
            body.push(u8::try_from(queue.name.len()).unwrap_or(u8::MAX));
            body.extend_from_slice(queue.name.as_bytes());
        }
        body
    }

    pub fn decode(body: &[u8]) -> Option<Self> {
        Self::decode_with(body, |name| name::check(name).is_ok())
    }

    /// Reads the directory of what may have these names.
    pub fn decode_with(body: &[u8], is_name: fn(&str) -> bool) -> Option<Self> {
        let mut body = Fields(body);
        let mut directory = Self { next: body.u32()?, queues: Vec::new() };
        while !body.0.is_empty() {
            let (number, dropped, length) = (body.u32()?, body.u8()?, body.u8()?);
            let name = body.text(length.into())?;
            let is_right = dropped <= 1
                && is_name(name)
                && number < directory.next
                && directory.queues.last().is_none_or(|last| last.number < number)
                && (dropped == 1 || directory.find(name).is_none());
            if !is_right {
                return None;
            }
            directory.queues.push(DirectoryEntry { number, is_dropped: dropped == 1, name: name.into() });
        }
        Some(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(at: u64) -> Ticks {
        Ticks::new(at).unwrap()
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        for (expires, unique) in [(None, None), (Some(ticks(9)), Some("employee 7")), (None, Some(""))] {
            let message = Message { sent: ticks(5), expires, unique, text: "{\"id\":7}" };
            let body = message.encode();
            assert_eq!(Message::decode(&body), Some(message));
            for length in 0..18 + unique.map_or(0, str::len) {
                assert_eq!(Message::decode(&body[..length]), None);
            }
            assert_eq!(Message::decode(&[&body[..], &[0xff]].concat()), None, "it is text");
        }
        let long = "x".repeat(MESSAGE_BYTES + 1);
        let message = Message { sent: ticks(5), expires: None, unique: None, text: &long };
        assert_eq!(Message::decode(&message.encode()), None);
    }

    #[test]
    fn what_a_queue_counts_is_read_as_it_was_written_and_must_add_up() {
        let mut state = State {
            next: 9,
            is_paused: true,
            latest_from: ticks(4),
            bytes: 300,
            totals: Totals { sent: 8, completed: 2, poisoned: 1, expired: 1 },
            ..State::default()
        };
        for (kind, checksums) in [
            (Kind::Message, &[1, 2, 3][..]),
            (Kind::Ready, &[4, u64::MAX]),
            (Kind::Hidden, &[6]),
            (Kind::Lease, &[7]),
            (Kind::Unique, &[]),
        ] {
            for sum in checksums {
                state.set_digest_mut(kind).unwrap().add(*sum);
            }
        }
        let body = state.encode();
        assert_eq!(State::decode(&body), Some(state.clone()));
        assert_eq!((state.stats("q").ready, state.stats("q").hidden), (2, 1));
        for length in 0..body.len() {
            assert_eq!(State::decode(&body[..length]), None);
        }
        assert_eq!(State::decode(&[&body[..], &[0]].concat()), None);
        let mut flagged = body;
        flagged[0] |= 4;
        assert_eq!(State::decode(&flagged), None, "no such flag");
        state.set_digest_mut(Kind::Ready).unwrap().subtract(4);
        assert_eq!(state.set_digest(Kind::Ready), SetDigest { count: 1, digest: u64::MAX });
        assert_eq!(State::decode(&state.encode()), None, "a message lacks its entry");
    }

    #[test]
    fn the_directory_is_read_as_it_was_written_and_no_other_is_taken() {
        let mut directory = Directory::default();
        assert_eq!(Directory::decode(&directory.encode()), Some(directory.clone()));
        assert_eq!((directory.add("hires"), directory.add("moves")), (Some(1), Some(2)));
        directory.queues[0].is_dropped = true;
        assert_eq!(directory.find("hires"), None);
        assert_eq!(directory.add("hires"), Some(3));
        assert_eq!(directory.find("hires").unwrap().number, 3);
        assert!(directory.get(1).unwrap().is_dropped);
        let body = directory.encode();
        assert_eq!(Directory::decode(&body), Some(directory.clone()));
        for length in (0..body.len()).filter(|length| ![4, 15, 26].contains(length)) {
            assert_eq!(Directory::decode(&body[..length]), None, "{length}");
        }
        let wrong = [
            Directory { next: 3, ..directory.clone() },
            Directory { queues: directory.queues.iter().rev().cloned().collect(), ..directory.clone() },
            Directory {
                queues: vec![DirectoryEntry { number: 1, is_dropped: false, name: "No".into() }],
                ..directory.clone()
            },
        ];
        for wrong in wrong {
            assert_eq!(Directory::decode(&wrong.encode()), None);
        }
    }

    #[test]
    fn a_store_has_so_many_queues_at_most() {
        let mut directory = Directory::default();
        for number in 0..MOST_QUEUES {
            assert!(directory.add(&format!("queue-{number}")).is_some());
        }
        assert_eq!(directory.add("one-more"), None);
    }
}
