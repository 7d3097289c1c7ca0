//! Asks a server for the same thing over many connections, and prints how often a second it answers and what that costs it.
//!
//! ```console
//! cargo run --release -p table-server --example load -- 127.0.0.1:10002 --pid 1234 --connections 16 --seconds 3
//! ```
//!
//! Requests are signed by the emulators' key. With `--pid`, the processor time of the server for a request and its memory are
//! printed, too.

#![allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::format_push_string,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures and prints"
)]

#[path = "../tests/support/signing.rs"]
mod signing;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use table_core::Ticks;
use table_core::access::sas::AccountKey;
use table_server::config::{WELL_KNOWN_ACCOUNT as ACCOUNT, WELL_KNOWN_KEY as KEY};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;

type Failed = Box<dyn Error + Send + Sync>;

#[derive(Parser)]
struct Flags {
    /// Where the server listens.
    address: String,
    /// The server's process.
    #[arg(long)]
    pid: Option<u32>,
    /// How many connections ask at once.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// How long each operation is asked for.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// How many entities there are.
    #[arg(long, default_value_t = 20_000)]
    rows: u64,
    /// Whether the entities are there already, of a run before.
    #[arg(long)]
    filled: bool,
    /// Which operations, by commas.
    #[arg(long, default_value = "get,query100,query1000,select,insert,merge,upsert,batch100")]
    operations: String,
}

/// A request before it is signed.
struct Asked {
    method: &'static str,
    path: String,
    query: String,
    headers: &'static str,
    body: String,
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let flags = Flags::parse();
    let key = Arc::new(AccountKey::new(ACCOUNT, KEY)?);
    if !flags.filled {
        fill(&flags, &key).await?;
    }
    println!("operation,connections,requests a second,median ms,99 % ms,server us a request,server MB");
    for operation in flags.operations.split(',') {
        measure(&flags, &key, operation).await?;
    }
    Ok(())
}

async fn fill(flags: &Flags, key: &Arc<AccountKey>) -> Result<(), Failed> {
    let mut connection = Connection::open(&flags.address, key).await?;
    let table = Asked {
        method: "POST",
        path: "Tables".into(),
        query: String::new(),
        headers: "Accept: application/json\r\nContent-Type: application/json\r\n",
        body: r#"{"TableName":"Load"}"#.into(),
    };
    let made = connection.ask(&table).await?;
    // A run before may have made it.
    if !matches!(made, 200..300 | 409) {
        return Err(format!("the table can't be made: status {made}").into());
    }
    for row in 0..flags.rows {
        let status = connection.ask(&upsert(row, row)).await?;
        if !(200..300).contains(&status) {
            return Err(format!("entity {row} can't be written: status {status}").into());
        }
    }
    Ok(())
}

async fn measure(flags: &Flags, key: &Arc<AccountKey>, operation: &str) -> Result<(), Failed> {
    // No two runs insert the same keys.
    let next = Arc::new(AtomicU64::new(Ticks::now().get()));
    let before = flags.pid.map(processor_time).transpose()?;
    let (began, end) = (Instant::now(), Duration::from_secs(flags.seconds));
    let workers = (0..flags.connections).map(|_| {
        let (address, key, next) = (flags.address.clone(), key.clone(), next.clone());
        let (operation, rows) = (operation.to_owned(), flags.rows);
        tokio::spawn(async move {
            let mut connection = Connection::open(&address, &key).await?;
            let mut times = Vec::new();
            while began.elapsed() < end {
                let asked = request(&operation, next.fetch_add(1, Ordering::Relaxed), rows)?;
                let start = Instant::now();
                let status = connection.ask(&asked).await?;
                if !(200..300).contains(&status) {
                    return Err(format!("{operation}: status {status}").into());
                }
                times.push(start.elapsed());
            }
            Ok::<_, Failed>(times)
        })
    });
    let workers: Vec<_> = workers.collect();
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await??);
    }
    let seconds = began.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    let (cost, memory) = match (flags.pid, before) {
        (Some(pid), Some(before)) => {
            let spent = processor_time(pid)?.saturating_sub(before).as_secs_f64() * 1e6;
            (format!("{:.1}", spent / times.len() as f64), format!("{:.1}", memory(pid)?))
        }
        _ => ("-".to_owned(), "-".to_owned()),
    };
    let rate = times.len() as f64 / seconds;
    println!("{operation},{},{rate:.0},{:.2},{:.2},{cost},{memory}", flags.connections, at(50), at(99));
    Ok(())
}

