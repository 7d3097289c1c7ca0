//! The states against models of what goes on beside them: every interleaving is tried.
//!
//! Each model is tried without each step of the protocol, too, and must then go wrong: one that can't fail shows nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::{Blocked, IndexEvent, IndexState, IndexStates, KindEvent, KindState, Rows};
use crate::schema::{Field, FieldPart, Index, KeyPart, Layout, Part, Place, Property, Schema, Template};

const FIELDS: &[Field] = &[String::FIELD.named("team", "Team"), u32::FIELD.named("id", "Id")];
const TEAM: &[Part] = &[Part::Field(FieldPart::new(0, String::KEY, ""))];
const ID: &[Part] = &[Part::Field(FieldPart::new(1, u32::KEY, ""))];
const ROW: Place = Place::new("Club", Template::new("{team}", TEAM), Template::new("{id}", ID));
const BY_TEAM: Place = ROW.beside(Template::new("{team}", TEAM));
const MEMBER: Schema = Schema::new(["Member", "member"], FIELDS, &[ROW]).indexes(&[Index::new(
    "by_team",
    "member.by_team",
    BY_TEAM,
)
.unique()]);
const BARE: Schema = Schema::new(["Member", "member"], FIELDS, &[ROW]);
const PLAIN: Schema = Schema::new(["Member", "member"], FIELDS, &[ROW]).indexes(&[Index::new(
    "by_team",
    "member.by_team",
    BY_TEAM,
)]);

fn blocked() -> Blocked {
    let [key, has, wants] = ["k", "a", "b"].map(|row| ("p".to_owned(), row.to_owned()));
    Blocked { key, has, wants }
}

fn states() -> [IndexState; 6] {
    [
        IndexState::Absent,
        IndexState::Purge,
        IndexState::Backfill,
        IndexState::Blocked(blocked()),
        IndexState::Ready { since: 3 },
        IndexState::Dropping,
    ]
}

#[test]
fn each_event_leads_where_the_protocol_says() {
    use IndexEvent as On;
    use IndexState as Is;
    let events = [
        On::Rebuild,
        On::Purged,
        On::Block(blocked()),
        On::Unblock,
        On::Backfilled { since: 9 },
        On::Drop,
        On::Dropped,
        On::EntitiesDropped,
        On::RowsDropped,
        On::Convert,
    ];
    let (sweep, fill, dropping) = (Some(Is::Purge), Some(Is::Backfill), Some(Is::Dropping));
    let (blocks, ready, absent) =
        (Some(Is::Blocked(blocked())), Some(Is::Ready { since: 9 }), Some(Is::Absent));
    // A row for each event, a column for each state.
    let expected = [
        [&sweep, &sweep, &sweep, &sweep, &sweep, &sweep],
        [&None, &fill, &None, &None, &None, &None],
        [&None, &None, &blocks, &None, &None, &None],
        [&None, &None, &None, &fill, &None, &None],
        [&None, &None, &ready, &None, &None, &None],
        [&None, &dropping, &dropping, &dropping, &dropping, &dropping],
        [&None, &None, &None, &None, &None, &absent],
        [&absent, &sweep, &sweep, &sweep, &sweep, &dropping],
        [&absent, &sweep, &fill, &fill, &fill, &dropping],
        [&absent, &sweep, &sweep, &sweep, &sweep, &dropping],
    ];
    for (event, expected) in events.iter().zip(expected) {
        for (state, expected) in states().iter().zip(expected) {
            assert_eq!(state.next(event.clone()), *expected, "{event:?} in {state:?}");
        }
    }
    for state in states() {
        // What is read is kept, and lacks nothing; what may lack something is kept.
        assert!(!state.may_lack() || state.is_kept(), "{state:?}");
        let is_ready = matches!(state, IndexState::Ready { .. });
        assert_eq!(is_ready, state.is_kept() && !state.may_lack(), "{state:?}");
    }
}

