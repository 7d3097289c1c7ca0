//! The states of the kinds of entities in a table, and the jobs that were begun there: small records beside the kinds'
//! layouts.
//!
//! A kind has a record from the first transition on; before, all its indexes are ready. Both sorts of records are
//! counted in the table's record digest, so that one that is lost to damage is not taken for one that never was.

use table_engine::error::Result;
use table_engine::executor::{JobRecord, Position};
use table_engine::fields::Fields;
use table_engine::model::Ticks;
use table_engine::schema::{Blocked, IndexState, IndexStates, KindState};

use super::features::Feature;
use super::meta::Meta;
pub(crate) use super::sort::RecordName;
use super::sort::Sort;
use crate::lmdb::{Databases, WriteTxn};

const STATES: Sort<IndexStates> = Sort {
    number: 6,
    what: "states of kinds of entities",
    decode: decode_index_states,
    counted: |digests| &mut digests.index_states,
};
const JOBS: Sort<JobRecord> =
    Sort { number: 7, what: "jobs", decode: decode_job, counted: |digests| &mut digests.jobs };

/// Returns the states of a kind; as they are from the beginning, if there is no record.
pub(crate) fn index_states(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: u32,
    kind: &str,
) -> Result<IndexStates> {
    let all = all_index_states(dbs, txn, table)?;
    Ok(all
        .into_iter()
        .find(|(known, _)| known == kind)
        .map(|(_, index_states)| index_states)
        .unwrap_or_default())
}

/// Returns the states of every kind of a table that has any.
pub(crate) fn all_index_states(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: u32,
) -> Result<Vec<(String, IndexStates)>> {
    STATES.all(dbs, txn, table)
}

/// Returns the jobs of a table that were begun and have not ended.
pub(crate) fn all_jobs(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: u32,
) -> Result<Vec<(String, JobRecord)>> {
    JOBS.all(dbs, txn, table)
}

/// Returns how far a job is; `None` if it has not begun, or has ended.
pub(crate) fn job(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: u32,
    name: &str,
) -> Result<Option<JobRecord>> {
    let all = all_jobs(dbs, txn, table)?;
    Ok(all.into_iter().find(|(known, _)| known == name).map(|(_, job)| job))
}

/// Writes the states of a kind. The catalog's generation rises, so that handles look again at what they know of the table.
pub(crate) fn write_index_states(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    kind: RecordName<'_>,
    index_states: &IndexStates,
) -> Result<()> {
    meta.features.set(Feature::IndexStates);
    meta.generation += 1;
    STATES.replace(dbs, txn, kind, Some(encode_index_states(index_states)))
}

/// Forgets the states of a kind.
pub(crate) fn forget_index_states(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    kind: RecordName<'_>,
) -> Result<()> {
    meta.generation += 1;
    STATES.replace(dbs, txn, kind, None)
}

/// Writes how far a job is; `None` when it has ended.
pub(crate) fn write_job(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    name: RecordName<'_>,
    job: Option<&JobRecord>,
) -> Result<()> {
    meta.features.set(Feature::IndexStates);
    JOBS.replace(dbs, txn, name, job.map(encode_job))
}

/// Reads every record of both sorts; returns how many there are.
pub(crate) fn check(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<usize> {
    Ok(all_index_states(dbs, txn, table)?.len() + all_jobs(dbs, txn, table)?.len())
}

fn push_text(body: &mut Vec<u8>, text: &str) {
    // Names and keys are far shorter than 64 KiB, and longer words are cut.
    let mut length = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    body.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
    body.extend_from_slice(text.get(..length).unwrap_or_default().as_bytes());
}

fn text(body: &mut Fields<'_>) -> Option<String> {
    let length = usize::from(body.u16()?);
    std::str::from_utf8(body.bytes(length)?).ok().map(str::to_owned)
}

pub(crate) fn encode_index_states(index_states: &IndexStates) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&index_states.epoch.to_le_bytes());
    match &index_states.kind {
        KindState::Stable => body.push(0),
        KindState::Converting { from } => {
            body.push(1);
            body.extend_from_slice(&from.to_le_bytes());
        }
        KindState::Stopped { from, entity, why } => {
            body.push(2);
            body.extend_from_slice(&from.to_le_bytes());
            for part in [&entity.0, &entity.1, why] {
                push_text(&mut body, part);
            }
        }
    }
    body.extend_from_slice(&u16::try_from(index_states.indexes.len()).unwrap_or(u16::MAX).to_le_bytes());
    for (name, state) in &index_states.indexes {
        push_text(&mut body, name);
        match state {
            IndexState::Absent => body.push(0),
            IndexState::Purge => body.push(1),
            IndexState::Backfill => body.push(2),
            IndexState::Blocked(Blocked { key, has, wants }) => {
                body.push(3);
                for part in [key, has, wants].into_iter().flat_map(|keys| [&keys.0, &keys.1]) {
                    push_text(&mut body, part);
                }
            }
            IndexState::Ready { since } => {
                body.push(4);
                body.extend_from_slice(&since.to_le_bytes());
            }
            IndexState::Dropping => body.push(5),
        }
    }
    body
}

