//! Messages a second: a queue of table-core, and a table in `SQLite` that is used as one.
//!
//! Each cell is the median of several rounds, interleaved. Every call is a transaction that is on disk when it returns:
//! table-core's default, and WAL with `synchronous = FULL`.

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use table_core::Store;
use table_core::queue::Queue;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The threads that work at one time.
const THREADS: [usize; 3] = [1, 4, 16];
/// Messages in one transaction.
const BATCHES: [usize; 2] = [1, 32];
/// Long enough that nothing shows twice.
const VISIBILITY: Duration = Duration::from_secs(3_600);

/// About 300 bytes as JSON.
#[derive(Serialize, Deserialize)]
struct Message {
    id: u64,
    department: String,
    name: String,
    text: String,
}

impl Message {
    fn new(id: u64) -> Self {
        Self { id, department: "Sales".into(), name: format!("employee {id}"), text: "x".repeat(230) }
    }
}

/// What is measured of either.
trait Engine: Sync {
    /// A worker of one thread.
    fn worker(&self) -> Result<Box<dyn Worker + '_>>;
}

trait Worker {
    /// Sends so many messages as one.
    fn send(&mut self, first: u64, many: usize) -> Result<()>;
    /// Receives so many at most as one, and completes them as one; how many there were.
    fn deal(&mut self, many: usize) -> Result<usize>;
}

struct Ours(Queue<Message>);

impl Engine for Ours {
    fn worker(&self) -> Result<Box<dyn Worker + '_>> {
        Ok(Box::new(self.0.clone()))
    }
}

impl Worker for Queue<Message> {
    fn send(&mut self, first: u64, many: usize) -> Result<()> {
        if many == 1 {
            Self::send(self, &Message::new(first))?;
        } else {
            let messages: Vec<_> = (first..).take(many).map(Message::new).collect();
            self.send_all(&messages)?;
        }
        Ok(())
    }

    fn deal(&mut self, many: usize) -> Result<usize> {
        let received = self.receive_many(many, VISIBILITY)?;
        match &*received {
            [] => Ok(0),
            [one] => one.delete().map(|()| 1).map_err(Into::into),
            all => Ok(self.delete_all(all)?),
        }
    }
}

struct Sqlite(PathBuf);

const TABLE: &str = "
    CREATE TABLE message (
        id INTEGER PRIMARY KEY AUTOINCREMENT, visible_at INTEGER NOT NULL, count INTEGER NOT NULL, body TEXT NOT NULL
    );
    CREATE INDEX by_time ON message (visible_at, id);";
const SEND: &str = "INSERT INTO message (visible_at, count, body) VALUES (?1, 0, ?2)";
const RECEIVE: &str = "
    UPDATE message SET visible_at = ?1, count = count + 1
    WHERE id IN (SELECT id FROM message WHERE visible_at <= ?2 ORDER BY visible_at, id LIMIT ?3)
    RETURNING id, count, body";
const COMPLETE: &str = "DELETE FROM message WHERE id = ?1 AND count = ?2";

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.busy_timeout(Duration::from_secs(60))?;
    Ok(connection)
}

impl Engine for Sqlite {
    fn worker(&self) -> Result<Box<dyn Worker + '_>> {
        Ok(Box::new(connect(&self.0)?))
    }
}

fn micros() -> Result<i64> {
    Ok(i64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_micros())?)
}