#[test]
fn who_may_write_and_read_is_told_by_what_is_noted_and_declared() {
    let of = |state: IndexState| IndexStates {
        epoch: 4,
        indexes: vec![("by_team".into(), state)],
        ..IndexStates::default()
    };
    for state in states() {
        let is_kept = state.is_kept();
        let index_states = of(state.clone());
        // As it is declared.
        let (index_mask, refusal) = super::index_mask(Some(&Layout::of(&MEMBER)), &index_states, &MEMBER);
        assert_eq!(refusal, None, "{state:?}");
        assert_eq!((index_mask.epoch, index_mask.keeps(0)), (4, is_kept), "{state:?}");
        assert_eq!(index_mask.is_backfilling(0), state.may_lack(), "{state:?}");
        assert_eq!(index_mask.is_ready(0), matches!(state, IndexState::Ready { .. }), "{state:?}");
        // Of another declaration, or of none, no writer keeps it.
        for other in [&BARE, &PLAIN] {
            let (_, refusal) = super::index_mask(Some(&Layout::of(&MEMBER)), &index_states, other);
            assert_eq!(refusal.is_some(), is_kept, "{state:?}");
        }
        // What is declared and not noted is not there.
        let (index_mask, refusal) =
            super::index_mask(Some(&Layout::of(&BARE)), &of(IndexState::Absent), &MEMBER);
        assert!(refusal.is_none() && !index_mask.keeps(0) && !index_mask.is_ready(0), "{state:?}");
    }
    // A reader of a state from before must not read it.
    let (index_mask, _) =
        super::index_mask(Some(&Layout::of(&MEMBER)), &of(IndexState::Ready { since: 3 }), &MEMBER);
    assert!(!index_mask.reads(0, 2) && index_mask.reads(0, 3));
    assert!(
        super::unread(Some(&Layout::of(&MEMBER)), &of(IndexState::Ready { since: 3 }), &MEMBER, "by_team", 2)
            .is_some()
    );
    let (index_mask, refusal) = super::index_mask(None, &IndexStates::default(), &MEMBER);
    assert!(refusal.is_none() && index_mask == super::IndexMask::NEW && index_mask.reads(0, 0));
}

#[test]
fn converting_a_kind_sends_each_index_to_be_purged_and_raises_the_epoch() {
    let mut index_states = IndexStates::default();
    assert!(!index_states.transit_kind(&Layout::of(&MEMBER), KindEvent::Converted));
    assert!(index_states.transit_kind(&Layout::of(&MEMBER), KindEvent::Convert { from: 1 }));
    assert_eq!(index_states.index(&Layout::of(&MEMBER), "by_team"), IndexState::Purge);
    let entity = ("p".to_owned(), "r".to_owned());
    assert!(index_states.transit_kind(&Layout::of(&MEMBER), KindEvent::Stop { entity, why: "why".into() }));
    assert!(index_states.transit_kind(&Layout::of(&MEMBER), KindEvent::Resume));
    assert_eq!(index_states.kind, KindState::Converting { from: 1 });
    assert!(index_states.transit_kind(&Layout::of(&MEMBER), KindEvent::Converted));
    assert_eq!((index_states.kind.clone(), index_states.epoch), (KindState::Stable, 5));
    let (index, name) = (index_states.index(&Layout::of(&MEMBER), "by_team"), "by_team");
    assert!(!index_states.transit(name, &index, IndexEvent::Dropped));
    assert_eq!(index_states.epoch, 5);
}

const FIRST: Schema = Schema::new(["MemberV1", "member"], FIELDS, &[ROW]);
const SECOND: Schema = Schema::new(["MemberV2", "member"], FIELDS, &[ROW])
    .version(2)
    .entity_type("member@2")
    .from_previous(&FIRST);
const MOVED: Schema = Schema::new(["Member", "member"], FIELDS, &[BY_TEAM])
    .version(3)
    .entity_type("member@3")
    .from_previous(&SECOND);
