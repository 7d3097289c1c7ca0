//! The catalog, what tables count, and their rows.

use std::collections::{BTreeMap, BTreeSet};

use super::bytes::{Bytes, Read, checksum, ensure, small, text};
use super::dictionary::Dictionary;
use super::{Image, Own, Row, Table, Tally, rows};

pub(super) struct Found {
    pub(super) tables: BTreeMap<String, Table>,
    pub(super) templates: BTreeMap<String, (u8, u64)>,
    /// The store's service records.
    pub(super) service: BTreeMap<String, Vec<u8>>,
    /// The numbers of the tables in the catalog.
    pub(super) numbers: BTreeSet<u32>,
}

/// What a table has of everything, as it says itself.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    rows: u64,
    bytes: u64,
    digest: u64,
}

struct RecordDigest {
    numbered: [u32; 3],
    layouts: Tally,
    catalog: u64,
    states: Tally,
    jobs: Tally,
    service: Tally,
}

pub(super) fn read(image: &Image, own: &Own) -> Read<Found> {
    let of = |records: &super::Records| Tally::of(records.iter().map(|(_, record)| &**record));
    ensure!(of(&image.catalog) == own.catalog, "the catalog has other records than are counted");
    ensure!(of(&image.graves) == own.graves, "there are other graves than are counted");
    for (key, record) in &image.graves {
        let mut number = Bytes(key);
        let number = number.u32_be()?;
        let (of_grave, ..) = entry(small(key, record)?)?;
        ensure!(number == of_grave, "the grave of {number} is that of {of_grave}");
    }
    let mut found = Found {
        tables: BTreeMap::new(),
        templates: BTreeMap::new(),
        service: own_records(image, own)?,
        numbers: BTreeSet::new(),
    };
    let mut names = BTreeMap::new();
    for (key, record) in &image.catalog {
        let body = small(key, record)?;
        if key.ends_with(b"{") {
            ensure!(own.readers & 8 != 0, "a template of periods, and no feature of them");
            let mut bytes = Bytes(body);
            let (floor, period, stem) = (bytes.time()?, bytes.u8()?, text(bytes.rest())?);
            ensure!((1..=5).contains(&period), "a period {period}");
            let lower = stem.to_ascii_lowercase() + "{";
            ensure!(lower.as_bytes() == key, "the stem {stem} stands under {key:?}");
            found.templates.insert(stem, (period, floor));
            continue;
        }
        let (number, name) = entry(body)?;
        ensure!(name.to_ascii_lowercase().as_bytes() == key, "the table {name} stands under {key:?}");
        ensure!(
            number < own.next_table,
            "the table {name} has the number {number}, which is still to be given"
        );
        ensure!(found.numbers.insert(number), "two tables have the number {number}");
        names.insert(number, (name, checksum(record)));
    }
    for (number, (name, record)) in names {
        let table =
            table(image, own, number, record).map_err(|because| format!("table {name}: {because}"))?;
        found.tables.insert(name, table);
    }
    Ok(found)
}

/// A table's record in the catalog or in its grave: its number and its name.
fn entry(body: &[u8]) -> Read<(u32, String)> {
    let mut bytes = Bytes(body);
    let (number, flags, _identity) = (bytes.u32()?, bytes.u16()?, bytes.take(16)?);
    ensure!(number < 1 << 30 && matches!(flags, 0 | 1 | 3), "the number {number} and the flags {flags}");
    let mut name = bytes.rest();
    if flags != 0 {
        name = name.split_last_chunk::<16>().ok_or("there is no digest")?.0;
    }
    let name = text(name)?;
    let is_name = (3..=63).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.starts_with(|first: char| first.is_ascii_alphabetic());
    ensure!(is_name, "{name:?} is no name of a table");
    Ok((number, name))
}

