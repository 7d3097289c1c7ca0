//! Changes of blobs: tasks that are done in one transaction, which carries a token as a plan's does.

use std::sync::Arc;

use table_engine::__executor::{self as executor, BlobAnswer, BlobContent, BlobId, BlobTask};
use table_engine::contents::{SEGMENT, UPLOAD_STANDS, length_of};
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use super::BlobTables;
use super::containers::{bytes_of, no_such_container, of_blob, of_number};
use crate::catalog::column;
use crate::clock::SERVER_NOW;
use crate::commit::{ATTEMPTS, Settled, outrun, settle};
use crate::connection::{Call, Connection};
use crate::error::{is_conflict, is_lost, of_server};
use crate::param::{Param, Params};
use crate::store::PostgresStore;
use crate::token::Token;

/// Why an attempt has not succeeded.
enum Failed {
    Refused(Error),
    /// The server chose another transaction, or the connection was lost before anything was done.
    Again,
    /// The connection was lost before the end was known: the token says whether this was done.
    Lost(Vec<BlobAnswer>),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Does all of it, or nothing.
pub(super) fn carry_out(store: &Arc<PostgresStore>, tasks: &[BlobTask]) -> Result<Vec<BlobAnswer>> {
    for _ in 0..ATTEMPTS {
        let token = store.token();
        let mut connection = store.pool.blocking()?;
        let mut attempt = Attempt { store, connection: &connection, is_open: false, writes: Vec::new() };
        let outcome = connection.wait(attempt.run(tasks, token));
        if attempt.is_open && !connection.end_transaction() {
            connection.spend();
        }
        match outcome {
            Ok(answers) => return Ok(answers),
            Err(Failed::Refused(error)) => return Err(error),
            Err(Failed::Again) => {}
            Err(Failed::Lost(answers)) => {
                connection.spend();
                drop(connection);
                if let Settled::Done(_) = settle(&store.pool, &store.commits, token)? {
                    return Ok(answers);
                }
            }
        }
    }
    Err(outrun())
}

struct Attempt<'a> {
    store: &'a PostgresStore,
    connection: &'a Connection,
    is_open: bool,
    /// What is still to be sent: with the next question, or with the end.
    writes: Vec<Call>,
}

/// What a name leads to.
struct Named {
    id: BlobId,
    length: u64,
}

