//! One operation of one engine, many times: for `valgrind --tool=callgrind --toggle-collect='*profiled*'`.

use super::Employee;
use super::engine::{Opening, SyncMode};
use super::memory::{asked, unknown};
use crate::measure::count_of;
use crate::place::Place;
use crate::profile::profiled;
use crate::{Arguments, Result};

/// valgrind has no room for the usual map.
const MAP: usize = 1 << 30;

pub(crate) fn run(arguments: &Arguments, peers: &[super::Maker]) -> Result<()> {
    let makers = super::ENGINES.iter().chain(peers);
    let maker = makers
        .copied()
        .find(|maker| maker.name == arguments.engine)
        .ok_or_else(|| format!("there is no engine `{}`", arguments.engine))?;
    let place = Place::in_memory()?;
    let open = || (maker.open)(&place.join("store"), &Opening { sync: SyncMode::Lax, map: MAP });
    let mut engine = open()?;
    let staff: Vec<_> =
        (0..arguments.rows).map(|number| Employee::numbered(number, arguments.rows)).collect();
    for hundred in staff.chunks(100) {
        engine.load(hundred)?;
    }
    if arguments.reopened {
        drop(engine);
        engine = open()?;
        // The first write looks at the list of free pages.
        let first = arguments.rows.next_multiple_of(5_000) * 2;
        engine.load(&[Employee::numbered(first, arguments.rows)])?;
    }
    let engine = &*engine;
    let count = arguments.count;
    let known = asked(arguments, 1, count);
    let new = unknown(arguments, 1, count);
    let rows = |read: super::Answer| read.map(|digest| digest.rows);
    let begun = std::time::Instant::now();
    let done = match arguments.op.as_str() {
        "get" => profiled(|| rows(engine.get(&known))),
        "get-by-email" => profiled(|| rows(engine.get_by_email(&known))),
        "list" => profiled(|| rows(engine.list_by_last_name(&known))),
        "range" => profiled(|| rows(engine.range(&known, 100))),
        // However many there are, so that what is counted is of one employee.
        "scan" => profiled(|| rows(engine.scan())),
        "insert" => profiled(|| new.iter().try_for_each(|e| engine.insert(e)).map(|()| 0)),
        "load" => {
            let first = arguments.rows.next_multiple_of(5_000);
            let more = (first..first + u64::try_from(count)?).map(|n| Employee::numbered(n, arguments.rows));
            let more: Vec<_> = more.collect();
            profiled(|| more.chunks(100).try_for_each(|hundred| engine.load(hundred)).map(|()| 0))
        }
        "change" => {
            let emails: Vec<_> = (0..count).map(|n| format!("e{n:06}@contoso.com")).collect();
            profiled(|| {
                let mut pairs = known.iter().zip(&emails);
                pairs.try_for_each(|(e, email)| engine.change_email(e, email)).map(|()| 0)
            })
        }
        "delete" => {
            new.iter().try_for_each(|e| engine.insert(e))?;
            profiled(|| new.iter().try_for_each(|e| engine.delete(e)).map(|()| 0))
        }
        other => return Err(format!("there is no operation `{other}`").into()),
    }?;
    // Operations, or for a scan the employees that it reads.
    let operations = if arguments.op == "scan" { done } else { u64::try_from(count)? };
    let each = begun.elapsed().as_secs_f64() * 1e9 / count_of(operations);
    println!("{} {}: {operations} operations, {done} rows, {each:.0} ns each", maker.name, arguments.op);
    Ok(())
}
