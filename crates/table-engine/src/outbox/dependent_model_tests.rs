//! Copies that others hold, tried in every interleaving of one who changes the source, one who changes a dependent, and two who
//! propagate, each of whom may die; and tried without each of the steps, which must go wrong.
//!
//! The rows by which dependents are found are two places. A propagator looks at one of them in each step; the dependent stands at one,
//! may come, go, and move to the other.

use std::collections::{BTreeSet, VecDeque};

/// What is done; each is what the store does, if not said otherwise.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a step that the protocol is tried without")]
struct Rules {
    /// A propagator demands the entry as it was read.
    expects_entry: bool,
    /// A propagator demands the source as it was read.
    expects_source: bool,
    /// Who changes a dependent demands the source as it was read.
    dependent_expects_source: bool,
    /// Who changes a dependent takes the copy anew, though it refers to the same source.
    takes_anew: bool,
    /// A change of the source has all places looked at again.
    begins_anew: bool,
    /// A propagator demands the dependent as it was read.
    expects_dependent: bool,
}

const ALL: Rules = Rules {
    expects_entry: true,
    expects_source: true,
    dependent_expects_source: true,
    takes_anew: true,
    begins_anew: true,
    expects_dependent: true,
};

/// Something that changes, with a number for each of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Versioned<T> {
    version: u8,
    is: T,
}

impl<T> Versioned<T> {
    fn becomes(self, is: T) -> Self {
        Self { version: self.version + 1, is }
    }
}

/// Where the dependent stands, and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Dependent {
    place: u8,
    copy: Option<bool>,
}

type Source = Versioned<Option<bool>>;
/// The place that is to be looked at next, if there is an entry.
type OutboxRecord = Versioned<Option<u8>>;

/// What was read for a plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    source: Source,
    entry: OutboxRecord,
    dependent: Versioned<Option<Dependent>>,
    /// What becomes of the dependent: the place where it is to stand.
    wanted: Option<u8>,
}

const PLACES: u8 = 2;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    source: Source,
    entry: OutboxRecord,
    dependent: Versioned<Option<Dependent>>,
    /// Where the dependent stands, as the writer of it has said.
    said: Option<u8>,
    propagators: [Option<Read>; 2],
    writer: Option<Read>,
    /// How many changes are left to be made of the source, and of the dependent.
    left: (u8, u8),
}

impl World {
    fn read(&self, wanted: Option<u8>) -> Read {
        let Self { source, entry, dependent, .. } = *self;
        Read { source, entry, dependent, wanted }
    }

    /// The source comes to say this, and leaves that its copies are to follow.
    fn change(&self, rules: Rules, is: Option<bool>) -> Self {
        let next = if rules.begins_anew { 0 } else { self.entry.is.unwrap_or(0) };
        Self {
            source: self.source.becomes(is),
            entry: self.entry.becomes(Some(next)),
            left: (self.left.0 - 1, self.left.1),
            ..self.clone()
        }
    }

    /// Who changes the dependent carries out the plan.
    fn write(&self, rules: Rules) -> Self {
        let mut after = self.clone();
        let Some(read) = after.writer.take() else { return after };
        let is_stale = read.dependent != self.dependent;
        if is_stale || rules.dependent_expects_source && read.source.version != self.source.version {
            return after;
        }
        let copy = match read.dependent.is {
            Some(was) if !rules.takes_anew => was.copy,
            _ => read.source.is,
        };
        after.dependent = self.dependent.becomes(read.wanted.map(|place| Dependent { place, copy }));
        after.said = read.wanted;
        after.left.1 -= 1;
        after
    }

    /// A propagator carries out its step: the dependent at the place has the copy, and the next place is noted.
    fn propagate(&self, rules: Rules, propagator: usize) -> Self {
        let mut after = self.clone();
        let Some(read) = after.propagators[propagator].take() else { return after };
        let Some(place) = read.entry.is else { return after };
        let is_there = if rules.expects_entry {
            read.entry.version == self.entry.version
        } else {
            self.entry.is.is_some()
        };
        if !is_there || rules.expects_source && read.source.version != self.source.version {
            return after;
        }
        if let Some(dependent) = read.dependent.is.filter(|dependent| dependent.place == place)
            && dependent.copy != read.source.is
        {
            if rules.expects_dependent && read.dependent.version != self.dependent.version {
                return after;
            }
            after.dependent = self.dependent.becomes(Some(Dependent { copy: read.source.is, ..dependent }));
        }
        let next = place + 1;
        after.entry = self.entry.becomes((next < PLACES).then_some(next));
        after
    }

    fn next(&self, rules: Rules) -> Vec<Self> {
        let mut next = Vec::new();
        if self.left.0 > 0 {
            let all = [None, Some(false), Some(true)].into_iter().filter(|is| *is != self.source.is);
            next.extend(all.map(|is| self.change(rules, is)));
        }
        if self.writer.is_some() {
            next.push(self.write(rules));
            next.push(Self { writer: None, ..self.clone() });
        } else if self.left.1 > 0 {
            let all = [None, Some(0), Some(1)].into_iter();
            let wanted = all.filter(|place| *place != self.dependent.is.map(|dependent| dependent.place));
            next.extend(wanted.map(|place| Self { writer: Some(self.read(place)), ..self.clone() }));
        }
        for propagator in 0..self.propagators.len() {
            let mut other = self.clone();
            if self.propagators[propagator].is_some() {
                next.push(self.propagate(rules, propagator));
                // It dies.
                other.propagators[propagator] = None;
            } else if self.entry.is.is_some() {
                other.propagators[propagator] = Some(self.read(None));
            } else {
                continue;
            }
            next.push(other);
        }
        next
    }

    /// Returns whether nothing is to follow, and yet the dependent says something else than the source; or it stands where no
    /// writer has put it.
    fn is_wrong(&self) -> bool {
        self.dependent.is.map(|dependent| dependent.place) != self.said
            || self.entry.is.is_none()
                && self.dependent.is.is_some_and(|dependent| dependent.copy != self.source.is)
    }
}

/// Returns whether it is right in every interleaving, and how many worlds those come to.
fn explore(rules: Rules) -> (bool, usize) {
    let first = World {
        source: Versioned { version: 0, is: None },
        entry: Versioned { version: 0, is: None },
        dependent: Versioned { version: 0, is: None },
        said: None,
        propagators: [None, None],
        writer: None,
        left: (2, 2),
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
fn holders_hold_what_the_source_says_after_any_propagator_dies_at_any_step() {
    let (is_right, worlds) = explore(ALL);
    assert!(is_right && worlds > 1_000, "{worlds} worlds");
}

#[test]
fn no_step_can_be_left_out() {
    for (rules, what) in [
        (Rules { expects_entry: false, expects_source: false, ..ALL }, "both conditions of a propagator"),
        (Rules { dependent_expects_source: false, ..ALL }, "the dependent's condition on the source"),
        (Rules { takes_anew: false, ..ALL }, "the copy taken anew"),
        (Rules { begins_anew: false, ..ALL }, "the beginning anew"),
        (Rules { expects_dependent: false, ..ALL }, "the condition on the holder"),
    ] {
        assert!(!explore(rules).0, "it is right without {what}");
    }
}

/// Each change of the source that is copied changes the entry, so that one condition of a propagator tells both. Both stay, as they
/// do for [copies in indexes](super::model_tests).
#[test]
fn the_entry_tells_of_the_source_and_the_source_of_the_entry() {
    assert!(explore(Rules { expects_source: false, ..ALL }).0);
    assert!(explore(Rules { expects_entry: false, ..ALL }).0);
}
