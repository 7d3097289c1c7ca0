//! The rows of jobs, beside what is noted of their table.

use table_engine::__executor::{self as seam, JobRecord, Position};
use table_engine::{DynamicEntity, ETag, ErrorKind, Result, Ticks, Value};

use super::super::planned::body;
use crate::client::Operation;

/// What the row keys of jobs begin with; a number that is made of the job's name follows, which may be long, and have any sign.
const PREFIX: &str = "job_";
/// The row keys of jobs, as a part of a filter.
pub(super) const RANGE: &str = "RowKey ge 'job_' and RowKey lt 'job`'";

const NAME: &str = "Job";
const BEGUN: &str = "Begun";
const DONE: &str = "Done";
const TOTAL: &str = "Total";
const CHANGED: &str = "Changed";
const STAMP: &str = "Stamp";
const PHASE: &str = "Phase";
const ASKED: &str = "Asked";
const COUNTS: &str = "Counts";
const POSITION: [&str; 2] = ["PositionPartition", "PositionRow"];
const END: [&str; 2] = ["EndPartition", "EndRow"];

/// A job as it was read.
pub(crate) struct JobRow {
    pub(super) name: String,
    pub(super) record: JobRecord,
    etag: Option<ETag>,
}

/// Returns the row key of a job.
pub(super) fn key(name: &str) -> String {
    // FNV-1a.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{PREFIX}{hash:016x}")
}

impl JobRow {
    /// Reads the row of a job; of this name, if one is given.
    pub(super) fn read(row: &DynamicEntity, name: Option<&str>) -> Result<Self> {
        let damaged = || seam::error(ErrorKind::Corrupt, "the record of a job is damaged");
        let found = parse(row).ok_or_else(damaged)?;
        match name {
            Some(name) if name != found.name => {
                let because = format!(
                    "the job `{}` has the row key of `{}`: bring it to its end first",
                    found.name.escape_debug(),
                    name.escape_debug()
                );
                Err(seam::error(ErrorKind::Unsupported, because))
            }
            _ => Ok(found),
        }
    }
}

fn parse(row: &DynamicEntity) -> Option<JobRow> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| row.get(name).and_then(Value::as_i64).map(i64::cast_unsigned);
    let position = |names: [&str; 2]| {
        let [partition, row] = names.map(text);
        partition.zip(row).map(|(partition, row)| Position { partition, row })
    };
    let counts = text(COUNTS)?;
    let counts = counts.split(',').filter(|count| !count.is_empty()).map(str::parse);
    let record = JobRecord {
        begun: Ticks::new(number(BEGUN)?)?,
        done: number(DONE)?,
        total: number(TOTAL)?,
        changed: number(CHANGED)?,
        stamp: number(STAMP)?,
        phase: row.get(PHASE).and_then(Value::as_i32).and_then(|phase| u8::try_from(phase).ok())?,
        position: position(POSITION),
        end: position(END),
        asked: text(ASKED)?,
        counts: counts.collect::<Result<_, _>>().ok()?,
    };
    Some(JobRow { name: text(NAME)?, record, etag: row.etag() })
}

/// Returns the operation that notes where a job is, or forgets it; `None` if nothing is to be done. `known` is what was read.
pub(super) fn change(
    partition: &str,
    name: &str,
    known: Option<&JobRow>,
    record: Option<&JobRecord>,
) -> Result<Option<Operation>> {
    let (key, tag) = (key(name), known.and_then(|known| known.etag).map(|etag| etag.to_string()));
    Ok(match (record, tag) {
        (None, None) => None,
        (None, Some(tag)) => Some(Operation::delete(&key, tag)),
        (Some(record), None) => Some(Operation::insert(&key, body(&row(partition, name, record))?)),
        (Some(record), tag) => Some(Operation::replace(&key, tag, body(&row(partition, name, record))?)),
    })
}

fn row(partition: &str, name: &str, record: &JobRecord) -> DynamicEntity {
    let counts: Vec<_> = record.counts.iter().map(u64::to_string).collect();
    let mut row = DynamicEntity::new(partition, key(name))
        .with(NAME, name)
        .with(BEGUN, record.begun.get().cast_signed())
        .with(DONE, record.done.cast_signed())
        .with(TOTAL, record.total.cast_signed())
        .with(CHANGED, record.changed.cast_signed())
        .with(STAMP, record.stamp.cast_signed())
        .with(PHASE, i32::from(record.phase))
        .with(ASKED, &*record.asked)
        .with(COUNTS, counts.join(","));
    for ([of_partition, of_row], position) in [(POSITION, &record.position), (END, &record.end)] {
        if let Some(Position { partition, row: key }) = position {
            row.set(of_partition, &**partition);
            row.set(of_row, &**key);
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let position = |row: &str| Some(Position { partition: String::new(), row: row.to_owned() });
        let full = JobRecord {
            done: u64::MAX,
            changed: 3,
            stamp: 1 << 63,
            phase: u8::MAX,
            position: position("a'b"),
            end: position(""),
            counts: vec![0, u64::MAX],
            ..JobRecord::new(7, "One\nTwo".into())
        };
        for record in [full.clone(), JobRecord::new(0, String::new())] {
            let row = row("company", "rebuild a b", &record);
            let found = JobRow::read(&row, Some("rebuild a b")).unwrap();
            assert_eq!((&found.name[..], &found.record), ("rebuild a b", &record));
        }
        let row = row("company", "a", &full);
        assert_eq!(JobRow::read(&row, Some("b")).map(drop).unwrap_err().kind(), ErrorKind::Unsupported);
        for (name, bad) in [(PHASE, Value::from(256)), (COUNTS, "1,x".into()), (NAME, 7.into())] {
            let row = row.clone().with(name, bad);
            assert_eq!(JobRow::read(&row, None).map(drop).unwrap_err().kind(), ErrorKind::Corrupt, "{name}");
        }
    }

    #[test]
    fn the_row_keys_of_jobs_lie_in_their_range() {
        for name in ["", "rebuild employee by_email", "delete a'/\\#?"] {
            let key = key(name);
            assert!(key.as_str() >= "job_" && key.as_str() < "job`" && key.len() == 20, "{key}");
        }
        assert_ne!(key("rebuild a"), key("rebuild b"));
    }
}
