//! A company that grows: what a get and an insert take at a hundredth, at a tenth, and at the whole of it.

use super::engine::{Engine, Maker, Opening, SyncMode};
use super::memory::{self, DURABLE_WRITES, GETS, Loaded};
use super::tables::{Report, Table};
use crate::measure::{self, Clock, Timer};
use crate::place::Place;
use crate::report::Unit;
use crate::{Arguments, Result};

/// Loads engines in steps, and measures at each.
pub(super) fn run(
    arguments: &Arguments,
    makers: &[Maker],
    place: &Place,
    sync: SyncMode,
    report: &mut Report,
) -> Result<Vec<Loaded>> {
    let mut loaded = Vec::new();
    for maker in makers {
        let engine = (maker.open)(&place.join(maker.name), &Opening::with(sync))?;
        loaded.push(Loaded { maker: *maker, engine });
    }
    let mut there = 0;
    for rows in [arguments.rows / 100, arguments.rows / 10, arguments.rows] {
        // Full hundreds of every department.
        let rows = rows.next_multiple_of(5_000).min(arguments.rows);
        for one in &loaded {
            let begun = std::time::Instant::now();
            memory::fill(&*one.engine, there..rows, arguments.rows, None)?;
            eprintln!("{}: {there} to {rows} employees in {:.0?}", one.maker.name, begun.elapsed());
        }
        there = rows;
        if report.wants("growth") {
            at(rows, arguments, &loaded, report)?;
        }
    }
    Ok(loaded)
}

fn at(rows: u64, arguments: &Arguments, loaded: &[Loaded], report: &mut Report) -> Result<()> {
    let get = |engine: &dyn Engine, round, timer: &mut Timer| {
        let asked = memory::asked_of(rows, arguments, round, GETS);
        timer.time(|| engine.get(&asked))
    };
    let insert = |engine: &dyn Engine, round, timer: &mut Timer| {
        memory::inserted(arguments, engine, round, DURABLE_WRITES, timer)
    };
    let (gets, inserts) = (u64::try_from(GETS)?, u64::try_from(DURABLE_WRITES)?);
    let table = Table::new("growth-get", &format!("get, of {rows}"), Unit::Microseconds);
    report.measure(table, |_| {
        let contenders = memory::contenders(loaded, false, &get);
        measure::rounds(Clock::Processor, arguments.rounds, gets, contenders)
    })?;
    let table =
        Table::new("growth-insert", &format!("insert into {rows}, a transaction each"), Unit::Microseconds);
    report.measure(table, |_| {
        let contenders = memory::contenders(loaded, true, &insert);
        measure::rounds(Clock::Processor, arguments.rounds.div_ceil(2), inserts, contenders)
    })
}
