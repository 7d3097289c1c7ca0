//! How many reads a second go through the client, what each takes of the processor, and how much memory there is, with so many
//! in flight at a time. They go to a stub that answers after ten milliseconds, in a process of its own.
//!
//! ```console
//! ulimit -n 4096
//! cargo run --release -p table-azure --example in_flight
//! ```
//!
//! The figures of the processor and of memory are those of Linux.

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use table_azure::AzureOptions;
use table_core::Entity;
use table_core::asynchronous::AsyncTable;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    age: i32,
}

/// An error of a task.
type Failed = Box<dyn Error + Send + Sync>;

/// How long the stub takes.
const ANSWERS_AFTER: Duration = Duration::from_millis(10);
/// How long reads are counted.
const MEASURED: Duration = Duration::from_secs(5);
const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";
const EMPLOYEE: &str = concat!(
    r#"{"odata.etag":"W/\"datetime'2026-01-02T03%3A04%3A05.0000006Z'\"","PartitionKey":"Sales","RowKey":"empid_000042","#,
    r#""Timestamp":"2026-01-02T03:04:05.0000006Z","EntityType":"employee","LastName":"Jones","Age":34}"#
);

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("stub") => stub(),
        // Each in a process of its own, whose memory is then its own.
        Some(count) => measure(count.parse()?, &arguments.next().ok_or("the stub's address is missing")?),
        None => {
            let stub = Stub::start()?;
            println!("in flight   reads a second   of n x 100   us of the processor a read   MB at most");
            for count in ["1", "32", "256", "1000"] {
                let status = Command::new(std::env::current_exe()?).args([count, &*stub.address]).status()?;
                if !status.success() {
                    return Err(format!("the measurement of {count} in flight failed").into());
                }
            }
            Ok(())
        }
    }
}

/// The process of the stub, until it is dropped.
struct Stub {
    process: Child,
    address: String,
}

impl Stub {
    fn start() -> Result<Self, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        let process = command.arg("stub").stdout(Stdio::piped()).spawn()?;
        let mut stub = Self { process, address: String::new() };
        let output = stub.process.stdout.take().ok_or("the stub has no output")?;
        BufReader::new(output).read_line(&mut stub.address)?;
        stub.address.truncate(stub.address.trim_end().len());
        Ok(stub)
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Answers every request after some time, until the process ends.
fn stub() -> Result<(), Failed> {
    let (waits, waiting) = mpsc::channel();
    std::thread::spawn(move || wake(&waiting));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        println!("{}", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(answer(stream, waits.clone()));
        }
    })
}

/// A request that waits until its answer is due.
type Waiting = (Instant, oneshot::Sender<()>);

/// Wakes each request when its answer is due, in their order, since all wait equally long. The timer of the runtime goes off at
/// whole milliseconds, a tenth of what is waited for; a thread sleeps to some fifty microseconds.
fn wake(waiting: &mpsc::Receiver<Waiting>) {
    for (due, waits) in waiting {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        // Whose connection has ended waits no more.
        waits.send(()).unwrap_or_default();
    }
}

/// Answers the requests of a connection, none of which has a body.
async fn answer(mut stream: TcpStream, waits: mpsc::Sender<Waiting>) -> Result<(), Failed> {
    stream.set_nodelay(true)?;
    let mut head = Vec::with_capacity(2_048);
    loop {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let due = Instant::now() + ANSWERS_AFTER;
        let body = if head.windows(7).any(|part| part == b"RowKey=") { EMPLOYEE } else { r#"{"value":[]}"# };
        head.clear();
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let (wakes, woken) = oneshot::channel();
        waits.send((due, wakes))?;
        woken.await?;
        stream.write_all(answer.as_bytes()).await?;
    }
}

/// Keeps so many reads in flight for some time, and prints a line of figures.
fn measure(count: u32, address: &str) -> Result<(), Failed> {
    let connection = format!("AccountName=acme;AccountKey={KEY};TableEndpoint=http://{address}/acme");
    let tables = AzureOptions::new().assume_layouts().connect(&connection)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = Arc::new(AtomicU64::new(0));
    let (reads, spent, taken) = runtime.block_on(async {
        let staff = tables.to_async().table::<Employee>().await?;
        let reading: Vec<_> = (0..count).map(|_| tokio::spawn(read(staff.clone(), done.clone()))).collect();
        // Until the connections are made.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (before, begun, processor) = (done.load(Ordering::Relaxed), Instant::now(), processor_time()?);
        tokio::time::sleep(MEASURED).await;
        let reads = done.load(Ordering::Relaxed).saturating_sub(before);
        let (spent, taken) = (processor_time()?.saturating_sub(processor), begun.elapsed());
        for reading in reading {
            // None comes to an end but by an error.
            if reading.is_finished() {
                reading.await??;
            } else {
                reading.abort();
            }
        }
        Ok::<_, Failed>((u32::try_from(reads)?, spent, taken))
    })?;
    let rate = f64::from(reads) / taken.as_secs_f64();
    let share = rate / f64::from(count);
    let each = spent.as_secs_f64() * 1e6 / f64::from(reads.max(1));
    println!("{count:>9}   {rate:>14.0}   {share:>8.1} %   {each:>26.1}   {:>10.1}", memory()?);
    Ok(())
}

/// Reads one employee again and again, and counts how often.
async fn read(staff: AsyncTable<Employee>, done: Arc<AtomicU64>) -> Result<(), Failed> {
    loop {
        let found = staff.get(Employee::key("Sales", 42)).await?;
        if found.is_none_or(|found| found.last_name != "Jones" || found.age != 34) {
            return Err("another employee than was asked for".into());
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns what the process has taken of the processor. The kernel counts in hundredths of a second.
fn processor_time() -> Result<Duration, Failed> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = text.rsplit_once(')').ok_or("no name in /proc/self/stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

/// Returns the most memory that the process has had, in megabytes.
fn memory() -> Result<f64, Failed> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line =
        text.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak in /proc/self/status")?;
    let kibibytes: u32 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(f64::from(kibibytes) * 1_024.0 / 1e6)
}
