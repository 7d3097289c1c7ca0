//! What follows from other entities in the store that is damaged: summaries, copies of others' fields, references; and
//! series.

use std::collections::BTreeMap;

use table_core::typed::Ref;
use table_core::{Entity, ErrorKind, Key, Projection, Result, Store, Stored};

use super::Findings;
use super::people::{all, one};
use super::writes::refused;

/// A captain, who is counted in the fleet and by rank, and whose name others hold.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Fleet", kind = "captain")]
#[key(partition = "{fleet}", row = "captain_{id:04}")]
#[summarized_in(Wages, Rank)]
#[copied_into(Vessel, Dock)]
pub(crate) struct Captain {
    pub(crate) fleet: String,
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) rank: u8,
    pub(crate) wage: i64,
}

/// What others hold of a captain.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Captain)]
pub(crate) struct Named {
    pub(crate) name: String,
}

/// What a fleet pays, beside its captains.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Fleet", kind = "wages")]
#[key(partition = "{fleet}", row = "wages")]
#[summary(of = Captain)]
pub(crate) struct Wages {
    pub(crate) fleet: String,
    #[summary(count)]
    pub(crate) captains: u64,
    #[summary(sum = wage)]
    pub(crate) paid: i64,
}

/// The captains of a rank, in another table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ranks", kind = "rank")]
#[key(partition = "all", row = "rank_{rank:02}")]
#[summary(of = Captain, atomic)]
pub(crate) struct Rank {
    pub(crate) rank: u8,
    #[summary(count)]
    pub(crate) captains: u64,
}

/// A vessel, with the name of its captain, a mate who may be elsewhere, and what it carries each month.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Fleet", kind = "vessel")]
#[key(partition = "{fleet}", row = "vessel_{number:04}")]
#[index(by_captain, row = "under_{captain_id:04}_{number:04}", copy = keys)]
pub(crate) struct Vessel {
    pub(crate) fleet: String,
    pub(crate) number: u32,
    captain_id: Option<u32>,
    #[copy_of(Captain, key(fleet, captain_id))]
    pub(crate) captain: Option<Named>,
    mate: Option<Ref<Captain>>,
    #[series]
    cargo: [Option<i64>; 12],
}

/// A dock in another table, with the name of a captain.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Docks", kind = "dock")]
#[key(partition = "{port}", row = "dock_{id:04}")]
#[index(by_captain, partition = "captains", row = "{fleet}_{captain_id:04}_{port}_{id:04}", copy = keys, atomic)]
pub(crate) struct Dock {
    port: String,
    pub(crate) id: u32,
    pub(crate) fleet: String,
    captain_id: u32,
    #[copy_of(Captain, key(fleet, captain_id), atomic)]
    pub(crate) captain: Option<Named>,
}

/// The tables of the fleet.
pub(super) const TABLES: [&str; 3] = ["Docks", "Fleet", "Ranks"];
const FLEETS: [&str; 2] = ["blue", "red"];
const CAPTAINS: u32 = 6;
const VESSELS: u32 = 9;

pub(crate) fn captain(fleet: &str, id: u32) -> Captain {
    let (name, wage) = (format!("{fleet} captain {id}"), 1_000 + i64::from(id));
    Captain { fleet: fleet.into(), id, name, rank: u8::try_from(id % 3).unwrap_or_default(), wage }
}

fn named(fleet: &str, id: Option<u32>) -> Option<Named> {
    id.filter(|id| *id < CAPTAINS).map(|id| Named { name: captain(fleet, id).name })
}

/// Some have no captain, and some one that there is not.
pub(crate) fn vessel(fleet: &str, number: u32) -> Vessel {
    let captain_id = (!number.is_multiple_of(4)).then_some(number);
    let other = FLEETS.into_iter().find(|other| *other != fleet).unwrap_or_default();
    let mut cargo = [None; 12];
    cargo.iter_mut().zip(1..).step_by(2).for_each(|(slot, month)| *slot = Some(month * i64::from(number)));
    let captain = named(fleet, captain_id);
    let mate = Some(Ref::to(&self::captain(other, number % CAPTAINS)));
    Vessel { fleet: fleet.into(), number, captain_id, captain, mate, cargo }
}

