//! How many calls a second tasks make that wait without a thread, and how much memory each takes, on the server that
//! `TABLE_POSTGRES` names and 16 connections.
//!
//! `COUNTS` lists the numbers of tasks. Each is measured in a process of its own, whose memory is then its own; the figures of
//! memory are those of Linux.

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::error::Error;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use table_core::Entity;
use table_core::asynchronous::AsyncTable;
use table_postgres::PostgresTables;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    count: i64,
}

/// An error of a task.
type Failed = Box<dyn Error + Send + Sync>;

const CONNECTIONS: usize = 16;
const EMPLOYEES: u32 = 1_000;
/// How long calls are counted.
const MEASURED: Duration = Duration::from_secs(5);

/// What the tasks do again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Get,
    Change,
}

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    if let Some(count) = arguments.next() {
        let work = if arguments.next().as_deref() == Some("Change") { Work::Change } else { Work::Get };
        return measure(count.parse()?, work);
    }
    println!("work     tasks   calls a second   KB a task   MB at most");
    let counts = std::env::var("COUNTS").unwrap_or_else(|_| "1 16 1000".to_owned());
    for work in [Work::Get, Work::Change] {
        for count in counts.split(' ') {
            let mut command = Command::new(std::env::current_exe()?);
            if !command.args([count, &format!("{work:?}")]).status()?.success() {
                return Err(format!("the measurement of {count} tasks failed").into());
            }
        }
    }
    Ok(())
}

/// Keeps so many tasks at work for some time, and prints a line of figures.
fn measure(count: u32, work: Work) -> Result<(), Failed> {
    let address = std::env::var("TABLE_POSTGRES")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned());
    let options =
        PostgresTables::options().schema(format!("tasks_{}", std::process::id())).connections(CONNECTIONS);
    let tables = options.connect(&address)?;
    let staff = tables.table::<Employee>()?;
    let employee =
        |id| Employee { department: "Sales".into(), id, email: format!("{id}@example.com"), count: 0 };
    staff.bulk_insert((0..EMPLOYEES).map(employee))?.into_result()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = Arc::new(AtomicU32::new(0));
    let (calls, taken, each) = runtime.block_on(async {
        let staff = tables.to_async().table::<Employee>().await?;
        // The first one, with what every program of this sort takes.
        let first = tokio::spawn(run(staff.clone(), work, 0, done.clone()));
        tokio::time::sleep(Duration::from_millis(500)).await;
        let before = memory("VmRSS:")?;
        let all: Vec<_> =
            (1..count).map(|at| tokio::spawn(run(staff.clone(), work, at, done.clone()))).collect();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (already, begun) = (done.load(Ordering::Relaxed), Instant::now());
        tokio::time::sleep(MEASURED).await;
        let calls = done.load(Ordering::Relaxed).saturating_sub(already);
        let taken = begun.elapsed();
        let each = (memory("VmHWM:")? - before) / f64::from(count);
        for task in all.into_iter().chain([first]) {
            // None comes to an end but by an error.
            if task.is_finished() {
                task.await??;
            } else {
                task.abort();
            }
        }
        Ok::<_, Failed>((calls, taken, each))
    })?;
    let (rate, most) = (f64::from(calls) / taken.as_secs_f64(), memory("VmHWM:")? / 1e3);
    println!("{:<6} {count:>7}   {rate:>14.0}   {each:>9.1}   {most:>10.1}", format!("{work:?}"));
    Ok(())
}

/// Does the work again and again, of one employee after another, and counts how often.
async fn run(
    staff: AsyncTable<Employee>,
    work: Work,
    mut at: u32,
    done: Arc<AtomicU32>,
) -> Result<(), Failed> {
    loop {
        at = (at + 7) % EMPLOYEES;
        match work {
            Work::Get => {
                if staff.get(Employee::key("Sales", at)).await?.is_none_or(|found| found.id != at) {
                    return Err("another employee than was asked for".into());
                }
            }
            Work::Change => {
                staff.update(Employee::key("Sales", at), |employee| employee.count += 1).await?;
            }
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns what the kernel says of the process's memory, in kilobytes.
fn memory(name: &str) -> Result<f64, Failed> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line =
        text.lines().find_map(|line| line.strip_prefix(name)).ok_or("a line is missing of the status")?;
    let kibibytes: u32 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(f64::from(kibibytes) * 1.024)
}
