//! The records of what is to follow: entries, and what is counted of them.

use std::time::Duration;

use super::CopyKey;
use crate::messages::{ERROR_BYTES, Tally};
use crate::model::Ticks;

/// So often is an entry tried before it is set aside.
pub(crate) const MOST_TRIES: u32 = 16;

/// The longest that an entry waits to be tried again.
const LONGEST_DELAY: Duration = Duration::from_secs(15 * 60);

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// When the first of the changes was made that it stands for, and the last.
    pub(crate) since: Ticks,
    pub(crate) latest: Ticks,
    /// How often it was tried in vain, and before when it is not tried again.
    pub(crate) tries: u32,
    pub(crate) not_before: Ticks,
    pub(crate) is_aside: bool,
    pub(crate) kind: String,
    pub(crate) error: String,
    /// The indexes that the entity has no copy in.
    pub(crate) without: Vec<String>,
    /// Where copies may lie that are to go, in order.
    pub(crate) before: Vec<CopyKey>,
}

impl Entry {
    /// One of a change at this time.
    pub(crate) fn new(kind: &str, now: Ticks) -> Self {
        Self {
            since: now,
            latest: now,
            tries: 0,
            not_before: Ticks::MIN,
            is_aside: false,
            kind: kind.to_owned(),
            error: String::new(),
            without: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Takes in another change of the entity: it is tried at once, whatever has failed.
    pub(crate) fn take(&mut self, kind: &str, before: &[CopyKey], without: &[&str], now: Ticks) {
        self.arm(now);
        kind.clone_into(&mut self.kind);
        self.before.extend_from_slice(before);
        self.before.sort();
        self.before.dedup();
        self.without = without.iter().map(|name| (*name).to_owned()).collect();
    }

    /// Lets it be tried again, as if it had never failed.
    pub(crate) fn arm(&mut self, now: Ticks) {
        (self.latest, self.tries, self.not_before, self.is_aside) = (now, 0, Ticks::MIN, false);
    }

    /// Notes that it was tried in vain: it waits for twice as long each time, and is set aside in the end.
    pub(crate) fn fail(&mut self, error: &str, now: Ticks) {
        self.tries = self.tries.saturating_add(1);
        cut(error).clone_into(&mut self.error);
        self.is_aside = self.tries >= MOST_TRIES;
        let delay = Duration::from_millis(250).saturating_mul(1 << self.tries.min(20)).min(LONGEST_DELAY);
        self.not_before = now.checked_add(delay).unwrap_or(Ticks::MAX);
        self.latest = now;
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(64);
        body.extend_from_slice(&self.since.get().to_le_bytes());
        body.extend_from_slice(&self.latest.get().to_le_bytes());
        body.extend_from_slice(&self.tries.to_le_bytes());
        body.extend_from_slice(&self.not_before.get().to_le_bytes());
        body.push(u8::from(self.is_aside));
        text(&mut body, &self.kind);
        text(&mut body, &self.error);
        count(&mut body, self.without.len());
        for name in &self.without {
            text(&mut body, name);
        }
        count(&mut body, self.before.len());
        for CopyKey { index, partition, row } in &self.before {
            for part in [index, partition, row] {
                text(&mut body, part);
            }
        }
        body
    }

    /// Reads one; `None` if the bytes are none.
    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let (since, latest) = (body.ticks()?, body.ticks()?);
        let (tries, not_before) = (body.u32()?, body.ticks()?);
        let is_aside = match body.take::<1>()? {
            [0] => false,
            [1] => true,
            _ => return None,
        };
        let (kind, error) = (body.text()?, body.text()?);
        let without = (0..body.u32()?).map(|_| body.text()).collect::<Option<Vec<_>>>()?;
        let copy = |body: &mut Fields<'_>| {
            Some(CopyKey { index: body.text()?, partition: body.text()?, row: body.text()? })
        };
        let before = (0..body.u32()?).map(|_| copy(&mut body)).collect::<Option<Vec<_>>>()?;
        let is_sound = body.0.is_empty() && since <= latest && before.is_sorted_by(|a, b| a < b);
        is_sound.then_some(Self { since, latest, tries, not_before, is_aside, kind, error, without, before })
    }
}

/// As much of an error as an entry keeps.
fn cut(error: &str) -> &str {
    let mut length = error.len().min(ERROR_BYTES);
    while !error.is_char_boundary(length) {
        length -= 1;
    }
    error.get(..length).unwrap_or_default()
}

/// What a store counts of its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(crate) entries: Tally,
}

impl Ledger {
    pub(crate) fn encode(self) -> Vec<u8> {
        [self.entries.count.to_le_bytes(), self.entries.digest.to_le_bytes()].concat()
    }

    /// Reads it; `None` if the bytes are none.
    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let entries = Tally { count: body.u64()?, digest: body.u64()? };
        body.0.is_empty().then_some(Self { entries })
    }
}

/// Appends a text after its length. Keys and names are far shorter than 64 KiB.
fn text(body: &mut Vec<u8>, text: &str) {
    body.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    body.extend_from_slice(text.as_bytes());
}

fn count(body: &mut Vec<u8>, count: usize) {
    body.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

/// Fields off the front of a record's body; numbers are little-endian.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn ticks(&mut self) -> Option<Ticks> {
        Ticks::new(self.u64()?)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::from(self.take().map(u16::from_le_bytes)?);
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(head).ok().map(str::to_owned)
    }
}
