//! Entities of periods with series, and what their tables have by themselves.

use std::thread;

use integration_tests::Scratch;
use table_core::typed::Periods;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Projection, Store, Ticks};

/// What a site was asked for in a day, hour by hour, in a table for each month.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Hits{day:%Y%m}", kind = "hits", keep = "90 days")]
#[key(partition = "{site}", row = "day_{day:ticks}")]
#[index(by_rank, row = "rank_{rank:03}_{day:ticks}")]
struct Hits {
    site: String,
    day: Ticks,
    rank: u8,
    #[series]
    hours: [Option<u32>; 24],
}

/// A kind without copies: numbers are added inside the transaction.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counts{day:%Y%m}", kind = "counts")]
#[key(partition = "{site}", row = "day_{day:ticks}")]
struct Counts {
    site: String,
    day: Ticks,
    #[series]
    hours: [Option<u32>; 24],
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Hits)]
struct Noon {
    day: Ticks,
    #[series(of = hours, slot = 12)]
    noon: Option<u32>,
}

fn at(day: &str) -> Ticks {
    day.parse().unwrap()
}

fn hits(day: &str) -> Hits {
    let mut hours = [None; 24];
    hours[12] = Some(10);
    Hits { site: "index".into(), day: at(day), rank: 1, hours }
}

fn key(day: &str) -> table_core::Key<Hits> {
    Hits::key("index", at(day))
}

const DAYS: [&str; 4] = ["2014-06-30", "2014-07-01", "2014-07-31", "2014-08-01"];

fn filled(store: &Store) -> Periods<Hits> {
    let all = store.periods::<Hits>().unwrap();
    for day in DAYS {
        all.insert(&hits(day)).unwrap();
    }
    all
}

#[test]
fn slots_are_patched_added_to_and_read_over_periods() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let all = filled(&store);
    let patched =
        all.merge(key(DAYS[1]), Hits::patch().hours(9..11, vec![Some(1), None]), IfMatch::Any).unwrap();
    assert_eq!(patched.hours[9..11], [Some(1), None]);
    let error = all.merge(key(DAYS[1]), Hits::patch().hours(24, Some(1)), IfMatch::Any).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
    let (mut changed, patch) = (hits(DAYS[2]), Hits::patch().hours(12, Some(90)));
    changed.hours[0] = Some(4);
    let batch = all.egt(at("2014-07-10"), Hits::partition("index")).merge(key(DAYS[1]), patch, IfMatch::Any);
    assert!(batch.explain().unwrap().to_string().contains("day_"));
    let batch = all.egt(at("2014-07-10"), Hits::partition("index"));
    batch.put(&changed).add(key(DAYS[1]), Hits::add().hours(12, 5).hours(23, 1)).commit().unwrap();

    let from_july = || all.during(at("2014-07-01")..).unwrap();
    let noons: Vec<_> = from_july()
        .rows()
        .site("index")
        .select::<Noon>()
        .into_iter()
        .map(|noon| noon.unwrap().noon)
        .collect();
    assert_eq!(noons, [Some(15), Some(10), Some(10)]);
    let busy = from_july().rows().site("index").filter(|h| h.hours.range(0..24).any(|hour| hour.gt(10)));
    assert_eq!(busy.count().unwrap(), 1);
    let copies = from_july().by_rank().site("index").rank(1);
    assert_eq!(copies.into_iter().map(|row| row.unwrap().hours[12]).collect::<Vec<_>>(), noons);
    assert_eq!(all.view(key(DAYS[2]), |view| view.hours().at(0)).unwrap(), Some(Some(4)));
    let noon = all.get_as::<Noon>(key(DAYS[3])).unwrap().unwrap();
    assert_eq!(noon, Noon { day: at(DAYS[3]), noon: Some(10) });
}

