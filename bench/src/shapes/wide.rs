//! A year of days in a head and a part, beside half of it in one row.

use std::hint::black_box;

use table_core::{Entity, IfMatch, Projection, Store};

use super::{ENTITIES, in_turn};
use crate::profile::profiled;
use crate::{Arguments, Result};

#[derive(Entity, Clone)]
#[entity(table = "Years", kind = "year", wide)]
#[key(partition = "{place}", row = "year_{number:06}")]
struct Year {
    place: String,
    number: u32,
    #[series]
    first: [Option<f64>; 182],
    #[part]
    #[series]
    second: [Option<f64>; 183],
}

#[derive(Projection)]
#[projection(of = Year)]
struct InHead {
    #[series(of = first, slot = 100)]
    day: Option<f64>,
}

#[derive(Projection)]
#[projection(of = Year)]
struct InPart {
    #[series(of = second, slot = 100)]
    day: Option<f64>,
}

/// As many days as the head has.
#[derive(Entity, Clone)]
#[entity(table = "Halves", kind = "half")]
#[key(partition = "{place}", row = "half_{number:06}")]
struct Half {
    place: String,
    number: u32,
    #[series]
    first: [Option<f64>; 182],
}

fn days<const N: usize>() -> [Option<f64>; N] {
    let mut day = 0.0;
    std::array::from_fn(|_| {
        day += 0.125;
        Some(day)
    })
}

struct Both {
    years: table_core::Table<Year>,
    halves: table_core::Table<Half>,
}

impl Both {
    fn new(store: &Store) -> Result<Self> {
        let both = Self { years: store.table()?, halves: store.table()? };
        let place = || "Oslo".to_owned();
        let year = |number| Year { place: place(), number, first: days(), second: days() };
        both.years.bulk_insert((0..ENTITIES).map(year))?.into_result()?;
        both.halves
            .bulk_insert((0..ENTITIES).map(|number| Half { place: place(), number, first: days() }))?
            .into_result()?;
        Ok(both)
    }

    fn patch_head(&self, at: u32) -> Result<()> {
        let patch = Year::patch().first(7, Some(f64::from(at)));
        self.years.merge(Year::key("Oslo", at % ENTITIES), patch, IfMatch::Any)?;
        Ok(())
    }

    fn patch_part(&self, at: u32) -> Result<()> {
        let patch = Year::patch().second(7, Some(f64::from(at)));
        self.years.merge(Year::key("Oslo", at % ENTITIES), patch, IfMatch::Any)?;
        Ok(())
    }

    fn patch_half(&self, at: u32) -> Result<()> {
        let patch = Half::patch().first(7, Some(f64::from(at)));
        self.halves.merge(Half::key("Oslo", at % ENTITIES), patch, IfMatch::Any)?;
        Ok(())
    }
}

/// What was read must be there.
fn there<T>(found: Option<T>) -> Result<()> {
    black_box(found).map(drop).ok_or_else(|| "an entity or a day is missing".into())
}

pub(super) fn run(store: &Store) -> Result<()> {
    let both = Both::new(store)?;
    let Both { years, halves } = &both;
    let year = |at: u32| Year::key("Oslo", at % ENTITIES);
    let [whole, in_head, in_part, half] = in_turn(
        1_000,
        [
            &mut |at| there(years.get(year(at))?),
            &mut |at| there(years.get_as::<InHead>(year(at))?.and_then(|head| head.day)),
            &mut |at| there(years.get_as::<InPart>(year(at))?.and_then(|part| part.day)),
            &mut |at| there(halves.get(Half::key("Oslo", at % ENTITIES))?),
        ],
    )?;
    let [patched_head, patched_part, patched_half] = in_turn(
        300,
        [&mut |at| both.patch_head(at), &mut |at| both.patch_part(at), &mut |at| both.patch_half(at)],
    )?;
    let [scanned, scanned_halves] = in_turn(
        1,
        [
            &mut |_| {
                for year in years.all() {
                    black_box(year?);
                }
                Ok(())
            },
            &mut |_| {
                for half in halves.all() {
                    black_box(half?);
                }
                Ok(())
            },
        ],
    )?;
    println!("\n| µs | 365 days in two rows | 182 days in one row |\n| --- | ---: | ---: |");
    println!("| get | {whole:.1} | {half:.1} |");
    println!("| get of a day in the head, in the part | {in_head:.1}, {in_part:.1} | |");
    println!(
        "| patch of a day in the head, in the part | {patched_head:.1}, {patched_part:.1} | {patched_half:.1} |"
    );
    println!("| scan of a thousand | {scanned:.0} | {scanned_halves:.0} |");
    Ok(())
}

/// One operation alone.
pub(super) fn profile(store: &Store, arguments: &Arguments) -> Result<()> {
    let both = Both::new(store)?;
    let one = match arguments.op.as_str() {
        "patch-head" => Both::patch_head,
        "patch-part" => Both::patch_part,
        "patch-half" => Both::patch_half,
        other => return Err(format!("there is no operation `{other}` of that").into()),
    };
    let count = u32::try_from(arguments.count)?;
    profiled(|| (0..count).try_for_each(|at| one(&both, at)).map(|()| 0))?;
    println!("{}: {count} operations", arguments.op);
    Ok(())
}
