//! One property of rows of 6, 50 and 200, in every engine: each row as a user of that engine would keep it.
//!
//! Every engine keeps the same rows under their ids and is asked for the property in the middle of each row.

mod columns;
mod floor;
pub mod positional;
mod typed;

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use table_core::Ticks;

use crate::Arguments;
use crate::company::{Answer, Done};
use crate::measure::{self, Clock, Contender, Timer, Times};
use crate::ops::seeded;
use crate::place::Place;
use crate::report::Unit;
use crate::{Digest, Result, rows};

pub use table_core::Value;

/// How many properties rows have.
pub const WIDTHS: [usize; 3] = [6, 50, 200];
/// Gets of one turn: so many that reading the clock counts for nothing.
const GETS: usize = 4_000;

/// Rows of one width.
pub trait Wide {
    /// Adds rows of [`values`], in one transaction.
    fn load(&self, ids: Range<u32>) -> Done;
    /// The property in the middle of each row, by the quickest way that the engine's users have, all of one snapshot.
    /// Each is added by [`Digest::one`].
    fn middle(&self, ids: &[u32]) -> Answer;
}

/// An engine and what is to be said of it.
#[derive(Clone, Copy, Debug)]
pub struct WideMaker {
    /// What it is called in the table.
    pub name: &'static str,
    /// How it keeps a row, and how it reads one property.
    pub what: &'static str,
    /// Opens it in a directory of its own, for rows of this width.
    pub open: fn(&Path, usize) -> Result<Box<dyn Wide>>,
}

/// The engines that need nothing but heed, the floor first.
pub const ENGINES: [WideMaker; 3] = [floor::MAKER, typed::MAKER, typed::DYNAMIC];

/// The property in the middle.
pub fn middle_of(width: usize) -> usize {
    width / 2
}

/// The name of a property, as `Property_003`.
pub fn name(index: usize) -> String {
    rows::wide_name(index)
}

/// The values of a row.
pub fn values(id: u32, width: usize) -> Vec<Value> {
    rows::wide_values(id.into(), width)
}

/// What of a row is to be read.
fn expected(ids: &[u32], width: usize) -> Digest {
    let mut digest = Digest::default();
    for id in ids {
        if let Some(value) = values(*id, width).get(middle_of(width)) {
            digest.row();
            digest.ours(value.as_value_ref());
        }
    }
    digest
}

/// A value of the type that a struct's field has.
pub trait Field<'v>: Sized {
    /// The value, if it is of this type.
    fn of(value: &'v Value) -> Option<Self>;
}

macro_rules! fields {
    ($($field:ty, $pattern:pat => $value:expr;)*) => {
        $(impl<'v> Field<'v> for $field {
            fn of(value: &'v Value) -> Option<Self> {
                if let $pattern = value { Some($value) } else { None }
            }
        })*
    };
}

fields! {
    String, Value::String(v) => v.clone();
    &'v str, Value::String(v) => v;
    i64, Value::Int64(v) => *v;
    f64, Value::Double(v) => *v;
    bool, Value::Boolean(v) => *v;
    Ticks, Value::DateTime(v) => *v;
    u64, Value::DateTime(v) => v.get();
    i32, Value::Int32(v) => *v;
}

/// The next value of a row.
///
/// # Errors
///
/// There is none, or it is of another type.
pub fn next<'v, F: Field<'v>>(values: &mut std::slice::Iter<'v, Value>) -> Result<F> {
    let value = values.next().ok_or("the row has too few values")?;
    F::of(value).ok_or_else(|| format!("the row has {value:?} where another type is wanted").into())
}

/// Loads a few rows of each width into an engine and compares what is read with what must be there.
///
/// # Errors
///
/// The first thing that is not as it must be.
pub fn conforms(maker: &WideMaker) -> Result<()> {
    for width in WIDTHS {
        let place = Place::for_tests(&format!("wide-{}", maker.name))?;
        let engine = (maker.open)(&place.join("store"), width)?;
        engine.load(0..300)?;
        let ids = [0, 299, 17, 17, 100];
        let (read, expected) = (engine.middle(&ids)?, expected(&ids, width));
        if read != expected {
            return Err(format!("one of {width}: {read:?}, not {expected:?}").into());
        }
        if engine.middle(&[300]).is_ok() {
            return Err(format!("one of {width}: a row was found that is not there").into());
        }
    }
    Ok(())
}

fn contenders(engines: &[Loaded], rows: u32) -> Vec<Contender<'_>> {
    engines.iter().map(|(name, engine)| contender(name, &**engine, rows)).collect()
}

fn contender<'a>(name: &'static str, engine: &'a dyn Wide, rows: u32) -> Contender<'a> {
    Contender::new(name, move |round, timer: &mut Timer| {
        let mut random = seeded(round);
        let ids = (0..GETS).map(|_| u32::try_from(random.below(rows.into())));
        let ids = ids.collect::<std::result::Result<Vec<_>, _>>()?;
        // What ran before has filled the processor's caches with its own.
        engine.middle(&ids)?;
        timer.time(|| engine.middle(&ids))
    })
}

