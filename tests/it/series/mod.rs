//! Series: fields of which each slot is a property of its own.

mod add;
mod grown;
mod random;

use integration_tests::executors::snapshot;
use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::{
    DynamicEntity, Entity, EntitySet, ErrorKind, Filter, IfMatch, Projection, Properties, Query, Store,
    Stored, Tables, View, prop,
};

/// What a machine did in a day.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
#[index(by_rack, row = "rack_{rack}_{day:06}")]
pub(crate) struct Day {
    pub(crate) host: String,
    pub(crate) day: u32,
    pub(crate) rack: u8,
    #[series]
    pub(crate) cpu: [Option<f64>; 24],
    #[series]
    #[property(rename = "Req", default)]
    pub(crate) requests: [i64; 24],
    #[flatten]
    pub(crate) quarters: Quarters,
}

/// A series that entities share.
#[derive(Properties, Clone, Debug, PartialEq, Default)]
pub(crate) struct Quarters {
    pub(crate) total: Option<u32>,
    #[series(width = 1)]
    pub(crate) quarter: [Option<u32>; 4],
}

/// Another kind in the table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Load", kind = "host")]
#[key(partition = "{name}", row = "host")]
struct Host {
    name: String,
    racks: u8,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a set holds its entities as they are")]
enum Load {
    Day(Day),
    Host(Host),
}

/// One slot, several, and all.
#[derive(Projection, Debug, PartialEq)]
#[projection(of = Day)]
struct Noon {
    day: u32,
    #[series(of = cpu, slot = 12)]
    noon: Option<f64>,
    #[series(of = cpu, from = 9)]
    office: [Option<f64>; 8],
    #[series]
    #[property(default)]
    requests: [i64; 24],
}

pub(crate) fn day(day: u32) -> Day {
    let mut cpu = [None; 24];
    for (hour, slot) in cpu.iter_mut().enumerate().filter(|(hour, _)| hour % 3 != 2) {
        *slot = Some(f64::from(day) + hour as f64 / 100.0);
    }
    let requests = std::array::from_fn(|hour| i64::from(day) * 100 + hour as i64);
    let quarters = Quarters { total: Some(day), quarter: [Some(1), None, Some(day), None] };
    Day { host: "web1".into(), day, rack: (day % 3) as u8, cpu, requests, quarters }
}

pub(crate) fn days(store: &Tables, count: u32) -> table_core::Table<Day> {
    let days = store.table::<Day>().unwrap();
    for number in 0..count {
        days.insert(&day(number)).unwrap();
    }
    days
}

fn key(number: u32) -> table_core::Key<Day> {
    Day::key("web1", number)
}

#[test]
fn each_slot_is_a_property() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = days(&store, 3);
    assert_eq!(days.get(key(2)).unwrap().unwrap(), day(2));
    assert_eq!(days.get(Day::by_rack("web1", 2, 2)).unwrap().unwrap(), day(2));
    let row = days.dynamic().get("web1", "day_000002").unwrap().unwrap();
    assert_eq!(row.get("Cpu_00").and_then(|cpu| cpu.as_f64()), Some(2.0));
    assert_eq!(row.get("Cpu_02"), None);
    assert_eq!(row.get("Req_23").and_then(|requests| requests.as_i64()), Some(223));
    assert_eq!(row.get("Quarter_2").and_then(|quarter| quarter.as_i64()), Some(2));
    let names: Vec<_> =
        row.properties().map(|(name, _)| name).filter(|name| name.starts_with("Req_")).collect();
    assert_eq!(names.len(), 24);
    assert_eq!((names[0], names[23]), ("Req_00", "Req_23"));
    assert_sound(&store);
}