impl Worker for Connection {
    fn send(&mut self, first: u64, many: usize) -> Result<()> {
        let texts = (first..).take(many).map(|id| serde_json::to_string(&Message::new(id)));
        let texts = texts.collect::<std::result::Result<Vec<_>, _>>()?;
        let transaction = self.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = micros()?;
        {
            let mut send = transaction.prepare_cached(SEND)?;
            for text in &texts {
                send.execute(params![now, text])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    fn deal(&mut self, many: usize) -> Result<usize> {
        let transaction = self.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = micros()?;
        let mut found = Vec::new();
        {
            let until = now + i64::try_from(VISIBILITY.as_micros())?;
            let mut receive = transaction.prepare_cached(RECEIVE)?;
            let mut rows = receive.query(params![until, now, i64::try_from(many)?])?;
            while let Some(row) = rows.next()? {
                let body: String = row.get(2)?;
                found.push((
                    row.get::<_, i64>(0)?,
                    row.get::<_, i64>(1)?,
                    serde_json::from_str::<Message>(&body)?,
                ));
            }
        }
        transaction.commit()?;
        if found.is_empty() {
            return Ok(0);
        }
        let transaction = self.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut gone = 0;
        {
            let mut complete = transaction.prepare_cached(COMPLETE)?;
            for (id, count, _) in &found {
                gone += complete.execute(params![id, count])?;
            }
        }
        transaction.commit()?;
        Ok(gone)
    }
}

/// Messages a second, sent and dealt with, by so many threads in so large batches.
fn measure(engine: &dyn Engine, threads: usize, batch: usize, messages: usize) -> Result<[f64; 2]> {
    let each = (messages / threads / batch).max(1);
    let all = each * threads * batch;
    let mut rates = [0.0; 2];
    for (at, rate) in rates.iter_mut().enumerate() {
        let barrier = Barrier::new(threads + 1);
        let spent = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads)
                .map(|thread| {
                    let barrier = &barrier;
                    scope.spawn(move || -> Result<usize> {
                        let mut worker = engine.worker()?;
                        barrier.wait();
                        let mut done = 0;
                        for turn in 0..each {
                            if at == 0 {
                                let first = (thread * each + turn) * batch;
                                worker.send(u64::try_from(first)?, batch)?;
                                done += batch;
                            } else {
                                // Others may leave less than a batch.
                                loop {
                                    let dealt = worker.deal(batch)?;
                                    done += dealt;
                                    if dealt == 0 || done >= (turn + 1) * batch {
                                        break;
                                    }
                                }
                            }
                        }
                        Ok(done)
                    })
                })
                .collect();
            barrier.wait();
            let begun = Instant::now();
            let mut done = 0;
            for handle in handles {
                done += handle.join().map_err(|_| "a thread panicked")??;
            }
            if done == all { Ok(begun.elapsed()) } else { Err(format!("{done} of {all} messages").into()) }
        });
        let spent: Duration = spent.map_err(|error: Box<dyn std::error::Error + Send + Sync>| error)?;
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let many = all as f64;
        *rate = many / spent.as_secs_f64();
    }
    Ok(rates)
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

/// `queue [--messages N] [--rounds N] [--dir DIRECTORY]`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let value = |name: &str| {
        arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1))
    };
    let number = |name, usual: usize| value(name).map_or(Ok(usual), |text| text.parse());
    let (messages, rounds) = (number("--messages", 2_000)?, number("--rounds", 5)?);
    let base = value("--dir").map_or_else(std::env::temp_dir, PathBuf::from);
    println!(
        "| threads | in one transaction | send: table-core | SQLite | receive and complete: table-core | SQLite |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for threads in THREADS {
        for batch in BATCHES {
            let mut rates: [Vec<[f64; 2]>; 2] = Default::default();
            for round in 0..rounds {
                let dir = base.join(format!("queue-{}-{threads}-{batch}-{round}", std::process::id()));
                std::fs::create_dir_all(&dir)?;
                let store = Store::open(dir.join("store"))?;
                let sqlite = Sqlite(dir.join("data.sqlite"));
                connect(&sqlite.0)?.execute_batch(TABLE)?;
                let ours = Ours(store.queue("messages")?);
                let engines: [&dyn Engine; 2] = [&ours, &sqlite];
                // By turns first, so that neither has the quieter moment always.
                for at in [round % 2, 1 - round % 2] {
                    let measured = measure(engines[at], threads, batch, messages * batch.min(8))?;
                    rates[at].push(measured);
                }
                drop((ours, store));
                std::fs::remove_dir_all(&dir)?;
            }
            let cell =
                |engine: usize, what: usize| median(rates[engine].iter().map(|rates| rates[what]).collect());
            println!(
                "| {threads} | {batch} | {:.0} | {:.0} | {:.0} | {:.0} |",
                cell(0, 0),
                cell(1, 0),
                cell(0, 1),
                cell(1, 1)
            );
        }
    }
    Ok(())
}
