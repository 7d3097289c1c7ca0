//! One thread, files in memory, nothing waited for: what the processor does.

use std::cell::Cell;
use std::path::Path;

use super::conformance::expected;
use super::engine::{Engine, Maker, Opening, SyncMode};
use super::tables::{Report, Table};
use super::{DEPARTMENTS, Employee, growth};
use crate::measure::{self, Clock, Contender, Timer};
use crate::ops::seeded;
use crate::place::Place;
use crate::report::Unit;
use crate::{Arguments, Digest, Result};

/// Operations in one round of gets, of writes, and of ranges and lists.
pub(super) const GETS: usize = 2_000;
const WRITES: usize = 400;
/// Writes in one round where each commit waits for the disk.
pub(super) const DURABLE_WRITES: usize = 50;
const RANGES: usize = 20;
const SCANNED: u32 = 100;

/// An engine with its employees.
pub(super) struct Loaded {
    pub(super) maker: Maker,
    pub(super) engine: Box<dyn Engine>,
}

/// Opens an engine in a new directory and loads employees, timed or not.
pub(super) fn load(
    maker: &Maker,
    dir: &Path,
    sync: SyncMode,
    rows: std::ops::Range<u64>,
    of: u64,
    timer: Option<&mut Timer>,
) -> Result<Box<dyn Engine>> {
    let engine = (maker.open)(dir, &Opening::with(sync))?;
    fill(&*engine, rows, of, timer)?;
    Ok(engine)
}

/// Loads employees, timed or not.
pub(super) fn fill(
    engine: &dyn Engine,
    rows: std::ops::Range<u64>,
    of: u64,
    mut timer: Option<&mut Timer>,
) -> Result<()> {
    let mut number = rows.start;
    while number < rows.end {
        let end = rows.end.min(number + 2_000);
        let staff: Vec<_> = (number..end).map(|number| Employee::numbered(number, of)).collect();
        let work = || staff.chunks(100).try_for_each(|hundred| engine.load(hundred));
        match &mut timer {
            Some(timer) => timer.time(work),
            None => work(),
        }?;
        number = end;
    }
    Ok(())
}

pub(super) fn load_all(
    arguments: &Arguments,
    makers: &[Maker],
    place: &Place,
    sync: SyncMode,
    rows: u64,
) -> Result<Vec<Loaded>> {
    let mut loaded = Vec::new();
    for maker in makers {
        let engine = load(maker, &place.join(maker.name), sync, 0..rows, arguments.rows, None)?;
        loaded.push(Loaded { maker: *maker, engine });
    }
    Ok(loaded)
}

/// Random employees that are there.
pub(super) fn asked(arguments: &Arguments, round: usize, count: usize) -> Vec<Employee> {
    asked_of(arguments.rows, arguments, round, count)
}

/// Random employees of the first `rows`.
pub(super) fn asked_of(rows: u64, arguments: &Arguments, round: usize, count: usize) -> Vec<Employee> {
    let mut random = seeded(round);
    (0..count).map(|_| Employee::numbered(random.below(rows), arguments.rows)).collect()
}

/// Employees that are not there, of all departments in turn and in no order.
pub(super) fn unknown(arguments: &Arguments, round: usize, count: usize) -> Vec<Employee> {
    let mut random = seeded(round);
    // Full hundreds, so that the ids of each department go on.
    let first = arguments.rows.next_multiple_of(100 * DEPARTMENTS);
    let mut numbers: Vec<_> = (first..).step_by(25).take(count).collect();
    random.shuffle(&mut numbers);
    numbers.into_iter().map(|number| Employee::numbered(number, arguments.rows)).collect()
}

pub(super) fn contenders<'a>(
    loaded: &'a [Loaded],
    writes: bool,
    run: &'a dyn Fn(&dyn Engine, usize, &mut Timer) -> Result<Digest>,
) -> Vec<Contender<'a>> {
    let entered = loaded.iter().filter(|one| !writes || !one.maker.reads_only);
    let contender = |one: &'a Loaded| {
        Contender::new(one.maker.name, move |round, timer: &mut Timer| run(&*one.engine, round, timer))
            .with_threads(writes && one.maker.threads)
    };
    entered.map(contender).collect()
}