/// An engine with its rows, and what it is called.
type Loaded = (&'static str, Box<dyn Wide>);

/// Every engine with its rows of this width, once it has shown that it reads them rightly.
fn load(makers: &[WideMaker], place: &Place, width: usize, rows: u32) -> Result<Vec<Loaded>> {
    let mut engines = Vec::new();
    for maker in makers {
        let engine = (maker.open)(&place.join(&format!("{}-{width}", maker.name)), width)?;
        engine.load(0..rows)?;
        let ids: Vec<_> = (0..rows).collect();
        if engine.middle(&ids)? != expected(&ids, width) {
            return Err(format!("{}: one of {width} reads wrongly", maker.name).into());
        }
        engines.push((maker.name, engine));
    }
    Ok(engines)
}

/// What one property takes: a line for each of [`WIDTHS`], and one for the growth from the first to the last.
fn table(by_width: &[Vec<Times>]) -> Result<String> {
    let mut text = String::new();
    let engines = |times: &[Times]| times.len().saturating_sub(1);
    if let Some(times) = by_width.first() {
        let names: Vec<_> = times.iter().take(engines(times)).map(|times| times.name).collect();
        writeln!(text, "| | {} | noise (floor/floor, quartiles) |", names.join(" | "))?;
        writeln!(text, "|---|{}---|", "---:|".repeat(names.len()))?;
    }
    for (width, times) in WIDTHS.iter().zip(by_width) {
        let [floor, .., again] = times.as_slice() else { continue };
        let cell = |times: &Times| {
            let time = Unit::Nanoseconds.show(measure::median(&times.rounds));
            format!("{time} **{:.2}**", measure::ratio(times, floor))
        };
        let cells: Vec<_> = times.iter().take(engines(times)).map(cell).collect();
        let (low, high) = measure::noise(again, floor);
        writeln!(text, "| one of {width} | {} | {low:.2}–{high:.2} |", cells.join(" | "))?;
    }
    if let [narrow, .., wide] = by_width {
        // Of the rounds' ratios, like the others: all widths take their turns in the same rounds.
        let growth = |(wide, narrow)| format!("{:.2}", measure::ratio(wide, narrow));
        let cells: Vec<_> = wide.iter().zip(narrow).take(engines(wide)).map(growth).collect();
        writeln!(text, "| of 200, over of 6 | {} | |", cells.join(" | "))?;
    }
    Ok(text)
}

/// Prints what one property takes in each engine.
pub(crate) fn run(arguments: &Arguments, peers: &[WideMaker]) -> Result<()> {
    let makers: Vec<_> = ENGINES.iter().chain(peers).copied().collect();
    let rows = u32::try_from((arguments.rows / 100).max(1))?;
    let place = Place::in_memory()?;
    println!("\n### Each engine as its users have it, {rows} rows of each width\n");
    let engines =
        WIDTHS.iter().map(|width| load(&makers, &place, *width, rows)).collect::<Result<Vec<_>>>()?;
    let fields = engines.iter().map(|engines| contenders(engines, rows)).collect();
    let by_width = measure::fields(Clock::Processor, arguments.rounds, u64::try_from(GETS)?, fields)?;
    print!("{}", table(&by_width)?);
    println!(
        "\nBold: against the floor. Processor time of one property, files in memory, one snapshot for {GETS}."
    );
    println!("\n| engine | what |\n|---|---|");
    for maker in &makers {
        println!("| {} | {} |", maker.name, maker.what);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_reads_the_same_property() {
        for maker in ENGINES {
            conforms(&maker).unwrap_or_else(|error| panic!("{}: {error}", maker.name));
        }
    }

    #[test]
    fn growth_is_the_median_of_the_rounds_ratios() {
        let of = |name, rounds: [f64; 3]| Times { name, rounds: rounds.into() };
        let width = |typed| vec![of("floor", [1.0; 3]), of("typed", typed), of("floor again", [1.0; 3])];
        // Each round has twice the time for the wide row, but the one that something else disturbed.
        let by_width = [width([1.0, 2.0, 10.0]), width([1.0; 3]), width([2.0, 18.0, 20.0])];
        let text = table(&by_width).unwrap();
        assert!(text.starts_with("| | floor | typed | noise"), "{text}");
        assert!(text.contains("| one of 6 | 1 ns **1.00** | 2 ns **2.00** |"), "{text}");
        assert!(text.ends_with("| of 200, over of 6 | 1.00 | 2.00 | |\n"), "{text}");
    }

    #[test]
    fn every_width_is_measured_of_engines_that_read_rightly() {
        let place = Place::for_tests("wide-rounds").unwrap();
        let engines = WIDTHS.map(|width| load(&ENGINES, &place, width, 40).unwrap());
        let fields = engines.iter().map(|engines| contenders(engines, 40)).collect();
        let times = measure::fields(Clock::Wall, 2, 1, fields).unwrap();
        assert_eq!(times.len(), WIDTHS.len());
        for times in times {
            let names: Vec<_> = times.iter().map(|times| times.name).collect();
            assert_eq!(names, ["floor", "typed", "dynamic", "floor again"]);
            assert!(times.iter().all(|times| times.rounds.len() == 2));
        }
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let values = [Value::Int32(1)];
        assert!(next::<i64>(&mut values.iter()).is_err());
        assert!(next::<i32>(&mut values.iter()).is_ok());
        assert!(next::<i32>(&mut [].iter()).is_err());
    }
}
