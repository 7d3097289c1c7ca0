//! One operation at a time, one thread, in memory.

use std::error::Error;

use table_core::Store;

use crate::Arguments;
use crate::digest::Digest;
use crate::engine::Engine;
use crate::floor::Floor;
use crate::measure::{self, Clock, Contender, Timer};
use crate::ours::Ours;
use crate::place::Place;
use crate::random::Random;
use crate::report::{self, Unit};
use crate::rows::{self, DEPARTMENTS, Key, Sample};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Operations in one round of gets, of writes and of ranges.
const GETS: usize = 2_000;
const WRITES: usize = 400;
const RANGES: usize = 20;

/// Both engines with the same rows.
pub(crate) struct Loaded {
    pub(crate) floor: Floor,
    pub(crate) ours: Ours,
    pub(crate) rows: u64,
    _place: Place,
}

impl Loaded {
    pub(crate) fn new(samples: &[Sample]) -> Result<Self> {
        Self::mapped(samples, 1 << 40)
    }

    /// With maps of this size: valgrind has no room for the usual ones.
    pub(crate) fn mapped(samples: &[Sample], map: usize) -> Result<Self> {
        let place = Place::in_memory()?;
        let floor = Floor::open_mapped(&place.join("floor"), map)?;
        floor.insert_together(samples)?;
        let ours = Ours::open(&place.join("ours"), &Store::options().map_size(map))?;
        ours.load(samples)?;
        let rows = u64::try_from(samples.len())?;
        Ok(Self { floor, ours, rows, _place: place })
    }