pub(super) fn run(arguments: &Arguments, makers: &[Maker], report: &mut Report) -> Result<()> {
    let place = if arguments.large { Place::on_disk()? } else { Place::in_memory()? };
    report.place("One thread", place.path());
    if report.wants("load") && !arguments.large {
        loads(arguments, makers, &place, report)?;
    }
    if report.wants("size") && !arguments.large {
        // Durable, since some keep what is not in their memory.
        let sized = place.join("sizes");
        for maker in makers.iter().filter(|maker| !maker.reads_only) {
            drop(load(maker, &sized, SyncMode::Durable, 0..arguments.rows, arguments.rows, None)?);
            report.size(maker, &sized)?;
            std::fs::remove_dir_all(&sized)?;
        }
    }
    // On a disk all must flush alike: what one leaves out there would be counted as another's work.
    let sync = if arguments.large { SyncMode::Durable } else { SyncMode::Lax };
    let loaded = if arguments.large {
        growth::run(arguments, makers, &place, sync, report)?
    } else {
        load_all(arguments, makers, &place, sync, arguments.rows)?
    };
    if arguments.large {
        for one in loaded.iter().filter(|one| !one.maker.reads_only) {
            report.size(&one.maker, &place.join(one.maker.name))?;
        }
    }
    reads(arguments, &loaded, report)?;
    writes(arguments, &loaded, report)?;
    drop(loaded);
    drop(place);
    if report.wants("drop") && !arguments.large { drops(arguments, makers, report) } else { Ok(()) }
}

fn loads(arguments: &Arguments, makers: &[Maker], place: &Place, report: &mut Report) -> Result<()> {
    let number = Cell::new(0);
    let contender = |maker: &Maker| {
        let (maker, number) = (*maker, &number);
        Contender::new(maker.name, move |_, timer: &mut Timer| {
            number.set(number.get() + 1);
            let dir = place.join(&format!("load-{}", number.get()));
            let engine = load(&maker, &dir, SyncMode::Lax, 0..arguments.rows, arguments.rows, Some(timer))?;
            let digest = engine.scan()?;
            drop(engine);
            std::fs::remove_dir_all(&dir)?;
            Ok(digest)
        })
        .with_threads(maker.threads)
    };
    let entered = makers.iter().filter(|maker| !maker.reads_only).map(contender).collect();
    let rounds = arguments.rounds.div_ceil(8);
    report.measure(Table::new("load", "load, transactions of 100, an employee", Unit::Microseconds), |_| {
        measure::rounds(Clock::Processor, rounds, arguments.rows, entered)
    })
}

fn reads(arguments: &Arguments, loaded: &[Loaded], report: &mut Report) -> Result<()> {
    type Read = dyn Fn(&dyn Engine, &[Employee]) -> Result<Digest>;
    let read =
        |table: Table, count: usize, rounds: usize, operations: u64, report: &mut Report, read: &Read| {
            let run = |engine: &dyn Engine, round, timer: &mut Timer| {
                let asked = asked(arguments, round, count);
                timer.time(|| read(engine, &asked))
            };
            report.measure(table, |_| {
                measure::rounds(Clock::Processor, rounds, operations, contenders(loaded, false, &run))
            })
        };
    let (gets, ranges, rounds) = (u64::try_from(GETS)?, u64::try_from(RANGES)?, arguments.rounds);
    read(Table::new("get", "get", Unit::Microseconds), GETS, rounds, gets, report, &|engine, asked| {
        engine.get(asked)
    })?;
    read(
        Table::new("get-by-email", "get by e-mail", Unit::Microseconds),
        GETS,
        rounds,
        gets,
        report,
        &|engine, asked| engine.get_by_email(asked),
    )?;
    read(
        Table::new("list", "list by last name, 100 rows or so", Unit::Microseconds),
        RANGES,
        rounds,
        ranges,
        report,
        &|engine, asked| engine.list_by_last_name(asked),
    )?;
    read(
        Table::new("range", "range of 100", Unit::Microseconds),
        RANGES,
        rounds,
        ranges,
        report,
        &|engine, asked| engine.range(asked, SCANNED),
    )?;
    let rounds = if arguments.large { 3 } else { arguments.rounds.div_ceil(4) };
    read(
        Table::new("scan", "scan of all, an employee", Unit::Nanoseconds),
        0,
        rounds,
        arguments.rows,
        report,
        &|engine, _| engine.scan(),
    )
}

