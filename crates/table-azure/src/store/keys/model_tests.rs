//! Rotation by leases, tried in a thousand runs of two who write, two who look up by tokens, and one who rotates, seals anew and
//! destroys, and who may die between any two requests; and tried without each of its rules, which must go wrong.

use std::collections::BTreeMap;

use super::super::chance::Chance;

/// How many runs, and how long each is.
const RUNS: u64 = 1_000;
const LENGTH: u32 = 1_000;
/// How long a lease is; a request arrives sooner than so long after it was sent.
const LEASE: u32 = 16;
const WAIT: u32 = 2 * LEASE;
/// How many entities there are.
const ENTITIES: u8 = 4;

/// What is left out, of what the store does.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule that rotation is tried without")]
struct Without {
    /// A new key seals at once, before it is known.
    announcement: bool,
    /// Nothing is waited for between the announcement and the switch.
    wait_for_readers: bool,
    /// Nothing is waited for between the switch and the job that seals anew.
    wait_for_writers: bool,
    /// Who writes sends what it has sealed also when its lease has ended.
    lease_of_writes: bool,
    /// Rows are looked for under the newest token first.
    oldest_first: bool,
}

/// The record of a scope.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scope {
    current: u32,
    alive: Vec<u32>,
}

fn any_entity(chance: &mut Chance) -> u8 {
    u8::try_from(chance.below(ENTITIES.into())).unwrap()
}

/// What a process goes by.
#[derive(Clone, Default)]
struct Known {
    scope: Scope,
    until: u32,
}

/// The service.
struct World {
    now: u32,
    scope: Scope,
    /// When the scope changed last. Two leases later no process may go by the keys of before.
    changed: u32,
    /// The key whose token each entity lies under.
    rows: BTreeMap<u8, u32>,
    /// When each entity was written last.
    written: BTreeMap<u8, u32>,
    /// Requests that are under way: when they arrive, and what they write.
    sent: Vec<(u32, u8, u32)>,
    wrong: bool,
}

impl World {
    fn change(&mut self, change: impl FnOnce(&mut Scope)) {
        change(&mut self.scope);
        self.changed = self.now;
    }

    fn known(&self, known: &mut Known) {
        if known.until <= self.now {
            *known = Known { scope: self.scope.clone(), until: self.now + LEASE };
        }
    }

    /// Time passes, and requests arrive.
    fn tick(&mut self) {
        self.now += 1;
        let now = self.now;
        for (_, entity, key) in self.sent.extract_if(.., |(at, ..)| *at <= now) {
            // What lies under a key that was destroyed is lost.
            self.wrong |= !self.scope.alive.contains(&key);
            self.rows.insert(entity, key);
            self.written.insert(entity, now);
        }
    }
}

/// Who writes, between two requests.
#[derive(Default)]
struct Writer {
    known: Known,
    sealed: Option<(u8, u32, u32)>,
}

impl Writer {
    fn step(&mut self, world: &mut World, chance: &mut Chance, without: Without) {
        let Some((entity, key, until)) = self.sealed.take() else {
            world.known(&mut self.known);
            self.sealed = Some((any_entity(chance), self.known.scope.current, self.known.until));
            return;
        };
        if world.now < until || without.lease_of_writes {
            let takes = u32::try_from(chance.below(LEASE.into())).unwrap();
            world.sent.push((world.now + takes, entity, key));
        }
    }
}

/// Who looks up by tokens, one after another.
#[derive(Default)]
struct Reader {
    known: Known,
    looks: Option<Look>,
}

/// A lookup that has begun.
struct Look {
    entity: u8,
    begun: u32,
    left: Vec<u32>,
}

