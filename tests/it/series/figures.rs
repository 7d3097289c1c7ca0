//! How long it takes: `cargo test --release -p integration-tests --test it -- series::figures --ignored --nocapture`.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use integration_tests::Scratch;
use table_core::{Durability, Entity, IfMatch, Store};

macro_rules! entity {
    ($name:ident, $table:literal, $kind:literal, $slots:literal) => {
        #[derive(Entity, Clone)]
        #[entity(table = $table, kind = $kind)]
        #[key(partition = "{host}", row = "{host}_{day:06}")]
        struct $name {
            host: String,
            day: u32,
            plain: i64,
            #[series]
            slot: [Option<i64>; $slots],
        }
    };
}

entity!(Small, "SmallLoad", "small", 24);
entity!(Large, "LargeLoad", "large", 249);

/// Microseconds of an operation, the least of several rounds.
fn least(rounds: u32, times: u32, mut run: impl FnMut(u32)) -> f64 {
    let round = |_| {
        let begun = Instant::now();
        (0..times).for_each(&mut run);
        begun.elapsed().as_secs_f64() * 1e6 / f64::from(times)
    };
    (0..rounds).map(round).fold(f64::MAX, f64::min)
}

macro_rules! figures {
    ($store:ident, $name:ident, $slots:literal) => {{
        let table = $store.table::<$name>().unwrap();
        let slot = std::array::from_fn(|at| Some(at as i64));
        let host = format!("web{}", $slots);
        let of = |day| $name { host: host.clone(), day, plain: 1, slot };
        table.bulk_insert((0..1_000).map(of)).unwrap();
        let key = |day| $name::key(&*host, day % 1_000);
        let get = least(5, 1_000, |day| drop(black_box(table.get(key(day)).unwrap())));
        let plain = least(5, 300, |day| {
            table.merge(key(day), $name::patch().plain(i64::from(day)), IfMatch::Any).unwrap();
        });
        let one = least(5, 300, |day| {
            table.merge(key(day), $name::patch().slot(13, Some(i64::from(day))), IfMatch::Any).unwrap();
        });
        let add = least(5, 300, |day| {
            table.add(key(day), $name::add().slot(13, 1)).unwrap();
        });
        println!(
            "{} slots: get {get:.2} us, patch of a plain property {plain:.1} us, of a slot {one:.1} us, add {add:.1} us",
            $slots
        );
    }};
}

#[test]
#[ignore = "figures, for people to read"]
fn of_patches_and_counters() {
    let scratch = Scratch::new();
    let store =
        Store::options().durability(Durability::Relaxed).open(scratch.path().join("figures")).unwrap();
    figures!(store, Small, 24);
    figures!(store, Large, 249);
    let table = store.table::<Small>().unwrap();
    for threads in [1, 16] {
        for in_place in [true, false] {
            let each = 4_000 / threads;
            let begun = Instant::now();
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for _ in 0..each {
                            if in_place {
                                table.add(Small::key("web24", 7), Small::add().slot(3, 1)).unwrap();
                            } else {
                                let count = |day: &mut Small| day.slot[3] = day.slot[3].map(|slot| slot + 1);
                                table.update(Small::key("web24", 7), count).unwrap();
                            }
                        }
                    });
                }
            });
            let rate = f64::from(each * threads) / begun.elapsed().as_secs_f64();
            println!(
                "{threads} threads, {}: {rate:.0} counts a second",
                if in_place { "add" } else { "update" }
            );
        }
    }
}