const ALONE: Schema = Schema::new(["Member", "member"], FIELDS, &[ROW]).version(3).entity_type("member@3");

#[test]
fn rows_are_readable_as_far_as_the_versions_are_known_and_keep_their_keys() {
    let stable = IndexStates::default();
    let converting = |from| IndexStates { kind: KindState::Converting { from }, ..IndexStates::default() };
    let entity = ("p".to_owned(), "r".to_owned());
    let stopped =
        IndexStates { kind: KindState::Stopped { from: 1, entity, why: "why".into() }, ..stable.clone() };
    let noted = |version| Some(Layout::of(&Schema { version, ..BARE }));
    for (noted, index_states, declared, expected) in [
        (None, &stable, &SECOND, Rows::Own),
        (noted(1), &stable, &FIRST, Rows::Own),
        (noted(1), &stable, &SECOND, Rows::Readable(1)),
        (noted(2), &stable, &SECOND, Rows::Own),
        (noted(2), &converting(1), &SECOND, Rows::Readable(1)),
        (noted(2), &stopped, &SECOND, Rows::Readable(1)),
        (noted(2), &stable, &FIRST, Rows::Unknown(2)),
        (noted(2), &converting(1), &FIRST, Rows::Unknown(2)),
        (noted(1), &stable, &MOVED, Rows::Pending(1)),
        (noted(3), &converting(2), &MOVED, Rows::Pending(2)),
        (noted(3), &stable, &MOVED, Rows::Own),
        (noted(3), &stable, &ALONE, Rows::Own),
        (noted(3), &converting(2), &ALONE, Rows::Unknown(2)),
        (noted(2), &stable, &ALONE, Rows::Unknown(2)),
    ] {
        assert_eq!(
            super::rows(noted.as_ref(), index_states, declared),
            expected,
            "{noted:?} {index_states:?}"
        );
        // Who writes has to know every row, and to find it where its key says.
        let (index_mask, refusal) = super::index_mask(noted.as_ref(), index_states, declared);
        let is_own = noted.as_ref().is_none_or(|noted| noted.version() == declared.version);
        let may_write = is_own && matches!(expected, Rows::Own | Rows::Readable(_));
        assert_eq!(refusal.is_none(), may_write, "{noted:?} {index_states:?} {refusal:?}");
        assert!(is_own || !index_mask.keeps(0) && !index_mask.is_ready(0));
        // Who may see rows of another version looks at his own snapshot.
        assert!(index_mask.looks_at_rows() || expected == Rows::Own);
    }
}

#[test]
fn a_later_version_takes_over_and_knows_where_the_first_rows_are() {
    let mut index_states = IndexStates::default();
    assert!(index_states.transit_kind(&Layout::of(&MEMBER), KindEvent::Convert { from: 1 }));
    index_states.transit("by_team", &IndexState::Purge, IndexEvent::Purged);
    let epoch = index_states.epoch;
    assert!(index_states.transit_kind(&Layout::of(&BARE), KindEvent::Convert { from: 2 }));
    // What it has not is forgotten: its rows go with those of the versions before.
    assert_eq!(
        (index_states.kind.clone(), index_states.indexes.len()),
        (KindState::Converting { from: 1 }, 0)
    );
    assert!(index_states.epoch > epoch);
    let entity = ("p".to_owned(), "r".to_owned());
    assert!(index_states.transit_kind(&Layout::of(&BARE), KindEvent::Stop { entity, why: "why".into() }));
    assert!(index_states.transit_kind(&Layout::of(&MEMBER), KindEvent::Convert { from: 3 }));
    assert_eq!(index_states.kind, KindState::Converting { from: 1 });
    assert_eq!(index_states.index(&Layout::of(&MEMBER), "by_team"), IndexState::Purge);
}

/// Entities of which each has a key by the old template and one by the new; two of them, and two keys.
type Entity = (u8, u8, u8);