/// A table's record in the unnamed database.
fn counted<'i>(image: &'i Image, prefix: &[u8], number: u32) -> Read<&'i [u8]> {
    let key = [prefix, &number.to_be_bytes()].concat();
    let record = image.main.iter().find(|(other, _)| *other == key);
    let (_, record) = record.ok_or_else(|| format!("{key:?} is missing"))?;
    small(&key, record)
}

impl RecordDigest {
    fn read(image: &Image, own: &Own, number: u32) -> Read<Self> {
        let record = counted(image, b"\0t#", number)?;
        ensure!([32, 56, 68].contains(&record.len()), "a record digest of {} bytes", record.len());
        let mut bytes = Bytes(record);
        let mut digest = Self {
            numbered: [bytes.u32()?, bytes.u32()?, bytes.u32()?],
            layouts: bytes.tally()?,
            catalog: bytes.u64()?,
            states: Tally::default(),
            jobs: Tally::default(),
            service: Tally::default(),
        };
        if !bytes.0.is_empty() {
            (digest.states, digest.jobs) = (bytes.tally()?, bytes.tally()?);
            let are_none = (digest.states, digest.jobs) == (Tally::default(), Tally::default());
            ensure!(own.readers & 2 != 0 || are_none, "states of kinds, and no feature of them");
        }
        if !bytes.0.is_empty() {
            digest.service = bytes.tally()?;
            ensure!(own.readers & 64 != 0, "service records, and no feature of them");
        }
        Ok(digest)
    }
}

/// The store's own service records, under the number that no table has.
fn own_records(image: &Image, own: &Own) -> Read<BTreeMap<String, Vec<u8>>> {
    let dictionary = Dictionary::read(&image.names, 0)?;
    if own.readers & 64 == 0 {
        ensure!(dictionary.service.0.is_empty(), "service records, and no feature of them");
        return Ok(BTreeMap::new());
    }
    let digest = RecordDigest::read(image, own, 0)?;
    let is_bare = (digest.numbered, digest.layouts, digest.catalog) == ([0; 3], Tally::default(), 0);
    ensure!(is_bare, "more than service records is counted of the store");
    ensure!(dictionary.service.1 == digest.service, "there are other service records than are counted");
    Ok(dictionary.service.0)
}

fn table(image: &Image, own: &Own, number: u32, in_catalog: u64) -> Read<Table> {
    let counts = counted(image, b"\0n#", number)?;
    let mut bytes = Bytes(counts);
    let counts = Counts { rows: bytes.u64()?, bytes: bytes.u64()?, digest: bytes.u64()? };
    bytes.end("the counts")?;
    let digest = RecordDigest::read(image, own, number)?;
    ensure!(digest.catalog == in_catalog, "the record of the catalog is another than the record digest says");
    let dictionary = Dictionary::read(&image.names, number)?;
    ensure!(dictionary.numbered() == digest.numbered, "{:?} are counted", digest.numbered);
    ensure!(dictionary.layouts.1 == digest.layouts, "there are other layouts than are counted");
    ensure!(dictionary.states == digest.states, "there are other states than are counted");
    ensure!(dictionary.jobs == digest.jobs, "there are other jobs than are counted");
    ensure!(dictionary.service.1 == digest.service, "there are other service records than are counted");

    let mut seen = Counts { rows: 0, bytes: 0, digest: 0 };
    let mut found = BTreeMap::new();
    for (key, value) in &image.data {
        let (of, partition, row) = rows::key(key)?;
        if of != number {
            continue;
        }
        seen.rows += 1;
        seen.bytes += u64::try_from(key.len() + value.len()).map_err(|error| error.to_string())?;
        seen.digest = seen.digest.wrapping_add(checksum(value));
        let read =
            Row::read(key, value, &dictionary).map_err(|because| format!("{partition} {row}: {because}"))?;
        ensure!(read.time <= own.latest, "{partition} {row} is later than the latest row");
        found.insert((partition, row), read);
    }
    ensure!(seen == counts, "{counts:?} are counted, and there are {seen:?}");
    Ok(Table { number, layouts: dictionary.layouts.0, service: dictionary.service.0, rows: found })
}
