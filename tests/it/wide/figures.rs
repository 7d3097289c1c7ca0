//! How long it takes: `cargo test --release -p integration-tests --test it -- wide::figures --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use integration_tests::Scratch;
use table_core::{Durability, Entity, IfMatch, Projection, Store};

/// The days of a year.
#[derive(Entity, Clone)]
#[entity(table = "Years", kind = "year", wide)]
#[key(partition = "{place}", row = "year_{year:06}")]
struct Year {
    place: String,
    year: u32,
    #[series]
    first: [Option<f64>; 182],
    #[part]
    #[series]
    second: [Option<f64>; 183],
}

#[derive(Projection)]
#[projection(of = Year)]
struct InHead {
    #[series(of = first, slot = 100)]
    day: Option<f64>,
}

#[derive(Projection)]
#[projection(of = Year)]
struct InPart {
    #[series(of = second, slot = 100)]
    day: Option<f64>,
}

/// As many as one row holds.
#[derive(Entity, Clone)]
#[entity(table = "Halves", kind = "half")]
#[key(partition = "{place}", row = "half_{half:06}")]
struct Half {
    place: String,
    half: u32,
    #[series]
    first: [Option<f64>; 182],
}

/// Microseconds of an operation, the least of several rounds.
fn least(rounds: u32, times: u32, mut run: impl FnMut(u32)) -> f64 {
    let round = |_| {
        let begun = Instant::now();
        (0..times).for_each(&mut run);
        begun.elapsed().as_secs_f64() * 1e6 / f64::from(times)
    };
    (0..rounds).map(round).fold(f64::MAX, f64::min)
}

#[test]
#[ignore = "measures"]
fn a_year_of_days() {
    let scratch = Scratch::new();
    let store =
        Store::options().durability(Durability::Relaxed).open(scratch.path().join("figures")).unwrap();
    let years = store.table::<Year>().unwrap();
    let days = |at: usize| Some(at as f64 / 8.0);
    let year = |year| Year {
        place: "Oslo".into(),
        year,
        first: std::array::from_fn(days),
        second: std::array::from_fn(days),
    };
    years.bulk_insert((0..1_000).map(year)).unwrap();
    let key = |at| Year::key("Oslo", at % 1_000);
    let whole = least(5, 1_000, |at| drop(black_box(years.get(key(at)).unwrap())));
    let in_head = least(5, 1_000, |at| {
        assert!(black_box(years.get_as::<InHead>(key(at)).unwrap().unwrap().day).is_some())
    });
    let in_part = least(5, 1_000, |at| {
        assert!(black_box(years.get_as::<InPart>(key(at)).unwrap().unwrap().day).is_some())
    });
    let patched_head = least(5, 300, |at| {
        years.merge(key(at), Year::patch().first(7, Some(f64::from(at))), IfMatch::Any).unwrap();
    });
    let patched_part = least(5, 300, |at| {
        years.merge(key(at), Year::patch().second(7, Some(f64::from(at))), IfMatch::Any).unwrap();
    });
    let scanned = least(5, 1, |_| {
        assert_eq!(
            years.all().into_iter().filter(|year| year.as_ref().unwrap().first[9].is_some()).count(),
            1_000
        );
    });
    let counted = least(5, 1, |_| assert_eq!(years.all().count().unwrap(), 1_000));
    println!(
        "a year of 365: get {whole:.1} us, of a slot of the head {in_head:.1} us, of the part {in_part:.1} us; patch of a slot \
         of the head {patched_head:.1} us, of the part {patched_part:.1} us; 1,000 scanned {scanned:.0} us, counted {counted:.0} us"
    );
    let halves = store.table::<Half>().unwrap();
    halves
        .bulk_insert((0..1_000).map(|half| Half {
            place: "Oslo".into(),
            half,
            first: std::array::from_fn(days),
        }))
        .unwrap();
    let key = |at| Half::key("Oslo", at % 1_000);
    let whole = least(5, 1_000, |at| drop(black_box(halves.get(key(at)).unwrap())));
    let patched = least(5, 300, |at| {
        halves.merge(key(at), Half::patch().first(7, Some(f64::from(at))), IfMatch::Any).unwrap();
    });
    let scanned = least(5, 1, |_| {
        assert_eq!(
            halves.all().into_iter().filter(|half| half.as_ref().unwrap().first[9].is_some()).count(),
            1_000
        );
    });
    println!(
        "one row of 182: get {whole:.1} us, patch of a slot {patched:.1} us, 1,000 scanned {scanned:.0} us"
    );
}