#[test]
fn patches_set_slots() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = days(&store, 2);
    let mut expected = day(1);
    let patch = Day::patch().cpu(13, Some(0.5)).cpu(13, Some(0.75)).requests(9..12, vec![1, 2, 3]);
    expected.cpu[13] = Some(0.75);
    expected.requests[9..12].copy_from_slice(&[1, 2, 3]);
    let merged = days.merge(key(1), patch, IfMatch::Any).unwrap();
    assert_eq!(*merged, expected);
    // An `Option` is unset, and a whole series set.
    let patch = Day::patch().cpu(0, None).requests(.., vec![7; 24]).rack(9);
    (expected.cpu[0], expected.requests, expected.rack) = (None, [7; 24], 9);
    assert_eq!(*days.merge(key(1), patch, Stored::etag(&merged)).unwrap(), expected);
    assert_eq!(days.get(key(1)).unwrap().unwrap(), expected);
    assert_eq!(days.get(Day::by_rack("web1", 9, 1)).unwrap().unwrap(), expected);
    assert_eq!(days.get(key(0)).unwrap().unwrap(), day(0));
    assert_sound(&store);
}

#[test]
fn a_slot_that_there_is_not_is_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = days(&store, 1);
    let before = days.get(key(0)).unwrap().unwrap();
    let refused = |patch| {
        let error = days.merge(key(0), patch, IfMatch::Any).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ValueOutOfRange, "{error}");
        error.to_string()
    };
    assert_eq!(
        refused(Day::patch().rack(9).cpu(24, Some(0.5))),
        "cannot merge into table `Load`, partition `web1`, row `day_000000`: the series `cpu` has 24 slots, 0 to 23, \
         and no slot 24"
    );
    assert!(refused(Day::patch().cpu(usize::MAX, None)).contains("no slot"));
    assert!(refused(Day::patch().requests(20..25, vec![0; 5])).contains("no slot 24"));
    assert!(refused(Day::patch().requests(3..6, vec![0; 2])).contains("are 3, and 2 values are given"));
    assert!(refused(Day::patch().requests(.., vec![0; 23])).contains("are 24, and 23 values are given"));
    let partition = || days.egt(Day::partition("web1"));
    let new = day(7);
    let error = partition()
        .insert(&new)
        .merge(key(0), Day::patch().cpu(99, None), IfMatch::Any)
        .commit()
        .unwrap_err();
    assert_eq!((error.kind(), error.index()), (ErrorKind::ValueOutOfRange, Some(1)), "{error}");
    let after = days.get(key(0)).unwrap().unwrap();
    assert_eq!((&*after, Stored::etag(&after)), (&*before, Stored::etag(&before)));
    assert_eq!(days.rows().host("web1").count().unwrap(), 1);
    // An empty range sets nothing, and is no mistake.
    let same = days.merge(key(0), Day::patch().requests(5..5, Vec::new()), IfMatch::Any).unwrap();
    assert_eq!(*same, *before);
}

#[test]
fn filters_compare_slots() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = days(&store, 10);
    let query = || days.rows().host("web1");
    let numbers = |found: Vec<u32>, expected: &[u32]| assert_eq!(found, expected);
    let of = |query: Vec<table_core::Result<Stored<Day>>>| -> Vec<u32> {
        query.into_iter().map(|day| day.unwrap().day).collect()
    };
    numbers(of(query().filter(|d| d.cpu.at(12).ge(8.0)).into_iter().collect()), &[8, 9]);
    // A slot that is absent compares false, whatever is asked.
    assert_eq!(query().filter(|d| d.cpu.at(2).lt(100.0)).count().unwrap(), 0);
    assert_eq!(query().filter(|d| d.cpu.at(2).is_none()).count().unwrap(), 10);
    let office = |d: &table_core::typed::Columns<Day>| d.cpu.range(9..17).any(|hour| hour.gt(9.0));
    numbers(of(query().filter(office).into_iter().collect()), &[9]);
    assert_eq!(query().filter(|d| d.requests.range(0..4).all(|hour| hour.lt(203))).count().unwrap(), 2);
    assert_eq!(query().filter(|d| d.requests.all_slots().all(|hour| hour.ge(500))).count().unwrap(), 5);
    assert_eq!(query().filter(|d| d.quarters.quarter.at(2).eq(4)).count().unwrap(), 1);
    // Copies that are whole have them, too.
    assert_eq!(days.by_rack().host("web1").rack(1).filter(|d| d.cpu.at(0).ge(5.0)).count().unwrap(), 1);
    // So has a text of the service's.
    let text = "Cpu_12 ge 8.0 and Req_00 lt 900";
    let rows = days.dynamic().query(&Query::new().filter(Filter::parse(text).unwrap())).unwrap();
    assert_eq!(rows.filter(|row| row.as_ref().unwrap().row_key().starts_with("day_")).count(), 1);

    for (count, words) in [
        (query().filter(|d| d.cpu.at(24).ge(1.0)).count(), "no slot 24"),
        (query().filter(|d| !d.cpu.at(99).eq(1.0) | d.rack.eq(1)).count(), "no slot 99"),
        (query().filter(|d| d.rack.eq(1) & d.cpu.at(24).is_none()).count(), "no slot 24"),
        (query().filter(|d| d.cpu.range(20..30).any(|hour| hour.ge(1.0))).count(), "no slot 24"),
        (query().filter(|d| d.cpu.range(5..5).any(|hour| hour.ge(1.0))).count(), "are none"),
    ] {
        let error = count.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidFilter);
        assert!(error.to_string().contains(words), "{error}");
    }
    let explained = query().filter(|d| d.cpu.at(12).ge(8.0)).explain().unwrap().to_string();
    assert!(explained.contains("Cpu_12"), "{explained}");
}

