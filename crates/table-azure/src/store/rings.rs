//! Tokens of changes: the property by which a row tells which changes were the last of it.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

use table_engine::{DynamicEntity, ETag};

/// The keys of a row.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Keys<'k> {
    pub(super) partition: &'k str,
    pub(super) row: &'k str,
}

/// The property.
pub(super) const PROPERTY: &str = "TcCommit";

/// How many changes of a row it tells: 155 bytes of text. Of sixteen threads that write one row, and lose four of ten answers,
/// one change in thirty was unknown with eight.
const LENGTH: usize = 12;

/// How many versions' tokens are remembered between their read and their write, and as many that are older.
const VERSIONS: usize = 8_192;

/// The token of a change, which no other change has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token(String);

impl Token {
    /// Makes a token of chance.
    pub(super) fn new() -> Self {
        Self(format!("{:012x}", RandomState::new().hash_one(0_u8) >> 16))
    }

    /// Returns the token's text.
    pub(super) fn text(self) -> String {
        self.0
    }

    /// Returns the property of a row that this change writes; `before` is that of the row which it was planned on.
    pub(super) fn ring(&self, before: Option<&str>) -> String {
        let former = before.into_iter().flat_map(|before| before.split(';')).take(LENGTH - 1);
        former.fold(self.0.clone(), |ring, token| ring + ";" + token)
    }

    /// Returns whether the change is one of those that a row tells.
    pub(super) fn is_in(&self, ring: &str) -> bool {
        ring.split(';').any(|token| token == self.0)
    }

    /// Returns whether the change is the last of those that a row tells.
    pub(super) fn is_last_of(&self, ring: &str) -> bool {
        ring.split(';').next() == Some(&self.0)
    }
}

/// Returns whether a row that tells these changes has come from one that told those, and of all in between there is none that
/// it doesn't tell.
pub(super) fn reaches(ring: &str, before: &str) -> bool {
    let head = before.split(';').next().unwrap_or_default();
    !head.is_empty() && ring.split(';').any(|token| token == head)
}

/// Returns the property of a row.
pub(super) fn of(row: &DynamicEntity) -> Option<&str> {
    row.get(PROPERTY)?.as_str()
}

/// The tokens of rows that were read or written lately, by their versions: who changes such a row carries them on. Many may
/// plan on one row at a time, each on the version that it has read.
#[derive(Debug, Default)]
pub(super) struct Rings {
    hasher: RandomState,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    young: HashMap<u64, String>,
    /// What was young before there were so many.
    old: HashMap<u64, String>,
}

impl Rings {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, table: &str, keys: Keys<'_>, etag: ETag) -> u64 {
        self.hasher.hash_one((table, keys, etag))
    }

    /// Remembers the tokens of a row in this version.
    pub(super) fn note(&self, table: &str, keys: Keys<'_>, etag: ETag, ring: &str) {
        let mut known = self.known();
        // What is forgotten is no fault: less is known of an answer that is lost.
        if known.young.len() >= VERSIONS {
            known.old = std::mem::take(&mut known.young);
        }
        known.young.insert(self.key(table, keys, etag), ring.to_owned());
    }

    /// Returns the tokens of a row in this version, if they are remembered.
    pub(super) fn find(&self, table: &str, keys: Keys<'_>, etag: ETag) -> Option<String> {
        let (known, key) = (self.known(), self.key(table, keys, etag));
        known.young.get(&key).or_else(|| known.old.get(&key)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_engine::Ticks;

    #[test]
    fn a_ring_tells_the_last_changes() {
        let tokens: Vec<_> = (0..16).map(|_| Token::new()).collect();
        let mut ring: Option<String> = None;
        let mut rings = Vec::new();
        for token in &tokens {
            ring = Some(token.ring(ring.as_deref()));
            rings.extend(ring.clone());
        }
        let last = rings.last().unwrap();
        let told = tokens.iter().map(|token| token.is_in(last)).collect::<Vec<_>>();
        assert_eq!(told.iter().filter(|told| **told).count(), LENGTH);
        assert_eq!(told[..4], [false; 4]);
        assert!(tokens[15].is_last_of(last) && !tokens[14].is_last_of(last));
        assert!(reaches(last, &rings[4]) && !reaches(last, &rings[3]));
        assert!(!reaches(last, "") && !reaches("", &rings[0]));
    }

    #[test]
    fn tokens_are_those_of_a_version() {
        let rings = Rings::default();
        let [one, two] = [1, 2].map(|ticks| ETag::from_timestamp(Ticks::new(ticks).unwrap()));
        rings.note("Company", Keys { partition: "p", row: "r" }, one, "a;b");
        assert_eq!(rings.find("Company", Keys { partition: "p", row: "r" }, one).as_deref(), Some("a;b"));
        assert_eq!(rings.find("Company", Keys { partition: "p", row: "r" }, two), None);
        rings.note("Company", Keys { partition: "p", row: "r" }, two, "c");
        assert_eq!(rings.find("Company", Keys { partition: "p", row: "r" }, one).as_deref(), Some("a;b"));
        assert_eq!(rings.find("Other", Keys { partition: "p", row: "r" }, one), None);
        for row in 0..VERSIONS * 3 {
            rings.note("Company", Keys { partition: "p", row: &row.to_string() }, one, "a");
        }
        let known = rings.known();
        assert!(known.young.len() <= VERSIONS && known.old.len() <= VERSIONS);
        drop(known);
        assert_eq!(rings.find("Company", Keys { partition: "p", row: "r" }, one), None);
    }
}
