//! What is asked of the service: tables, entities, pages.

use http::Method;
use table_engine::DynamicEntity;
use table_engine::odata::Reader;

use super::answer::Answer;
use super::failure::Failure;
use super::request::{self, Request};
use super::sending::{Client, Sent};

/// A page of entities that is asked for.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    /// Which of them, as the text of `$filter`; empty for all.
    pub filter: String,
    /// Which properties; empty for all.
    pub select: Vec<String>,
    /// How many at most.
    pub top: Option<usize>,
    /// Where the page before ended.
    pub after: Option<Next>,
    /// Whether a copy of the account may give it, where the account itself is not reached.
    pub may_be_stale: bool,
}

/// Where a page ended, in the service's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    partition: String,
    row: Option<String>,
}

/// A page of entities.
#[derive(Clone, Debug)]
pub struct PageOf {
    /// The entities, with their versions. There may be none although more are to come.
    pub entities: Vec<DynamicEntity>,
    /// Where the next page begins, if there is one.
    pub next: Option<Next>,
}

/// What was found of an entity.
pub type Found = Option<DynamicEntity>;

const NEXT_PARTITION: &str = "x-ms-continuation-nextpartitionkey";
const NEXT_ROW: &str = "x-ms-continuation-nextrowkey";
const NEXT_TABLE: &str = "x-ms-continuation-nexttablename";

impl Client {
    /// Creates a table.
    pub async fn create_table(&self, name: &str) -> Result<(), Failure> {
        self.make_table(name).await.map(drop)
    }

    /// Creates a table as [`create_table`](Self::create_table) does. Returns whether it was certainly not there before: where an
    /// answer was lost, another program may have made the table that is found.
    pub(crate) async fn make_table(&self, name: &str) -> Result<bool, Failure> {
        let body = format!("{{\"TableName\":\"{name}\"}}");
        let Sent { answer, may_be_done } =
            self.send(&Request::new(Method::POST, "Tables").body(body)).await?;
        if answer.is_success() {
            return Ok(true);
        }
        let refusal = answer.refusal();
        let may_be_own = may_be_done && refusal.code == "TableAlreadyExists";
        if may_be_own { Ok(false) } else { Err(Failure::Refused(refusal)) }
    }

    /// Drops a table. The service does so later, and takes none of its name for a while.
    pub async fn delete_table(&self, name: &str) -> Result<(), Failure> {
        let request = Request::new(Method::DELETE, format!("Tables(%27{name}%27)"));
        let Sent { answer, may_be_done } = self.send(&request).await?;
        let is_own = may_be_done && answer.refusal().is_not_found();
        if answer.is_success() || is_own { Ok(()) } else { Err(Failure::Refused(answer.refusal())) }
    }

