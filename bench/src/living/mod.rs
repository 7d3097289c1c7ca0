//! A struct that changes: an index made and entities converted, alone and beside writers and readers; copies checked and mended.

mod beside;
mod memory;
mod staff;
pub(crate) mod unending;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use table_core::typed::Job;
use table_core::{Durability, OpenOptions, Store};

use self::beside::{Calls, during};
use self::staff::{age, department, email, first, second, third};
use crate::Arguments;
use crate::place::Place;
use crate::random::Random;
use crate::report;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How long writers and readers go on alone, before a job is begun beside them.
const BEFORE: Duration = Duration::from_secs(5);
/// After so long a job beside writers is broken off.
const LONGEST: Duration = Duration::from_secs(840);
/// How many copies are taken away, which a repair makes again.
const DAMAGED: u32 = 1_000;

/// How a job is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Alone,
    Beside,
    Gently,
}

impl Pace {
    const ALL: [Self; 3] = [Self::Alone, Self::Beside, Self::Gently];

    fn words(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Beside => "beside",
            Self::Gently => "beside, `.gentle()`",
        }
    }
}

fn options() -> OpenOptions {
    Store::options().durability(Durability::Durable).map_size(16 << 30)
}

/// The bytes that a store's file has, in MiB.
fn file(path: &Path) -> Result<u64> {
    Ok(std::fs::metadata(path.join("data.mdb"))?.len() >> 20)
}

/// A store as the first release has left it.
fn filled(place: &Place, rows: u32) -> Result<PathBuf> {
    let path = place.join("filled");
    let store = options().durability(Durability::Relaxed).open(&path)?;
    let begun = Instant::now();
    let report = store.table::<first::Employee>()?.bulk_insert((0..rows).map(first::Employee::new))?;
    if !report.failures.is_empty() {
        return Err("some were not loaded".into());
    }
    let took = begun.elapsed().as_secs_f64();
    println!("{rows} entities with one copy each, loaded in {took:.1} s, {} MiB\n", file(&path)?);
    Ok(path)
}

/// A copy of that store, for one run.
fn copied(place: &Place, from: &Path) -> Result<(PathBuf, Store)> {
    let path = place.join("run");
    if path.exists() {
        std::fs::remove_dir_all(&path)?;
    }
    options().open(from)?.copy_to(&path)?;
    let store = options().open(&path)?;
    Ok((path, store))
}

/// What a run of a job came to.
struct Run {
    seconds: f64,
    /// What was left to do when it was broken off.
    left: Option<String>,
    grown: u64,
    before: Option<Calls>,
    meanwhile: Option<Calls>,
}

/// Runs a job to its end, or for as long as it may take.
fn worked(mut job: Job<'_>, longest: Duration) -> Result<(f64, Option<String>)> {
    let begun = Instant::now();
    while job.step()? {
        if begun.elapsed() > longest {
            return Ok((begun.elapsed().as_secs_f64(), Some(job.progress().to_string())));
        }
    }
    Ok((begun.elapsed().as_secs_f64(), None))
}

fn head(what: &str) {
    println!("| {what} | s | file grew, MiB | | writes/s | median | p99 | longest | reads' p99 |");
    println!("|---|---:|---:|---|---:|---:|---:|---:|---:|");
}

fn line(how: Pace, run: &Run) {
    let took = match &run.left {
        Some(left) => format!("broken off after {:.0}: {left}", run.seconds),
        None => format!("{:.1}", run.seconds),
    };
    let (words, grown) = (how.words(), run.grown);
    let (Some(before), Some(meanwhile)) = (&run.before, &run.meanwhile) else {
        println!("| {words} | {took} | {grown} | | | | | | |");
        return;
    };
    println!("| {words} | {took} | {grown} | before | {} |", before.cells());
    let times = meanwhile.p99() / before.p99();
    println!("| | | | during, p99 **{times:.1}** times | {} |", meanwhile.cells());
}

/// Makes an index that the second release has.
fn index(place: &Place, from: &Path, how: Pace, rows: u32) -> Result<Run> {
    let (path, store) = copied(place, from)?;
    let staff = store.table::<second::Employee>()?;
    let was = file(&path)?;
    let write = |random: &mut Random| {
        let id = u32::try_from(random.below(rows.into())).unwrap_or(0);
        let age = age(random);
        staff.update(second::Employee::key(department(id), id), |employee| employee.age = age).map(drop)
    };
    let read = |random: &mut Random| {
        let id = u32::try_from(random.below(rows.into())).unwrap_or(0);
        staff.get(second::Employee::by_email(department(id), email(id))).map(drop)
    };
    let run = paced(how, &write, &read, || Ok(staff.rebuild()?), || file(&path).map(|now| now - was))?;
    if run.left.is_none() {
        let report = staff.check()?;
        if !report.is_sound() || report.copies != 2 * u64::from(rows) {
            return Err(format!("the copies are not what they are to be: {report}").into());
        }
    }
    Ok(run)
}

