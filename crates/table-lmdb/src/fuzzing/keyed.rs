//! Small records that are bound to their keys: those of tables, templates and counts, and those of the keys' own file.
//!
//! An input has the length of the key, the key, and the record's body. The checksum is made to fit, as a forger would.

use table_engine::schema::Period;

use crate::records::catalog::{self, Entry, RecordMac};
use crate::records::counts::Counts;
use crate::records::mark::Mark;
use crate::records::meta::{self, Meta};
use crate::records::periods::{self, PeriodsEntry};
use crate::records::record_digest::{RecordDigest, SetDigest};

/// How many sorts there are.
pub(super) const SORTS: u8 = 7;

/// Returns the input as its record is written, if it can be read.
pub(super) fn again(sort: u8, input: &[u8]) -> Option<Vec<u8>> {
    if sort == MARK {
        let mark: Mark = str::from_utf8(input).ok()?.parse().ok()?;
        return Some(mark.to_string().into_bytes());
    }
    let (length, rest) = input.split_first()?;
    let (key, body) = rest.split_at_checked(usize::from(*length))?;
    let record = meta::sealed(key, body.to_vec());
    let numbered = || <[u8; 4]>::try_from(key).ok().map(u32::from_be_bytes);
    let written = match sort {
        CATALOG => {
            // Whatever lies there is read as one or the other.
            let found = catalog::decode(key, &record).ok()?;
            match found {
                Some(entry) => opened(key, &entry.encode(key)),
                None => opened(key, &PeriodsEntry::decode(key, &record).ok()?.encode(key)),
            }
        }
        GRAVE => opened(key, &catalog::decode_tombstone(key, &record).ok()??.encode(key)),
        COUNTS | RECORD_DIGEST => {
            let table = numbered()?;
            if sort == COUNTS {
                let key = crate::records::counts::key(table);
                let record = meta::sealed(&key, body.to_vec());
                opened(&key, &Counts::of_record(Some(&record), table).ok()?.record(table))
            } else {
                let key = crate::records::record_digest::key(table);
                let record = meta::sealed(&key, body.to_vec());
                RecordDigest::of_record(Some(&record), table).ok()?.recorded(table, opened)
            }
        }
        KEYS => keys::again(key, body),
        RING => keys::ring_again(body),
        _ => None,
    };
    Some([&[*length][..], key, &written?].concat())
}

const CATALOG: u8 = 0;
const GRAVE: u8 = 1;
const COUNTS: u8 = 2;
const RECORD_DIGEST: u8 = 3;
const MARK: u8 = 4;
const KEYS: u8 = 5;
const RING: u8 = 6;

fn opened(key: &[u8], record: &[u8]) -> Option<Vec<u8>> {
    meta::opened(key, record).map(<[u8]>::to_vec)
}

/// Records of each sort.
pub(super) fn samples() -> Vec<(u8, Vec<u8>)> {
    let input = |key: &[u8], body: Vec<u8>| [&[u8::try_from(key.len()).unwrap_or(0)], key, &body].concat();
    let sealed = |key: &[u8], record: &[u8]| input(key, opened(key, record).unwrap_or_default());
    let plain = Entry { id: 7, name: "Company".into(), identity: [3; 16], digest: None, former: Vec::new() };
    let record_mac = |has_numbers| RecordMac { digest: [5; 16], has_numbers };
    let [with_record_mac, with_numbers] =
        [false, true].map(|has| Entry { digest: Some(record_mac(has)), ..plain.clone() });
    let mut samples = Vec::new();
    for entry in [&plain, &with_record_mac, &with_numbers] {
        samples.push((CATALOG, sealed(b"company", &entry.encode(b"company"))));
        let key = catalog::tombstone_key(entry.id);
        samples.push((GRAVE, sealed(&key, &entry.encode(&key))));
    }
    for period in Period::ALL {
        let floor = table_engine::model::Ticks::UNIX_EPOCH;
        let entry = PeriodsEntry { stem: "Logins".into(), period, floor };
        let key = periods::key(&entry.stem);
        samples.push((CATALOG, sealed(&key, &entry.encode(&key))));
    }
    let table = 7_u32;
    let number = table.to_be_bytes();
    let counts = Counts { entities: 3, bytes: 300, digest: u64::MAX };
    let key = crate::records::counts::key(table);
    samples.push((COUNTS, input(&number, opened(&key, &counts.record(table)).unwrap_or_default())));
    let short = RecordDigest { names: 5, symbols: 2, shapes: 1, ..RecordDigest::default() };
    let long = RecordDigest { index_states: SetDigest { count: 1, digest: 9 }, ..short };
    let longest = RecordDigest { service: SetDigest { count: 2, digest: 7 }, ..short };
    for record_digest in [short, long, longest] {
        let body = record_digest.recorded(table, opened).unwrap_or_default();
        samples.push((RECORD_DIGEST, input(&number, body)));
    }
    samples.push((MARK, Mark::of(&Meta::initial(1_982)).to_string().into_bytes()));
    samples.extend(keys::samples().into_iter().map(|(key, body)| (KEYS, input(&key, body))));
    samples.extend(keys::ring().into_iter().map(|body| (RING, input(&[], body))));
    samples
}

/// The records of the keys' file, and a key ring.
#[cfg(feature = "encrypt")]
mod keys {
    pub(super) use crate::fuzzed_keys::{again, samples};
    pub(super) use table_engine::crypt::ring::again as ring_again;

    /// Returns a ring of two keys, without its checksum.
    pub(super) fn ring() -> Vec<Vec<u8>> {
        let head = [&b"tablekey"[..], &[1, 0]].concat();
        vec![[head, vec![1; 16 + 32], vec![2; 16 + 32]].concat()]
    }
}

/// None, in a build that has none.
#[cfg(not(feature = "encrypt"))]
mod keys {
    pub(super) fn again(_: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    pub(super) fn ring_again(_: &[u8]) -> Option<Vec<u8>> {
        None
    }

    pub(super) fn samples() -> Vec<(Vec<u8>, Vec<u8>)> {
        Vec::new()
    }

    pub(super) fn ring() -> Vec<Vec<u8>> {
        Vec::new()
    }
}
