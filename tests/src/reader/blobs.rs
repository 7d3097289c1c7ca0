//! Blobs, by their names, and who refers to them.

use std::collections::BTreeMap;

use table_core::Value;

use super::bytes::{Bytes, Read, checksum, ensure, small, text};
use super::queues::{directory, of_kind};
use super::{Records, Tally};

/// What stands before a reference to a blob, wherever in a row.
const REFERENCE: [u8; 16] =
    [0xc1, 0x9d, 0x4b, 0x1f, 0xe6, 0x52, 0xa8, 0x37, 0x0e, 0xd4, 0x73, 0xbc, 0x95, 0x28, 0xf1, 0x6a];
/// Bytes of a segment that is not the last.
const SEGMENT: usize = 65_512;

type Id = [u8; 16];

#[derive(Debug)]
struct Blob {
    length: u64,
    digest: u64,
    references: u32,
    content_type: String,
    is_removed: bool,
    is_uploaded: bool,
    segments: Vec<Vec<u8>>,
    sum: u64,
}

type Named = BTreeMap<(String, String), (String, Vec<u8>)>;

/// What is found of blobs.
#[derive(Default)]
pub(super) struct Found {
    /// What lies under names.
    pub(super) named: Named,
    /// How often rows refer to each blob.
    pub(super) referred: BTreeMap<Id, u32>,
    /// The content types and bytes of those.
    pub(super) held: BTreeMap<Id, (String, Vec<u8>)>,
}

/// Whether an `EntityType` is that of an index, or of what is like one.
pub(super) fn is_index(kind: &Value) -> bool {
    kind.as_str().is_some_and(|kind| kind.contains('.'))
}

/// The blob that a property refers to.
pub(super) fn reference(value: &Value) -> Option<Id> {
    let Value::Binary(bytes) = value else { return None };
    bytes.strip_prefix(&REFERENCE)?.first_chunk().copied()
}

/// Finds blobs, and who refers to them. `may_be_sealed` says whether a value of suite 2 may be there.
pub(super) fn read(records: &Records, rows: &Records, count_rows: bool, may_be_sealed: bool) -> Read<Found> {
    ensure!(records.iter().all(|(key, _)| key.first().is_some_and(|kind| *kind <= 5)), "a record of no kind");
    let [(_, containers)] = &of_kind(records, 0)?[..] else {
        return Err("no directory of containers".into());
    };
    let containers = directory(containers.0)?;
    let blobs = blobs(records)?;
    counted(records, &blobs)?;
    let mut references: BTreeMap<Id, u32> = BTreeMap::new();
    let mut named = Vec::new();
    for (mut key, mut body) in of_kind(records, 2)? {
        let (container, name, id) = (key.u32_be()?, text(key.rest())?, body.array()?);
        body.end("a name")?;
        let is_name = (1..=1_024).contains(&name.len()) && !name.contains(char::is_control);
        ensure!(is_name, "{name:?} is no name of a blob");
        let (container, is_dropped) = containers.get(&container).ok_or("a name in no container")?;
        *references.entry(id).or_default() += 1;
        if !is_dropped {
            named.push(((container.clone(), name), id));
        }
    }
    let mut referred = BTreeMap::new();
    if count_rows {
        for (_, row) in rows {
            for at in 0..row.len().saturating_sub(REFERENCE.len()) {
                let mut bytes = Bytes(&row[at..]);
                if bytes.array() != Ok(REFERENCE) {
                    continue;
                }
                let (Ok(id), Ok(length)) = (bytes.array(), bytes.u64()) else { continue };
                if blobs.get(&id).is_some_and(|blob| blob.length == length) {
                    *referred.entry(id).or_default() += 1;
                    // What stands before a value of suite 2, and a key's number of 8 bytes.
                    let before = at.checked_sub(11).map(|from| &row[from..from + 3]);
                    ensure!(
                        may_be_sealed || before != Some(&[1, 2, 1]),
                        "a value of suite 2, and no feature says so"
                    );
                }
            }
        }
    }
    for (id, count) in &referred {
        *references.entry(*id).or_default() += count;
    }
    for (id, blob) in &blobs {
        let found = references.get(id).copied().unwrap_or_default();
        ensure!(found == blob.references, "a blob counts {} references, and has {found}", blob.references);
        ensure!(
            found > 0 || blob.is_removed || blob.is_uploaded,
            "nobody refers to a blob, which does not wait"
        );
    }
    let mut found = Named::new();
    for (name, id) in named {
        let blob = blobs.get(&id).ok_or_else(|| format!("{name:?} leads to no blob"))?;
        found.insert(name, (blob.content_type.clone(), blob.segments.concat()));
    }
    let of = |id: &Id| {
        let blob = blobs.get(id)?;
        Some((*id, (blob.content_type.clone(), blob.segments.concat())))
    };
    let held = referred.keys().filter_map(of).collect();
    Ok(Found { named: found, referred, held })
}