fn dock(id: u32) -> Dock {
    let fleet = if id.is_multiple_of(2) { "blue" } else { "red" };
    Dock { port: "Kiel".into(), id, fleet: fleet.into(), captain_id: id, captain: named(fleet, Some(id)) }
}

fn of_each<T>(many: u32, one: impl Fn(&str, u32) -> T) -> Vec<T> {
    FLEETS
        .into_iter()
        .flat_map(|fleet| (0..many).map(move |id| (fleet, id)))
        .map(|(fleet, id)| one(fleet, id))
        .collect()
}

fn wages(fleet: &str) -> Wages {
    let paid = (0..CAPTAINS).map(|id| captain(fleet, id).wage).sum();
    Wages { fleet: fleet.into(), captains: u64::from(CAPTAINS), paid }
}

fn ranks() -> Vec<Rank> {
    let mut ranks = BTreeMap::<u8, u64>::new();
    of_each(CAPTAINS, captain).iter().for_each(|captain| *ranks.entry(captain.rank).or_default() += 1);
    ranks.into_iter().map(|(rank, captains)| Rank { rank, captains }).collect()
}

pub(super) fn build(store: &Store) -> Result<()> {
    let (captains, vessels, docks) =
        (store.table::<Captain>()?, store.table::<Vessel>()?, store.table::<Dock>()?);
    // The vessels come first, so that their captains fill the copies.
    for vessel in of_each(VESSELS, vessel) {
        vessels.insert(&Vessel { captain: None, ..vessel })?;
    }
    for id in 0..CAPTAINS + 1 {
        docks.insert(&Dock { captain: None, ..dock(id) })?;
    }
    for right in of_each(CAPTAINS, captain) {
        captains.insert(&Captain { name: "before".into(), wage: 1, rank: 9, ..right.clone() })?;
        captains.put(&right)?;
    }
    Ok(())
}

/// Reads all of it in every way.
pub(super) fn compare(store: &Store, findings: &mut Findings) {
    compare_captains(store, findings).unwrap_or_else(|error| findings.error(&error));
    compare_holders(store, findings).unwrap_or_else(|error| findings.error(&error));
}

fn compare_captains(store: &Store, findings: &mut Findings) -> Result<()> {
    let (captains, wages_of, ranks_of) =
        (store.table::<Captain>()?, store.table::<Wages>()?, store.table::<Rank>()?);
    let expected = of_each(CAPTAINS, captain);
    for captain in &expected {
        one(findings, captains.get(Key::of(captain)).map(|found| found.map(Stored::into_inner)), captain);
    }
    all(findings, captains.rows().across_partitions(), &expected.iter().collect::<Vec<_>>());
    for fleet in FLEETS {
        let found = wages_of.get(Wages::key(fleet)).map(|found| found.map(Stored::into_inner));
        one(findings, found, &wages(fleet));
    }
    let ranks = ranks();
    for rank in &ranks {
        one(findings, ranks_of.get(Key::of(rank)).map(|found| found.map(Stored::into_inner)), rank);
    }
    all(findings, ranks_of.all(), &ranks.iter().collect::<Vec<_>>());
    Ok(())
}

