//! Guide, the prepend/append anti-pattern: a log whose key is the time writes all day to one end of one partition. The
//! compiler refuses a partition of time alone; the better key spreads the writers and still gives the newest first.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, stdout};
use table_core::query::QueryClass;
use table_core::{Entity, Query, Store, Ticks};

/// The log as one would write it down first. Without `allow(hot_partition)` it does not compile: "all that is written at
/// one time goes to one partition".
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "HotLog", kind = "event", allow(hot_partition))]
#[key(partition = "{at:%Y%m%d}", row = "{at:ticks}_{sequence:06}")]
struct HotEvent {
    at: Ticks,
    sequence: u32,
    text: String,
}

/// An event of a log that lies in four shards by source. Within a shard the newest come first; one source is in one shard.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Log", kind = "event")]
#[key(partition = "log_{source:shard(4)}", row = "{at:inverted}_{source:escaped}!{sequence:06}")]
struct Event {
    source: String,
    at: Ticks,
    sequence: u32,
    text: String,
}

fn partitions(table: &table_core::DynamicTable) -> table_core::Result<Vec<(String, usize)>> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for row in table.query(&Query::new())? {
        let row = row?;
        match counts.last_mut() {
            Some((partition, count)) if partition == row.partition_key() => *count += 1,
            _ => counts.push((row.partition_key().to_owned(), 1)),
        }
    }
    Ok(counts)
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("prepend_append");
    let store = Store::open(scratch.path())?;
    let (hot, log) = (store.table::<HotEvent>()?, store.table::<Event>()?);
    let mut out = stdout();

    let start: Ticks = "2026-03-01T08:00:00Z".parse()?;
    for sequence in 0..60 {
        let at =
            start.checked_add(std::time::Duration::from_secs(u64::from(sequence) * 60)).ok_or("in range")?;
        let (source, text) = (format!("web-{:02}", sequence % 24), format!("request {sequence}"));
        hot.insert(&HotEvent { at, sequence, text: text.clone() })?;
        log.insert(&Event { source, at, sequence, text })?;
    }

    writeln!(out, "By the day, every writer of the day meets in one partition:\n")?;
    for (partition, count) in partitions(hot.dynamic())? {
        writeln!(out, "  {partition}: {count} rows")?;
    }
    assert_eq!(partitions(hot.dynamic())?.len(), 1);

    writeln!(out, "\nBy a shard of the source, they are spread:\n")?;
    for (partition, count) in partitions(log.dynamic())? {
        writeln!(out, "  {partition}: {count} rows")?;
    }
    assert_eq!(partitions(log.dynamic())?.len(), 4);

    writeln!(out, "\nThe newest of all sources: the ends of four partitions, merged.\n")?;
    let newest = log.rows().all_shards().latest(3);
    writeln!(out, "  {}\n", newest.explain()?)?;
    assert_eq!(newest.explain()?.ranges(), 4);
    let newest: Vec<_> = newest.into_iter().collect::<Result<_, _>>()?;
    for event in &newest {
        writeln!(out, "  {}  {}  {}", event.at, event.source, event.text)?;
    }
    assert_eq!(newest.iter().map(|event| event.sequence).collect::<Vec<_>>(), [59, 58, 57]);

    writeln!(out, "\nOne source since nine: a range of one partition, its own shard.\n")?;
    let nine: Ticks = "2026-03-01T09:00:00Z".parse()?;
    let query = log.rows().source("web-05").at(..nine);
    writeln!(out, "  {}\n", query.explain()?)?;
    assert_eq!(query.explain()?.class(), QueryClass::Range);
    let before: Vec<_> =
        query.into_iter().map(|event| event.map(|event| event.sequence)).collect::<Result<_, _>>()?;
    writeln!(out, "  requests before nine: {before:?}")?;
    assert_eq!(before, [53, 29, 5]);
    Ok(())
}
