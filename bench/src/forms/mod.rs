//! Reads of rows that employees are not like: many properties of which most are absent, texts of 0 to 2,000 bytes, keys of
//! text alone.

mod rows;

use std::path::Path;

use table_core::{Store, Table};

use self::rows::{Form, Letter, Sparse, Word};
use crate::company::{Answer, Done, Lmdb, Opening, SyncMode};
use crate::measure::{self, Clock, Contender, Timer, count_of};
use crate::ops::seeded;
use crate::place::Place;
use crate::profile::profiled;
use crate::report::{self, Unit};
use crate::{Arguments, Digest, Result};

/// Gets of one turn.
const GETS: usize = 4_000;
/// Rows that are loaded together.
const TOGETHER: u32 = 500;

/// An engine with rows of one form.
trait Rows {
    fn load(&self, count: u32) -> Done;
    /// Rows by their keys, each in a read transaction of its own.
    fn get(&self, numbers: &[u32]) -> Answer;
    fn scan(&self) -> Answer;
}

type Open = fn(&Path, usize) -> Result<Box<dyn Rows>>;

/// What each form is called, and how the floor and table-core are opened for it, with a map of so many bytes.
const FORMS: [(&str, [Open; 2]); 3] = [
    ("absent", [floor::<Sparse>, typed::<Sparse>]),
    ("texts", [floor::<Letter>, typed::<Letter>]),
    ("words", [floor::<Word>, typed::<Word>]),
];

/// heed by hand: postcard under `partition 0x00 row`.
struct Floor<F> {
    lmdb: Lmdb<1>,
    of: std::marker::PhantomData<F>,
}

fn floor<F: Form + 'static>(dir: &Path, map: usize) -> Result<Box<dyn Rows>> {
    let lmdb = Lmdb::open(dir, &Opening { sync: SyncMode::Lax, map }, ["forms"])?;
    Ok(Box::new(Floor::<F> { lmdb, of: std::marker::PhantomData }))
}

fn read<F: Form>(key: &[u8], value: &[u8]) -> Result<F> {
    let at = key.iter().position(|byte| *byte == 0).ok_or("a key lacks its separator")?;
    let (partition, row) = key.split_at(at);
    let row = std::str::from_utf8(row.get(1..).unwrap_or_default())?;
    F::of(std::str::from_utf8(partition)?, row, postcard::from_bytes(value)?)
}

impl<F: Form> Rows for Floor<F> {
    fn load(&self, count: u32) -> Done {
        let [data] = self.lmdb.databases;
        let mut txn = self.lmdb.env.write_txn()?;
        for number in 0..count {
            let row = F::numbered(number);
            data.put(&mut txn, &F::key_by_hand(number), &postcard::to_allocvec(&row.rest())?)?;
        }
        Ok(txn.commit()?)
    }

    fn get(&self, numbers: &[u32]) -> Answer {
        let [data] = self.lmdb.databases;
        let mut digest = Digest::default();
        profiled(|| {
            for number in numbers {
                let key = F::key_by_hand(*number);
                let txn = self.lmdb.env.read_txn()?;
                let value = data.get(&txn, &key)?.ok_or("there is no such row")?;
                std::hint::black_box(read::<F>(&key, value)?).add(&mut digest);
            }
            Ok(0)
        })?;
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let [data] = self.lmdb.databases;
        let mut digest = Digest::default();
        profiled(|| {
            let txn = self.lmdb.env.read_txn()?;
            for row in data.iter(&txn)? {
                let (key, value) = row?;
                std::hint::black_box(read::<F>(key, value)?).add(&mut digest);
            }
            Ok(0)
        })?;
        Ok(digest)
    }
}

/// table-core, derived entity, owned values.
struct Typed<F: Form> {
    table: Table<F>,
    _store: Store,
}

fn typed<F: Form + 'static>(dir: &Path, map: usize) -> Result<Box<dyn Rows>> {
    let store = Store::options().durability(table_core::Durability::Relaxed).map_size(map).open(dir)?;
    Ok(Box::new(Typed::<F> { table: store.table()?, _store: store }))
}

impl<F: Form> Rows for Typed<F> {
    fn load(&self, count: u32) -> Done {
        for first in (0..count).step_by(500) {
            let rows = (first..count.min(first + TOGETHER)).map(F::numbered);
            if let Some(failure) = self.table.bulk_insert(rows)?.failures.into_iter().next() {
                return Err(failure.error.into());
            }
        }
        Ok(())
    }

    fn get(&self, numbers: &[u32]) -> Answer {
        let mut digest = Digest::default();
        profiled(|| {
            for number in numbers {
                self.table.get(F::key(*number))?.ok_or("there is no such row")?.add(&mut digest);
            }
            Ok(0)
        })?;
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        profiled(|| F::scan(&self.table, &mut digest).map(|()| 0))?;
        Ok(digest)
    }
}