#[test]
fn pages_go_on_within_a_filter_of_slots() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = days(&store, 25);
    let query = || days.rows().host("web1").filter(|d| d.requests.at(3).ge(500));
    let (mut found, mut continuation) = (Vec::new(), None);
    for _ in 0..10 {
        let page = query().page(6, continuation.as_ref()).unwrap();
        found.extend(page.entities.iter().map(|day| day.day));
        continuation = page.next;
        if continuation.is_none() {
            break;
        }
    }
    assert_eq!(found, (5..25).collect::<Vec<_>>());
}

#[test]
fn views_and_projections_take_slots() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = days(&store, 4);
    let snapshot = snapshot(&store);
    let mut seen = 0;
    for view in snapshot.iter().flat_map(|snapshot| days.at(snapshot).rows().host("web1").views()) {
        let view = view.unwrap();
        let expected = day(view.day().unwrap());
        for hour in 0..24 {
            assert_eq!(view.cpu().at(hour).unwrap(), expected.cpu[hour]);
            assert_eq!(view.requests().at(hour).unwrap(), expected.requests[hour]);
        }
        assert_eq!(view.cpu().range(9..17).unwrap(), expected.cpu[9..17]);
        assert_eq!(view.requests().to_vec().unwrap(), expected.requests);
        assert_eq!((view.cpu().len(), view.quarters().unwrap()), (24, expected.quarters.clone()));
        assert_eq!(View::to_entity(&view).unwrap(), expected);
        for error in [view.cpu().at(24).unwrap_err(), view.cpu().range(20..25).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
            assert!(error.to_string().contains("no slot 24"), "{error}");
        }
        seen += 1;
    }
    assert_eq!(seen, if snapshot.is_some() { 4 } else { 0 });
    let noons: Vec<Noon> =
        days.rows().host("web1").select::<Noon>().into_iter().map(Result::unwrap).collect();
    for (number, noon) in noons.into_iter().enumerate() {
        let expected = day(number as u32);
        let office = std::array::from_fn(|at| expected.cpu[9 + at]);
        let expected =
            Noon { day: expected.day, noon: expected.cpu[12], office, requests: expected.requests };
        assert_eq!(noon, expected);
    }
    let of_copies = days.by_rack().host("web1").rack(1).select::<Noon>().into_iter().next().unwrap().unwrap();
    assert_eq!(of_copies.noon, day(1).cpu[12]);
}

