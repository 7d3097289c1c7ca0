//! `tables blobs` and `tables logs`: what lies in containers.

use std::collections::BTreeMap;
use std::io::Read;

use clap::Args;
use serde_json::Value;
use table_core::{Tables, Ticks};

use crate::data::containers::Names;
use crate::failure::{Exit, Failure};
use crate::output::{Cell, Record};
use crate::session::Session;
use crate::times;

/// The container that has the blobs of logs.
const LOGS: &str = "logs";

/// The arguments of `blobs`.
#[derive(Debug, Args)]
pub(crate) struct Blobs {
    /// The container whose blobs are listed; all containers if it is left out
    container: Option<String>,
    /// List those whose names begin so
    #[arg(requires = "container", default_value = "", hide_default_value = true)]
    prefix: String,
    /// Print the contents of this blob, and nothing else
    #[arg(long, value_name = "NAME", requires = "container")]
    get: Option<String>,
}

/// The arguments of `logs`.
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The log whose entries are printed; the names of all logs if it is left out
    name: Option<String>,
    /// From this time on: 1h, 2014-07-31T18:00:00Z
    #[arg(long, value_name = "TIME", value_parser = times::moment)]
    since: Option<Ticks>,
    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = times::moment)]
    until: Option<Ticks>,
}

impl Blobs {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let Some(name) = &self.container else { return containers(session, &tables) };
        // To open one that is not there makes it.
        let known = tables.containers()?;
        if !known.contains(name) {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Failure::NotFound(format!("there is no container `{name}`; there are {known}")));
        }
        let container = tables.container(name)?;
        if let Some(name) = &self.get {
            let mut blob = container.open(name)?;
            let mut piece = vec![0; 64 << 10];
            loop {
                let read = blob.read(&mut piece).map_err(|error| {
                    Failure::Refused(format!("blob `{}` is not printed whole: {error}", name.escape_debug()))
                })?;
                let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
                    return Ok(Exit::Done);
                };
                session.output().bytes(read)?;
            }
        }
        let (mut names, mut is_whole_name) = (Names::new(&container, &self.prefix), false);
        let mut count: u64 = 0;
        let mut lines = session.output().lines(&["blob", "bytes", "type", "made", "changed"]);
        while let Some(blob) = names.next()? {
            count += 1;
            is_whole_name |= blob.name == self.prefix;
            lines.push(vec![
                Cell::Text(blob.name),
                Cell::count(blob.length),
                Cell::Text(blob.content_type),
                Cell::text(blob.made.to_string()),
                Cell::text(blob.changed.to_string()),
            ])?;
        }
        lines.finish()?;
        if is_whole_name {
            session.note(format!("its contents: tables blobs {name} --get {}", self.prefix));
        } else if count == 0 && !self.prefix.is_empty() {
            session.note(format!("no blob of `{name}` has a name that begins so: tables blobs {name}"));
        }
        Ok(Exit::Done)
    }
}

fn containers(session: &mut Session<'_>, tables: &Tables) -> Result<Exit, Failure> {
    let mut lines = session.output().lines(&["container", "blobs", "bytes"]);
    for name in tables.containers()? {
        let (mut blobs, mut bytes) = (0_u64, 0_u64);
        for blob in tables.container(&name)?.list("")? {
            blobs += 1;
            bytes = bytes.saturating_add(blob?.length);
        }
        lines.push(vec![Cell::Text(name), Cell::count(blobs), Cell::count(bytes)])?;
    }
    lines.finish()?;
    Ok(Exit::Done)
}

impl Logs {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let known = names(&tables)?;
        let Some(name) = &self.name else {
            let mut lines = session.output().lines(&["log", "blobs", "bytes"]);
            for (name, (blobs, bytes)) in known {
                lines.push(vec![Cell::Text(name), Cell::count(blobs), Cell::count(bytes)])?;
            }
            lines.finish()?;
            return Ok(Exit::Done);
        };
        if !known.contains_key(name) {
            let known: Vec<_> = known.into_keys().collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Failure::NotFound(format!("there is no log `{name}`; there are {known}")));
        }
        let log = tables.log::<Value>(name)?;
        let (since, until) = (self.since.unwrap_or(Ticks::MIN), self.until.unwrap_or(Ticks::MAX));
        let mut records = session.output().records(&["at"]);
        for entry in log.during(since..until)? {
            let entry = entry?;
            records.push(record(entry.at, entry.value))?;
        }
        let left_out = records.finish()?;
        if left_out > 0 {
            session.note(format!("{left_out} values have no column: take --format jsonl"));
        }
        Ok(Exit::Done)
    }
}

/// Returns the logs that there are, with the number of their blobs and bytes.
fn names(tables: &Tables) -> Result<BTreeMap<String, (u64, u64)>, Failure> {
    let mut names: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    if !tables.containers()?.iter().any(|name| name == LOGS) {
        return Ok(names);
    }
    for blob in tables.container(LOGS)?.list("")? {
        let blob = blob?;
        if let Some((name, _)) = blob.name.split_once('/') {
            let (blobs, bytes) = names.entry(name.to_owned()).or_default();
            *blobs += 1;
            *bytes = bytes.saturating_add(blob.length);
        }
    }
    Ok(names)
}

/// Returns an entry as a line: of an object each member is a cell.
fn record(at: Ticks, entry: Value) -> Record {
    let mut record = vec![("at".to_owned(), Cell::text(at.to_string()))];
    match entry {
        // No line has two members of one name.
        Value::Object(members) if !members.contains_key("at") => {
            record.extend(members.into_iter().map(|(name, value)| (name, cell(value))));
        }
        other => record.push(("entry".to_owned(), cell(other))),
    }
    record
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(value) => Cell::Bool(value),
        Value::String(text) => Cell::Text(text),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| Cell::Json(number.to_string()), Cell::Integer)
        }
        other => Cell::Json(other.to_string()),
    }
}
