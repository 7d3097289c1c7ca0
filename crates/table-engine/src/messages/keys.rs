//! The keys of a queue's records. Numbers are big-endian, so that records lie in their order.

use crate::model::Ticks;

/// What a record is, as its key begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The queues that there are.
    Directory,
    /// What a queue counts.
    State,
    /// What was sent.
    Message,
    /// The entry of a message that is ready.
    Ready,
    /// Until when a message is hidden: its entry lies elsewhere, under the message's number alone.
    Hidden,
    /// The entry of a message that is hidden.
    Lease,
    /// The message that has a unique key.
    Unique,
    /// What a server keeps with the queue under a name.
    Service,
}

impl Kind {
    /// The kinds of records that a queue has many of.
    pub(crate) const MANY: [Self; 6] =
        [Self::Message, Self::Ready, Self::Hidden, Self::Lease, Self::Unique, Self::Service];

    /// Returns what the keys of its records begin with.
    const fn byte(self) -> u8 {
        match self {
            Self::Directory => 0,
            Self::State => 1,
            Self::Message => 2,
            Self::Ready => 3,
            Self::Hidden => 4,
            Self::Lease => 5,
            Self::Unique => 6,
            // 7 and 8 are of what is to follow, in the same database.
            Self::Service => 9,
        }
    }

    /// Returns where the records' set digest stands among those of the queue.
    pub fn set_digest(self) -> Option<usize> {
        Self::MANY.iter().position(|kind| *kind == self)
    }
}

/// The key of the directory.
pub const DIRECTORY: [u8; 1] = [Kind::Directory.byte()];

/// Returns what the keys of a queue's records of one kind begin with.
pub fn prefix(kind: Kind, queue: u32) -> [u8; 5] {
    let [a, b, c, d] = queue.to_be_bytes();
    [kind.byte(), a, b, c, d]
}

/// Returns the key of what a queue counts.
pub fn state(queue: u32) -> [u8; 5] {
    prefix(Kind::State, queue)
}

/// Returns the key of a message.
pub fn message(queue: u32, id: u64) -> Vec<u8> {
    key(Kind::Message, queue, &[&id.to_be_bytes()])
}

/// Returns the key of the entry of a message that is ready, and since when.
pub fn ready(queue: u32, since: Ticks, id: u64) -> Vec<u8> {
    key(Kind::Ready, queue, &[&since.get().to_be_bytes(), &id.to_be_bytes()])
}

/// Returns the key of the entry of a message that is hidden.
pub fn lease(queue: u32, id: u64) -> Vec<u8> {
    key(Kind::Lease, queue, &[&id.to_be_bytes()])
}

/// Returns the key of the record that says until when a message is hidden.
pub fn hidden(queue: u32, until: Ticks, id: u64) -> Vec<u8> {
    key(Kind::Hidden, queue, &[&until.get().to_be_bytes(), &id.to_be_bytes()])
}

/// Returns the key of the record of a unique key.
pub fn unique(queue: u32, text: &str) -> Vec<u8> {
    key(Kind::Unique, queue, &[text.as_bytes()])
}

/// Returns the key of a service record of a queue.
pub fn service(queue: u32, name: &str) -> Vec<u8> {
    key(Kind::Service, queue, &[name.as_bytes()])
}

fn key(kind: Kind, queue: u32, rest: &[&[u8]]) -> Vec<u8> {
    let mut key = Vec::with_capacity(5 + rest.iter().map(|rest| rest.len()).sum::<usize>());
    key.extend_from_slice(&prefix(kind, queue));
    for part in rest {
        key.extend_from_slice(part);
    }
    key
}

/// A key that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'k> {
    Directory,
    State(u32),
    Message(u32, u64),
    Ready(u32, Ticks, u64),
    Hidden(u32, Ticks, u64),
    Lease(u32, u64),
    Unique(u32, &'k str),
    Service(u32, &'k str),
}

impl<'k> Key<'k> {
    /// Takes a key apart; `None` for one that no record has.
    pub fn parse(key: &'k [u8]) -> Option<Self> {
        let (kind, rest) = key.split_first()?;
        if *kind == Kind::Directory.byte() {
            return rest.is_empty().then_some(Self::Directory);
        }
        let (queue, rest) = rest.split_first_chunk::<4>()?;
        let queue = u32::from_be_bytes(*queue);
        let number = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).ok().map(u64::from_be_bytes);
        let timed = || {
            let (time, id) = rest.split_first_chunk::<8>()?;
            Some((Ticks::new(u64::from_be_bytes(*time))?, number(id)?))
        };
        match kind {
            1 => rest.is_empty().then_some(Self::State(queue)),
            2 => Some(Self::Message(queue, number(rest)?)),
            3 => timed().map(|(since, id)| Self::Ready(queue, since, id)),
            4 => timed().map(|(until, id)| Self::Hidden(queue, until, id)),
            5 => Some(Self::Lease(queue, number(rest)?)),
            6 => Some(Self::Unique(queue, std::str::from_utf8(rest).ok()?)),
            9 if !rest.is_empty() => Some(Self::Service(queue, std::str::from_utf8(rest).ok()?)),
            _ => None,
        }
    }

    /// Returns what the record is, and the number of its queue; `None` of the directory.
    pub fn of(self) -> Option<(Kind, u32)> {
        match self {
            Self::Directory => None,
            Self::State(queue) => Some((Kind::State, queue)),
            Self::Message(queue, _) => Some((Kind::Message, queue)),
            Self::Ready(queue, ..) => Some((Kind::Ready, queue)),
            Self::Hidden(queue, ..) => Some((Kind::Hidden, queue)),
            Self::Lease(queue, _) => Some((Kind::Lease, queue)),
            Self::Unique(queue, _) => Some((Kind::Unique, queue)),
            Self::Service(queue, _) => Some((Kind::Service, queue)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_made_and_no_other_bytes_are_one() {
        let time = Ticks::new(5).unwrap();
        let pairs = [
            (DIRECTORY.to_vec(), Key::Directory),
            (state(7).to_vec(), Key::State(7)),
            (message(7, 9), Key::Message(7, 9)),
            (ready(7, time, 9), Key::Ready(7, time, 9)),
            (hidden(7, time, 9), Key::Hidden(7, time, 9)),
            (lease(7, 9), Key::Lease(7, 9)),
            (unique(7, "employee 9"), Key::Unique(7, "employee 9")),
            (service(7, "acl"), Key::Service(7, "acl")),
        ];
        for (bytes, key) in &pairs {
            assert_eq!(Key::parse(bytes), Some(*key));
            if !matches!(key, Key::Unique(..) | Key::Service(..)) {
                let longer = [&bytes[..], b"x"].concat();
                assert_eq!(Key::parse(&longer), None);
                assert_eq!(Key::parse(&bytes[..bytes.len() - 1]), None);
            }
        }
        assert_eq!(Key::parse(&[9, 0, 0, 0, 1]), None);
        assert_eq!(Key::parse(&[]), None);
    }

    #[test]
    fn entries_lie_by_time_and_then_by_message() {
        let time = |ticks| Ticks::new(ticks).unwrap();
        let mut keys = vec![ready(1, time(256), 1), ready(1, time(1), 256), ready(1, time(1), 2)];
        keys.sort();
        assert_eq!(keys, [ready(1, time(1), 2), ready(1, time(1), 256), ready(1, time(256), 1)]);
    }
}
