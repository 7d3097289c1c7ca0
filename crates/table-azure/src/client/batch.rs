//! Operations on entities: one as a request, several of a partition as a batch.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Instant;

use http::Method;
use table_engine::{ETag, limits};

use super::answer;
use super::failure::{Failure, Refusal};
use super::request::{self, Request};
use super::sending::{Client, Sent};

/// What is done with an entity of a known partition.
#[derive(Clone, Debug)]
pub struct Operation {
    method: Method,
    row: String,
    if_match: Option<String>,
    body: Vec<u8>,
}

impl Operation {
    /// Makes the insert of an entity that must not be there. Its body has the keys.
    #[must_use]
    pub fn insert(row: &str, body: Vec<u8>) -> Self {
        Self { method: Method::POST, row: row.to_owned(), if_match: None, body }
    }

    /// Makes the write of an entity in the place of what is there; without a tag whether or not something is.
    #[must_use]
    pub fn replace(row: &str, if_match: Option<String>, body: Vec<u8>) -> Self {
        Self { method: Method::PUT, row: row.to_owned(), if_match, body }
    }

    /// Makes the write of properties beside those that are there; without a tag whether or not something is.
    #[must_use]
    pub fn merge(row: &str, if_match: Option<String>, body: Vec<u8>) -> Self {
        Self { method: Method::PATCH, row: row.to_owned(), if_match, body }
    }

    /// Makes the delete of an entity of this version, or of any with `*`.
    #[must_use]
    pub fn delete(row: &str, if_match: String) -> Self {
        Self { method: Method::DELETE, row: row.to_owned(), if_match: Some(if_match), body: Vec::new() }
    }

    /// Returns whether an entity is there afterwards.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.method != Method::DELETE
    }

    /// Returns whether it is an insert.
    #[must_use]
    pub fn inserts(&self) -> bool {
        self.method == Method::POST
    }

    fn resource(&self, table: &str, partition: &str) -> String {
        if self.inserts() { table.to_owned() } else { request::entity(table, partition, &self.row) }
    }

    fn request(&self, table: &str, partition: &str) -> Request {
        let request = Request::new(self.method.clone(), self.resource(table, partition));
        Request { if_match: self.if_match.clone(), ..request.body(self.body.clone()) }
    }
}

/// What has become of operations, which are carried out together or not at all.
#[derive(Debug)]
pub enum Outcome {
    /// They are done. Each entity that was written has a version.
    Done(Vec<Option<ETag>>),
    /// The service refused them.
    Refused {
        /// In these words.
        refusal: Refusal,
        /// The operation that it refused, if it said which.
        at: Option<usize>,
        /// Whether the same operations, sent before and not answered, may have been carried out.
        may_be_done: bool,
    },
}

impl Client {
    /// Carries out operations on entities of one partition, together or not at all.
    pub async fn execute(
        &self,
        table: &str,
        partition: &str,
        operations: &[Operation],
    ) -> Result<Outcome, Failure> {
        self.execute_until(table, partition, operations, None).await
    }

    /// Carries out operations as [`execute`](Self::execute) does, and sends them no more after this time.
    pub async fn execute_until(
        &self,
        table: &str,
        partition: &str,
        operations: &[Operation],
        until: Option<Instant>,
    ) -> Result<Outcome, Failure> {
        match operations {
            [] => Ok(Outcome::Done(Vec::new())),
            [one] => {
                let Sent { answer, may_be_done } =
                    self.send(&one.request(table, partition).until(until)).await?;
                if answer.is_success() {
                    return Ok(Outcome::Done(vec![etag_of(one, answer.header("etag"))?]));
                }
                Ok(Outcome::Refused { refusal: answer.refusal(), at: Some(0), may_be_done })
            }
            many => self.execute_batch(table, partition, many, until).await,
        }
    }

    async fn execute_batch(
        &self,
        table: &str,
        partition: &str,
        operations: &[Operation],
        until: Option<Instant>,
    ) -> Result<Outcome, Failure> {
        let batch = self.batch(table, partition, operations).until(until);
        if batch.body.len() >= limits::BATCH_BYTES {
            return Ok(Outcome::Refused { refusal: too_large(), at: None, may_be_done: false });
        }
        let Sent { answer, may_be_done } = self.send(&batch).await?;
        if !answer.is_success() {
            return Ok(Outcome::Refused { refusal: answer.refusal(), at: None, may_be_done });
        }
        let parts = answer::parts(&answer, operations.len())?;
        if let Some((place, refusal)) = answer::refused(&parts) {
            // Of a batch that fails one part alone is answered, and its number stands in the sentence.
            let at = refusal.index.or_else(|| (parts.len() == operations.len()).then_some(place));
            let at = at.filter(|at| *at < operations.len());
            return Ok(Outcome::Refused { refusal, at, may_be_done });
        }
        if parts.len() != operations.len() {
            let why = format!("{} answers to {} operations", parts.len(), operations.len());
            return Err(Failure::Malformed(why));
        }
        let etags = operations.iter().zip(&parts).map(|(operation, part)| etag_of(operation, part.etag));
        etags.collect::<Result<_, _>>().map(Outcome::Done)
    }

    /// Makes one request of many operations.
    fn batch(&self, table: &str, partition: &str, operations: &[Operation]) -> Request {
        let id = format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1));
        let mut body =
            Vec::with_capacity(256 + operations.iter().map(|one| one.body.len() + 400).sum::<usize>());
        let mut add = |text: &str| body.extend_from_slice(text.as_bytes());
        add(&format!("--batch_{id}\r\nContent-Type: multipart/mixed; boundary=changeset_{id}\r\n\r\n"));
        for operation in operations {
            let path = self.endpoint().path_of(&operation.resource(table, partition));
            let mut add = |text: &str| body.extend_from_slice(text.as_bytes());
            add("--changeset_");
            add(&id);
            add("\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n");
            add(operation.method.as_str());
            add(" ");
            add(&self.endpoint().address_of(&path));
            add(" HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\n");
            if operation.writes() {
                add("Content-Type: application/json\r\n");
            }
            if operation.inserts() {
                add("Prefer: return-no-content\r\n");
            }
            if let Some(tag) = &operation.if_match {
                add("If-Match: ");
                add(tag);
                add("\r\n");
            }
            add("\r\n");
            body.extend_from_slice(&operation.body);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--changeset_{id}--\r\n--batch_{id}--\r\n").as_bytes());
        let request = Request::new(Method::POST, "$batch").body(body);
        Request { content_type: format!("multipart/mixed; boundary=batch_{id}").into(), ..request }
    }
}

/// Returns the version that an operation has given its entity.
fn etag_of(operation: &Operation, text: Option<&str>) -> Result<Option<ETag>, Failure> {
    if !operation.writes() {
        return Ok(None);
    }
    let etag = text.and_then(|text| text.parse::<ETag>().ok()).filter(|etag| !etag.is_foreign());
    let malformed = || Failure::Malformed("an entity was written, and its version is none of a time".into());
    etag.map(Some).ok_or_else(malformed)
}

fn too_large() -> Refusal {
    Refusal {
        status: 413,
        code: "RequestBodyTooLarge".into(),
        text: format!("The batch has {} bytes or more.", limits::BATCH_BYTES),
        index: None,
        retry_after: None,
    }
}
