//! A span of time bounds the keys wherever the time comes next in them, and finds what a filter would.

use table_core::query::{Explain, QueryClass};
use table_core::typed::Periods;
use table_core::{Entity, Result, Ticks};

use integration_tests::random::Random;

use super::{at, store};

/// The time comes first in the row key, behind shards, and something follows it; and in indexes in each way.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings{at:%Y%m%d}", kind = "reading")]
#[key(partition = "{site}_{sensor:shard(4)}", row = "{at:ticks}_{sensor:06}")]
#[index(by_level, row = "level_{level:03}_{at:inverted}_{sensor:06}", copy = keys)]
#[index(by_minute, row = "minute_{at:%Y-%m-%dT%H:%M}_{sensor:06}_{at:ticks}")]
#[index(by_year, row = "year_{at:%Y}_{at:ticks}_{sensor:06}", copy = keys)]
#[index(by_sensor, row = "sensor_{sensor:06}_{level:03}_{at:ticks}", copy = keys)]
struct Reading {
    site: String,
    sensor: u32,
    at: Ticks,
    level: u32,
}

/// The newest first, over shards.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Lines{at:%Y%m}", kind = "line", allow(hot_partition))]
#[key(partition = "{number:shard(3)}", row = "{at:inverted}_{number:04}")]
struct Line {
    number: u32,
    at: Ticks,
}

/// The partition says the day, and the table the day, too.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Days{at:%Y%m%d}", kind = "day", allow(hot_partition))]
#[key(partition = "{at:%Y%m%d}", row = "{at:ticks}")]
struct Day {
    at: Ticks,
}

/// The partition says the day, behind something else, and the table the month.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Visits{at:%Y%m}", kind = "visit")]
#[key(partition = "{room:03}_{at:%Y-%m-%d}", row = "{at:ticks}")]
struct Visit {
    room: u32,
    at: Ticks,
}

const BEGIN: &str = "2014-06-29T21:00";

/// A time of some days, on an hour, or a tick beside it.
fn some_time(random: &mut Random) -> Ticks {
    let hour = 36_000_000_000;
    Ticks::new(at(BEGIN).get() + random.below(100) * hour + random.below(3) - 1).unwrap()
}

fn times(random: &mut Random) -> Vec<Ticks> {
    (0..300).map(|_| some_time(random)).collect()
}

fn is_bound(explain: &Explain, class: QueryClass) {
    assert_eq!(explain.class(), class, "{explain}");
    assert!(!explain.to_string().contains("does not come next"), "{explain}");
}

fn sorted<T: Ord>(found: impl IntoIterator<Item = Result<T>>) -> Vec<T> {
    let mut found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    found.sort();
    found
}

fn readings(store: &table_core::Store, random: &mut Random) -> (Periods<Reading>, Vec<Reading>) {
    let readings = store.periods::<Reading>().unwrap();
    let reading = |(number, at): (usize, Ticks)| Reading {
        site: "north".into(),
        sensor: u32::try_from(number % 7).unwrap(),
        at,
        level: u32::try_from(number % 2).unwrap(),
    };
    let mut all: Vec<_> = times(random).into_iter().enumerate().map(reading).collect();
    all.sort_by_key(|reading| (reading.at, reading.sensor));
    all.dedup_by_key(|reading| (reading.at, reading.sensor));
    let report = readings.bulk_insert(&all).unwrap();
    assert!(report.failures.is_empty());
    (readings, all)
}

