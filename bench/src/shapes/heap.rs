//! What a query over many periods takes whose rows are merged, and what it takes to open so many tables.

use std::time::Instant;

use table_core::{Durability, Entity, Store, Ticks};

use crate::Result;
use crate::measure::{count_of, nanoseconds};
use crate::place::Place;

/// The time comes last in the key, so that the rows of all tables lie among each other.
#[derive(Entity)]
#[entity(table = "Seen{at:%Y%m%d%H}", kind = "seen")]
#[key(partition = "{site}", row = "seen_{number:06}_{at:ticks}")]
struct Seen {
    site: String,
    number: u32,
    at: Ticks,
}

const HOUR: u64 = 36_000_000_000;
/// Rows of each table.
const ROWS: u32 = 20;
const TABLES: [u64; 6] = [10, 100, 365, 1_000, 2_000, 10_000];

/// KiB of memory that the process has, without what it sees of files.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib =
        line.and_then(|line| line.trim().split(' ').next()).ok_or("the process's memory is not told")?;
    Ok(kib.parse()?)
}

pub(super) fn run(place: &Place) -> Result<()> {
    println!(
        "\n| tables of {ROWS} rows | a table made and filled, µs | the first open of all, ms | its memory, KiB | merged: the first row, ms | KiB more while it is read | a further row, ns |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let first = "2014-01-01".parse::<Ticks>()?.get();
    for tables in TABLES {
        let options = Store::options().durability(Durability::Relaxed).map_size(2 << 30);
        let path = place.join(&format!("heap-{tables}"));
        let store = options.open(&path)?;
        let seen = store.periods::<Seen>()?;
        let begun = Instant::now();
        for hour in 0..tables {
            let of_hour = (0..ROWS).map(|number| {
                let at = Ticks::new(first + hour * HOUR + u64::from(number)).ok_or("beyond the calendar")?;
                Ok(Seen { site: "docs".to_owned(), number, at })
            });
            let report = seen.bulk_insert(of_hour.collect::<Result<Vec<_>>>()?)?;
            if report.committed != u64::from(ROWS) {
                return Err("some were not loaded".into());
            }
        }
        let made = nanoseconds(begun.elapsed()) / 1e3 / count_of(tables);
        drop((seen, store));

        // As another process finds them.
        let store = options.open(&path)?;
        let seen = store.periods::<Seen>()?;
        let (before, begun) = (resident()?, Instant::now());
        if seen.all_periods().all().count()? != tables * u64::from(ROWS) {
            return Err("not all rows were counted".into());
        }
        let opened = nanoseconds(begun.elapsed()) / 1e6;
        let of_tables = resident()?.saturating_sub(before);
        let (before, begun) = (resident()?, Instant::now());
        let mut rows = seen.all_periods().rows().site("docs").into_iter();
        rows.next().ok_or("there is no row")??;
        let first_row = nanoseconds(begun.elapsed()) / 1e6;
        let held = resident()?.saturating_sub(before);
        let begun = Instant::now();
        let mut further = 0;
        for row in rows {
            row?;
            further += 1;
        }
        if further + 1 != tables * u64::from(ROWS) {
            return Err("not all rows were read".into());
        }
        let each = nanoseconds(begun.elapsed()) / count_of(further);
        println!(
            "| {tables} | {made:.0} | {opened:.1} | {of_tables} | {first_row:.2} | {held} | {each:.0} |"
        );
        drop((seen, store));
        std::fs::remove_dir_all(&path)?;
    }
    Ok(())
}