impl Attempt<'_> {
    async fn run(&mut self, tasks: &[BlobTask], token: Token) -> Result<Vec<BlobAnswer>, Failed> {
        let mut answers = Vec::with_capacity(tasks.len());
        for task in tasks {
            answers.push(self.task(task).await?);
        }
        let mut params = Params::default();
        for number in [token.session, token.number, token.time] {
            params.add(Param::Number(number));
        }
        let commits = &self.store.commits;
        let sql = format!("INSERT INTO {commits} (session, number, time) VALUES ($1, $2, $3)");
        self.writes.push(Call { sql, params });
        let ended = self.connection.transact(!self.is_open, &self.writes, true).await;
        self.is_open = false;
        match ended {
            Ok(_) => Ok(answers),
            Err(error) if is_lost(&error) => Err(Failed::Lost(answers)),
            Err(error) => {
                // The end was asked for in vain.
                self.is_open = true;
                Err(failed(error))
            }
        }
    }

    /// Asks questions behind all that was to be written; one round trip for all.
    async fn ask(&mut self, questions: Vec<Call>) -> Result<Vec<Vec<Row>>, Failed> {
        let asked = questions.len();
        let mut calls = std::mem::take(&mut self.writes);
        calls.extend(questions);
        let begins = !std::mem::replace(&mut self.is_open, true);
        let mut answers = self.connection.transact(begins, &calls, false).await.map_err(failed)?;
        Ok(answers.split_off(answers.len().saturating_sub(asked)))
    }

    async fn task(&mut self, task: &BlobTask) -> Result<BlobAnswer, Failed> {
        match task {
            BlobTask::Put { container, name, content, is_new } => {
                let container = self.store.container_number(*container)?;
                let former = self.named(container, name).await?;
                if *is_new && former.is_some() {
                    return Err(Failed::Refused(executor::error(ErrorKind::BlobAlreadyExists, "")));
                }
                self.make(content, 1, "NULL");
                self.set_name(container, name, content.id, former.as_ref());
                Ok(BlobAnswer::Done)
            }
            BlobTask::Append { container, name, content } => {
                let container = self.store.container_number(*container)?;
                let Some(named) = self.named(container, name).await? else {
                    self.make(content, 1, "NULL");
                    self.set_name(container, name, content.id, None);
                    return Ok(BlobAnswer::Length(content.length()));
                };
                self.append(&named, content).map(BlobAnswer::Length).map_err(Failed::Refused)
            }
            BlobTask::Delete { container, name } => {
                let container = self.store.container_number(*container)?;
                let Some(named) = self.named(container, name).await? else {
                    return Ok(BlobAnswer::Removed(false));
                };
                let sql =
                    format!("DELETE FROM {} WHERE container = $1 AND name = $2", self.store.blobs.names);
                self.writes.push(of_place(sql, container, name));
                self.release(named.id);
                Ok(BlobAnswer::Removed(true))
            }
            BlobTask::Stage(content) => {
                self.stage(content).await?;
                Ok(BlobAnswer::Done)
            }
            BlobTask::Name { container, name, id, is_new } => {
                let container = self.store.container_number(*container)?;
                let former = self.named(container, name).await?;
                if *is_new && former.is_some() {
                    return Err(Failed::Refused(executor::error(ErrorKind::BlobAlreadyExists, "")));
                }
                let sql = format!(
                    "UPDATE {} SET refs = 1, touched = NULL, made = {SERVER_NOW}, changed = {SERVER_NOW}
                     WHERE id = $1 AND {} RETURNING 1",
                    self.store.blobs.blobs,
                    is_upload()
                );
                let answer = self.ask(vec![of_blob(sql, *id)]).await?;
                check_upload(&answer)?;
                self.set_name(container, name, *id, former.as_ref());
                Ok(BlobAnswer::Done)
            }
            BlobTask::ForRows => Ok(BlobAnswer::Done),
            BlobTask::Abandon(id) => {
                let sql = format!(
                    "UPDATE {} SET touched = NULL WHERE id = $1 AND refs = 0",
                    self.store.blobs.blobs
                );
                self.writes.push(of_blob(sql, *id));
                self.remove_unused(*id);
                Ok(BlobAnswer::Done)
            }
        }
    }

    /// Returns what a name leads to, and has others wait who would change that. A container that was dropped is refused.
    async fn named(&mut self, container: i64, name: &str) -> Result<Option<Named>, Failed> {
        let BlobTables { containers, names, blobs, .. } = &self.store.blobs;
        let seed = self.store.identity.cast_signed() ^ (container << 32);
        let lock = {
            let mut params = Params::default();
            let (name, seed) = (params.add(name.into()), params.add(Param::Number(seed)));
            Call { sql: format!("SELECT pg_advisory_xact_lock(hashtextextended({name}, {seed}))"), params }
        };
        let of_container =
            format!("SELECT 1 FROM {containers} WHERE id = $1 AND name IS NOT NULL FOR KEY SHARE");
        let find = format!(
            "SELECT b.id, b.length FROM {names} AS n JOIN {blobs} AS b ON b.id = n.blob
             WHERE n.container = $1 AND n.name = $2"
        );
        let questions = vec![lock, of_number(of_container, container), of_place(find, container, name)];
        let answers = self.ask(questions).await?;
        let [_, found, named] = &answers[..] else { return Err(Failed::Again) };
        if found.is_empty() {
            return Err(Failed::Refused(no_such_container()));
        }
        let Some(row) = named.first() else { return Ok(None) };
        let id: Vec<u8> = column(row, 0)?;
        let id = BlobId(id.try_into().map_err(|_| crate::error::damaged("the record of a blob"))?);
        Ok(Some(Named { id, length: column::<i64>(row, 1)?.cast_unsigned() }))
    }

    /// Makes a blob of so many references; `touched` is an expression.
    fn make(&mut self, content: &BlobContent, references: i64, touched: &str) {
        let mut params = Params::default();
        params.add(bytes_of(content.id));
        params.add(Param::Number(content.length().cast_signed()));
        params.add(Param::Number(references));
        params.add(Param::Text(content.content_type.to_string()));
        let sql = format!(
            "INSERT INTO {} (id, length, refs, made, changed, content_type, touched)
             VALUES ($1, $2, $3, {SERVER_NOW}, {SERVER_NOW}, $4, {touched})",
            self.store.blobs.blobs
        );
        self.writes.push(Call { sql, params });
        self.put_segments(content.id, u64::from(content.first), &content.segments);
    }

    fn put_segments(&mut self, id: BlobId, first: u64, segments: &[Vec<u8>]) {
        if segments.is_empty() {
            return;
        }
        let mut params = Params::default();
        params.add(bytes_of(id));
        let numbers = (first..).take(segments.len()).map(u64::cast_signed).collect();
        params.add(Param::Numbers(numbers));
        params.add(Param::MaybeBytes(segments.iter().map(|segment| Some(segment.clone())).collect()));
        let sql = format!(
            "INSERT INTO {} (blob, number, body) SELECT $1, n, b FROM unnest($2, $3) AS s(n, b)",
            self.store.blobs.segments
        );
        self.writes.push(Call { sql, params });
    }

    /// Puts bytes behind a blob's, and returns how long it is then.
    fn append(&mut self, named: &Named, content: &BlobContent) -> Result<u64> {
        let (bytes, full) = (content.segments.concat(), length_of(SEGMENT));
        let begun = usize::try_from(named.length % full).unwrap_or_default();
        let room = if begun > 0 { SEGMENT - begun } else { 0 };
        let (head, rest) = bytes.split_at(bytes.len().min(room));
        if !head.is_empty() {
            let mut params = Params::default();
            params.add(bytes_of(named.id));
            params.add(Param::Number((named.length / full).cast_signed()));
            params.add(Param::Bytes(head.to_vec()));
            let sql = format!(
                "UPDATE {} SET body = body || $3 WHERE blob = $1 AND number = $2",
                self.store.blobs.segments
            );
            self.writes.push(Call { sql, params });
        }
        let next = named.length.div_ceil(full);
        let length = named.length + length_of(bytes.len());
        if length.div_ceil(full) > u64::from(u32::MAX) {
            let because = "a blob has 2^32 segments of 64 KiB at most";
            return Err(executor::error(ErrorKind::BlobTooLarge, because));
        }
        let segments: Vec<_> = rest.chunks(SEGMENT).map(<[u8]>::to_vec).collect();
        self.put_segments(named.id, next, &segments);
        let mut params = Params::default();
        params.add(bytes_of(named.id));
        params.add(Param::Number(length.cast_signed()));
        let sql = format!(
            "UPDATE {} SET length = $2, changed = greatest(changed, {SERVER_NOW}) WHERE id = $1",
            self.store.blobs.blobs
        );
        self.writes.push(Call { sql, params });
        Ok(length)
    }

    /// Takes in the next stage of an upload.
    async fn stage(&mut self, content: &BlobContent) -> Result<(), Failed> {
        if content.first == 0 {
            self.make(content, 0, SERVER_NOW);
            return Ok(());
        }
        let mut params = Params::default();
        params.add(bytes_of(content.id));
        params.add(Param::Number((u64::from(content.first) * length_of(SEGMENT)).cast_signed()));
        params.add(Param::Number(content.length().cast_signed()));
        let sql = format!(
            "UPDATE {} SET length = length + $3, touched = {SERVER_NOW} WHERE id = $1 AND length = $2 AND {}
             RETURNING 1",
            self.store.blobs.blobs,
            is_upload()
        );
        let answer = self.ask(vec![Call { sql, params }]).await?;
        check_upload(&answer)?;
        self.put_segments(content.id, u64::from(content.first), &content.segments);
        Ok(())
    }

    /// Has a name lead to a blob, which counts it already, and no more to another.
    fn set_name(&mut self, container: i64, name: &str, id: BlobId, former: Option<&Named>) {
        let sql = format!(
            "INSERT INTO {} (container, name, blob) VALUES ($1, $2, $3)
             ON CONFLICT (container, name) DO UPDATE SET blob = EXCLUDED.blob",
            self.store.blobs.names
        );
        let mut call = of_place(sql, container, name);
        call.params.add(bytes_of(id));
        self.writes.push(call);
        if let Some(former) = former {
            self.release(former.id);
        }
    }

    /// Takes a reference from a blob, which goes with its last one.
    fn release(&mut self, id: BlobId) {
        let sql = format!("UPDATE {} SET refs = refs - 1 WHERE id = $1", self.store.blobs.blobs);
        self.writes.push(of_blob(sql, id));
        self.remove_unused(id);
    }

    /// Removes a blob, if nothing leads to it.
    fn remove_unused(&mut self, id: BlobId) {
        let BlobTables { blobs, segments, .. } = &self.store.blobs;
        let sql = format!(
            "WITH gone AS (DELETE FROM {blobs} WHERE id = $1 AND refs = 0 AND touched IS NULL RETURNING id)
             DELETE FROM {segments} AS s USING gone WHERE s.blob = gone.id"
        );
        self.writes.push(of_blob(sql, id));
    }
}

/// Returns the condition of a blob that is being uploaded.
fn is_upload() -> String {
    let stands = UPLOAD_STANDS.as_secs() * 10_000_000;
    format!("refs = 0 AND abs(touched - ({SERVER_NOW})) < {stands}")
}

/// Refuses an upload that was not found.
fn check_upload(answer: &[Vec<Row>]) -> Result<(), Failed> {
    if answer.iter().any(|rows| !rows.is_empty()) {
        return Ok(());
    }
    let because =
        "nothing came for more than an hour, and what had come of the blob was removed; upload it again";
    Err(Failed::Refused(executor::error(ErrorKind::UploadExpired, because)))
}

/// Says what an error is before anything lasts.
fn failed(error: tokio_postgres::Error) -> Failed {
    if is_conflict(&error) || is_lost(&error) {
        return Failed::Again;
    }
    Failed::Refused(of_server(error))
}

fn of_place(sql: String, container: i64, name: &str) -> Call {
    let mut call = of_number(sql, container);
    call.params.add(name.into());
    call
}
