//! What a query over many periods takes whose rows are merged. Run by hand:
//!
//! `cargo test --release -p integration-tests --test it -- periods::figures --ignored --nocapture`

use std::time::Instant;

use table_core::{Durability, Entity, Store, Ticks};

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

/// Pages of memory that the process has.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default()
}

#[test]
#[ignore = "it measures, and shows nothing"]
fn of_a_heap_of_tables() {
    for tables in [10_u64, 100, 365, 1_000, 2_000, 10_000] {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::options().durability(Durability::Relaxed).open(dir.path().join("store")).unwrap();
        let seen = store.periods::<Seen>().unwrap();
        let first = "2014-01-01".parse::<Ticks>().unwrap().get();
        let of = |hour: u64, number| Seen {
            site: "docs".into(),
            number,
            at: Ticks::new(first + hour * HOUR + u64::from(number)).unwrap(),
        };
        for hour in 0..tables {
            let report = seen.bulk_insert((0..ROWS).map(|number| of(hour, number))).unwrap();
            assert_eq!(report.committed, u64::from(ROWS));
        }
        // The tables are opened, and the pages are in memory.
        assert_eq!(seen.all_periods().all().count().unwrap(), tables * u64::from(ROWS));
        let (before, begun) = (resident(), Instant::now());
        let mut rows = seen.all_periods().rows().site("docs").into_iter();
        rows.next().unwrap().unwrap();
        let (first, held) = (begun.elapsed(), resident().saturating_sub(before) * 4);
        let begun = Instant::now();
        let rest = u64::try_from(rows.inspect(|row| assert!(row.is_ok())).count()).unwrap();
        assert_eq!(rest + 1, tables * u64::from(ROWS));
        let each = begun.elapsed().as_nanos() / u128::from(rest);
        println!("{tables} tables: the first row after {first:?}, {held} KiB more; each further {each} ns");
    }
}