#[test]
fn a_slot_that_a_row_lacks_reads_as_its_default() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = days(&store, 1);
    let bare = DynamicEntity::new("web1", "day_000009").with("EntityType", "day").with("Rack", 1);
    days.dynamic().raw().insert(&bare).unwrap();
    let read = days.get(key(9)).unwrap().unwrap();
    assert_eq!((read.cpu, read.requests), ([None; 24], [0; 24]));
    assert_eq!(days.rows().host("web1").filter(|d| d.requests.at(5).eq(0)).count().unwrap(), 1);
    if let Some(snapshot) = snapshot(&store) {
        let view = days.at(&snapshot).rows().host("web1").day(9).views().next().unwrap().unwrap();
        assert_eq!((view.requests().at(5).unwrap(), view.cpu().at(5).unwrap()), (0, None));
    }
    // Of another type it fits no slot, and the error says which.
    let wrong = DynamicEntity::new("web1", "day_000009").with("Cpu_07", "hot");
    days.dynamic().raw().merge(&wrong, IfMatch::Any).unwrap();
    let error = days.get(key(9)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert!(error.to_string().contains("property `Cpu_07` does not fit the struct `Day`"), "{error}");
}

#[test]
fn they_are_written_with_others_and_read_in_sets() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let (mut first, second) = (day(1), day(2));
    let host = Host { name: "web1".into(), racks: 3 };
    store.egt::<Load>(Day::partition("web1")).insert(&first).insert(&host).commit().unwrap();
    let elsewhere = Day { host: "web2".into(), ..day(3) };
    first.cpu[5] = Some(-1.0);
    store
        .transaction()
        .insert(&second)
        .insert(&elsewhere)
        .merge(key(1), Day::patch().cpu(5, Some(-1.0)), IfMatch::Any)
        .commit()
        .unwrap();
    let set = store.set::<Load>().unwrap();
    let found: Vec<_> = set
        .partition(Day::partition("web1"))
        .into_iter()
        .map(|entity| Stored::into_inner(entity.unwrap()))
        .collect();
    assert_eq!(found, [Load::Day(first.clone()), Load::Day(second), Load::Host(host)]);
    let days = store.table::<Day>().unwrap();
    let moved = days.move_to(key(1), |day| day.day = 40).unwrap();
    assert_eq!(*moved, Day { day: 40, ..first });
    days.delete(key(2)).unwrap();
    assert_eq!(days.rows().across_partitions().count().unwrap(), 2);
    assert_sound(&store);
}

#[test]
fn a_slot_is_set_by_its_property() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = days(&store, 1);
    let patch = DynamicEntity::new("web1", "day_000000").with("Cpu_13", 0.5);
    days.dynamic().merge(&patch, IfMatch::Any).unwrap();
    assert_eq!(days.get(key(0)).unwrap().unwrap().cpu[13], Some(0.5));
    let beyond = DynamicEntity::new("web1", "day_000000").with("Cpu_24", 0.5);
    assert_eq!(days.dynamic().merge(&beyond, IfMatch::Any).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    let found =
        days.dynamic().query(&Query::new().filter(prop("Cpu_13").ge(0.0)).select(["Cpu_13"])).unwrap();
    assert_eq!(found.count(), 2);
}

on_other_executors! {
    each_slot_is_a_property
    patches_set_slots
    a_slot_that_there_is_not_is_refused_and_nothing_is_written
    filters_compare_slots
    pages_go_on_within_a_filter_of_slots
    views_and_projections_take_slots
    a_slot_that_a_row_lacks_reads_as_its_default
}

#[test]
fn a_job_and_a_copy_of_the_store_keep_them() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let days = days(&store, 30);
    days.rebuild().unwrap().run().unwrap();
    let wrong = DynamicEntity::new("web1", "rack_001_000001").with("Cpu_13", 99.0);
    days.dynamic().raw().merge(&wrong, IfMatch::Any).unwrap();
    assert!(!days.check().unwrap().is_sound());
    days.repair().unwrap().run().unwrap();
    assert!(days.check().unwrap().is_sound());
    assert_eq!(days.cost().unwrap().rows.iter().map(|rows| rows.rows).collect::<Vec<_>>(), [30, 30]);
    let copy = scratch.path().join("copy");
    store.copy_to(&copy).unwrap();
    let copied = Store::open(&copy).unwrap().table::<Day>().unwrap();
    for number in 0..30 {
        assert_eq!(copied.get(key(number)).unwrap().unwrap(), day(number));
        assert_eq!(
            copied.get(Day::by_rack("web1", (number % 3) as u8, number)).unwrap().unwrap(),
            day(number)
        );
    }
    assert_sound(&store);
}
