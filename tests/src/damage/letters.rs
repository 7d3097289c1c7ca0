//! Entities whose copies follow them, in the store that is damaged: some are propagated, and some have changed since.

use table_core::typed::{Eventual, Propagation};
use table_core::{ETag, Entity, ErrorKind, Key, Result, Store, Stored};

use super::Findings;
use super::people::{all, compare as compare_all, one};
use super::writes::refused;

/// A letter, listed by who sent it in another table, and by its stamp in another partition, later.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Letters", kind = "letter")]
#[key(partition = "{office}", row = "letter_{id:04}")]
#[index(
    by_sender,
    table = "Senders",
    partition = "{sender}",
    row = "{office}_{id:04}",
    copy(subject),
    eventual
)]
#[index(by_stamp, partition = "stamps", row = "stamp_{stamp:03}_{office}_{id:04}", copy = keys, when = Letter::is_stamped, eventual)]
pub(crate) struct Letter {
    pub(crate) office: String,
    pub(crate) id: u32,
    pub(crate) sender: String,
    pub(crate) subject: String,
    pub(crate) stamp: u32,
}

impl Letter {
    fn is_stamped(&self) -> bool {
        self.stamp > 0
    }

    /// A letter as it was when it was propagated, or as it is.
    pub(crate) fn new(id: u32, is_propagated: bool) -> Self {
        let is_other = !is_propagated && id.is_multiple_of(3);
        let sender = usize::try_from(id + u32::from(is_other)).unwrap_or_default() % SENDERS.len();
        Self {
            office: if id.is_multiple_of(2) { "east" } else { "west" }.into(),
            id,
            sender: SENDERS.get(sender).copied().unwrap_or_default().into(),
            subject: format!("subject {id}{}", if is_other { " again" } else { "" }),
            stamp: (id + u32::from(is_other)) % 4,
        }
    }
}

/// The tables of the letters.
pub(super) const TABLES: [&str; 2] = ["Letters", "Senders"];
const SENDERS: [&str; 3] = ["Ann", "Bob", "Cao"];
/// The number below which letters were propagated; the last of those are gone since.
const SETTLED: u32 = 24;
const GONE: u32 = 4;
const END: u32 = 30;

/// The letters that there are now, in order.
fn letters() -> Vec<Letter> {
    let there = (0..END).filter(|id| !(SETTLED - GONE..SETTLED).contains(id));
    in_order(there.map(|id| Letter::new(id, false)).collect())
}

fn in_order(mut letters: Vec<Letter>) -> Vec<Letter> {
    letters.sort_by(|one, other| (&one.office, one.id).cmp(&(&other.office, other.id)));
    letters
}

/// How many have copies that are to follow.
pub(super) fn pending_propagation() -> u64 {
    let changed = (0..SETTLED - GONE).filter(|id| id.is_multiple_of(3)).count() as u64;
    changed + u64::from(GONE) + u64::from(END - SETTLED)
}

/// Makes the letters whose copies are propagated.
pub(super) fn build(store: &Store) -> Result<()> {
    let table = store.table::<Letter>()?;
    for id in 0..SETTLED {
        table.insert(&Letter::new(id, true))?;
    }
    assert_eq!(store.propagate()?, Propagation::Complete);
    Ok(())
}

/// What has changed since.
pub(super) fn change(store: &Store) -> Result<()> {
    let table = store.table::<Letter>()?;
    for id in 0..SETTLED - GONE {
        if id.is_multiple_of(3) {
            table.put(&Letter::new(id, false))?;
        }
    }
    for id in SETTLED - GONE..SETTLED {
        table.delete(Key::of(&Letter::new(id, true)))?;
    }
    for id in SETTLED..END {
        table.insert(&Letter::new(id, false))?;
    }
    Ok(())
}

/// Reads all of it in every way: the letters as they are, their lists as they were when they were propagated.
pub(super) fn compare(store: &Store, findings: &mut Findings) {
    let table = match store.table::<Letter>() {
        Ok(table) => table,
        Err(error) => return findings.error(&error),
    };
    let letters = letters();
    for letter in &letters {
        one(findings, table.get(Key::of(letter)).map(|found| found.map(Stored::into_inner)), letter);
    }
    all(findings, table.rows().across_partitions(), &letters.iter().collect::<Vec<_>>());
    let listed = in_order((0..SETTLED).map(|id| Letter::new(id, true)).collect());
    for sender in SENDERS {
        let expected: Vec<_> = listed
            .iter()
            .filter(|letter| letter.sender == sender)
            .map(|letter| (letter.id, letter.subject.clone()))
            .collect();
        let rows = table.by_sender().sender(sender).into_iter();
        let found = rows.map(|row| row.map(|row| (row.id, row.subject.clone())));
        compare_all(findings, found, expected.iter());
    }
    let mut expected: Vec<_> = listed.iter().filter(|letter| letter.is_stamped()).collect();
    expected
        .sort_by(|one, other| (one.stamp, &one.office, one.id).cmp(&(other.stamp, &other.office, other.id)));
    let rows = table.by_stamp().into_iter();
    compare_all(findings, rows.map(|row| row.map(|row| row.id)), expected.iter().map(|letter| &letter.id));
}

/// Goes on with it: what comes of it is right, or an error.
pub(super) fn go_on(store: &Store, findings: &mut Findings) {
    let table = match store.table::<Letter>() {
        Ok(table) => table,
        Err(error) => return findings.error(&error),
    };
    let [first, .., last] = &letters()[..] else { return };
    refused(findings, table.insert(first).map(drop), ErrorKind::EntityAlreadyExists, || {
        format!("a second {first:?}")
    });
    let propagate = || {
        table.update(Key::of(last), |letter| letter.stamp = 9)?;
        let propagation = store.propagate()?;
        let left = store.pending_propagation()?;
        if propagation != Propagation::Complete {
            // What can't be read now fails, and says so.
            let is_told = left.entities > 0 && left.failing.iter().all(|failed| !failed.error.is_empty());
            return Ok((!is_told).then(|| format!("{propagation:?} with {left}")));
        }
        let copies = table.check()?;
        if left.entities > 0 || !copies.is_sound() {
            return Ok(Some(format!("propagated with {left}; {copies}: {:?}", copies.problems)));
        }
        for letter in letters() {
            let stamp = if letter == *last { 9 } else { letter.stamp };
            let row =
                table.by_sender().sender(&*letter.sender).office(&*letter.office).id(letter.id).first()?;
            let stamped = table.by_stamp().stamp(stamp).office(&*letter.office).id(letter.id).count()?;
            let version: Option<ETag> = table.get(Key::of(&letter))?.map(|found| Stored::etag(&found));
            let right = row.as_ref().is_some_and(|row| {
                row.subject == letter.subject
                    && version.is_some_and(|version| Eventual::as_of(row).timestamp() <= version.timestamp())
            });
            if !right || stamped != u64::from(stamp > 0) {
                return Ok(Some(format!("{row:?} and {stamped} rows of {letter:?} once it was propagated")));
            }
        }
        Ok(None)
    };
    match propagate() {
        Ok(None) => {}
        Ok(Some(text)) => findings.wrong(|| text),
        Err(error) => findings.error(&error),
    }
}