/// A change that a writer has planned: of which entity, as it was, what it becomes, by which declaration, in which state of
/// the index, and in which epoch.
type Planned = (usize, Entity, (u8, u8), bool, &'static str, u64);

/// All there is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    entities: [Entity; 2],
    /// Whose copy stands under each key.
    index: BTreeMap<u8, usize>,
    /// Whether the layout that is noted has the new template.
    is_new: bool,
    state: &'static str,
    cursor: u8,
    epoch: u64,
    writers: [Option<Planned>; 2],
    left: u8,
}

/// Which steps of the protocol are left in.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each step is left in or out by itself")]
struct Steps {
    sweeps: bool,
    epochs: bool,
    /// Writers of the old declaration are refused what they can't keep.
    refuses: bool,
    drops: bool,
}

fn state(name: &str) -> IndexState {
    match name {
        "absent" => IndexState::Absent,
        "sweep" => IndexState::Purge,
        "fill" => IndexState::Backfill,
        "blocked" => IndexState::Blocked(blocked()),
        "dropping" => IndexState::Dropping,
        _ => IndexState::Ready { since: 0 },
    }
}

fn name(state: &IndexState) -> &'static str {
    match state {
        IndexState::Absent => "absent",
        IndexState::Purge => "sweep",
        IndexState::Backfill => "fill",
        IndexState::Blocked(_) => "blocked",
        IndexState::Dropping => "dropping",
        IndexState::Ready { .. } => "ready",
    }
}

impl World {
    fn key(&self, entity: Entity) -> u8 {
        if self.is_new { entity.1 } else { entity.0 }
    }

    /// Returns the world after an event of the index.
    fn after(&self, event: IndexEvent) -> Self {
        let next = state(self.state).next(event).expect("the job asks for what can happen");
        Self { state: name(&next), epoch: self.epoch + 1, cursor: 0, ..self.clone() }
    }

    /// What a program can plan now.
    fn plans(&self, steps: Steps, writer: usize, found: &mut Vec<Result<Self, String>>) {
        for (of, was) in self.entities.iter().enumerate() {
            for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                for by_new in [false, true] {
                    let is_kept = state(self.state).is_kept();
                    // Who can't keep the index is refused, before it plans anything.
                    if (was.0, was.1) == (a, b) || (steps.refuses && is_kept && by_new != self.is_new) {
                        continue;
                    }
                    let mut next = self.clone();
                    next.writers[writer] = Some((of, *was, (a, b), by_new, self.state, self.epoch));
                    next.left -= 1;
                    found.push(Ok(next));
                }
            }
        }
    }

    /// Returns the commit of what was planned; an error if a reader is given what is not so.
    fn commit(&self, steps: Steps, writer: usize, plan: Planned) -> Result<Self, String> {
        let (of, was, (a, b), by_new, planned_in, epoch) = plan;
        let mut next = self.clone();
        next.writers[writer] = None;
        if self.entities[of] != was || (steps.epochs && epoch != self.epoch) {
            // It plans again, which is another plan of the model's.
            return Ok(next);
        }
        next.entities[of] = (a, b, was.2 + 1);
        let key = |entity: (u8, u8)| if by_new { entity.1 } else { entity.0 };
        if state(planned_in).is_kept() {
            let (old, new) = (key((was.0, was.1)), key((a, b)));
            // It may be another's, if this entity has not been filled yet.
            if next.index.get(&old) == Some(&of) {
                next.index.remove(&old);
            }
            if let Some(other) = next.index.get(&new).filter(|other| **other != of) {
                let claims = self.entities[*other];
                let is_true = key((claims.0, claims.1)) == new;
                let refused = Self { writers: next.writers, ..self.clone() };
                return if is_true { Ok(refused) } else { Err("a conflict that is none".into()) };
            }
            next.index.insert(new, of);
        }
        Ok(next)
    }

    /// What the job can do.
    fn job(&self, steps: Steps, found: &mut Vec<Result<Self, String>>) {
        match self.state {
            "ready" if !self.is_new => {
                let mut next = self.after(IndexEvent::Rebuild);
                next.is_new = true;
                if !steps.sweeps {
                    next = next.after(IndexEvent::Purged);
                }
                found.push(Ok(next));
            }
            "sweep" | "dropping" => {
                let row = self.index.keys().find(|key| **key >= self.cursor).copied();
                match row {
                    Some(key) => {
                        let mut next = self.clone();
                        next.index.remove(&key);
                        next.cursor = key + 1;
                        found.push(Ok(next));
                    }
                    None if self.state == "sweep" => found.push(Ok(self.after(IndexEvent::Purged))),
                    None => found.push(Ok(self.after(IndexEvent::Dropped))),
                }
                // It is killed, and goes on from where it was: its cursor is in the transaction of the step.
            }
            "fill" if usize::from(self.cursor) < self.entities.len() => {
                let of = usize::from(self.cursor);
                let key = self.key(self.entities[of]);
                match self.index.get(&key) {
                    Some(other) if *other != of => {
                        if self.key(self.entities[*other]) != key {
                            found.push(Err("a conflict that is none, in the job".into()));
                        }
                        let mut next = self.after(IndexEvent::Block(blocked()));
                        next.cursor = self.cursor;
                        found.push(Ok(next));
                    }
                    _ => {
                        let mut next = self.clone();
                        next.index.insert(key, of);
                        next.cursor += 1;
                        found.push(Ok(next));
                    }
                }
            }
            "fill" => found.push(Ok(self.after(IndexEvent::Backfilled { since: 0 }))),
            "blocked" => {
                let mut next = self.after(IndexEvent::Unblock);
                next.cursor = self.cursor;
                found.push(Ok(next));
            }
            _ => {}
        }
        if steps.drops && self.state != "absent" && self.state != "dropping" && self.is_new {
            found.push(Ok(self.after(IndexEvent::Drop)));
        }
        if steps.drops && self.state == "absent" {
            found.push(Ok(self.after(IndexEvent::Rebuild)));
        }
    }
}