/// Converts everything to the third release.
fn conversion(place: &Place, from: &Path, how: Pace, rows: u32) -> Result<Run> {
    let (path, store) = copied(place, from)?;
    let was = file(&path)?;
    let (older, newer) = (store.table::<first::Employee>()?, store.table::<third::Employee>()?);
    let is_begun = std::sync::atomic::AtomicBool::new(false);
    let begun = || is_begun.load(std::sync::atomic::Ordering::Relaxed);
    let write = |random: &mut Random| {
        let id = u32::try_from(random.below(rows.into())).unwrap_or(0);
        let age = age(random);
        if begun() {
            newer.update(third::Employee::key(department(id), id), |employee| employee.age = age).map(drop)
        } else {
            older.update(first::Employee::key(department(id), id), |employee| employee.age = age).map(drop)
        }
    };
    let write = |random: &mut Random| match write(random) {
        // It was begun meanwhile.
        Err(error) if error.kind() == table_core::ErrorKind::LayoutChanged && begun() => Ok(()),
        other => other,
    };
    let read = |random: &mut Random| {
        let id = u32::try_from(random.below(rows.into())).unwrap_or(0);
        newer.get(third::Employee::key(department(id), id)).map(drop)
    };
    let job = || {
        is_begun.store(true, std::sync::atomic::Ordering::Relaxed);
        Ok(store.migration::<third::Employee>()?.steps()?)
    };
    let run = paced(how, &write, &read, job, || file(&path).map(|now| now - was))?;
    if run.left.is_none() {
        let report = newer.check()?;
        if !report.is_sound() || report.copies != u64::from(rows) {
            return Err(format!("the copies are not what they are to be: {report}").into());
        }
    }
    Ok(run)
}

/// Runs a job as is asked.
fn paced(
    how: Pace,
    write: beside::Call<'_>,
    read: beside::Call<'_>,
    job: impl FnOnce() -> Result<Job<'static>>,
    grown: impl Fn() -> Result<u64>,
) -> Result<Run> {
    if how == Pace::Alone {
        let (seconds, left) = worked(job()?, Duration::MAX)?;
        return Ok(Run { seconds, left, grown: grown()?, before: None, meanwhile: None });
    }
    let ((), before) = during(write, read, || {
        std::thread::sleep(BEFORE);
        Ok(())
    })?;
    let ((seconds, left), meanwhile) = during(write, read, || {
        let job = job()?;
        worked(if how == Pace::Gently { job.gentle() } else { job }, LONGEST)
    })?;
    let (before, meanwhile) = (Some(before), Some(meanwhile));
    Ok(Run { seconds, left, grown: grown()?, before, meanwhile })
}

/// Looks at every copy, takes some away, and has them mended.
fn checks(place: &Place, from: &Path, rows: u32) -> Result<()> {
    let (_, store) = copied(place, from)?;
    let staff = store.table::<first::Employee>()?;
    println!("| | s | the process's own memory, MiB | |\n|---|---:|---:|---|");
    let line = |what: &str, (took, memory): (f64, f64), found: &str| {
        println!("| {what} | {took:.1} | {memory:.1} | {found} |");
    };
    let (measured, report) = memory::most(|| Ok(staff.check()?))?;
    line("`Table::check`", measured, &format!("{} copies", report.copies));
    let (measured, report) = memory::most(|| Ok(store.check()?))?;
    line(
        "`Store::check`",
        measured,
        &format!("{} copies, {} problems", report.copies, report.problems.len()),
    );
    let dynamic = staff.dynamic().clone().raw();
    for number in 0..DAMAGED {
        let id = number * (rows / DAMAGED);
        dynamic.delete(&department(id), &format!("email_{}", email(id)))?;
    }
    let (measured, report) = memory::most(|| Ok(staff.repair()?.run()?))?;
    let found = format!("{} missing, {} mended", report.missing, report.mended);
    line("`Table::repair`", measured, &found);
    if report.mended != u64::from(DAMAGED) || !staff.check()?.is_sound() {
        return Err(format!("not all was mended: {report}").into());
    }
    Ok(())
}

/// Deletes few of the entities by a query, and then most.
fn deletions(place: &Place, from: &Path) -> Result<()> {
    let (_, store) = copied(place, from)?;
    let staff = store.table::<first::Employee>()?;
    println!("| deleted by a query | s | of them |\n|---|---:|---:|");
    let timed = |what: &str, job: Job<'_>| {
        let begun = Instant::now();
        let changed = job.run()?.changed;
        println!("| {what} | {:.1} | {changed} |", begun.elapsed().as_secs_f64());
        Ok::<_, table_core::Error>(())
    };
    timed("few", staff.delete_where(staff.all().filter(|e| e.email.starts_with("55")).entities())?)?;
    timed("most", staff.delete_where(staff.all().filter(|e| e.email.ge("2")).entities())?)?;
    let report = staff.check()?;
    if !report.is_sound() {
        return Err(format!("the copies are not what they are to be: {report}").into());
    }
    Ok(())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::on_disk()?;
    println!("\n## A struct that changes");
    report::machine(place.path(), "durable; beside: four writers, who change an age, and four readers");
    let rows = u32::try_from(arguments.rows)?;
    let filled = filled(&place, rows)?;
    let is_asked = |what: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == what);
    let paces = Pace::ALL.into_iter().filter(|how| match how {
        Pace::Alone => is_asked("alone"),
        Pace::Beside => is_asked("beside"),
        Pace::Gently => is_asked("gently"),
    });
    if is_asked("index") {
        head("an index is made");
        for how in paces.clone() {
            line(how, &index(&place, &filled, how, rows)?);
        }
        println!();
    }
    if is_asked("convert") {
        head("entities are converted");
        for how in paces {
            line(how, &conversion(&place, &filled, how, rows)?);
        }
        println!();
    }
    if is_asked("check") {
        checks(&place, &filled, rows)?;
        println!();
    }
    if is_asked("delete") {
        deletions(&place, &filled)?;
    }
    Ok(())
}
