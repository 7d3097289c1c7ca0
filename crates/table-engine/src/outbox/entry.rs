//! The records of what is to follow: entries, and what is counted of them.

use std::time::Duration;

use super::{CopyKey, DependentKey, DependentProgress};
use crate::fields::Fields;
use crate::messages::{ERROR_BYTES, SetDigest};
use crate::model::Ticks;
use crate::sorting;

/// So often is an entry tried before it is set aside.
pub(crate) const MOST_TRIES: u32 = 16;

/// The longest that an entry waits to be tried again.
const LONGEST_DELAY: Duration = Duration::from_secs(15 * 60);

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRecord {
    /// When the first of the changes was made that it stands for, and the last.
    pub since: Ticks,
    pub latest: Ticks,
    /// How often it was tried in vain, and before when it is not tried again.
    pub tries: u32,
    pub not_before: Ticks,
    pub is_aside: bool,
    pub kind: String,
    pub error: String,
    /// The indexes that the entity has no copy in.
    pub without: Vec<String>,
    /// Where copies may lie that are to go, in order.
    pub before: Vec<CopyKey>,
    /// Whether rows of the entity's indexes are to follow: if not, the two before say nothing.
    pub has_copies: bool,
    /// The copies that others hold of it and that are to follow, in order.
    pub dependents: Vec<DependentProgress>,
}

impl OutboxRecord {
    /// Makes the entry of a change at this time.
    pub fn new(kind: &str, now: Ticks) -> Self {
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
            has_copies: false,
            dependents: Vec::new(),
        }
    }

    /// Takes in another change of the entity: it is tried at once, whatever has failed.
    pub fn take(&mut self, kind: &str, before: &[CopyKey], without: &[&str], now: Ticks) {
        self.arm(now);
        self.has_copies = true;
        kind.clone_into(&mut self.kind);
        self.before.extend_from_slice(before);
        sorting::sort(&mut self.before);
        self.before.dedup();
        self.without = without.iter().map(|name| (*name).to_owned()).collect();
    }

    /// Takes in a change of what others hold: each of their copies is to be looked for from the beginning.
    pub fn take_dependents(&mut self, kind: &str, dependents: &[DependentKey], now: Ticks) {
        self.arm(now);
        kind.clone_into(&mut self.kind);
        self.dependents.retain(|known| !dependents.contains(&known.key));
        self.dependents
            .extend(dependents.iter().map(|key| DependentProgress { key: key.clone(), after: None }));
        sorting::sort_by(&mut self.dependents, |a, b| a.key.cmp(&b.key));
        self.dependents.dedup();
    }

    /// Notes that the copies in indexes were propagated.
    pub fn propagate(&mut self, now: Ticks) {
        self.arm(now);
        self.has_copies = false;
        self.before.clear();
        self.without.clear();
    }

    /// Copies that others hold have come this far, each to the end if it says no row.
    pub fn advance(&mut self, reached: &[DependentProgress], now: Ticks) {
        self.arm(now);
        for DependentProgress { key, after } in reached {
            if after.is_none() {
                self.dependents.retain(|dependents| dependents.key != *key);
            }
            self.dependents
                .iter_mut()
                .filter(|dependents| dependents.key == *key)
                .for_each(|dependents| dependents.after.clone_from(after));
        }
    }

    /// Returns whether nothing is to follow any more.
    pub fn is_done(&self) -> bool {
        !self.has_copies && self.dependents.is_empty()
    }

    /// Lets it be tried again, as if it had never failed.
    pub fn arm(&mut self, now: Ticks) {
        (self.latest, self.tries, self.not_before, self.is_aside) = (now, 0, Ticks::MIN, false);
    }

    /// Notes that it was tried in vain: it waits for twice as long each time, and is set aside in the end.
    pub fn fail(&mut self, error: &str, now: Ticks) {
        self.tries = self.tries.saturating_add(1);
        cut(error).clone_into(&mut self.error);
        self.is_aside = self.tries >= MOST_TRIES;
        let delay = Duration::from_millis(250).saturating_mul(1 << self.tries.min(20)).min(LONGEST_DELAY);
        self.not_before = now.checked_add(delay).unwrap_or(Ticks::MAX);
        self.latest = now;
    }

    pub fn encode(&self) -> Vec<u8> {
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
        for key in &self.before {
            copy(&mut body, key);
        }
        if self.has_copies && self.dependents.is_empty() {
            return body;
        }
        body.push(u8::from(self.has_copies));
        count(&mut body, self.dependents.len());
        for DependentProgress { key: DependentKey { kind, property }, after } in &self.dependents {
            text(&mut body, kind);
            text(&mut body, property);
            body.push(u8::from(after.is_some()));
            if let Some(key) = after {
                copy(&mut body, key);
            }
        }
        body
    }

    /// Reads one; `None` if the bytes are none.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let (since, latest) = (body.ticks()?, body.ticks()?);
        let (tries, not_before) = (body.u32()?, body.ticks()?);
        let is_aside = take_flag(&mut body)?;
        let (kind, error) = (take_text(&mut body)?, take_text(&mut body)?);
        let without = (0..body.u32()?).map(|_| take_text(&mut body)).collect::<Option<Vec<_>>>()?;
        let before = (0..body.u32()?).map(|_| take_copy(&mut body)).collect::<Option<Vec<_>>>()?;
        let (has_copies, dependents) = if body.0.is_empty() {
            (true, Vec::new())
        } else {
            let has_copies = take_flag(&mut body)?;
            let dependents =
                (0..body.u32()?).map(|_| take_dependents(&mut body)).collect::<Option<Vec<_>>>()?;
            // What others hold is said only if some is to follow.
            (!dependents.is_empty()).then_some((has_copies, dependents))?
        };
        let is_sound = body.0.is_empty()
            && since <= latest
            && before.is_sorted_by(|a, b| a < b)
            && dependents.is_sorted_by(|a, b| a.key < b.key)
            && (has_copies || before.is_empty() && without.is_empty());
        is_sound.then_some(Self {
            since,
            latest,
            tries,
            not_before,
            is_aside,
            kind,
            error,
            without,
            before,
            has_copies,
            dependents,
        })
    }
}

