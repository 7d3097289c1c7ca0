//! Opening a large store.

use std::error::Error;
use std::time::Instant;

use table_core::{DynamicEntity, Store};

use crate::Arguments;
use crate::digest::Digest;
use crate::floor::{self, Floor};
use crate::measure::{self, Clock, Contender};
use crate::ours::Ours;
use crate::place::Place;
use crate::report::{self, Unit};
use crate::rows::{self, Key, Sample};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Bytes of text in each row: a hundred thousand rows come to about 1 GB.
const TEXT: usize = 10_000;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::on_disk()?;
    let (floor_dir, ours_dir) = (place.join("floor"), place.join("ours"));
    println!("\n## Opening a store of {} rows of {TEXT} bytes", arguments.rows);
    report::machine(place.path(), "durable; built by `bulk`, files in the page cache");

    let sample = |id: u64| {
        let (key, text) = (rows::key(id, arguments.rows), "text ".repeat(TEXT / 5));
        let ours = DynamicEntity::new(&*key.partition, &*key.row).with("Text", text.as_str());
        Sample { key, floor: vec![("Text".to_owned(), floor::Value::String(text))], ours }
    };
    let begun = Instant::now();
    let floor = Floor::open(&floor_dir)?;
    let ours = Ours::open(&ours_dir, &Store::options())?;
    for from in (0..arguments.rows).step_by(1_000) {
        let samples: Vec<_> = (from..arguments.rows.min(from + 1_000)).map(sample).collect();
        floor.insert_together(&samples)?;
        ours.load(&samples)?;
    }
    let bytes = ours.store.stats()?.file_bytes;
    println!("Built in {:?}, {} MiB\n", begun.elapsed(), bytes >> 20);
    floor.close();
    drop(ours);

    let times = measure::rounds(
        Clock::Wall,
        arguments.rounds.div_ceil(2),
        1,
        vec![
            Contender::new("", |_, timer| {
                let floor = timer.time(|| Floor::open(&floor_dir))?;
                floor.close();
                Ok(Digest::default())
            }),
            Contender::new("", |_, timer| {
                let store = timer.time(|| Store::open(&ours_dir))?;
                drop(store);
                Ok(Digest::default())
            }),
        ],
    )?;
    report::comparison_head();
    report::comparison("open", Unit::Microseconds, &times, None);

    let key = Key { ..rows::key(arguments.rows / 2, arguments.rows) };
    let first = |timer: &mut measure::Timer| {
        let entity = timer.time(|| {
            let store = Store::open(&ours_dir)?;
            store.dynamic_table("Company")?.get(&key.partition, &key.row)
        })?;
        Ok(Digest { rows: u64::from(entity.is_some()), sum: 0 })
    };
    let first_floor = |timer: &mut measure::Timer| {
        use crate::engine::Engine;
        let (floor, digest) = timer.time(|| {
            let floor = Floor::open(&floor_dir)?;
            let digest = floor.get(std::slice::from_ref(&key))?;
            Ok::<_, Box<dyn Error + Send + Sync>>((floor, digest))
        })?;
        floor.close();
        Ok(Digest { rows: digest.rows, sum: 0 })
    };
    let times = measure::rounds(
        Clock::Wall,
        arguments.rounds.div_ceil(2),
        1,
        vec![Contender::new("", |_, timer| first_floor(timer)), Contender::new("", |_, timer| first(timer))],
    )?;
    report::comparison("open and a first get", Unit::Microseconds, &times, None);
    Ok(())
}
