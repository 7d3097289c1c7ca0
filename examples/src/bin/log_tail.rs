//! Guide, pattern 7: keys that count time backwards, so that the newest entities are the first.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, Query, Store, Ticks};

/// An expense claim of an employee: the newest first, and those of one moment by their number.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Expenses", kind = "claim")]
#[key(partition = "{employee}", row = "{submitted:inverted}_{number:04}")]
struct Claim {
    employee: String,
    submitted: Ticks,
    number: u16,
    cents: i64,
    purpose: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("log_tail");
    let store = Store::open(scratch.path())?;
    let claims = store.table::<Claim>()?;
    let mut out = stdout();

    let first: Ticks = "2014-07-31T18:00:00Z".parse()?;
    for number in 0..10 {
        let submitted =
            first.checked_add(Duration::from_secs(3_600) * u32::from(number)).ok_or("in range")?;
        let purpose = format!("trip {number}");
        claims.insert(&Claim { employee: "jonesj".into(), submitted, number, cents: 9_950, purpose })?;
    }
    draw(&mut out, claims.dynamic(), &Query::new().top(4))?;

    writeln!(out, "\nThe three newest claims:\n")?;
    let newest = claims.rows().employee("jonesj").top(3);
    writeln!(out, "  {}\n", newest.explain()?)?;
    let mut purposes = Vec::new();
    for claim in newest {
        let claim = claim?;
        writeln!(out, "  {}  {}", claim.submitted, claim.purpose)?;
        purposes.push(claim.purpose.clone());
    }
    assert_eq!(purposes, ["trip 9", "trip 8", "trip 7"]);

    writeln!(out, "\nThose of the first three hours, though the keys run backwards:\n")?;
    let until = first.checked_add(Duration::from_secs(2 * 3_600)).ok_or("in range")?;
    let query = claims.rows().employee("jonesj").submitted(first..=until);
    writeln!(out, "  {}\n", query.explain()?)?;
    let found: Result<Vec<_>, _> = query.into_iter().map(|claim| claim.map(|claim| claim.number)).collect();
    assert_eq!(found?, [2, 1, 0]);
    Ok(())
}