fn numbers(round: usize, rows: u32) -> Result<Vec<u32>> {
    let mut random = seeded(round);
    (0..GETS).map(|_| Ok(u32::try_from(random.below(rows.into()))?)).collect()
}

/// What a load must come to.
fn check(engine: &dyn Rows, rows: u32) -> Done {
    let all: Vec<_> = (0..rows).collect();
    let (scanned, got) = (engine.scan()?, engine.get(&all)?);
    if scanned != got || scanned.rows != u64::from(rows) {
        return Err(format!("a scan reads {scanned:?}, gets read {got:?} of {rows} rows").into());
    }
    Ok(())
}

fn loaded(open: Open, place: &Place, name: &str, map: usize, rows: u32) -> Result<Box<dyn Rows>> {
    let engine = open(&place.join(name), map)?;
    engine.load(rows)?;
    check(&*engine, rows)?;
    Ok(engine)
}

/// How many rows there are of each form.
fn rows_of(arguments: &Arguments) -> Result<u32> {
    Ok(u32::try_from((arguments.rows / 5).max(1_000))?)
}

/// Times of all forms beside the floor's.
pub(crate) fn run(arguments: &Arguments) -> Done {
    let rows = rows_of(arguments)?;
    println!("\n## Rows of other forms, {rows} of each");
    report::machine(Path::new("/dev/shm"), "reads only, owned; processor time");
    report::comparison_head();
    let place = Place::in_memory()?;
    for (name, opens) in FORMS {
        let [floor, ours] = opens;
        let floor = loaded(floor, &place, &format!("{name}-floor"), 1 << 34, rows)?;
        let ours = loaded(ours, &place, &format!("{name}-ours"), 1 << 34, rows)?;
        let get = |engine: &dyn Rows, round, timer: &mut Timer| {
            let numbers = numbers(round, rows)?;
            timer.time(|| engine.get(&numbers))
        };
        let gets = vec![
            Contender::new("", |round, timer: &mut Timer| get(&*floor, round, timer)),
            Contender::new("", |round, timer: &mut Timer| get(&*ours, round, timer)),
        ];
        let times = measure::rounds(Clock::Processor, arguments.rounds, u64::try_from(GETS)?, gets)?;
        report::comparison(&format!("{name}: get"), Unit::Nanoseconds, &times, None);
        let scans = vec![
            Contender::new("", |_, timer: &mut Timer| timer.time(|| floor.scan())),
            Contender::new("", |_, timer: &mut Timer| timer.time(|| ours.scan())),
        ];
        let times = measure::rounds(Clock::Processor, arguments.rounds, rows.into(), scans)?;
        report::comparison(&format!("{name}: scan, a row"), Unit::Nanoseconds, &times, None);
    }
    Ok(())
}

/// One operation of one engine, many times, for callgrind: `words-get`, `texts-scan`.
pub(crate) fn profile(arguments: &Arguments) -> Done {
    let unknown = || format!("there is no operation `{}` of rows of other forms", arguments.op);
    let (form, op) = arguments.op.split_once('-').ok_or_else(unknown)?;
    let (_, [floor, typed]) = FORMS.into_iter().find(|(name, _)| *name == form).ok_or_else(unknown)?;
    let open = match &*arguments.engine {
        "floor" => floor,
        "typed" => typed,
        other => return Err(format!("there is no engine `{other}` of rows of other forms").into()),
    };
    let (rows, place) = (rows_of(arguments)?, Place::in_memory()?);
    let engine = open(&place.join("store"), 1 << 30)?;
    engine.load(rows)?;
    let begun = std::time::Instant::now();
    let operations = match op {
        "get" => engine.get(&numbers(1, rows)?)?.rows,
        "scan" => engine.scan()?.rows,
        _ => return Err(unknown().into()),
    };
    let each = begun.elapsed().as_secs_f64() * 1e9 / count_of(operations);
    println!("{} {}: {operations} operations, {each:.0} ns each", arguments.engine, arguments.op);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_read_the_same_rows_of_each_form() {
        for (name, opens) in FORMS {
            let place = Place::for_tests(&format!("forms-{name}")).unwrap();
            let read = [0, 1].map(|at| {
                let engine = loaded(opens[at], &place, &at.to_string(), 1 << 30, 300).unwrap();
                assert!(engine.get(&[300]).is_err(), "{name}");
                (engine.scan().unwrap(), engine.get(&[7, 299, 7]).unwrap())
            });
            assert_eq!(read[0], read[1], "{name}");
        }
    }
}