fn request(operation: &str, number: u64, rows: u64) -> Result<Asked, Failed> {
    let row = number.wrapping_mul(7_919) % rows;
    let read = |path: String, query: String| Asked {
        method: "GET",
        path,
        query,
        headers: "Accept: application/json;odata=minimalmetadata\r\n",
        body: String::new(),
    };
    let partition = partition_of(row);
    // Where a hundred begins, so that so many follow in the partition.
    let start = row / 100 * 100;
    let hundred =
        format!("?$top=100&$filter=PartitionKey%20eq%20'{partition}'%20and%20RowKey%20ge%20'{start:08}'");
    Ok(match operation {
        "get" => read(address_of(row), String::new()),
        "query100" => read("Load()".into(), hundred),
        "query1000" => read("Load()".into(), format!("?$filter=PartitionKey%20eq%20'{partition}'")),
        "select" => read("Load()".into(), hundred + "%20and%20Age%20ge%2040&$select=RowKey,Age"),
        "insert" => Asked {
            method: "POST",
            path: "Load".into(),
            query: String::new(),
            headers: "Accept: application/json;odata=minimalmetadata\r\nContent-Type: application/json\r\nPrefer: return-no-content\r\n",
            body: entity(&format!("{{\"PartitionKey\":\"new\",\"RowKey\":\"{number:020}\","), number),
        },
        "merge" => Asked {
            method: "MERGE",
            path: address_of(row),
            query: String::new(),
            headers: "Accept: application/json\r\nContent-Type: application/json\r\nIf-Match: *\r\n",
            body: format!("{{\"Age\":{}}}", number % 90),
        },
        "upsert" => upsert(row, number),
        "batch100" => batch("PUT", start..start + 100),
        other => return Err(format!("no operation is called `{other}`").into()),
    })
}

/// Returns the partition of an entity: there are a thousand in each.
fn partition_of(row: u64) -> String {
    format!("p{:03}", row / 1_000)
}

fn address_of(row: u64) -> String {
    format!("Load(PartitionKey='{}',RowKey='{row:08}')", partition_of(row))
}

fn upsert(row: u64, number: u64) -> Asked {
    Asked {
        method: "PUT",
        path: address_of(row),
        query: String::new(),
        headers: "Accept: application/json;odata=minimalmetadata\r\nContent-Type: application/json\r\n",
        body: entity("{", number),
    }
}

/// Returns the text of an entity of eight properties, some 430 bytes with its keys.
fn entity(start: &str, number: u64) -> String {
    format!(
        "{start}\"Name\":\"Somebody of a name that is long enough {number}\",\"Email\":\"somebody.{number}@contoso.com\",\
         \"Age\":{},\"Salary@odata.type\":\"Edm.Int64\",\"Salary\":\"{number}\",\"Ratio\":1.5,\"Active\":true,\
         \"Hired@odata.type\":\"Edm.DateTime\",\"Hired\":\"2024-02-29T12:00:00.1234567Z\",\
         \"Notes\":\"what else there is to say of somebody who is in a table for the sake of being asked for\"}}",
        number % 90
    )
}

fn batch(method: &str, rows: std::ops::Range<u64>) -> Asked {
    // The emulator knows boundaries by these names alone.
    let mut body = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n".to_owned();
    for row in rows {
        body += &format!(
            "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
             {method} http://127.0.0.1:10002/{ACCOUNT}/{} HTTP/1.1\r\n\
             Content-Type: application/json\r\nAccept: application/json\r\n\r\n{}\r\n",
            address_of(row),
            entity("{", row)
        );
    }
    body += "--changeset_1--\r\n--batch_1--\r\n";
    Asked {
        method: "POST",
        path: "$batch".into(),
        query: String::new(),
        headers: "Content-Type: multipart/mixed; boundary=batch_1\r\nAccept: application/json\r\n",
        body,
    }
}

struct Connection {
    stream: BufStream<TcpStream>,
    key: Arc<AccountKey>,
    head: Vec<u8>,
    body: Vec<u8>,
    date: String,
}

impl Connection {
    async fn open(address: &str, key: &Arc<AccountKey>) -> Result<Self, Failed> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let stream = BufStream::with_capacity(64 << 10, 64 << 10, stream);
        Ok(Self { stream, key: key.clone(), head: Vec::new(), body: Vec::new(), date: signing::date() })
    }

    /// Sends a request, and returns the status of its answer when that has arrived whole.
    async fn ask(&mut self, asked: &Asked) -> Result<u16, Failed> {
        let Asked { method, path, query, headers, body } = asked;
        let path = format!("/{ACCOUNT}/{path}{query}");
        let authorization = signing::authorization(&self.key, ACCOUNT, &self.date, &path);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-ms-date: {}\r\nx-ms-version: 2019-02-02\r\n\
             Authorization: {authorization}\r\n{headers}Content-Length: {}\r\n\r\n",
            self.date,
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await?;
        self.stream.write_all(body.as_bytes()).await?;
        self.stream.flush().await?;
        self.head.clear();
        while !self.head.ends_with(b"\r\n\r\n") {
            if self.stream.read_until(b'\n', &mut self.head).await? == 0 {
                return Err("the server closed the connection".into());
            }
        }
        let head = str::from_utf8(&self.head)?.to_ascii_lowercase();
        let status = head.get(9..12).ok_or("no status")?.parse()?;
        let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if value("transfer-encoding:") == Some("chunked") {
            loop {
                let mut line = String::new();
                self.stream.read_line(&mut line).await?;
                let size = usize::from_str_radix(line.trim(), 16)?;
                self.body.resize(size + 2, 0);
                self.stream.read_exact(&mut self.body).await?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.body.resize(value("content-length:").unwrap_or("0").parse()?, 0);
            self.stream.read_exact(&mut self.body).await?;
        }
        Ok(status)
    }
}

/// Returns the processor time that a process has used.
fn processor_time(pid: u32) -> Result<Duration, Failed> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<_> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    // Counted from the state on: user and system time, in hundredths of a second.
    let ticks: u64 = [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 10))
}

/// Returns how many megabytes of memory a process has.
fn memory(pid: u32) -> Result<f64, Failed> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes / 1_024.0)
}