#[test]
fn a_span_finds_over_shards_and_in_indexes_what_a_filter_would() {
    let (_dir, store) = store();
    let mut random = Random::new(37);
    let (readings, all) = readings(&store, &mut random);
    let snapshot = store.snapshot().unwrap();
    for _ in 0..200 {
        let (from, to) = (some_time(&mut random), some_time(&mut random));
        let within = |reading: &&Reading| reading.at >= from && reading.at < to;
        let wanted: Vec<_> = all.iter().filter(within).map(|reading| (reading.at, reading.sensor)).collect();
        let during = readings.during(from..to).unwrap();
        let keys = |query: Vec<(Ticks, u32)>| assert_eq!(query, wanted, "{from} {to}");
        let north = || during.rows().site("north").all_shards();
        // Merged behind the shard, so by time.
        let found = north().into_iter().map(|found| found.map(|found| (found.at, found.sensor)));
        keys(found.collect::<Result<_>>().unwrap());
        let found = north().rev().into_iter().map(|found| found.map(|found| (found.at, found.sensor)));
        let mut found: Vec<_> = found.collect::<Result<_>>().unwrap();
        found.reverse();
        keys(found);
        assert_eq!(north().count().unwrap(), u64::try_from(wanted.len()).unwrap());
        assert_eq!(north().exists().unwrap(), !wanted.is_empty());
        assert_eq!(during.all().count().unwrap(), u64::try_from(wanted.len()).unwrap());
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = north().page(7, after.as_ref()).unwrap();
            paged.extend(page.entities.iter().map(|found| (found.at, found.sensor)));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        keys(paged);
        let then = readings.at(&snapshot);
        let then = then.during(from..to).unwrap();
        let views = then.rows().site("north").all_shards();
        assert_eq!(views.into_iter().count(), wanted.len());

        // One shard by its number, copies, and what the time stands behind.
        let mut found = Vec::new();
        for shard in 0..4 {
            let some = during.rows().site("north").shard(shard);
            found.extend(some.into_iter().map(|found| found.map(|found| (found.at, found.sensor)).unwrap()));
        }
        found.sort_unstable();
        keys(found);
        let by_level = |level| during.by_level().site("north").all_shards().level(level);
        let by_level = [0, 1].into_iter().flat_map(|level| by_level(level).entities());
        keys(sorted(by_level.map(|found| found.map(|found| (found.at, found.sensor)))));
        let by_minute = during.by_minute().site("north").all_shards();
        keys(sorted(by_minute.into_iter().map(|found| found.map(|found| (found.at, found.sensor)))));
        let by_year = during.by_year().site("north").all_shards().entities();
        keys(sorted(by_year.into_iter().map(|found| found.map(|found| (found.at, found.sensor)))));
        let by_sensor = |sensor| during.by_sensor().site("north").all_shards().sensor(sensor).entities();
        let by_sensor = (0..7).flat_map(by_sensor);
        keys(sorted(by_sensor.map(|found| found.map(|found| (found.at, found.sensor)))));

        // A range of the key itself narrows the span, and one beside it leaves nothing.
        let (low, high) = (some_time(&mut random), some_time(&mut random));
        let narrow =
            north().at(low..=high).into_iter().map(|found| found.map(|found| (found.at, found.sensor)));
        let wanted: Vec<_> = wanted.iter().filter(|(at, _)| *at >= low && *at <= high).copied().collect();
        assert_eq!(narrow.collect::<Result<Vec<_>>>().unwrap(), wanted, "{from} {to} {low} {high}");
    }
}

#[test]
fn explain_says_whether_the_span_bounds_the_keys() {
    let (_dir, store) = store();
    let (readings, _) = readings(&store, &mut Random::new(1));
    let during = readings.during(at("2014-06-30T12:00")..at("2014-07-01T12:00")).unwrap();
    let north = || during.rows().site("north");
    is_bound(&north().all_shards().explain().unwrap(), QueryClass::Range);
    is_bound(&north().shard(1).explain().unwrap(), QueryClass::Range);
    is_bound(&north().all_shards().at(at("2014-07-01")..).explain().unwrap(), QueryClass::Range);
    assert_eq!(
        north().all_shards().explain().unwrap().to_string(),
        "range of \"north_00\", rows from \"0635397264000000000_\" before \"0635398128000000000_\"; \
         filter: EntityType eq 'reading'; in 2 tables, merged; with 3 more ranges like it, merged"
    );
    is_bound(&during.by_level().site("north").all_shards().level(1).explain().unwrap(), QueryClass::Range);
    is_bound(&during.by_minute().site("north").all_shards().explain().unwrap(), QueryClass::Range);
    is_bound(&during.by_year().site("north").all_shards().explain().unwrap(), QueryClass::Range);
    // Something else stands before the time.
    let sensor = during.by_sensor().site("north").all_shards().sensor(3).explain().unwrap();
    assert!(sensor.reasons().contains(&"the time of the span does not come next in the key"), "{sensor}");
    assert!(sensor.filter().unwrap().contains("At ge datetime'2014-06-30T12:00:00Z'"), "{sensor}");
    let all = during.all().explain().unwrap();
    assert!(all.reasons().contains(&"the time of the span does not come next in the key"), "{all}");
    // Whole periods need neither.
    let days = readings.during(at("2014-06-30")..at("2014-07-01")).unwrap();
    let whole = days.by_sensor().site("north").all_shards().sensor(3).explain().unwrap();
    assert_eq!(
        (whole.reasons().len(), whole.filter()),
        (0, Some("EntityType eq 'reading.by_sensor'")),
        "{whole}"
    );
}

