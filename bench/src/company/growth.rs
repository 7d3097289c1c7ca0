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

#[cfg(test)]
mod tests {
    use super::super::{ENGINES, tables::Report};
    use super::*;

    #[test]
    fn a_company_grows_to_its_whole_size_and_each_table_is_written_when_it_is_there() {
        let place = Place::for_tests("growth").unwrap();
        let out = place.join("out");
        let words = ["company", "--large", "--rows", "10000", "--rounds", "1", "--out"];
        let words = words.map(str::to_owned).into_iter().chain([out.to_str().unwrap().to_owned()]);
        let arguments = Arguments::parse(words).unwrap();
        let makers = [ENGINES[0], ENGINES[3]];
        let mut report = Report::new(&arguments, &makers);
        let loaded = run(&arguments, &makers, &place, SyncMode::Lax, &mut report).unwrap();
        for one in &loaded {
            assert_eq!(one.engine.scan().unwrap().rows, 10_000, "{}", one.maker.name);
        }
        let written = || std::fs::read_to_string(out.join("company.md")).unwrap();
        for what in ["did not come to its end", "get, of 5000", "insert into 5000", "get, of 10000"] {
            assert!(written().contains(what), "{what}: {}", written());
        }
        report.finish().unwrap();
        assert!(!written().contains("did not come to its end"));
    }
}