/// Tries every interleaving; how many worlds there are, or what went wrong.
fn explore(steps: Steps, writes: u8) -> Result<usize, String> {
    let first = World {
        entities: [(0, 1, 1), (1, 0, 1)],
        index: BTreeMap::from([(0, 0), (1, 1)]),
        is_new: false,
        state: "ready",
        cursor: 0,
        epoch: 0,
        writers: [None, None],
        left: writes,
    };
    // Epochs rise for ever where an index is dropped and made anew, and where two entities go on claiming one key. That one
    // is another is all that counts.
    let most = if steps.drops { 6 } else { 8 };
    let mut seen = BTreeSet::new();
    let mut known = HashMap::new();
    let mut next = VecDeque::from([first]);
    while let Some(world) = next.pop_front() {
        let number = known.len();
        if known.contains_key(&world) {
            continue;
        }
        known.insert(world.clone(), number);
        if world.state == "ready" && world.writers == [None, None] {
            let want: BTreeMap<_, _> =
                world.entities.iter().enumerate().map(|(at, entity)| (world.key(*entity), at)).collect();
            if want != world.index || want.len() != 2 {
                return Err(format!("read and wrong: {world:?}"));
            }
        }
        if world.state == "absent" && !world.index.is_empty() {
            return Err(format!("something is left: {world:?}"));
        }
        seen.insert(world.state);
        let mut found = Vec::new();
        for (writer, planned) in world.writers.iter().enumerate() {
            match planned {
                Some(plan) => found.push(world.commit(steps, writer, *plan)),
                None if world.left > 0 => world.plans(steps, writer, &mut found),
                None => {}
            }
        }
        if world.epoch < most {
            world.job(steps, &mut found);
        }
        for world in found {
            next.push_back(world?);
        }
    }
    let all: &[_] = &["fill", "ready"];
    assert!(all.iter().all(|state| seen.contains(state)), "{seen:?}");
    Ok(known.len())
}