fn compare_holders(store: &Store, findings: &mut Findings) -> Result<()> {
    let (captains, vessels, docks) =
        (store.table::<Captain>()?, store.table::<Vessel>()?, store.table::<Dock>()?);
    let expected = of_each(VESSELS, vessel);
    for vessel in &expected {
        one(findings, vessels.get(Key::of(vessel)).map(|found| found.map(Stored::into_inner)), vessel);
        if let Some(mate) = &vessel.mate {
            let other = FLEETS.into_iter().find(|other| *other != vessel.fleet).unwrap_or_default();
            let found = captains.get(mate).map(|found| found.map(Stored::into_inner));
            one(findings, found, &captain(other, vessel.number % CAPTAINS));
        }
        if let Some(id) = vessel.captain_id {
            let rows = vessels.by_captain().fleet(&*vessel.fleet).captain_id(id).entities();
            all(findings, rows, &[vessel]);
        }
    }
    all(findings, vessels.rows().across_partitions(), &expected.iter().collect::<Vec<_>>());
    // What a slot says.
    let rows = vessels.rows().across_partitions().filter(|vessel| vessel.cargo.at(2).ge(15)).into_iter();
    let full: Vec<_> = expected.iter().filter(|vessel| vessel.cargo[2] >= Some(15)).collect();
    all(findings, rows, &full);
    let expected: Vec<_> = (0..CAPTAINS + 1).map(dock).collect();
    for dock in &expected {
        let rows = docks.by_captain().fleet(&*dock.fleet).captain_id(dock.captain_id).entities();
        all(findings, rows, &[dock]);
    }
    all(findings, docks.all(), &expected.iter().collect::<Vec<_>>());
    Ok(())
}

/// Goes on with it: what comes of it is right, or an error.
pub(super) fn go_on(store: &Store, findings: &mut Findings) {
    match change(store, findings) {
        Ok(None) => {}
        Ok(Some(text)) => findings.wrong(|| text),
        Err(error) => findings.error(&error),
    }
}

fn change(store: &Store, findings: &mut Findings) -> Result<Option<String>> {
    let (captains, vessels, docks) =
        (store.table::<Captain>()?, store.table::<Vessel>()?, store.table::<Dock>()?);
    for again in [captain("blue", 1), captain("red", 5)] {
        refused(findings, captains.insert(&again).map(drop), ErrorKind::EntityAlreadyExists, || {
            format!("a second {again:?}")
        });
    }
    let months = [0, 1].map(|month| vessel("red", 5).cargo[month].unwrap_or_default() + 7);
    vessels.add(Vessel::key("red", 5), Vessel::add().cargo(0, 7).cargo(1, 7))?;
    let found = vessels.get(Vessel::key("red", 5))?.map(|vessel| [vessel.cargo[0], vessel.cargo[1]]);
    if found != Some(months.map(Some)) {
        return Ok(Some(format!("{found:?} in place of {months:?}")));
    }
    // Who holds the name is found, or the change is an error.
    captains
        .update(Captain::key("red", 3), |captain| (captain.name, captain.wage) = ("new".into(), 5_000))?;
    captains.delete(Captain::key("red", 5))?;
    let name = |found: Option<Named>| found.map(|named| named.name);
    let held = [
        vessels.get(Vessel::key("red", 3))?.map(|vessel| name(vessel.captain.clone())),
        docks.get(Dock::key("Kiel", 3))?.map(|dock| name(dock.captain.clone())),
        vessels.get(Vessel::key("red", 5))?.map(|vessel| name(vessel.captain.clone())),
        docks.get(Dock::key("Kiel", 5))?.map(|dock| name(dock.captain.clone())),
    ];
    let new = Some(Some("new".to_owned()));
    if held != [new.clone(), new, Some(None), Some(None)] {
        return Ok(Some(format!("{held:?} after a captain was renamed and one deleted")));
    }
    let before = wages("red");
    let paid = before.paid - captain("red", 3).wage + 5_000 - captain("red", 5).wage;
    let found = store.table::<Wages>()?.get(Wages::key("red"))?.map(|wages| (wages.captains, wages.paid));
    if found != Some((before.captains - 1, paid)) {
        return Ok(Some(format!("{found:?} in place of {paid}")));
    }
    let rank = captain("red", 5).rank;
    let many = ranks().into_iter().find(|found| found.rank == rank).map(|found| found.captains - 1);
    let found = store.table::<Rank>()?.get(Rank::key(rank))?.map(|rank| rank.captains);
    Ok((found != many).then(|| format!("{found:?} captains of a rank in place of {many:?}")))
}