/// Returns as much of an error as an entry keeps.
fn cut(error: &str) -> &str {
    let mut length = error.len().min(ERROR_BYTES);
    while !error.is_char_boundary(length) {
        length -= 1;
    }
    error.get(..length).unwrap_or_default()
}

/// What a store counts of its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub entries: SetDigest,
}

impl Counters {
    pub fn encode(self) -> Vec<u8> {
        [self.entries.count.to_le_bytes(), self.entries.digest.to_le_bytes()].concat()
    }

    /// Reads it; `None` if the bytes are none.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let entries = SetDigest { count: body.u64()?, digest: body.u64()? };
        body.0.is_empty().then_some(Self { entries })
    }
}

/// Appends a text after its length. Keys and names are far shorter than 64 KiB.
fn text(body: &mut Vec<u8>, text: &str) {
    body.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    body.extend_from_slice(text.as_bytes());
}

fn copy(body: &mut Vec<u8>, CopyKey { index, partition, row }: &CopyKey) {
    for part in [index, partition, row] {
        text(body, part);
    }
}

fn count(body: &mut Vec<u8>, count: usize) {
    body.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn take_flag(fields: &mut Fields<'_>) -> Option<bool> {
    match fields.u8()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Takes a text that stands behind its length.
fn take_text(fields: &mut Fields<'_>) -> Option<String> {
    let length = usize::from(fields.u16()?);
    fields.text(length).map(str::to_owned)
}

fn take_copy(fields: &mut Fields<'_>) -> Option<CopyKey> {
    Some(CopyKey { index: take_text(fields)?, partition: take_text(fields)?, row: take_text(fields)? })
}

fn take_dependents(fields: &mut Fields<'_>) -> Option<DependentProgress> {
    let key = DependentKey { kind: take_text(fields)?, property: take_text(fields)? };
    let after = if take_flag(fields)? { Some(take_copy(fields)?) } else { None };
    Some(DependentProgress { key, after })
}