#[test]
fn numbers_are_added_where_there_is_a_period_and_make_none() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let all = filled(&store);
    thread::scope(|scope| {
        for _ in 0..4 {
            let all = &all;
            scope.spawn(move || {
                for day in DAYS.iter().cycle().take(40) {
                    all.add(key(day), Hits::add().hours(12, 1).hours(0, 2)).unwrap();
                }
            });
        }
    });
    for found in all.all_periods().all() {
        let found = found.unwrap();
        assert_eq!((found.hours[12], found.hours[0]), (Some(50), Some(80)));
        // A whole copy says the same.
        let copy = all.get(Hits::by_rank("index", 1, found.day)).unwrap().unwrap();
        assert_eq!(copy.hours, found.hours);
    }
    let refused = |day: &str, add, kind| {
        let error = all.add(key(day), add).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    };
    refused("2014-07-02", Hits::add().hours(0, 1), ErrorKind::EntityNotFound);
    refused("2015-01-01", Hits::add().hours(0, 1), ErrorKind::EntityNotFound);
    refused(DAYS[0], Hits::add().hours(0, -81), ErrorKind::ValueOutOfRange);
    refused(DAYS[0], Hits::add().hours(24, 1), ErrorKind::ValueOutOfRange);
    assert_eq!(store.tables().unwrap(), ["Hits201406", "Hits201407", "Hits201408"]);
    all.drop_before(at("2014-07-01")).unwrap();
    refused(DAYS[0], Hits::add().hours(0, 1), ErrorKind::PeriodDropped);
}

#[test]
fn numbers_are_added_in_place_in_the_table_of_the_period() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let all = store.periods::<Counts>().unwrap();
    let key = |day: &str| Counts::key("docs", at(day));
    for day in DAYS {
        all.insert(&Counts { site: "docs".into(), day: at(day), hours: [None; 24] }).unwrap();
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for day in DAYS.iter().cycle().take(40) {
                    all.add(key(day), Counts::add().hours(12, 1).hours(0, 2)).unwrap();
                }
            });
        }
    });
    for found in all.all_periods().all() {
        let found = found.unwrap();
        assert_eq!((found.hours[12], found.hours[0], found.hours[1]), (Some(40), Some(80), None));
    }
    // Another handle drops the period, and knows it before this one does.
    store.periods::<Counts>().unwrap().drop_before(at("2014-07-01")).unwrap();
    let error = all.add(key(DAYS[0]), Counts::add().hours(0, 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PeriodDropped, "{error}");
    assert_eq!(store.tables().unwrap(), ["Counts201407", "Counts201408"]);
}

#[test]
fn each_period_is_checked_mended_and_reckoned_by_its_table() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let all = filled(&store);
    let july = all.table_of(at("2014-07-15")).unwrap().unwrap();
    assert_eq!(july.cost().unwrap().entities, 2);
    // By its properties a row of a declared kind is read, and not written.
    let copy =
        july.dynamic().query(&table_core::Query::new().partition("index").row_prefix("rank_")).unwrap();
    let copy = copy.map(Result::unwrap).next().unwrap();
    let wrong = DynamicEntity::new("index", copy.row_key()).with("Hours_12", 1_i64);
    assert_eq!(july.dynamic().merge(&wrong, IfMatch::Any).unwrap_err().kind(), ErrorKind::DeclaredKind);
    july.dynamic().raw().merge(&wrong, IfMatch::Any).unwrap();
    assert!(!july.check().unwrap().is_sound());
    july.repair().unwrap().run().unwrap();
    assert!(july.check().unwrap().is_sound());
    july.rebuild().unwrap().run().unwrap();
    let snapshot = store.snapshot().unwrap();
    let ranks: Vec<_> =
        july.at(&snapshot).rows().site("index").views().map(|view| view.unwrap().rank().unwrap()).collect();
    assert_eq!(ranks, [1, 1]);

    let copy = scratch.path().join("copy");
    store.copy_to(&copy).unwrap();
    let copied = Store::open(&copy).unwrap();
    let there = copied.periods::<Hits>().unwrap();
    assert_eq!(there.all_periods().all().count().unwrap(), 4);
    for day in DAYS {
        assert_eq!(there.get(key(day)).unwrap().unwrap(), hits(day));
    }
}