fn blobs(records: &Records) -> Read<BTreeMap<Id, Blob>> {
    let mut blobs = BTreeMap::new();
    for (mut key, mut body) in of_kind(records, 3)? {
        let id: Id = key.array()?;
        key.end("a blob's key")?;
        let (length, digest, _made, _changed) = (body.u64()?, body.u64()?, body.time()?, body.time()?);
        let (references, content_type) = (body.u32()?, text(body.rest())?);
        let is_type = (1..=255).contains(&content_type.len())
            && content_type.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        ensure!(is_type, "{content_type:?} is no content type");
        let (is_removed, is_uploaded, segments, sum) = (false, false, Vec::new(), 0);
        blobs.insert(
            id,
            Blob { length, digest, references, content_type, is_removed, is_uploaded, segments, sum },
        );
    }
    for (mut key, mut body) in of_kind(records, 4)? {
        let blob = blobs.get_mut(&key.array()?).ok_or("what waits is no blob")?;
        if body.bool()? {
            blob.is_removed = true;
        } else {
            body.time()?;
            blob.is_uploaded = true;
        }
        body.end("what waits")?;
    }
    for (key, record) in records.iter().filter(|(key, _)| key[0] == 5) {
        let mut place = Bytes(&key[1..]);
        let (id, number) = (place.array()?, place.u32_be()?);
        place.end("a segment's key")?;
        let blob: &mut Blob = blobs.get_mut(&id).ok_or("a segment of no blob")?;
        ensure!(usize::try_from(number) == Ok(blob.segments.len()), "the segment {number} is not the next");
        ensure!(
            blob.segments.last().is_none_or(|last| last.len() == SEGMENT),
            "a short segment in the midst"
        );
        let bytes = small(key, record)?;
        ensure!((1..=SEGMENT).contains(&bytes.len()), "a segment of {} bytes", bytes.len());
        blob.segments.push(bytes.to_vec());
        blob.sum = blob.sum.wrapping_add(checksum(record));
    }
    for blob in blobs.values() {
        let length: usize = blob.segments.iter().map(Vec::len).sum();
        ensure!(u64::try_from(length) == Ok(blob.length), "a blob of {} bytes has {length}", blob.length);
        ensure!(blob.sum == blob.digest, "a blob's digest is another");
    }
    Ok(blobs)
}

fn counted(records: &Records, blobs: &BTreeMap<Id, Blob>) -> Read<()> {
    let counts = of_kind(records, 1)?;
    let [(_, mut count)] = counts[..] else { return Err("no count of blobs".into()) };
    for kind in 2..=5 {
        let of = records.iter().filter(|(key, _)| key[0] == kind);
        let there = Tally::of(of.map(|(_, record)| &**record));
        ensure!(count.wide_tally()? == there, "other records of the kind {kind} are counted");
    }
    let bytes: u64 = blobs.values().map(|blob| blob.length).sum();
    ensure!(count.u64()? == bytes, "other bytes of blobs are counted than {bytes}");
    count.end("the count of blobs")
}
