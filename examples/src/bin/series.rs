//! The guide's data series: the load of a machine hour by hour, a day in one row. One request reads a day, and a patch changes
//! an hour of it.

use std::error::Error;
use std::io::Write;
use std::thread;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, ErrorKind, IfMatch, Projection, Query, Store};

/// A machine's day: a property for each hour.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day}")]
struct Day {
    host: String,
    day: String,
    #[series]
    cpu: [Option<f64>; 24],
    #[series]
    #[property(default)]
    requests: [i64; 24],
}

/// The hours that people work in, and noon.
#[derive(Projection, Debug)]
#[projection(of = Day)]
struct Office {
    day: String,
    #[series(of = cpu, slot = 12)]
    noon: Option<f64>,
    #[series(of = cpu, from = 9)]
    office: [Option<f64>; 8],
}

fn day(number: usize) -> Day {
    // Of the last day the first hours are known.
    let known = if number == 4 { 14 } else { 24 };
    let load = |hour: usize| 0.05 * (number as f64) + if (9..17).contains(&hour) { 0.5 } else { 0.1 };
    let cpu = std::array::from_fn(|hour| (hour < known).then(|| load(hour)));
    Day { host: "web1".into(), day: format!("2014-07-0{number}"), cpu, requests: [0; 24] }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("series");
    let store = Store::open(scratch.path())?;
    let days = store.table::<Day>()?;
    let mut out = stdout();

    writeln!(out, "What the struct declares:\n\n{}\n", Day::SCHEMA)?;
    for number in 1..=4 {
        days.insert(&day(number))?;
    }
    writeln!(out, "Four days, of which a query reads a few hours:\n")?;
    let hours = ["Cpu_08", "Cpu_09", "Cpu_12", "Cpu_16", "Cpu_17"];
    draw(&mut out, days.dynamic(), &Query::new().select(hours))?;

    writeln!(out, "\nThe fourteenth hour of today ends. Its slot is set, with two others:\n")?;
    let today = || Day::key("web1", "2014-07-04");
    let patch = Day::patch().cpu(14, Some(0.93)).requests(12..14, vec![310, 270]);
    let patched = days.merge(today(), patch, IfMatch::Any)?;
    writeln!(out, "  hours 13 to 15: {:?}", &patched.cpu[13..16])?;
    assert_eq!(patched.cpu[13..16], [Some(0.7), Some(0.93), None]);
    assert_eq!(patched.requests[11..14], [0, 310, 270]);

    writeln!(out, "\nDays with an office hour above 0.68, and days that were so all through them:\n")?;
    let query = || days.rows().host("web1");
    let above = query().filter(|d| d.cpu.range(9..17).any(|hour| hour.gt(0.68))).count()?;
    let through = query().filter(|d| d.cpu.range(9..17).all(|hour| hour.gt(0.63))).count()?;
    writeln!(out, "  {above}\n  {through}")?;
    assert_eq!((above, through), (1, 1));

    writeln!(out, "\nA projection reads some of the slots:\n")?;
    for office in query().select::<Office>() {
        let Office { day, noon, office } = office?;
        let mean = office.iter().flatten().sum::<f64>() / office.iter().flatten().count() as f64;
        writeln!(out, "  {day}: noon {:.2}, from 9 to 17 {mean:.2}", noon.unwrap_or_default())?;
    }
    let snapshot = store.snapshot()?;
    for view in days.at(&snapshot).rows().host("web1").day("2014-07-02").views() {
        assert_eq!(view?.cpu().at(9)?, Some(0.6));
    }

    writeln!(
        out,
        "\nEight threads count requests of one hour, and none of them begins again for another:\n"
    )?;
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..25).try_for_each(|_| days.add(today(), Day::add().requests(15, 1)).map(drop)));
        }
    });
    let counted = days.get(today())?.ok_or("it is there")?.requests[15];
    writeln!(out, "  {counted} requests")?;
    assert_eq!(counted, 200);

    writeln!(out, "\nThere are 24 hours:\n")?;
    let refused = days.merge(today(), Day::patch().cpu(24, Some(0.5)), IfMatch::Any).unwrap_err();
    writeln!(out, "  {refused}")?;
    assert_eq!(refused.kind(), ErrorKind::ValueOutOfRange);
    Ok(())
}
