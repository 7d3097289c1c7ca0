//! A reader of a store's bytes that follows `docs/internals/format.md` and shares no code with the library. It reads
//! everything, believes nothing, and says in words where a byte is not as that page has it.

mod blobs;
mod bytes;
mod dictionary;
mod following;
mod queues;
mod rows;
mod tables;

use std::collections::BTreeMap;

pub use self::following::Following;
pub use self::queues::{Message, Queue};
pub use self::rows::Row;

use self::bytes::{Bytes, Read, checksum, ensure, small};

/// The records of a database in LMDB's order, each a key and a value.
pub type Records = Vec<(Vec<u8>, Vec<u8>)>;

/// The records of a store's databases, as LMDB gives them.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The number of LMDB's last transaction.
    pub transaction: u64,
    /// The unnamed database.
    pub main: Records,
    /// The rows.
    pub data: Records,
    /// What tables number, and their layouts.
    pub names: Records,
    /// The tables.
    pub catalog: Records,
    /// The tables that were dropped.
    pub graves: Records,
    /// Queues, and what is to follow.
    pub queues: Option<Records>,
    /// Blobs.
    pub blobs: Option<Records>,
}

/// What a store holds.
#[derive(Debug)]
pub struct Contents {
    /// The tables, by their names.
    pub tables: BTreeMap<String, Table>,
    /// The templates of periods: each stem with its period and its floor in ticks.
    pub templates: BTreeMap<String, (u8, u64)>,
    /// The queues, by their names.
    pub queues: BTreeMap<String, Queue>,
    /// The entities that copies are to follow.
    pub following: Vec<Following>,
    /// What lies under the names of containers: a content type and the bytes.
    pub blobs: BTreeMap<(String, String), (String, Vec<u8>)>,
    /// The blobs that rows refer to, and how often.
    pub referred: BTreeMap<[u8; 16], u32>,
    /// What they are: a content type and the bytes.
    pub held: BTreeMap<[u8; 16], (String, Vec<u8>)>,
    /// The features that a reader must know.
    pub readers: u64,
    /// The store's service records.
    pub service: BTreeMap<String, Vec<u8>>,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its number.
    pub number: u32,
    /// The kinds, and how each is declared.
    pub layouts: BTreeMap<String, String>,
    /// The service records.
    pub service: BTreeMap<String, Vec<u8>>,
    /// The rows, by partition key and row key.
    pub rows: BTreeMap<(String, String), Row>,
}

/// The store's own record.
#[derive(Debug)]
struct Own {
    next_table: u32,
    latest: u64,
    readers: u64,
    writers: u64,
    ignorable: u64,
    catalog: Tally,
    graves: Tally,
}

/// How many records there are, and the sum of their checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    count: u64,
    digest: u64,
}

impl Tally {
    fn add(&mut self, record: &[u8]) {
        self.count += 1;
        self.digest = self.digest.wrapping_add(checksum(record));
    }

    fn of<'r>(records: impl IntoIterator<Item = &'r [u8]>) -> Self {
        let mut tally = Self::default();
        records.into_iter().for_each(|record| tally.add(record));
        tally
    }
}

impl Bytes<'_> {
    fn tally(&mut self) -> Read<Tally> {
        Ok(Tally { count: self.u32()?.into(), digest: self.u64()? })
    }

    fn wide_tally(&mut self) -> Read<Tally> {
        Ok(Tally { count: self.u64()?, digest: self.u64()? })
    }
}

/// Reads a store.
pub fn read(image: &Image) -> Read<Contents> {
    let own = own(image)?;
    let found = tables::read(image, &own)?;
    let queues = image.queues.as_ref();
    ensure!(
        queues.is_some() == (own.ignorable & 2 != 0 || own.writers & 1 != 0),
        "`queues` is there or not, and the features say otherwise"
    );
    let (queues, following): (BTreeMap<String, Queue>, _) = match queues {
        Some(records) => {
            (queues::read(records)?, following::read(records, own.writers & 1 != 0, &found.numbers)?)
        }
        None => (BTreeMap::new(), Vec::new()),
    };
    let has_records = queues.values().any(|queue| !queue.service.is_empty());
    ensure!(own.readers & 128 != 0 || !has_records, "a queue has service records, and no feature says so");
    ensure!(
        image.blobs.is_some() == (own.ignorable & 4 != 0),
        "`blobs` is there or not, and the feature says otherwise"
    );
    let blobs::Found { named, referred, held } = match &image.blobs {
        Some(records) => blobs::read(records, &image.data, own.writers & 2 != 0, own.readers & 16 != 0)?,
        None => blobs::Found::default(),
    };
    let rows = || found.tables.values().flat_map(|table| table.rows.values());
    let lists = rows().filter(|row| row.properties.get("EntityType").is_some_and(blobs::is_index));
    for ids in lists.filter_map(|row| row.properties.get("Ids").and_then(blobs::reference)) {
        ensure!(own.readers & 32 != 0, "the ids of a list lie in a blob, and no feature says so");
        let (content_type, ids) = held.get(&ids).ok_or("the ids of a list lie in no blob")?;
        ensure!(content_type == "text/plain; charset=utf-8", "the ids of a list are {content_type}");
        let ids: Vec<_> = std::str::from_utf8(ids).map_err(|error| error.to_string())?.split(',').collect();
        ensure!(ids.is_sorted_by(|a, b| a < b), "the ids of a list are not in order");
    }
    let (tables, templates, readers, service) = (found.tables, found.templates, own.readers, found.service);
    Ok(Contents { tables, templates, queues, following, blobs: named, referred, held, readers, service })
}

fn own(image: &Image) -> Read<Own> {
    const KEY: &[u8] = b"\0meta";
    let (key, record) = image.main.first().ok_or("the unnamed database is empty")?;
    ensure!(key == KEY, "a key sorts before the store's own record: {key:?}");
    let body = small(KEY, record)?;
    ensure!(body.len() == 116, "the store's own record has {} bytes", body.len());
    let mut bytes = Bytes(body);
    let (version, _max_key, next_table) = (bytes.u32()?, bytes.u32()?, bytes.u32()?);
    ensure!(version == 4, "format version {version}");
    let (_generation, latest, transaction) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
    ensure!(
        transaction == image.transaction,
        "the record is of transaction {transaction}, and the state of {}",
        image.transaction
    );
    let (readers, writers, ignorable) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
    ensure!(readers & !0b1111_1010 == 0, "a feature that a reader must know, or a store that is superseded");
    let _identity = bytes.take(16)?;
    let (catalog, graves) = (bytes.tally()?, bytes.tally()?);
    let _vouched = bytes.take(16)?;
    bytes.end("the store's own record")?;
    Ok(Own { next_table, latest, readers, writers, ignorable, catalog, graves })
}
