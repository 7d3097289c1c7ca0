//! The guide's wide entities: the days of a year are more than one row holds, so a year is several rows that are read and
//! changed as one.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, ErrorKind, IfMatch, Projection, Query, Store, Stored};

/// A year at a weather station: two halves of days, and what the year came to.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
#[index(by_hottest, row = "hottest_{hottest:02}_{year:04}", copy(rain))]
struct Year {
    station: String,
    year: u32,
    hottest: u8,
    rain: Option<f64>,
    #[series]
    first: [Option<f64>; 182],
    #[part]
    #[series]
    second: [Option<f64>; 183],
    #[property(default)]
    remark: String,
}

/// What stands in the part alone.
#[derive(Projection, Debug)]
#[projection(of = Year)]
struct LastDay {
    #[series(of = second, slot = 182)]
    temperature: Option<f64>,
}

fn year(year: u32, hottest: u8) -> Year {
    let day = |at: usize| Some(f64::from(hottest) - 20.0 * (at as f64 / 182.0 - 1.0).abs());
    Year {
        station: "Oslo".into(),
        year,
        hottest,
        rain: Some(763.0),
        first: std::array::from_fn(day),
        second: std::array::from_fn(|at| day(182 + at)),
        remark: String::new(),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("wide_entity");
    let store = Store::open(scratch.path())?;
    let years = store.table::<Year>()?;
    let mut out = stdout();

    writeln!(out, "What the struct declares:\n\n{}\n", Year::SCHEMA)?;
    for (number, hottest) in [(2013, 29), (2014, 34)] {
        years.insert(&year(number, hottest))?;
    }
    writeln!(out, "Two years, each a head and a part, of which a query reads a few days:\n")?;
    let days = ["EntityType", "EntityParts", "Hottest", "First_000", "First_181", "Second_000", "Second_182"];
    draw(&mut out, years.dynamic(), &Query::new().select(days))?;

    writeln!(out, "\nA year is read whole:\n")?;
    let key = || Year::key("Oslo", 2014);
    let read = years.get(key())?.ok_or("it is there")?;
    let all = read.first.iter().chain(&read.second).flatten();
    writeln!(out, "  {} days, {:.1} degrees on average", all.clone().count(), all.sum::<f64>() / 365.0)?;
    assert_eq!(*read, year(2014, 34));

    writeln!(
        out,
        "\nA day of the second half is corrected. It is written with the head, whose version is the year's:\n"
    )?;
    let correct = |at: usize, degrees: f64| Year::patch().second(at, Some(degrees));
    let explain =
        years.egt(Year::partition("Oslo")).merge(key(), correct(0, 34.5), IfMatch::Any).explain()?;
    writeln!(out, "{explain}")?;
    let corrected = years.merge(key(), correct(0, 34.5), Stored::etag(&read))?;
    assert_eq!(corrected.second[0], Some(34.5));
    let stale = years.merge(key(), correct(1, 34.0), Stored::etag(&read)).unwrap_err();
    writeln!(out, "\n  {stale}")?;
    assert_eq!(stale.kind(), ErrorKind::ConditionNotMet);

    writeln!(out, "\nFilters ask heads and parts. Heads are scanned, parts are read by their keys:\n")?;
    let query = || years.rows().station("Oslo").filter(|y| y.second.at(0).gt(30.0));
    writeln!(out, "  {}", query().explain()?)?;
    assert_eq!(query().count()?, 1);
    for last in query().select::<LastDay>() {
        writeln!(out, "  the last day had {:.1} degrees", last?.temperature.unwrap_or_default())?;
    }

    writeln!(out, "\nAn index leads to the whole of it:\n")?;
    let hottest =
        years.by_hottest().station("Oslo").hottest(30..).entities().first()?.ok_or("it is there")?;
    writeln!(out, "  {} in {}", hottest.hottest, hottest.year)?;
    assert_eq!((hottest.year, hottest.second[0]), (2014, Some(34.5)));

    writeln!(out, "\nA year without its part is an error, and never half a year:\n")?;
    years.dynamic().raw().delete("Oslo", "year_2013_01")?;
    let damaged = years.get(Year::key("Oslo", 2013)).unwrap_err();
    writeln!(out, "  {damaged}")?;
    assert_eq!(damaged.kind(), ErrorKind::Corrupt);
    writeln!(out, "  {}", years.check()?)?;
    years.put(&year(2013, 29))?;
    assert!(years.check()?.is_sound());

    years.delete(key())?;
    assert_eq!(years.dynamic().query(&Query::new())?.count(), 3);
    writeln!(out, "\nDeleted, it leaves no row. The other one is a head, a part and a copy.")?;
    Ok(())
}
