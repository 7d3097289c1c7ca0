//! Entries as bytes, and what becomes of them.

use std::time::Duration;

use super::entry::{Counters, MOST_TRIES, OutboxRecord};
use super::{CopyKey, DependentKey, DependentProgress};
use crate::messages::{ERROR_BYTES, SetDigest};
use crate::model::Ticks;

fn at(ticks: u64) -> Ticks {
    Ticks::new(ticks).unwrap()
}

fn key(row: &str) -> CopyKey {
    CopyKey { index: "by_name".into(), partition: "Jones".into(), row: row.into() }
}

fn entry() -> OutboxRecord {
    let mut entry = OutboxRecord::new("employee", at(7));
    entry.take("employee", &[key("b"), key("a"), key("b")], &["by_badge"], at(9));
    entry
}

#[test]
fn an_entry_unites_the_keys_of_all_changes_and_keeps_the_last_word_on_sparse_indexes() {
    let mut entry = entry();
    assert_eq!(entry.before, [key("a"), key("b")]);
    entry.take("employee", &[key("c"), key("a")], &[], at(12));
    assert_eq!(entry.before, [key("a"), key("b"), key("c")]);
    assert_eq!((entry.since, entry.latest, entry.without.len()), (at(7), at(12), 0));
}

fn dependents(property: &str) -> DependentKey {
    DependentKey { kind: "badge".into(), property: property.into() }
}

/// What others hold and what stands in the entity's indexes is to follow each by itself.
#[test]
fn an_entry_goes_when_all_that_it_says_has_come() {
    let mut entry = OutboxRecord::new("employee", at(7));
    entry.take_dependents("employee", &[dependents("Owner"), dependents("Boss"), dependents("Owner")], at(8));
    assert_eq!(
        entry.dependents.iter().map(|dependents| &*dependents.key.property).collect::<Vec<_>>(),
        ["Boss", "Owner"]
    );
    assert!(!entry.has_copies && !entry.is_done());
    entry.fail("busy", at(9));
    let reached = |property, after: Option<&str>| DependentProgress {
        key: dependents(property),
        after: after.map(key),
    };
    entry.advance(&[reached("Boss", None), reached("Owner", Some("b"))], at(10));
    assert_eq!((entry.tries, &*entry.dependents), (0, &[reached("Owner", Some("b"))][..]));
    // A change begins anew with those that it names.
    entry.take("employee", &[key("a")], &["by_badge"], at(11));
    entry.take_dependents("employee", &[dependents("Boss")], at(12));
    assert_eq!(entry.dependents, [reached("Boss", None), reached("Owner", Some("b"))]);
    entry.take_dependents("employee", &[dependents("Owner")], at(13));
    assert_eq!(entry.dependents, [reached("Boss", None), reached("Owner", None)]);
    assert_eq!(OutboxRecord::decode(&entry.encode()).as_ref(), Some(&entry));
    entry.propagate(at(14));
    assert!(!entry.is_done() && entry.before.is_empty() && entry.without.is_empty());
    entry.advance(&[reached("Boss", None)], at(15));
    assert!(!entry.is_done());
    entry.advance(&[reached("Owner", None)], at(16));
    assert!(entry.is_done());
}

#[test]
fn an_entry_that_fails_waits_longer_each_time_and_is_set_aside_until_it_is_changed() {
    let mut entry = entry();
    let mut last = Duration::ZERO;
    for tries in 1..=MOST_TRIES {
        assert!(!entry.is_aside);
        entry.fail("the disk is full", at(100));
        let delay = entry.not_before.saturating_since(at(100));
        assert!(delay >= last && delay <= Duration::from_secs(900), "{delay:?}");
        assert_eq!((entry.tries, &*entry.error), (tries, "the disk is full"));
        last = delay;
    }
    assert!(entry.is_aside);
    let mut armed = entry.clone();
    armed.arm(at(200));
    assert_eq!((armed.is_aside, armed.tries, armed.not_before), (false, 0, Ticks::MIN));
    entry.take("employee", &[], &[], at(200));
    assert_eq!((entry.is_aside, entry.tries, entry.before.len()), (false, 0, 2));
    entry.fail(&"é".repeat(ERROR_BYTES), at(300));
    assert_eq!(entry.error.len(), ERROR_BYTES);
}

#[test]
fn an_entry_is_read_as_it_was_written_and_no_other_bytes_are_one() {
    let mut entry = entry();
    entry.fail("why", at(10));
    let bytes = entry.encode();
    assert_eq!(OutboxRecord::decode(&bytes), Some(entry));
    for length in 0..bytes.len() {
        assert_eq!(OutboxRecord::decode(&bytes[..length]), None, "{length}");
    }
    assert_eq!(OutboxRecord::decode(&[&bytes[..], b"x"].concat()), None);
    let mut with_held = OutboxRecord::decode(&bytes).unwrap();
    with_held.take_dependents("employee", &[dependents("Boss"), dependents("Owner")], at(11));
    with_held.advance(&[DependentProgress { key: dependents("Owner"), after: Some(key("b")) }], at(12));
    for has_copies in [true, false] {
        if !has_copies {
            with_held.propagate(at(13));
        }
        let bytes = with_held.encode();
        assert_eq!(OutboxRecord::decode(&bytes).as_ref(), Some(&with_held));
        // Without what others hold it is another entry, which says that copies are to follow, as long as it says so here.
        let shorter = (0..bytes.len()).filter(|length| OutboxRecord::decode(&bytes[..*length]).is_some());
        assert!(shorter.count() <= 1, "{has_copies}");
        assert_eq!(OutboxRecord::decode(&[&bytes[..], b"x"].concat()), None);
    }
    let mut flags = bytes;
    flags[28] = 2;
    assert_eq!(OutboxRecord::decode(&flags), None);

    let counters = Counters { entries: SetDigest { count: 3, digest: 77 } };
    assert_eq!(Counters::decode(&counters.encode()), Some(counters));
    assert_eq!(Counters::decode(&counters.encode()[1..]), None);
}

/// As `docs/internals/format.md` has them.
#[test]
fn the_bytes_are_those_of_the_page() {
    let mut entry = OutboxRecord::new("employee", at(1));
    entry.take("employee", &[key("a")], &["by_badge"], at(2));
    let expected = [
        &1_u64.to_le_bytes()[..],
        &2_u64.to_le_bytes(),
        &0_u32.to_le_bytes(),
        &0_u64.to_le_bytes(),
        &[0],
        b"\x08\0employee\0\0",
        b"\x01\0\0\0\x08\0by_badge",
        b"\x01\0\0\0\x07\0by_name\x05\0Jones\x01\0a",
    ]
    .concat();
    assert_eq!(entry.encode(), expected);
    entry.take_dependents("employee", &[dependents("Boss"), dependents("Owner")], at(2));
    entry.advance(&[DependentProgress { key: dependents("Owner"), after: Some(key("b")) }], at(2));
    let dependents = [
        &b"\x01\x02\0\0\0"[..],
        b"\x05\0badge\x04\0Boss\0",
        b"\x05\0badge\x05\0Owner\x01\x07\0by_name\x05\0Jones\x01\0b",
    ];
    assert_eq!(entry.encode(), [&expected[..], &dependents.concat()].concat());
}