/// Inserts employees, reads them, and removes them again.
pub(super) fn inserted(
    arguments: &Arguments,
    engine: &dyn Engine,
    round: usize,
    count: usize,
    timer: &mut Timer,
) -> Result<Digest> {
    let staff = unknown(arguments, round, count);
    timer.time(|| staff.iter().try_for_each(|e| engine.insert(e)))?;
    let digest = engine.get(&staff)?;
    staff.iter().try_for_each(|e| engine.delete(e))?;
    Ok(digest)
}

fn writes(arguments: &Arguments, loaded: &[Loaded], report: &mut Report) -> Result<()> {
    let writes = if arguments.large { DURABLE_WRITES } else { WRITES };
    let count = u64::try_from(writes)?;
    let mut write = |table: Table, run: &dyn Fn(&dyn Engine, usize, &mut Timer) -> Result<Digest>| {
        let rounds = |_: &Table| {
            measure::rounds(Clock::Processor, arguments.rounds, count, contenders(loaded, true, run))
        };
        report.measure(table, rounds)
    };
    let insert =
        |engine: &dyn Engine, round, timer: &mut Timer| inserted(arguments, engine, round, writes, timer);
    write(Table::new("insert", "insert, a transaction each", Unit::Microseconds), &insert)?;
    let turn = Cell::new(0_u32);
    let change = |engine: &dyn Engine, round, timer: &mut Timer| {
        turn.set(turn.get() + 1);
        let staff = asked(arguments, round, writes);
        // As long as each other, and new in every turn.
        let emails: Vec<_> =
            (0..staff.len()).map(|n| format!("e{:06}.{n:06}@contoso.com", turn.get())).collect();
        timer.time(|| staff.iter().zip(&emails).try_for_each(|(e, email)| engine.change_email(e, email)))?;
        engine.get(&staff)
    };
    write(Table::new("change", "change of an e-mail, a transaction each", Unit::Microseconds), &change)?;
    let delete = |engine: &dyn Engine, round, timer: &mut Timer| {
        let staff = unknown(arguments, round, writes);
        staff.iter().try_for_each(|e| engine.insert(e))?;
        let digest = engine.get(&staff)?;
        timer.time(|| staff.iter().try_for_each(|e| engine.delete(e)))?;
        if digest == expected(&staff) { Ok(digest) } else { Err("what was inserted is not there".into()) }
    };
    write(Table::new("delete", "delete, a transaction each", Unit::Microseconds), &delete)
}

/// Dropping everything, until the call returns and until the space can be used again: time of day.
fn drops(arguments: &Arguments, makers: &[Maker], report: &mut Report) -> Result<()> {
    let place = Place::in_memory()?;
    let number = Cell::new(0);
    for rows in [arguments.rows / 100, arguments.rows, 10 * arguments.rows] {
        for (id, what, reclaimed) in
            [("drop", "drop of a table of", false), ("reclaim", "the same, until its space is free:", true)]
        {
            // A million employees take long to load; one number does for both.
            if rows > arguments.rows && !reclaimed {
                continue;
            }
            let contender = |maker: &Maker| {
                let (maker, place, number) = (*maker, &place, &number);
                Contender::new(maker.name, move |_, timer: &mut Timer| {
                    number.set(number.get() + 1);
                    let dir = place.join(&format!("drop-{}", number.get()));
                    let engine = load(&maker, &dir, SyncMode::Lax, 0..rows, rows, None)?;
                    timer.time(|| {
                        engine.clear().and_then(|()| if reclaimed { engine.reclaim() } else { Ok(()) })
                    })?;
                    drop(engine);
                    std::fs::remove_dir_all(&dir)?;
                    Ok(Digest::default())
                })
            };
            let entered = makers.iter().filter(|maker| !maker.reads_only).map(contender).collect();
            let rounds = if rows > arguments.rows { 1 } else { 3 };
            let table = Table::new(id, &format!("{what} {rows}"), Unit::Milliseconds).clock("time of day");
            report.measure(table, |_| measure::rounds(Clock::Wall, rounds, 1, entered))?;
        }
    }
    Ok(())
}
