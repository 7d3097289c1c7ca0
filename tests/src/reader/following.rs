//! What is to follow its entities.

use std::collections::BTreeSet;

use super::bytes::{Bytes, Read, ensure};
use super::queues::of_kind;
use super::{Records, Tally, rows};

/// An entity that copies are to follow.
#[derive(Debug)]
pub struct Following {
    /// The number of its table, its partition key and its row key.
    pub entity: (u32, String, String),
    /// Its kind.
    pub kind: String,
    /// The keys of rows that may be copies of it: the index, the partition key and the row key.
    pub keys: Vec<(String, String, String)>,
}

pub(super) fn read(records: &Records, has_feature: bool, tables: &BTreeSet<u32>) -> Read<Vec<Following>> {
    let entries = records.iter().filter(|(key, _)| key[0] == 7).map(|(_, record)| &**record);
    match (&mut of_kind(records, 8)?[..], has_feature) {
        ([(key, body)], true) => {
            key.end("the key of what is to follow")?;
            ensure!(body.wide_tally()? == Tally::of(entries), "other entries are to follow than are counted");
            body.end("the count of what is to follow")?;
        }
        ([], false) => ensure!(entries.count() == 0, "copies are to follow, and the feature says otherwise"),
        _ => {
            return Err(
                "the count of what is to follow is there or not, and the feature says otherwise".into()
            );
        }
    }
    let mut found = Vec::new();
    for (key, body) in of_kind(records, 7)? {
        let entity = rows::key(key.0)?;
        let is_there = tables.contains(&entity.0);
        let entry = entry(entity, body)?;
        if is_there {
            found.push(entry);
        }
    }
    Ok(found)
}

fn entry(entity: (u32, String, String), mut body: Bytes<'_>) -> Read<Following> {
    let (since, latest, tries) = (body.time()?, body.time()?, body.u32()?);
    ensure!(since <= latest && tries <= 16, "an entry since {since}, until {latest}, tried {tries} times");
    let (_not_before, is_aside, kind, error) = (body.time()?, body.bool()?, body.text()?, body.text()?);
    ensure!(is_aside == (tries == 16) && error.len() <= 1_024, "an entry tried {tries} times");
    let indexes = body.u32()?;
    for _ in 0..indexes {
        body.text()?;
    }
    let count = body.u32()?;
    let mut keys: Vec<(String, String, String)> = Vec::new();
    for _ in 0..count {
        let key = (body.text()?, body.text()?, body.text()?);
        ensure!(keys.last().is_none_or(|last| *last < key), "keys that don't rise");
        keys.push(key);
    }
    if !body.0.is_empty() {
        let (has_copies, count) = (body.bool()?, body.u32()?);
        ensure!(count > 0, "an entry that says what others hold, and that they hold nothing");
        ensure!(has_copies || indexes == 0 && keys.is_empty(), "keys of copies that are not to follow");
        let mut held: Vec<(String, String)> = Vec::new();
        for _ in 0..count {
            let copy = (body.text()?, body.text()?);
            ensure!(held.last().is_none_or(|last| *last < copy), "held copies that don't rise");
            held.push(copy);
            if body.bool()? {
                let (by, _partition, _row) = (body.text()?, body.text()?, body.text()?);
                ensure!(by.contains(' '), "a row that was found by `{by}`");
            }
        }
    }
    body.end("an entry")?;
    Ok(Following { entity, kind, keys })
}
