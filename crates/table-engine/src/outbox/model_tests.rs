//! Propagation, tried in every interleaving of one who writes and two who propagate, each of whom may die; and tried without each
//! of its steps, which must go wrong.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::CopyKey;
use super::entry::OutboxRecord;
use crate::model::Ticks;

/// Where the entity's copy is to lie, as of this version; nowhere, if there is none.
type Source = Option<(u64, u8)>;

/// What a propagator does; each is what the store does, if not said otherwise.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a step that propagation is tried without")]
struct Rules {
    /// It demands the entry as it was read.
    expects_entry: bool,
    /// It demands the entity as it was read, or that there is still none.
    expects_source: bool,
    /// The entry keeps the keys of earlier changes.
    unites: bool,
    /// What the entity has no more goes.
    removes: bool,
}

const ALL: Rules = Rules { expects_entry: true, expects_source: true, unites: true, removes: true };

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    /// The time of the last change.
    now: u64,
    source: Source,
    /// The copies that there are, with their versions.
    copies: BTreeMap<u8, u64>,
    entry: Option<Vec<u8>>,
    propagators: [Option<(Vec<u8>, Source)>; 2],
    /// How many changes are left to be made.
    left: u8,
}

fn at(ticks: u64) -> Ticks {
    Ticks::new(ticks).unwrap()
}

fn key(place: u8) -> CopyKey {
    CopyKey { index: "by".into(), partition: String::new(), row: char::from(place).into() }
}

impl World {
    /// Returns the world after a change by which the entity has its copy there.
    fn write(&self, rules: Rules, place: Option<u8>) -> Self {
        let now = self.now + 1;
        let mut entry = self
            .entry
            .as_deref()
            .map_or_else(|| OutboxRecord::new("k", at(now)), |entry| OutboxRecord::decode(entry).unwrap());
        if !rules.unites {
            entry.before.clear();
        }
        let gone = self.source.filter(|(_, was)| Some(*was) != place).map(|(_, was)| key(was));
        entry.take("k", gone.as_slice(), &[], at(now));
        let source = place.map(|place| (now, place));
        Self { now, source, entry: Some(entry.encode()), left: self.left - 1, ..self.clone() }
    }

    /// A propagator carries out what it has planned, if it finds what it demands.
    fn propagate(&self, rules: Rules, propagator: usize) -> Self {
        let mut after = self.clone();
        let (entry, source) = after.propagators[propagator].take().unwrap();
        let is_there =
            if rules.expects_entry { after.entry.as_ref() == Some(&entry) } else { after.entry.is_some() };
        if !is_there || rules.expects_source && after.source != source {
            return after;
        }
        if rules.removes {
            let before = OutboxRecord::decode(&entry).unwrap().before;
            after.copies.retain(|place, _| {
                !before.contains(&key(*place)) || source.is_some_and(|(_, wanted)| wanted == *place)
            });
        }
        after.copies.extend(source.map(|(version, place)| (place, version)));
        after.entry = None;
        after
    }

    fn next(&self, rules: Rules) -> Vec<Self> {
        let mut next = Vec::new();
        if self.left > 0 {
            for place in [None, Some(b'x'), Some(b'y')] {
                if place != self.source.map(|(_, place)| place) {
                    next.push(self.write(rules, place));
                }
            }
        }
        for propagator in 0..2 {
            let mut other = self.clone();
            match (&self.propagators[propagator], &self.entry) {
                (Some(_), _) => {
                    next.push(self.propagate(rules, propagator));
                    // It dies.
                    other.propagators[propagator] = None;
                }
                (None, Some(entry)) => other.propagators[propagator] = Some((entry.clone(), self.source)),
                (None, None) => continue,
            }
            next.push(other);
        }
        next
    }

    /// Returns whether nothing is left to be done, and yet something is wrong.
    fn is_wrong(&self) -> bool {
        let wanted: BTreeMap<_, _> =
            self.source.map(|(version, place)| (place, version)).into_iter().collect();
        self.entry.is_none() && self.copies != wanted
    }
}

/// Returns whether it is right in every interleaving, and how many worlds those come to.
fn explore(rules: Rules) -> (bool, usize) {
    let first = World {
        now: 0,
        source: None,
        copies: BTreeMap::new(),
        entry: None,
        propagators: [None, None],
        left: 4,
    };
    let (mut seen, mut left) = (BTreeSet::from([first.clone()]), VecDeque::from([first]));
    while let Some(world) = left.pop_front() {
        if world.is_wrong() {
            return (false, seen.len());
        }
        for next in world.next(rules) {
            if seen.insert(next.clone()) {
                left.push_back(next);
            }
        }
    }
    (true, seen.len())
}

#[test]
fn copies_are_what_the_entity_says_after_any_propagator_dies_at_any_step() {
    let (is_right, worlds) = explore(ALL);
    assert!(is_right && worlds > 1_000, "{worlds} worlds");
}

#[test]
fn no_step_of_propagation_can_be_left_out() {
    for (rules, what) in [
        (Rules { expects_entry: false, ..ALL }, "the condition on the entry"),
        (Rules { expects_source: false, expects_entry: false, ..ALL }, "both conditions"),
        (Rules { unites: false, ..ALL }, "the keys of former changes"),
        (Rules { removes: false, ..ALL }, "the removal"),
    ] {
        assert!(!explore(rules).0, "it is right without {what}");
    }
}

/// Each change of the entity changes its entry, so that one condition tells both. The other one stays: a change that leaves
/// every copy as it is writes no entry, and the copy would be of a version that it is not of.
#[test]
fn the_entry_tells_of_the_entity() {
    assert!(explore(Rules { expects_source: false, ..ALL }).0);
}
