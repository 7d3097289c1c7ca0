//! The check of blobs: each record is looked at once, and what is counted is what there is.

use std::collections::BTreeMap;

use table_engine::contents::keys::{self, Key};
use table_engine::contents::{
    BlobId, BlobRecord, Counters, NameRecord, SEGMENT, Waiting, length_of, segments,
};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::Directory;

use super::overlay::set_digest_of;
use super::view::{self, BlobView};
use crate::lmdb::Db;
use crate::open::Environment;
use crate::records::meta;
use crate::verified::body;

/// What there is.
#[derive(Debug, Default)]
pub(crate) struct CountedBlobs {
    pub(crate) containers: u64,
    pub(crate) blobs: u64,
    /// Those that rows refer to, how often, and that are proved not to be there.
    pub(crate) missing: BTreeMap<BlobId, u32>,
}

/// A blob as it was found, and what leads to it.
#[derive(Default)]
struct FoundBlob {
    record: Option<BlobRecord>,
    references: u32,
    waits: bool,
    /// Its segments: how many, the sum of their checksums, their bytes; and whether one has more or less than it should.
    segments: u64,
    digest: u64,
    bytes: u64,
    is_odd: bool,
}

impl FoundBlob {
    /// Returns whether nothing was found of it but the references of rows.
    fn is_of_rows_alone(&self, of_rows: Option<&u32>) -> bool {
        self.record.is_none() && !self.waits && self.segments == 0 && of_rows == Some(&self.references)
    }
}

/// Looks at every record of the blobs. `problem` gets what is wrong.
pub(crate) fn check(
    environment: &Environment,
    txn: &heed::RoTxn<'_>,
    db: Db,
    of_rows: &BTreeMap<BlobId, u32>,
    mut problem: impl FnMut(Error),
) -> Result<CountedBlobs> {
    let view = BlobView::of_snapshot(environment, txn, db)?;
    let directory = view.directory()?;
    let of_row =
        |(id, count): (&BlobId, &u32)| (*id, FoundBlob { references: *count, ..FoundBlob::default() });
    let mut found: BTreeMap<BlobId, FoundBlob> = of_rows.iter().map(of_row).collect();
    let mut counters = Counters::default();
    let take = |key: &[u8], record: &[u8]| look(key, record, &directory, &mut found, &mut counters);
    view.check_each(take, |_, error| problem(error))?;
    let (mut blobs, mut missing) = (0, BTreeMap::new());
    for (id, found) in &found {
        if found.is_of_rows_alone(of_rows.get(id))
            && view.record(&keys::blob(*id)).is_ok_and(|found| found.is_none())
        {
            missing.insert(*id, found.references);
            continue;
        }
        blobs += u64::from(found.references > 0);
        counters.bytes = counters.bytes.wrapping_add(found.record.as_ref().map_or(0, |record| record.length));
        if let Some(what) = compare(found) {
            problem(Error::new(ErrorKind::Corrupt).because(format!("blob {id} {what}")));
        }
    }
    let counted = view.counters()?;
    if counted != counters {
        let because = format!(
            "the store counts {} blobs with {} bytes, and {} with {} were found, or not the same names, notes and segments",
            counted.blobs.count, counted.bytes, counters.blobs.count, counters.bytes
        );
        problem(Error::new(ErrorKind::Corrupt).because(because));
    }
    let containers = directory.queues.iter().filter(|listed| !listed.is_dropped).count();
    Ok(CountedBlobs { containers: length_of(containers), blobs, missing })
}

/// Takes a record in.
#[inline]
fn look(
    key: &[u8],
    record: &[u8],
    directory: &Directory,
    all: &mut BTreeMap<BlobId, FoundBlob>,
    counters: &mut Counters,
) -> Result<()> {
    let (says, checksum) = (body(record), meta::checksum_of(record));
    let damaged = || view::damaged(key);
    let parsed = Key::parse(key).ok_or_else(damaged)?;
    match parsed {
        Key::Directory | Key::Counters => {}
        Key::Name(container, _) => {
            let named = NameRecord::decode(says).ok_or_else(damaged)?;
            directory.get(container).ok_or_else(damaged)?;
            all.entry(named.id).or_default().references += 1;
        }
        Key::Blob(id) => {
            all.entry(id).or_default().record = Some(BlobRecord::decode(says).ok_or_else(damaged)?);
        }
        Key::Waiting(id) => {
            Waiting::decode(says).ok_or_else(damaged)?;
            all.entry(id).or_default().waits = true;
        }
        Key::Segment(id, number) => {
            let found = all.entry(id).or_default();
            // The one before it must have been full.
            let is_next = u64::from(number) == found.segments;
            let is_behind_full = found.bytes == found.segments * length_of(SEGMENT);
            found.is_odd |= !is_next || !is_behind_full || says.is_empty() || says.len() > SEGMENT;
            found.segments += 1;
            found.bytes += length_of(says.len());
            found.digest = found.digest.wrapping_add(checksum);
        }
    }
    if let Some(set_digest) = set_digest_of(counters, parsed) {
        set_digest.add(checksum);
    }
    Ok(())
}

/// Returns what is wrong with a blob.
fn compare(found: &FoundBlob) -> Option<&'static str> {
    let Some(record) = &found.record else {
        return Some("has a name, a note or segments, and is not there itself");
    };
    if record.references != found.references {
        return Some("counts other references than there are");
    }
    if (record.references == 0) != found.waits {
        return Some(if found.waits {
            "waits, and yet something leads to it"
        } else {
            "is led to by nothing"
        });
    }
    if found.is_odd
        || found.segments != segments(record.length)
        || found.bytes != record.length
        || found.digest != record.digest
    {
        return Some("has other segments than it says");
    }
    None
}
