//! One operation of one engine, many times: for `valgrind --tool=callgrind --toggle-collect='*profiled*'`.

use std::error::Error;
use std::hint::black_box;

use crate::Arguments;
use crate::engine::Engine;
use crate::measure::count_of;
use crate::ops::{Loaded, after_hundred};
use crate::rows::{self, Key, Sample};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let count = arguments.count;
    let wide = arguments.op.strip_prefix("one-of-").map(str::parse::<usize>).transpose()?;
    let samples = match wide {
        Some(width) => (0..arguments.rows).map(|id| rows::wide(id, width)).collect(),
        None => rows::employees(arguments.rows),
    };
    let loaded = Loaded::mapped(&samples, 1 << 30)?;
    let ours = arguments.engine == "ours";
    let engine: &dyn Engine = if ours { &loaded.ours } else { &loaded.floor };
    let keys = match wide {
        Some(width) => loaded
            .keys(1, count)
            .into_iter()
            .map(|key| Key { partition: format!("wide-{width:03}"), ..key })
            .collect(),
        None => loaded.keys(1, count),
    };
    let begun = std::time::Instant::now();
    let done = match arguments.op.as_str() {
        "get" => profiled(|| engine.get(&keys).map(|digest| digest.rows)),
        "miss" => {
            let keys: Vec<_> =
                keys.into_iter().map(|key| Key { row: format!("{}x", key.row), ..key }).collect();
            profiled(|| engine.get(&keys).map(|digest| digest.rows))
        }
        "scan" => profiled(|| engine.scan().map(|digest| digest.rows)),
        "views-one" if ours => profiled(|| loaded.ours.scan_one("Email").map(|digest| digest.rows)),
        "views-all" if ours => profiled(|| loaded.ours.scan_all().map(|digest| digest.rows)),
        "range" => {
            let ends: Vec<_> = keys.iter().map(after_hundred).collect();
            profiled(|| {
                let ranges = keys.iter().zip(&ends).map(|(from, to)| engine.range(from, to));
                ranges.map(|found| found.map(|digest| digest.rows)).sum()
            })
        }
        "insert" => {
            let rows = loaded.new_rows(1, count);
            profiled(|| engine.insert(&rows).map(|()| 0))
        }
        "batch" => {
            let mut rows = loaded.new_batches(1, count);
            profiled(|| engine.batch(&mut rows).map(|()| 0))
        }
        "replace" => {
            let rows: Vec<Sample> = keys.into_iter().map(rows::employee).collect();
            profiled(|| engine.replace(&rows).map(|()| 0))
        }
        "merge" => profiled(|| engine.merge(&keys, 1).map(|()| 0)),
        _ if wide.is_some() => {
            let name = rows::wide_name(wide.unwrap_or(0) / 2);
            profiled(|| engine.one_property(&keys, &name).map(|digest| digest.rows))
        }
        other => return Err(format!("there is no operation `{other}` of that engine").into()),
    }?;
    let each = begun.elapsed().as_secs_f64() * 1e9 / count_of(u64::try_from(count)?);
    println!("{} {}: {count} times, {done} rows, {each:.0} ns each", arguments.engine, arguments.op);
    Ok(())
}

/// What is to be profiled has a frame of its own.
#[inline(never)]
pub(crate) fn profiled(work: impl FnOnce() -> Result<u64>) -> Result<u64> {
    black_box(work())
}