    /// Returns the names of all tables, as the service lists them.
    pub async fn tables(&self) -> Result<Vec<String>, Failure> {
        let mut all = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let mut request = Request::new(Method::GET, "Tables");
            if let Some(next) = &next {
                request = request.parameter("NextTableName", next);
            }
            let Sent { answer, .. } = self.send(&request).await?;
            if !answer.is_success() {
                return Err(Failure::Refused(answer.refusal()));
            }
            all.extend(table_names(&answer.body)?);
            let after = continuation(&answer, NEXT_TABLE)?.filter(|name| !name.is_empty()).map(str::to_owned);
            if after.is_some() && after == next {
                return Err(Failure::Malformed("a list of tables goes on where it began".into()));
            }
            match after {
                Some(after) => next = Some(after),
                None => return Ok(all),
            }
        }
    }

    /// Returns an entity; `None` if it is not there. A table that is not there is a refusal.
    pub async fn entity(&self, table: &str, partition: &str, row: &str) -> Result<Found, Failure> {
        self.find(&Request::new(Method::GET, request::entity(table, partition, row))).await
    }

    /// Returns an entity as [`entity`](Self::entity) does, from a copy of the account where the account itself is not reached, if
    /// [such reads](Self::secondary_reads) are allowed.
    pub async fn entity_of_any(&self, table: &str, partition: &str, row: &str) -> Result<Found, Failure> {
        let request = Request::new(Method::GET, request::entity(table, partition, row));
        self.find(&request.may_be_stale(true)).await
    }

    async fn find(&self, request: &Request) -> Result<Found, Failure> {
        let Sent { answer, .. } = self.send(request).await?;
        if answer.is_success() {
            let read = Reader::new().entity(&answer.body).map_err(|error| malformed(&error))?;
            return versioned(read).map(Some);
        }
        let refusal = answer.refusal();
        if refusal.is_not_found() && refusal.code != "TableNotFound" {
            Ok(None)
        } else {
            Err(Failure::Refused(refusal))
        }
    }

    /// Returns a page of entities.
    pub async fn page(&self, table: &str, page: &PageRequest) -> Result<PageOf, Failure> {
        let mut request = Request::new(Method::GET, format!("{table}()")).may_be_stale(page.may_be_stale);
        if !page.filter.is_empty() {
            request = request.parameter("$filter", &page.filter);
        }
        if !page.select.is_empty() {
            request = request.parameter("$select", &page.select.join(","));
        }
        if let Some(top) = page.top {
            request = request.parameter("$top", &top.to_string());
        }
        if let Some(after) = &page.after {
            request = request.parameter("NextPartitionKey", &after.partition);
            // The service refuses an empty one.
            if let Some(row) = &after.row {
                request = request.parameter("NextRowKey", row);
            }
        }
        let Sent { answer, .. } = self.send(&request).await?;
        if !answer.is_success() {
            return Err(Failure::Refused(answer.refusal()));
        }
        // An emulator gives the next keys themselves, of which one may be empty.
        let row = continuation(&answer, NEXT_ROW)?.filter(|row| !row.is_empty()).map(str::to_owned);
        let partition =
            continuation(&answer, NEXT_PARTITION)?.filter(|partition| !partition.is_empty() || row.is_some());
        let next = partition.map(|partition| Next { partition: partition.to_owned(), row });
        if next.is_some() && next == page.after {
            return Err(Failure::Malformed("a page goes on where it began".into()));
        }
        let read = Reader::new().page(&answer.body);
        let entities = read
            .map(|entity| versioned(entity.map_err(|error| malformed(&error))?))
            .collect::<Result<_, _>>()?;
        Ok(PageOf { entities, next })
    }
}

/// Returns what an answer says of where the next one begins, if anything: what is no text is not taken for the end.
fn continuation<'a>(answer: &'a Answer, header: &str) -> Result<Option<&'a str>, Failure> {
    match answer.header(header) {
        None if answer.headers.contains_key(header) => {
            Err(Failure::Malformed("it goes on at a place that is no text".into()))
        }
        found => Ok(found),
    }
}

fn malformed(error: &table_engine::Error) -> Failure {
    Failure::Malformed(error.to_string())
}

/// Makes sure that an entity has a version by which it can be written.
fn versioned(entity: DynamicEntity) -> Result<DynamicEntity, Failure> {
    if entity.etag().is_some_and(|etag| !etag.is_foreign()) {
        return Ok(entity);
    }
    Err(Failure::Malformed("an entity's version is none of a time".into()))
}

/// Reads the names in `{"value":[{"TableName":".."},..]}`.
fn table_names(body: &[u8]) -> Result<Vec<String>, Failure> {
    let malformed = || Failure::Malformed("a list of tables has none, or one without a name".into());
    let text = str::from_utf8(body).map_err(|_| malformed())?;
    let (_, list) = text.split_once("\"value\"").ok_or_else(malformed)?;
    let names = list.split("\"TableName\"").skip(1).map(|rest| {
        let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let (name, _) = value.split_once('"')?;
        name.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| name.to_owned())
    });
    names.collect::<Option<_>>().ok_or_else(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_are_read() {
        let body = br#"{"odata.metadata":"x","value":[{"TableName":"Company"},{ "TableName" : "a1" }]}"#;
        assert_eq!(table_names(body).unwrap(), ["Company", "a1"]);
        assert!(table_names(br#"{"value":[]}"#).unwrap().is_empty());
        for bad in
            [&b""[..], b"{}", br#"{"value":[{"TableName":7}]}"#, br#"{"value":[{"TableName":"a"#, b"\xff"]
        {
            assert!(table_names(bad).is_err());
        }
    }
}