impl Reader {
    fn step(&mut self, world: &mut World, chance: &mut Chance, without: Without) {
        let Some(mut look) = self.looks.take() else {
            world.known(&mut self.known);
            let entity = any_entity(chance);
            if world.rows.contains_key(&entity) {
                let mut left = self.known.scope.alive.clone();
                // The last is looked for first.
                if !without.oldest_first {
                    left.reverse();
                }
                self.looks = Some(Look { entity, begun: world.now, left });
            }
            return;
        };
        match look.left.pop() {
            Some(token) if world.rows.get(&look.entity) == Some(&token) => {}
            Some(_) => self.looks = Some(look),
            // A lookup that has outlasted its lease is made again. One may miss what is written while it looks.
            None => {
                let was_written = world.written.get(&look.entity).is_some_and(|at| *at >= look.begun);
                world.wrong |= world.now < self.known.until && !was_written;
            }
        }
    }
}

/// Who rotates, between two requests.
#[derive(Clone, Copy)]
enum Rotator {
    Idle,
    Announced,
    Switched,
    Reseals(u8),
}

impl Rotator {
    fn step(self, world: &mut World, without: Without) -> Self {
        let has_settled = world.now >= world.changed + WAIT;
        let newest = world.scope.alive.last().copied().unwrap_or_default();
        match self {
            // One that was broken off is gone on with.
            Self::Idle if newest > world.scope.current => Self::Announced,
            Self::Idle => {
                world.change(|scope| scope.alive.push(newest + 1));
                if without.announcement {
                    world.change(|scope| scope.current = newest + 1);
                    return Self::Switched;
                }
                Self::Announced
            }
            Self::Announced if has_settled || without.wait_for_readers => {
                world.change(|scope| scope.current = newest);
                Self::Switched
            }
            Self::Switched if has_settled || without.wait_for_writers => Self::Reseals(0),
            Self::Reseals(entity) if entity < ENTITIES => {
                // Under its ETag: it is there as it was read.
                if let Some(key) = world.rows.get_mut(&entity) {
                    *key = world.scope.current;
                }
                Self::Reseals(entity + 1)
            }
            Self::Reseals(_) => {
                let used: Vec<u32> = world.rows.values().copied().collect();
                world.change(|scope| {
                    let current = scope.current;
                    scope.alive.retain(|key| *key >= current || used.contains(key));
                });
                Self::Idle
            }
            waits => waits,
        }
    }
}

/// Runs once, and returns whether no lookup has missed an entity and no value was lost.
fn run(seed: u64, without: Without) -> bool {
    let mut chance = Chance(seed);
    let scope = Scope { current: 1, alive: vec![1] };
    let mut world = World {
        now: WAIT,
        scope,
        changed: 0,
        rows: BTreeMap::new(),
        written: BTreeMap::new(),
        sent: Vec::new(),
        wrong: false,
    };
    let (mut writers, mut readers) = (<[Writer; 2]>::default(), <[Reader; 2]>::default());
    let mut rotator = Rotator::Idle;
    for _ in 0..LENGTH {
        for writer in &mut writers {
            if chance.below(3) == 0 {
                writer.step(&mut world, &mut chance, without);
            }
        }
        for reader in &mut readers {
            if chance.below(2) == 0 {
                reader.step(&mut world, &mut chance, without);
            }
        }
        if chance.below(40) == 0 {
            // It dies, and another begins.
            rotator = Rotator::Idle;
        } else if chance.below(2) == 0 {
            rotator = rotator.step(&mut world, without);
        }
        world.tick();
    }
    !world.wrong
}

/// Returns how many of the runs go wrong.
fn wrong(without: Without) -> usize {
    (0..RUNS).filter(|seed| !run(*seed, without)).count()
}

#[test]
fn no_lookup_misses_and_no_value_is_lost_where_a_process_dies_or_is_held_up() {
    assert_eq!(wrong(Without::default()), 0);
}

#[test]
fn no_rule_of_rotation_can_be_left_out() {
    for (without, what) in [
        (Without { announcement: true, ..Without::default() }, "an announcement"),
        (Without { wait_for_readers: true, ..Without::default() }, "a wait for those who look up"),
        (Without { wait_for_writers: true, ..Without::default() }, "a wait for those who write"),
        (Without { lease_of_writes: true, ..Without::default() }, "an end of what is sent"),
        (Without { oldest_first: true, ..Without::default() }, "the order of lookups"),
    ] {
        assert!(wrong(without) > 0, "it is right without {what}");
    }
}