    fn pair(&self) -> [(&'static str, &dyn Engine); 2] {
        [("", &self.floor), ("", &self.ours)]
    }

    /// Random keys that are there.
    pub(crate) fn keys(&self, round: usize, count: usize) -> Vec<Key> {
        let mut random = seeded(round);
        (0..count).map(|_| rows::key(random.below(self.rows), self.rows)).collect()
    }

    /// New rows in random places.
    pub(crate) fn new_rows(&self, round: usize, count: usize) -> Vec<Sample> {
        let mut random = seeded(round);
        let mut ids: Vec<_> = (self.rows..).take(count).collect();
        random.shuffle(&mut ids);
        let key = |id| Key { partition: rows::department(random.below(DEPARTMENTS)), row: rows::row_key(id) };
        ids.into_iter().map(key).map(rows::employee).collect()
    }

    /// New rows, a hundred to a department.
    pub(crate) fn new_batches(&self, round: usize, count: usize) -> Vec<Sample> {
        let mut random = seeded(round);
        let mut partition = String::new();
        let key = |(index, id): (usize, u64)| {
            if index % 100 == 0 {
                partition = rows::department(random.below(DEPARTMENTS));
            }
            Key { partition: partition.clone(), row: rows::row_key(id) }
        };
        (0..count).zip(self.rows..).map(key).map(rows::employee).collect()
    }
}

pub(crate) fn seeded(round: usize) -> Random {
    Random::new(u64::try_from(round).unwrap_or(0).wrapping_mul(0x0dd5_eed5))
}

/// The row key that ends a range of a hundred from this key on, if the department has as many.
pub(crate) fn after_hundred(key: &Key) -> String {
    let id = key.row.trim_start_matches("empid_").parse::<u64>().unwrap_or(0);
    rows::row_key(id + 100)
}

fn keys_of(samples: &[Sample]) -> Vec<Key> {
    let mut keys: Vec<_> = samples.iter().map(|sample| sample.key.clone()).collect();
    keys.sort_by(|a, b| (&a.partition, &a.row).cmp(&(&b.partition, &b.row)));
    keys
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let loaded = &Loaded::new(&rows::employees(arguments.rows))?;
    let rounds = arguments.rounds;
    println!("\n## Single operations, one thread, {} rows of 7 properties", arguments.rows);
    report::machine(
        std::path::Path::new("/dev/shm"),
        "default options of both, flushes free; processor time",
    );
    report::comparison_head();

    let reads = |read: &dyn Fn(&dyn Engine, usize, &mut Timer) -> Result<Digest>, operations, rounds| {
        let contender =
            |(name, engine)| Contender::new(name, move |round, timer: &mut Timer| read(engine, round, timer));
        measure::rounds(Clock::Processor, rounds, operations, loaded.pair().map(contender).into())
    };
    let get = |engine: &dyn Engine, round, timer: &mut Timer| {
        let keys = loaded.keys(round, GETS);
        timer.time(|| engine.get(&keys))
    };
    let gets = u64::try_from(GETS)?;
    report::comparison("get", Unit::Nanoseconds, &reads(&get, gets, rounds)?, Some(1.10));
    let miss = |engine: &dyn Engine, round, timer: &mut Timer| {
        let mut keys = loaded.keys(round, GETS);
        for key in &mut keys {
            key.row.push('x');
        }
        timer.time(|| engine.get(&keys))
    };
    report::comparison("get of a missing key", Unit::Nanoseconds, &reads(&miss, gets, rounds)?, None);
    let range = |engine: &dyn Engine, round, timer: &mut Timer| {
        let keys: Vec<_> =
            loaded.keys(round, RANGES).into_iter().map(|key| (after_hundred(&key), key)).collect();
        let mut digest = Digest::default();
        timer.time(|| {
            for (to, from) in &keys {
                let found = engine.range(from, to)?;
                digest.rows += found.rows;
                digest.add(found.sum);
            }
            Ok(digest)
        })
    };
    report::comparison(
        "range of 100",
        Unit::Microseconds,
        &reads(&range, u64::try_from(RANGES)?, rounds)?,
        Some(1.10),
    );
    scans(loaded, rounds)?;
    writes(loaded, rounds)
}

fn scans(loaded: &Loaded, rounds: usize) -> Result<()> {
    let Loaded { floor, ours, .. } = loaded;
    let rounds = rounds.div_ceil(4);
    let whole = |engine: &dyn Engine, timer: &mut Timer| timer.time(|| engine.scan());
    let times = measure::rounds(
        Clock::Processor,
        rounds,
        loaded.rows,
        vec![
            Contender::new("", |_, timer| whole(floor, timer)),
            Contender::new("", |_, timer| whole(ours, timer)),
        ],
    )?;
    report::comparison("scan, a row, owned", Unit::Nanoseconds, &times, Some(1.10));
    let times = measure::rounds(
        Clock::Processor,
        rounds,
        loaded.rows,
        vec![
            Contender::new("", |_, timer| whole(floor, timer)),
            Contender::new("every property", |_, timer| timer.time(|| ours.scan_all())),
            Contender::new("one property", |_, timer| timer.time(|| ours.scan_one("Email"))).of_its_own(),
        ],
    )?;
    report::comparison("scan, a row, by view: ", Unit::Nanoseconds, &times, Some(0.60));
    Ok(())
}

fn writes(loaded: &Loaded, rounds: usize) -> Result<()> {
    let count = u64::try_from(WRITES)?;
    let time = |operations, write: &dyn Fn(&dyn Engine, usize, &mut Timer) -> Result<Digest>| {
        let contender = |(name, engine)| {
            Contender::new(name, move |round, timer: &mut Timer| write(engine, round, timer))
        };
        measure::rounds(Clock::Processor, rounds, operations, loaded.pair().map(contender).into())
    };
    let insert = |engine: &dyn Engine, round, timer: &mut Timer| {
        let rows = loaded.new_rows(round, WRITES);
        timer.time(|| engine.insert(&rows))?;
        checked_and_deleted(engine, &keys_of(&rows))
    };
    report::comparison("insert", Unit::Microseconds, &time(count, &insert)?, Some(1.25));
    let batch = |engine: &dyn Engine, round, timer: &mut Timer| {
        let mut rows = loaded.new_batches(round, 10 * WRITES);
        let keys = keys_of(&rows);
        timer.time(|| engine.batch(&mut rows))?;
        checked_and_deleted(engine, &keys)
    };
    report::comparison("batch of 100 inserts", Unit::Microseconds, &time(count / 10, &batch)?, Some(1.25));
    let replace = |engine: &dyn Engine, round, timer: &mut Timer| {
        let keys = loaded.keys(round, WRITES);
        let others = loaded.keys(round + 1, WRITES).into_iter().map(rows::employee);
        let rows: Vec<_> = others.zip(&keys).map(|(other, key)| other.under(key.clone())).collect();
        timer.time(|| engine.replace(&rows))?;
        engine.get(&keys)
    };
    report::comparison("replace", Unit::Microseconds, &time(count, &replace)?, Some(1.25));
    let merge = |engine: &dyn Engine, round: usize, timer: &mut Timer| {
        let keys = loaded.keys(round, WRITES);
        let age = i32::try_from(round)?;
        timer.time(|| engine.merge(&keys, age))?;
        engine.get(&keys)
    };
    report::comparison("merge of one property", Unit::Microseconds, &time(count, &merge)?, Some(1.25));
    Ok(())
}

/// What was written, read back, and removed for the next.
fn checked_and_deleted(engine: &dyn Engine, keys: &[Key]) -> Result<Digest> {
    let digest = engine.get(keys)?;
    engine.delete(keys)?;
    Ok(digest)
}