#[test]
fn a_span_finds_backwards_over_shards_what_a_filter_would() {
    let (_dir, store) = store();
    let mut random = Random::new(7);
    let lines = store.periods::<Line>().unwrap();
    let mut all: Vec<_> =
        times(&mut random).into_iter().zip(0..).map(|(at, number)| Line { number, at }).collect();
    lines.bulk_insert(&all).unwrap().into_result().unwrap();
    all.sort_by_key(|line| (std::cmp::Reverse(line.at), line.number));
    for _ in 0..200 {
        let (from, to) = (some_time(&mut random), some_time(&mut random));
        let during = lines.during(from..=to).unwrap();
        let found = during.rows().all_shards().into_iter().map(|line| line.unwrap().number);
        let wanted = all.iter().filter(|line| line.at >= from && line.at <= to).map(|line| line.number);
        let wanted: Vec<_> = wanted.collect();
        assert_eq!(found.collect::<Vec<_>>(), wanted, "{from} {to}");
        let newest = during.rows().all_shards().top(5).into_iter().map(|line| line.unwrap().number);
        assert_eq!(newest.collect::<Vec<_>>(), wanted[..wanted.len().min(5)]);
    }
    let during = lines.during(at("2014-06-30T12:00")..at("2014-07-01T12:00")).unwrap();
    is_bound(&during.rows().shard(1).explain().unwrap(), QueryClass::Range);
}

#[test]
fn a_span_bounds_partitions_that_say_the_time() {
    let (_dir, store) = store();
    let mut random = Random::new(3);
    let (days, visits) = (store.periods::<Day>().unwrap(), store.periods::<Visit>().unwrap());
    let mut all = times(&mut random);
    all.sort_unstable();
    all.dedup();
    days.bulk_insert(all.iter().map(|at| Day { at: *at })).unwrap().into_result().unwrap();
    let of_room = |room| all.iter().map(move |at| Visit { room, at: *at });
    visits.bulk_insert((0..3).flat_map(of_room)).unwrap().into_result().unwrap();
    for _ in 0..200 {
        let (from, to) = (some_time(&mut random), some_time(&mut random));
        let wanted: Vec<_> = all.iter().filter(|at| **at >= from && **at < to).copied().collect();
        let during = days.during(from..to).unwrap();
        let found = during.all().into_iter().map(|day| day.unwrap().at);
        assert_eq!(found.collect::<Vec<_>>(), wanted, "{from} {to}");
        let of_rooms = visits.during(from..to).unwrap();
        let room = || of_rooms.rows().room(1).across_partitions();
        let found = room().into_iter().map(|visit| visit.unwrap().at);
        assert_eq!(found.collect::<Vec<_>>(), wanted, "{from} {to}");
        assert_eq!(of_rooms.all().count().unwrap(), 3 * u64::try_from(wanted.len()).unwrap());
        let found = room().rev().into_iter().map(|visit| visit.unwrap().at);
        assert!(found.eq(wanted.iter().rev().copied()));
    }
    let during = visits.during(at("2014-06-30T12:00")..at("2014-07-01T12:00")).unwrap();
    let explain = during.rows().room(1).across_partitions().explain().unwrap();
    assert_eq!(explain.partition(), "from \"001_2014-06-30\" through \"001_2014-07-01\"", "{explain}");
}

#[test]
fn early_times_are_bounds_where_the_key_has_them() {
    let (_dir, store) = store();
    let lines = store.periods::<Line>().unwrap();
    for (number, time) in [(1, "0100-01-01T13:00"), (2, "2014-07-01")] {
        lines.insert(&Line { number, at: at(time) }).unwrap();
    }
    // No property holds a time before 1601, and a key does.
    let lines = |from, to| lines.during(at(from)..at(to)).unwrap().rows().all_shards().count().unwrap();
    assert_eq!(lines("0100-01-01T12:00", "2014-07-02"), 2);
    assert_eq!(lines("0100-01-01T13:00:00.0000001", "2014-07-02"), 1);
    assert_eq!(lines("0100-01-01T12:00", "0200-01-01T12:00"), 1);
    let visits = store.periods::<Visit>().unwrap();
    for time in ["0100-01-01T13:00", "2014-07-01T13:00"] {
        visits.insert(&Visit { room: 1, at: at(time) }).unwrap();
    }
    let visits =
        |from, to| visits.during(at(from)..at(to)).unwrap().rows().room(1).across_partitions().count();
    for (from, to, wanted) in [
        ("0100-01-01T12:00", "2014-07-02", 2),
        ("0100-01-01", "0100-01-01T13:00", 0),
        ("0100-01-01T13:00", "0100-01-01T13:00:00.0000001", 1),
        ("0100-01-01T13:00:00.0000001", "0100-01-02", 0),
    ] {
        assert_eq!(visits(from, to).unwrap(), wanted, "{from} {to}");
    }
}
