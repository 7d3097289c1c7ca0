//! Propagation by versions, tried in a thousand runs of two who write one entity and three who propagate it, each of whom may be
//! held up or die between any two requests; and tried without each of its rules, which must go wrong.

use std::collections::{BTreeMap, BTreeSet};

use super::super::chance::Chance;
use super::copy::{CopyMark, Place};

/// How many runs.
const RUNS: u64 = 1_000;
/// How many changes each of the two makes, and how often each propagator begins anew.
const CHANGES: u32 = 4;
const BEGINNINGS: u32 = 6;

/// What is left out, of what the store does.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule that propagation is tried without")]
struct Without {
    /// Where a copy is to be no more, it is removed.
    tombstones: bool,
    /// A tombstone is put only where a copy is.
    tombstones_of_nothing: bool,
    /// An entity that is made again begins with the first version.
    versions_of_the_deleted: bool,
    /// The entry goes although it is another by now.
    etags: bool,
}

/// What an entry says: the version of the entity, and where copies may lie that are to go.
#[derive(Clone, Debug, Default, PartialEq)]
struct Entry {
    version: i64,
    before: BTreeSet<u8>,
}

/// A row, and the number of its last write.
type Row<T> = Option<(T, u64)>;

/// The rows of one entity.
#[derive(Default)]
struct World {
    writes: u64,
    /// Where its copy is to lie.
    entity: Row<u8>,
    entry: Row<Entry>,
    version: Row<i64>,
    copies: BTreeMap<u8, (CopyMark, u64)>,
}

fn etag<T>(row: Option<&(T, u64)>) -> Option<u64> {
    row.map(|(_, etag)| *etag)
}

/// What a writer has read before it writes.
struct Read {
    entity: Row<u8>,
    entry: Row<Entry>,
    version: Row<i64>,
}

impl World {
    fn read(&self) -> Read {
        Read { entity: self.entity, entry: self.entry.clone(), version: self.version }
    }

    /// One request: all three rows are written as they were read, or none is.
    fn write(&mut self, read: &Read, place: Option<u8>, without: Without) -> bool {
        let is_same = etag(self.entity.as_ref()) == etag(read.entity.as_ref())
            && etag(self.entry.as_ref()) == etag(read.entry.as_ref())
            && etag(self.version.as_ref()) == etag(read.version.as_ref());
        if !is_same {
            return false;
        }
        self.writes += 1;
        let kept = read.version.filter(|_| !without.versions_of_the_deleted || read.entity.is_some());
        let version = kept.map_or(0, |(version, _)| version) + 1;
        let mut entry = read.entry.clone().map_or_else(Entry::default, |(entry, _)| entry);
        entry.version = version;
        entry.before.extend(read.entity.map(|(was, _)| was).filter(|was| Some(*was) != place));
        self.entity = place.map(|place| (place, self.writes));
        self.entry = Some((entry, self.writes));
        self.version = Some((version, self.writes));
        true
    }
}

/// A propagator, between two requests.
enum Propagator {
    Idle,
    /// It has read the entry.
    Begun(Entry, u64),
    /// It has read the entity, and puts one row after another.
    Puts {
        entry: u64,
        version: i64,
        left: Vec<(u8, bool)>,
        there: Option<(Place, Row<()>)>,
    },
}

