//! Entities with a table for each day in the store that is damaged: days that are there, and the floor below which days
//! are dropped for good.

use table_core::{Entity, ErrorKind, Key, Result, Store, Stored, Ticks};

use super::Findings;
use super::people::{all, compare as compare_all, one};
use super::writes::refused;

/// How high the water was.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Tides{at:%Y%m%d}", kind = "tide")]
#[key(partition = "{port}", row = "at_{at:ticks}")]
#[index(by_height, row = "height_{height:03}_{at:ticks}", copy = keys)]
pub(crate) struct Tide {
    pub(crate) port: String,
    pub(crate) at: Ticks,
    height: u16,
    #[encrypt]
    note: String,
}

/// What the names of the tables begin with.
pub(super) const TABLES: &str = "Tides";
const PORTS: [&str; 2] = ["Brest", "Dover"];
/// The first day that has a table, and the first after the last one.
const FLOOR: u64 = 12;
const END: u64 = 16;
const EACH: u64 = 4;

pub(crate) fn day(number: u64) -> Ticks {
    Ticks::new(Ticks::UNIX_EPOCH.get() + number * 24 * 36_000_000_000).unwrap_or(Ticks::MAX)
}

pub(crate) fn tide(port: &str, number: u64, hour: u64) -> Tide {
    let at = Ticks::new(day(number).get() + hour * 36_000_000_000).unwrap_or(Ticks::MAX);
    let height = u16::try_from(number * 7 % 5 + hour).unwrap_or_default();
    Tide { port: port.into(), at, height, note: format!("note of {number} at {hour}") }
}

/// The tides of some days, in order.
fn tides(days: std::ops::Range<u64>) -> Vec<Tide> {
    let of = |port| days.clone().flat_map(move |day| (0..EACH).map(move |hour| tide(port, day, hour)));
    PORTS.into_iter().flat_map(of).collect()
}

pub(super) fn build(store: &Store) -> Result<()> {
    let table = store.periods::<Tide>()?;
    for tide in tides(FLOOR - 3..END) {
        table.insert(&Tide { note: "before".into(), ..tide.clone() })?;
        table.put(&tide)?;
    }
    table.drop_before(day(FLOOR)).map(drop)
}

/// Reads all of it in every way.
pub(super) fn compare(store: &Store, findings: &mut Findings) {
    let table = match store.periods::<Tide>() {
        Ok(table) => table,
        Err(error) => return findings.error(&error),
    };
    match table.floor() {
        Ok(floor) if floor == day(FLOOR) => {}
        Ok(floor) => findings.wrong(|| format!("the floor is {floor}")),
        Err(error) => findings.error(&error),
    }
    match table.list().map(|list| list.into_iter().map(|period| period.start).collect::<Vec<_>>()) {
        Ok(days) if days == (FLOOR..END).map(day).collect::<Vec<_>>() => {}
        Ok(days) => findings.missed(|| format!("the days are {days:?}")),
        Err(error) => findings.error(&error),
    }
    let expected = tides(FLOOR..END);
    for tide in &expected {
        one(findings, table.get(Key::of(tide)).map(|found| found.map(Stored::into_inner)), tide);
        let by_height = table.get(Tide::by_height(&tide.port, tide.height, tide.at));
        one(findings, by_height.map(|found| found.map(|found| found.at)), &tide.at);
    }
    for tide in tides(FLOOR - 2..FLOOR) {
        match table.get(Key::of(&tide)) {
            Ok(None) => {}
            Ok(Some(found)) => findings.wrong(|| format!("{found:?} of a day that was dropped")),
            Err(error) => findings.error(&error),
        }
    }
    all(findings, table.all_periods().all(), &expected.iter().collect::<Vec<_>>());
    for number in FLOOR..END {
        match table.during(day(number)..day(number + 1)) {
            Ok(span) => all(findings, span.all(), &tides(number..number + 1).iter().collect::<Vec<_>>()),
            Err(error) => findings.error(&error),
        }
    }
    for port in PORTS {
        let mut expected: Vec<_> = expected.iter().filter(|tide| tide.port == port).collect();
        expected.sort_by_key(|tide| (tide.height, tide.at));
        let rows = table.all_periods().by_height().port(port).into_iter();
        compare_all(findings, rows.map(|row| row.map(|row| row.at)), expected.iter().map(|tide| &tide.at));
    }
}

/// Goes on with it: what comes of it is right, or an error.
pub(super) fn go_on(store: &Store, findings: &mut Findings) {
    let table = match store.periods::<Tide>() {
        Ok(table) => table,
        Err(error) => return findings.error(&error),
    };
    let late = tide("Brest", FLOOR - 1, 9);
    refused(findings, table.insert(&late).map(drop), ErrorKind::PeriodDropped, || format!("late {late:?}"));
    // The name is taken, also that of a day that has no table.
    let made = store.create_table("Tides20380119").map(drop);
    refused(findings, made, ErrorKind::InvalidTableName, || "a table of a day by its name".into());
    for number in FLOOR..END {
        let again = tide("Dover", number, 2);
        refused(findings, table.insert(&again).map(drop), ErrorKind::EntityAlreadyExists, || {
            format!("a second {again:?}")
        });
    }
    let go_on = || {
        let new = [tide("Brest", END - 1, 9), tide("Brest", END + 3, 1)];
        for tide in &new {
            table.insert(tide)?;
            let found = table.get(Key::of(tide))?;
            if found.as_deref() != Some(tide) {
                return Ok(Some(format!("{found:?} in place of {tide:?}")));
            }
        }
        let dropped = table.drop_before(day(FLOOR + 2))?;
        let left = table.list()?;
        if dropped.tables != 2 || table.floor()? != day(FLOOR + 2) || left.len() != 3 {
            return Ok(Some(format!("{dropped:?} were dropped, {left:?} are left")));
        }
        let found = table.all_periods().all().count()?;
        let expected = tides(FLOOR + 2..END).len() + new.len();
        Ok((found != expected as u64).then(|| format!("{found} tides are left of {expected}")))
    };
    match go_on() {
        Ok(None) => {}
        Ok(Some(text)) => findings.wrong(|| text),
        Err(error) => findings.error(&error),
    }
    let late = tide("Brest", FLOOR, 9);
    match table.insert(&late) {
        // Where nothing could be dropped it is none that comes late.
        Ok(_) if findings.errors > 0 => {}
        done => refused(findings, done.map(drop), ErrorKind::PeriodDropped, || format!("late {late:?}")),
    }
}
