//! One property of a row of few properties, and of many.

use std::error::Error;

use crate::Arguments;
use crate::engine::Engine;
use crate::measure::{self, Clock, Contender, Timer, Times};
use crate::ops::{Loaded, seeded};
use crate::report::{self, Unit};
use crate::rows::{self, Key};
use crate::wide::{self, WIDTHS, WideMaker};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Gets of one turn: so many that reading the clock counts for nothing.
const GETS: usize = 4_000;

pub(crate) fn run(arguments: &Arguments, peers: &[WideMaker]) -> Result<()> {
    let rows = (arguments.rows / 100).max(1);
    println!("\n## One property of rows of 6, 50 and 200, {rows} rows each, within one snapshot");
    report::machine(std::path::Path::new("/dev/shm"), "reads only; processor time");
    let samples: Vec<_> =
        WIDTHS.iter().flat_map(|width| (0..rows).map(|id| rows::wide(id, *width))).collect();
    let loaded = Loaded::new(&samples)?;
    let keys = |round: usize, width: usize| -> Vec<Key> {
        let mut random = seeded(round);
        let key = |_| Key { partition: format!("wide-{width:03}"), row: rows::row_key(random.below(rows)) };
        (0..GETS).map(key).collect()
    };
    let middle = |width: usize| rows::wide_name(width / 2);

    let read = |engine: &dyn Engine, width, round, timer: &mut Timer| {
        let (keys, name) = (keys(round, width), middle(width));
        // What ran before has filled the processor's caches with its own.
        engine.one_property(&keys, &name)?;
        timer.time(|| engine.one_property(&keys, &name))
    };
    let gets = u64::try_from(GETS)?;

    report::comparison_head();
    let pair = |width| {
        let (read, loaded) = (&read, &loaded);
        vec![
            Contender::new("", move |round, timer| read(&loaded.floor, width, round, timer)),
            Contender::new("", move |round, timer| read(&loaded.ours, width, round, timer)),
        ]
    };
    let pairs = WIDTHS.map(pair).into();
    for (width, times) in WIDTHS.iter().zip(measure::fields(Clock::Processor, arguments.rounds, gets, pairs)?)
    {
        report::comparison(&format!("one of {width}, floor decodes all"), Unit::Nanoseconds, &times, None);
    }

    let ours = |width| {
        let (read, ours) = (&read, &loaded.ours);
        Contender::new("", move |round, timer| read(ours, width, round, timer)).of_its_own()
    };
    let times = measure::rounds(Clock::Processor, arguments.rounds, gets, WIDTHS.map(ours).into())?;
    let [six, fifty, two_hundred, again]: &[Times; 4] =
        times.as_slice().try_into().map_err(|_| "three widths were measured")?;
    let (low, high) = measure::noise(again, six);
    println!("\n| ours alone | one of 6 | of more | ratio | noise (6/6, quartiles) | aim | |");
    println!("|---|---:|---:|---:|---:|---:|---|");
    for (width, wider, aim) in [(50, fifty, None), (200, two_hundred, Some(1.5))] {
        let ratio = measure::ratio(wider, six);
        println!(
            "| one of {width} | {} | {} | **{ratio:.2}** | {low:.2}–{high:.2} | {} | {} |",
            Unit::Nanoseconds.show(measure::median(&six.rounds)),
            Unit::Nanoseconds.show(measure::median(&wider.rounds)),
            aim.map_or_else(String::new, |aim| format!("{aim:.2}")),
            report::verdict(ratio, aim),
        );
    }
    wide::run(arguments, peers)
}