pub(crate) fn decode_index_states(body: &[u8]) -> Option<IndexStates> {
    let mut body = Fields(body);
    let epoch = body.u64()?;
    let kind = match body.take()? {
        [0] => KindState::Stable,
        [1] => KindState::Converting { from: body.u32()? },
        [2] => KindState::Stopped {
            from: body.u32()?,
            entity: (text(&mut body)?, text(&mut body)?),
            why: text(&mut body)?,
        },
        _ => return None,
    };
    let mut indexes = Vec::new();
    for _ in 0..body.u16()? {
        let name = text(&mut body)?;
        let state = match body.take()? {
            [0] => IndexState::Absent,
            [1] => IndexState::Purge,
            [2] => IndexState::Backfill,
            [3] => {
                let mut keys = || Some((text(&mut body)?, text(&mut body)?));
                IndexState::Blocked(Blocked { key: keys()?, has: keys()?, wants: keys()? })
            }
            [4] => IndexState::Ready { since: body.u64()? },
            [5] => IndexState::Dropping,
            _ => return None,
        };
        indexes.push((name, state));
    }
    body.0.is_empty().then_some(IndexStates { epoch, kind, indexes })
}

/// The bits that say which positions a job's record has.
const POSITION: u8 = 1;
const END: u8 = 2;

pub(crate) fn encode_job(job: &JobRecord) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [job.begun.get(), job.done, job.total, job.changed, job.stamp] {
        body.extend_from_slice(&number.to_le_bytes());
    }
    body.push(job.phase);
    let positions = [&job.position, &job.end];
    body.push(
        positions.iter().zip([POSITION, END]).map(|(at, bit)| if at.is_some() { bit } else { 0 }).sum(),
    );
    let positions = positions.into_iter().flatten();
    for part in positions.flat_map(|Position { partition, row }| [partition, row]) {
        push_text(&mut body, part);
    }
    push_text(&mut body, &job.asked);
    let counts = job.counts.get(..usize::from(u8::MAX)).unwrap_or(&job.counts);
    body.push(u8::try_from(counts.len()).unwrap_or(u8::MAX));
    for count in counts {
        body.extend_from_slice(&count.to_le_bytes());
    }
    body
}

pub(crate) fn decode_job(body: &[u8]) -> Option<JobRecord> {
    let mut body = Fields(body);
    let begun = Ticks::new(body.u64()?)?;
    let (done, total, changed, stamp) = (body.u64()?, body.u64()?, body.u64()?, body.u64()?);
    let [phase] = body.take()?;
    let [has] = body.take()?;
    if has > POSITION | END {
        return None;
    }
    let mut row = |bit| -> Option<Option<Position>> {
        if has & bit == 0 {
            return Some(None);
        }
        Some(Some(Position { partition: text(&mut body)?, row: text(&mut body)? }))
    };
    let (position, end) = (row(POSITION)?, row(END)?);
    let asked = text(&mut body)?;
    let [many] = body.take()?;
    let counts = (0..many).map(|_| body.u64()).collect::<Option<_>>()?;
    body.0.is_empty().then_some(JobRecord {
        begun,
        done,
        total,
        changed,
        stamp,
        phase,
        position,
        end,
        asked,
        counts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs() -> Vec<JobRecord> {
        let at = |row: &str| Some(Position { partition: "Sales".into(), row: row.into() });
        let job = |position, end, counts| JobRecord {
            begun: Ticks::UNIX_EPOCH,
            done: 3,
            total: 1_000,
            changed: 2,
            stamp: 7,
            phase: 1,
            position,
            end,
            asked: "Age ge 3".into(),
            counts,
        };
        let (first, last) = ("empid_000001", "empid_000009");
        vec![
            JobRecord { asked: String::new(), ..job(None, None, Vec::new()) },
            job(at(first), None, vec![5, u64::MAX]),
            job(None, at(last), vec![5, u64::MAX]),
            job(at(first), at(last), vec![5, u64::MAX]),
        ]
    }

    fn lives_of_every_state() -> Vec<IndexStates> {
        let entity = ("p".to_owned(), "r".to_owned());
        let kinds = [
            KindState::Stable,
            KindState::Converting { from: 3 },
            KindState::Stopped { from: 1, entity, why: "it can't be".into() },
        ];
        let [key, has, wants] = ["key", "a", "b"].map(|row| (format!("p{row}"), row.to_owned()));
        let states = [
            IndexState::Absent,
            IndexState::Purge,
            IndexState::Backfill,
            IndexState::Blocked(Blocked { key, has, wants }),
            IndexState::Ready { since: 1 << 40 },
            IndexState::Dropping,
        ];
        let indexes: Vec<_> = states.into_iter().map(|state| ("by_email".to_owned(), state)).collect();
        kinds.into_iter().map(|kind| IndexStates { epoch: 5, kind, indexes: indexes.clone() }).collect()
    }

    #[test]
    fn records_are_read_as_they_were_written_and_no_other_bytes_are() {
        for index_states in lives_of_every_state() {
            let body = encode_index_states(&index_states);
            assert_eq!(decode_index_states(&body).as_ref(), Some(&index_states));
            for length in 0..body.len() {
                assert_eq!(decode_index_states(&body[..length]), None, "{length}");
            }
            assert_eq!(decode_index_states(&[&body[..], &[0]].concat()), None);
        }
        for job in jobs() {
            let body = encode_job(&job);
            assert_eq!(decode_job(&body).as_ref(), Some(&job));
            for length in 0..body.len() {
                assert_eq!(decode_job(&body[..length]), None, "{length}");
            }
            assert_eq!(decode_job(&[&body[..], &[0]].concat()), None);
        }
    }

    #[test]
    fn text_that_is_too_long_is_cut_between_letters() {
        let why = "é".repeat(40_000);
        let entity = (String::new(), String::new());
        let index_states =
            IndexStates { kind: KindState::Stopped { from: 1, entity, why }, ..IndexStates::default() };
        let read = decode_index_states(&encode_index_states(&index_states)).unwrap();
        let KindState::Stopped { why, .. } = read.kind else { panic!() };
        assert_eq!(why, "é".repeat(32_767));
    }
}
