//! Guide, pattern 8, high volume delete: a table for each period, so that what is old goes table by table.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, ErrorKind, Query, Store, Ticks};

/// An attempt to log in: those of a day lie in a table of their own, and 90 days are kept.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login", keep = "90 days")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
    address: String,
    succeeded: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("period_tables");
    let store = Store::open(scratch.path())?;
    let logins = store.periods::<Login>()?;
    let mut out = stdout();

    // Four logins a day of two users, for a hundred days, of which the first begins at six.
    let first: Ticks = "2014-05-01T06:00:00Z".parse()?;
    let time = |quarter: u32| first.checked_add(Duration::from_secs(6 * 3_600) * quarter).ok_or("in range");
    let attempts = (0..399).map(|quarter| {
        let user = if quarter % 4 < 2 { "jonesj" } else { "caoj" }.to_owned();
        let address = format!("10.0.0.{}", quarter % 7);
        Ok(Login { user, at: time(quarter)?, address, succeeded: quarter % 9 != 0 })
    });
    let report = logins.bulk_insert(attempts.collect::<Result<Vec<_>, &str>>()?)?;
    assert_eq!(report.committed, 399);

    writeln!(out, "The table of the 31st of July:\n")?;
    let july: Ticks = "2014-07-31".parse()?;
    let day = logins.table_of(july)?.ok_or("it is there")?;
    draw(&mut out, day.dynamic(), &Query::new())?;

    // An entity's key says in which table it lies.
    let found = logins.get(Login::key("jonesj", time(364)?))?.ok_or("it is there")?;
    assert_eq!(
        (found.at, &*found.address),
        (july.checked_add(Duration::from_secs(6 * 3_600)).ok_or("in range")?, "10.0.0.0")
    );

    writeln!(out, "\nFailed attempts of ten days, from eleven tables in one snapshot:\n")?;
    let (from, to): (Ticks, Ticks) = ("2014-07-10T12:00:00Z".parse()?, "2014-07-20T12:00:00Z".parse()?);
    let failed = logins.during(from..to)?;
    let mut found = Vec::new();
    for login in failed.rows().user("jonesj").filter(|login| login.succeeded.eq(false)) {
        let login = login?;
        writeln!(out, "  {}  {}", login.at, login.address)?;
        found.push(login.at);
    }
    assert!(!found.is_empty() && found.is_sorted());
    assert!(found.iter().all(|at| (from..to).contains(at)));

    // Whatever is older than 90 days goes, with one small transaction.
    let before = logins.list()?.len();
    let now: Ticks = "2014-08-08T12:00:00Z".parse()?;
    let dropped = logins.expire(now)?;
    writeln!(
        out,
        "\n{} of {before} tables dropped; the oldest is of {} now.",
        dropped.tables, dropped.floor
    )?;
    assert_eq!((before, dropped.tables, logins.list()?.len()), (100, 9, 91));

    // What was dropped stays dropped: a late entity doesn't bring a table back.
    let late = Login { user: "caoj".into(), at: first, address: "10.0.0.9".into(), succeeded: true };
    let error = logins.insert(&late).err().ok_or("it is refused")?;
    writeln!(out, "\n  {error}")?;
    assert_eq!(error.kind(), ErrorKind::PeriodDropped);
    assert_eq!(logins.all_periods().all().count()?, 91 * 4);
    Ok(())
}