impl Propagator {
    /// Makes one request.
    fn step(self, world: &mut World, without: Without) -> Self {
        match self {
            Self::Idle => match &world.entry {
                Some((entry, etag)) => Self::Begun(entry.clone(), *etag),
                None => Self::Idle,
            },
            Self::Begun(entry, etag) => {
                let wanted = world.entity.map(|(place, _)| place);
                let gone = entry.before.iter().filter(|place| Some(**place) != wanted);
                let left =
                    gone.map(|place| (*place, false)).chain(wanted.map(|place| (place, true))).collect();
                Self::Puts { entry: etag, version: entry.version, left, there: None }
            }
            Self::Puts { entry, version, mut left, there } => {
                let Some((place, lives)) = left.last().copied() else {
                    if without.etags || etag(world.entry.as_ref()) == Some(entry) {
                        world.entry = None;
                    }
                    return Self::Idle;
                };
                let Some((found, of)) = there else {
                    let row = world.copies.get(&place);
                    let found = row.map_or(Place::Empty, |(mark, _)| Place::Marked(mark.clone()));
                    let there = Some((found, row.map(|(_, etag)| ((), *etag))));
                    return Self::Puts { entry, version, left, there };
                };
                let mark = CopyMark { source: "e".into(), version, lives };
                let leaves = without.tombstones_of_nothing && !lives && found == Place::Empty;
                if !found.gives_way(&mark) || leaves {
                    left.pop();
                } else if etag(world.copies.get(&place)) == etag(of.as_ref()) {
                    world.writes += 1;
                    if without.tombstones && !lives {
                        world.copies.remove(&place);
                    } else {
                        world.copies.insert(place, (mark, world.writes));
                    }
                    left.pop();
                }
                // Where another was quicker, it looks again.
                Self::Puts { entry, version, left, there: None }
            }
        }
    }
}

/// Runs once, and returns whether the copies are in the end those of the entity.
fn run(seed: u64, without: Without) -> bool {
    let (mut world, mut chance) = (World::default(), Chance(seed));
    let mut writers = [const { (CHANGES, None::<(Read, Option<u8>)>) }; 2];
    let mut propagators = [const { (BEGINNINGS, Propagator::Idle) }; 3];
    loop {
        let who = chance.below(5);
        if let Some((left, reading)) = writers.get_mut(who) {
            match reading.take() {
                Some((read, place)) => *left -= u32::from(world.write(&read, place, without)),
                None if *left > 0 => {
                    let place = [Some(b'x'), Some(b'y'), None][chance.below(3)];
                    let read = world.read();
                    // What is deleted is there.
                    if place.is_some() || read.entity.is_some() {
                        *reading = Some((read, place));
                    }
                }
                None => {}
            }
        } else {
            let (left, propagator) = &mut propagators[who - 2];
            // Held up, for as long as it takes.
            if *left == 0 || chance.below(4) == 0 {
                if writers.iter().all(|(left, _)| *left == 0) && chance.below(8) == 0 {
                    *left = left.saturating_sub(1);
                }
            } else if chance.below(7) == 0 {
                // It dies.
                (*left, *propagator) = (*left - 1, Propagator::Idle);
            } else {
                let now = std::mem::replace(propagator, Propagator::Idle).step(&mut world, without);
                *left -= u32::from(matches!(now, Propagator::Idle));
                *propagator = now;
            }
        }
        if writers.iter().all(|(left, _)| *left == 0) && propagators.iter().all(|(left, _)| *left == 0) {
            break;
        }
    }
    // One who does not die.
    let mut last = Propagator::Idle;
    while world.entry.is_some() {
        last = last.step(&mut world, without);
    }
    let live: Vec<u8> =
        world.copies.iter().filter(|(_, (mark, _))| mark.lives).map(|(place, _)| *place).collect();
    live == world.entity.map(|(place, _)| place).into_iter().collect::<Vec<_>>()
}

/// Returns how many of the runs go wrong.
fn wrong(without: Without) -> usize {
    (0..RUNS).filter(|seed| !run(*seed, without)).count()
}

#[test]
fn copies_are_the_entity_s_in_the_end_whoever_dies_or_is_held_up() {
    assert_eq!(wrong(Without::default()), 0);
}

#[test]
fn no_rule_of_propagation_can_be_left_out() {
    for (without, what) in [
        (Without { tombstones: true, ..Without::default() }, "tombstones"),
        (Without { tombstones_of_nothing: true, ..Without::default() }, "tombstones where no copy is"),
        (Without { versions_of_the_deleted: true, ..Without::default() }, "versions that outlive the entity"),
        (Without { etags: true, ..Without::default() }, "the condition on the entry"),
    ] {
        assert!(wrong(without) > 0, "it is right without {what}");
    }
}
