//! What else goes by the keys: signed entities with sealed fields in tables for periods, and entities with sealed
//! fields whose copies follow.

use table_core::typed::Propagation;
use table_core::{Entity, ErrorKind, Result, Store, Ticks};

use super::Found;

#[derive(Entity, Clone, PartialEq)]
#[entity(table = "Visits{at:%Y%m}", kind = "visit", signed)]
#[key(partition = "{patient}", row = "at_{at:ticks}")]
#[index(by_room, row = "room_{room:04}_{at:ticks}")]
struct Visit {
    patient: String,
    at: Ticks,
    room: u16,
    #[encrypt]
    finding: String,
}

fn month(month: u32) -> Ticks {
    format!("2014-{month:02}-15").parse().unwrap()
}

fn visit(of: u32) -> Visit {
    Visit { patient: "ann".into(), at: month(of), room: 7, finding: format!("finding of {of}") }
}

/// The first month that has a table still, and the first after the last one.
const FLOOR: u32 = 3;
const END: u32 = 8;

#[derive(Entity, Clone, PartialEq)]
#[entity(table = "Parcels", kind = "parcel")]
#[key(partition = "{office}", row = "parcel_{id:04}")]
#[index(
    by_sender,
    table = "Senders",
    partition = "{sender}",
    row = "{office}_{id:04}",
    copy = keys,
    eventual
)]
struct Parcel {
    office: String,
    id: u32,
    sender: String,
    #[encrypt]
    content: String,
}

fn parcel(id: u32) -> Parcel {
    let sender = if id.is_multiple_of(2) { "Ann" } else { "Bob" };
    Parcel { office: "east".into(), id, sender: sender.into(), content: format!("content {id}") }
}

/// The number below which entities are propagated; the others are to be.
const SETTLED: u32 = 8;
const PARCELS: u32 = 12;

/// Makes the first of them, which keys seal that are no longer current later on.
pub(super) fn begin(store: &Store) -> Result<()> {
    let visits = store.periods::<Visit>()?;
    for month in 1..END - 2 {
        visits.insert(&visit(month))?;
    }
    let parcels = store.table::<Parcel>()?;
    for id in 0..SETTLED {
        parcels.insert(&parcel(id))?;
    }
    assert!(store.propagate()? == Propagation::Complete);
    Ok(())
}

/// Makes the rest.
pub(super) fn end(store: &Store) -> Result<()> {
    let visits = store.periods::<Visit>()?;
    for month in END - 2..END {
        visits.insert(&visit(month))?;
    }
    visits.drop_before(month(FLOOR))?;
    let parcels = store.table::<Parcel>()?;
    for id in SETTLED..PARCELS {
        parcels.insert(&parcel(id))?;
    }
    assert_eq!(store.pending_propagation()?.entities, u64::from(PARCELS - SETTLED));
    Ok(())
}

pub(super) fn use_all(store: &Store, found: &mut Found) {
    let done = use_visits(store, found);
    found.add("visits", 0, done.map(|()| true));
    let done = use_parcels(store, found);
    found.add("parcels", 0, done.map(|()| true));
}

fn use_visits(store: &Store, found: &mut Found) -> Result<()> {
    let visits = store.periods::<Visit>()?;
    for month in FLOOR..END {
        let visit = visit(month);
        let read = visits.get(Visit::key("ann", visit.at));
        found.add("visit", month, read.map(|read| read.as_deref() == Some(&visit)));
    }
    let rows = visits.all_periods().by_room().patient("ann").room(7).into_iter();
    let rows: Result<Vec<_>> = rows.map(|row| row.map(|row| row.finding.clone())).collect();
    found.add(
        "room",
        7,
        rows.map(|rows| rows.into_iter().eq((FLOOR..END).map(|month| visit(month).finding))),
    );
    let late = match visits.insert(&visit(FLOOR - 1)) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::PeriodDropped => Ok(true),
        Err(error) => Err(error),
    };
    found.add("late", FLOOR - 1, late);
    found.add("new", END, visits.insert(&visit(END)).map(|_| true));
    let dropped = visits.drop_before(month(FLOOR + 1)).map(|dropped| dropped.tables == 1);
    found.add("drop", FLOOR, dropped);
    let last = visits.get(Visit::key("ann", month(END - 1)));
    found.add("last", END - 1, last.map(|read| read.as_deref() == Some(&visit(END - 1))));
    Ok(())
}

fn use_parcels(store: &Store, found: &mut Found) -> Result<()> {
    let parcels = store.table::<Parcel>()?;
    for id in 0..PARCELS {
        let read = parcels.get(Parcel::key("east", id));
        found.add("parcel", id, read.map(|read| read.as_deref() == Some(&parcel(id))));
    }
    let propagated = store.propagate()? == Propagation::Complete;
    // What could not follow says so.
    let left = store.pending_propagation()?.entities;
    found.add("propagated", 0, Ok(propagated == (left == 0)));
    for (sender, first) in [("Ann", 0), ("Bob", 1)] {
        let rows = parcels.by_sender().sender(sender).into_iter();
        let rows: Result<Vec<_>> = rows.map(|row| row.map(|row| row.id)).collect();
        let end = if propagated { PARCELS } else { SETTLED };
        let right = |rows: Vec<u32>| {
            let expected = (first..end).step_by(2).collect::<Vec<_>>();
            // Of those that were to follow some may have done so.
            if propagated { rows == expected } else { rows.starts_with(&expected) }
        };
        found.add("sender", first, rows.map(right));
    }
    Ok(())
}