#[test]
fn an_index_that_is_made_anew_beside_writers_of_both_declarations_is_right_at_last() {
    let all = Steps { sweeps: true, epochs: true, refuses: true, drops: false };
    assert!(explore(all, 2).unwrap() > 1_000);
    for (without, steps) in [
        ("a sweep", Steps { sweeps: false, ..all }),
        ("epochs", Steps { epochs: false, ..all }),
        ("refusals", Steps { refuses: false, ..all }),
    ] {
        explore(steps, 2).expect_err(without);
    }
}

#[test]
fn an_index_that_is_dropped_and_made_anew_leaves_nothing_behind() {
    let steps = Steps { sweeps: true, epochs: true, refuses: true, drops: true };
    assert!(explore(steps, 1).unwrap() > 1_000);
    explore(Steps { epochs: false, ..steps }, 1).expect_err("epochs");
}

/// The tables of the entities and of the copies: each has a number, which is another one when it was dropped and made anew.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tables {
    source: (u8, u8, bool),
    remote: (u8, Option<(u8, u8)>),
    state: &'static str,
    pending: BTreeSet<u8>,
    left: u8,
}

/// Copies in another table than their entities', while either table is dropped and made anew.
fn explore_drops(of_source: bool, of_rows: bool) -> Result<usize, String> {
    let mut seen = BTreeMap::<String, Tables>::new();
    let first = Tables {
        source: (1, 0, false),
        remote: (1, None),
        state: "ready",
        pending: BTreeSet::new(),
        left: 4,
    };
    let mut next = VecDeque::from([first]);
    while let Some(at) = next.pop_front() {
        if seen.insert(format!("{at:?}"), at.clone()).is_some() {
            continue;
        }
        let (id, version, is_there) = at.source;
        let wanted = is_there.then_some((id, version));
        if at.left == 0 && at.pending.is_empty() && at.state == "ready" && at.remote.1 != wanted {
            return Err(format!("read and wrong: {at:?}"));
        }
        let flipped = |event: IndexEvent, flips: bool| {
            if flips { name(&state(at.state).next(event).expect("it can happen")) } else { at.state }
        };
        if at.left > 0 {
            let left = at.left - 1;
            let pending: BTreeSet<_> = at.pending.iter().copied().chain([id]).collect();
            next.push_back(Tables {
                source: (id, version + 1, true),
                pending: pending.clone(),
                left,
                ..at.clone()
            });
            if is_there {
                next.push_back(Tables { source: (id, version + 1, false), pending, left, ..at.clone() });
            }
            let state = flipped(IndexEvent::EntitiesDropped, of_source);
            next.push_back(Tables { source: (id + 1, 0, false), state, left, ..at.clone() });
            let state = flipped(IndexEvent::RowsDropped, of_rows);
            next.push_back(Tables { remote: (at.remote.0 + 1, None), state, left, ..at.clone() });
        }
        for entry in &at.pending {
            let mut propagated = at.clone();
            propagated.pending.remove(entry);
            // One of a dropped table has nothing left to look at.
            if *entry == id {
                propagated.remote.1 = wanted;
            }
            next.push_back(propagated);
        }
        let mut worked = at.clone();
        match at.state {
            "sweep" => {
                worked.remote.1 = at.remote.1.filter(|copy| copy.0 == id);
                worked.state = name(&state("sweep").next(IndexEvent::Purged).expect("it was swept"));
            }
            "fill" => {
                worked.remote.1 = wanted;
                worked.state = "ready";
            }
            _ => continue,
        }
        next.push_back(worked);
    }
    Ok(seen.len())
}

#[test]
fn dropping_either_table_resets_what_lies_in_the_other() {
    assert!(explore_drops(true, true).unwrap() > 100);
    explore_drops(false, false).expect_err("neither");
    explore_drops(true, false).expect_err("not of the copies");
    explore_drops(false, true).expect_err("not of the entities");
}
