//! What an attacker can do who may write a store's file and has none of its keys: everything that
//! `docs/internals/format.md` says how to do. Checksums and counts are made to fit again, so that none but a keyed digest
//! can tell.

use std::path::Path;
use std::time::Duration;

use heed::types::Bytes;
use heed::{CommitOrAbort, Env, EnvOpenOptions, RwTxn, WithoutTls};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::reader;

type Db = heed::Database<'static, Bytes, Bytes>;

/// The store's databases, opened by LMDB alone. No store may have the file open.
#[derive(Debug)]
pub struct Forge {
    env: Env<WithoutTls>,
    main: Db,
    data: Db,
    names: Db,
    catalog: Db,
    /// The graves, and what the store need not have: the queues and the blobs.
    others: [Option<Db>; 3],
}

/// A row's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// When it was written.
    pub time: u64,
    /// Each property: its number, its tag, and its bytes.
    pub properties: Vec<(u16, u8, Vec<u8>)>,
    /// Its keyed digest.
    pub digest: Option<[u8; 16]>,
}

/// The form of a row with slots.
const SLOTS: u64 = 2;
const DIGEST: u8 = 4;
const LARGE: u8 = 2;
const WIDE: u8 = 1;
const SMALL: usize = 256;

fn hash(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the record is long enough")
}

/// A shape that rows of a table have: the number of the kind's text, and each column's number and type.
struct Shape {
    symbol: u16,
    columns: Vec<(u16, u8)>,
}

/// What it takes to read a table's rows: its shapes, and the number of the property that is the kind.
struct Shapes {
    all: Vec<Shape>,
    entity_type: u16,
}

/// How many bytes a value of a column's type takes; `None` for text and bytes.
fn width(of: u8) -> Option<usize> {
    [1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 16].get(usize::from(of)).copied()
}

/// A value of fixed width as slots have it: its tag, and its bytes.
fn as_slot(of: u8, bytes: &[u8]) -> (u8, Vec<u8>) {
    let mut wide = [0; 8];
    match of {
        0 => (2 + bytes[0], Vec::new()),
        1..=7 => {
            let is_signed = [1, 3, 5, 7].contains(&of) && bytes[bytes.len() - 1] >= 0x80;
            wide.fill(if is_signed { 0xff } else { 0 });
            wide[..bytes.len()].copy_from_slice(bytes);
            let number = i64::from_le_bytes(wide);
            let fits = |bytes: u32| {
                bytes == 8 || (-1_i64 << (8 * bytes - 1)..1 << (8 * bytes - 1)).contains(&number)
            };
            let length = if number == 0 { 0 } else { [1, 2, 4, 8].into_iter().find(|n| fits(*n)).unwrap() };
            (if of < 6 { 4 } else { 5 }, wide[..length as usize].to_vec())
        }
        // Double, time and GUID.
        _ => (of - 2, bytes.to_vec()),
    }
}

impl Image {
    /// Takes a row apart.
    fn parse(bytes: &[u8], shapes: &Shapes) -> Self {
        let word = u64::from_le_bytes(number(bytes, 0));
        let (form, time) = (word >> 62, word & ((1 << 62) - 1));
        if form == SLOTS {
            return Self::parse_slots(bytes, time);
        }
        let shape = u16::from_le_bytes(number(bytes, 8));
        let mut end = bytes.len() - 8;
        let digest = (shape & 0x8000 != 0).then(|| {
            end -= 16;
            number(bytes, end)
        });
        let is_wide = form == 1;
        let mut at = if is_wide { 13 } else { 10 };
        let shape = &shapes.all[usize::from(shape & 0x7fff)];
        let count = shape.columns.iter().filter(|(_, of)| of & 0x80 != 0).count();
        let presence = at;
        at += count.div_ceil(8);
        let mut bit = 0;
        let mut columns = Vec::new();
        for (id, of) in &shape.columns {
            let is_there = of & 0x80 == 0 || {
                bit += 1;
                bytes[presence + (bit - 1) / 8] >> ((bit - 1) % 8) & 1 != 0
            };
            columns.push((*id, of & 0x7f, is_there));
        }
        let mut properties = vec![(shapes.entity_type, 9, shape.symbol.to_le_bytes().to_vec())];
        for (id, of, is_there) in &columns {
            let Some(width) = width(*of) else { continue };
            if *is_there {
                let (tag, value) = as_slot(*of, &bytes[at..at + width]);
                properties.push((*id, tag, value));
            }
            at += width;
        }
        let texts = columns.iter().filter(|(_, of, _)| *of == 11).map(|column| (column, 0));
        let binaries = columns.iter().filter(|(_, of, _)| *of == 12).map(|column| (column, 1));
        let values: Vec<_> = texts.chain(binaries).collect();
        let size = if is_wide { 2 } else { 1 };
        let heap = at + values.len().saturating_sub(1) * size;
        let mut from = heap;
        for (n, ((id, _, is_there), tag)) in values.iter().enumerate() {
            let to = if n + 1 == values.len() {
                end
            } else if is_wide {
                heap + usize::from(u16::from_le_bytes(number(bytes, at + 2 * n)))
            } else {
                heap + usize::from(bytes[at + n])
            };
            let mut value = bytes[from..to].to_vec();
            if value.len() > SMALL {
                value.truncate(value.len() - 4);
            }
            if *is_there {
                properties.push((*id, *tag, value));
            }
            from = to;
        }
        properties.sort();
        Self { time, properties, digest }
    }

    /// Reads a row with slots.
    fn parse_slots(bytes: &[u8], time: u64) -> Self {
        let (flags, count) = (bytes[8], usize::from(bytes[9]));
        let wide = flags & WIDE != 0;
        let size = if wide { 6 } else { 4 };
        let heap = 10 + count * size;
        let mut end = bytes.len() - 8;
        let digest = (flags & DIGEST != 0).then(|| {
            end -= 16;
            number(bytes, end)
        });
        let slot = |at: usize| {
            let slot = &bytes[10 + at * size..];
            let id = u16::from_le_bytes(number(slot, 0));
            if wide {
                (id, slot[2], usize::from(slot[3]) | usize::from(slot[4]) << 8 | usize::from(slot[5]) << 16)
            } else {
                let packed = u16::from_le_bytes(number(slot, 2));
                (id, (packed >> 12) as u8, usize::from(packed & 0xfff))
            }
        };
        let properties = (0..count).map(|at| {
            let (id, tag, start) = slot(at);
            let next = if at + 1 < count { heap + slot(at + 1).2 } else { end };
            let mut value = bytes[heap + start..next].to_vec();
            if value.len() > SMALL {
                value.truncate(value.len() - 4);
            }
            (id, tag, value)
        });
        Self { time, properties: properties.collect(), digest }
    }

    /// The row under this key, with slots, which any row may have.
    pub fn encode(&self, key: &[u8]) -> Vec<u8> {
        let seed = hash(key, 0);
        let (mut heap, mut starts, mut large) = (Vec::new(), Vec::new(), Vec::new());
        for (_, _, value) in &self.properties {
            starts.push(heap.len());
            heap.extend_from_slice(value);
            if value.len() > SMALL {
                large.push(heap.len() - value.len()..heap.len());
                heap.extend_from_slice(&hash(value, seed).to_le_bytes()[..4]);
            }
        }
        let wide = starts.last().is_some_and(|start| *start > 0xfff);
        let flag = |on: bool, flag: u8| if on { flag } else { 0 };
        let flags = flag(wide, WIDE) | flag(!large.is_empty(), LARGE) | flag(self.digest.is_some(), DIGEST);
        let mut bytes = (self.time | SLOTS << 62).to_le_bytes().to_vec();
        bytes.extend_from_slice(&[flags, self.properties.len() as u8]);
        for ((id, tag, _), start) in self.properties.iter().zip(&starts) {
            bytes.extend_from_slice(&id.to_le_bytes());
            if wide {
                bytes.push(*tag);
                bytes.extend_from_slice(&(*start as u32).to_le_bytes()[..3]);
            } else {
                bytes.extend_from_slice(&((*start as u16) | u16::from(*tag) << 12).to_le_bytes());
            }
        }
        let before = bytes.len();
        bytes.extend_from_slice(&heap);
        bytes.extend_from_slice(self.digest.as_ref().map_or(&[], |digest| &digest[..]));
        let (mut sum, mut from) = (seed, 0);
        for range in large {
            sum = hash(&bytes[from..before + range.start], sum);
            from = before + range.end;
        }
        sum = hash(&bytes[from..], sum);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }
}

/// The stored key of a row. The keys here are ASCII.
pub fn row_key(table: u32, partition: &str, row: &str) -> Vec<u8> {
    [&table_bytes(table)[..], partition.as_bytes(), &[0], row.as_bytes()].concat()
}

/// A table's number as the keys of its rows begin with it.
fn table_bytes(table: u32) -> Vec<u8> {
    let more = (0..4).find(|more| table >> (6 + 8 * more) == 0).expect("the number is below 2^30");
    let mut bytes = table.to_be_bytes()[3 - more..].to_vec();
    bytes[0] |= (more as u8) << 6;
    bytes
}

/// The number of the table that a stored key belongs to.
pub fn table_of(key: &[u8]) -> u32 {
    let more = usize::from(key[0] >> 6);
    key[1..=more].iter().fold(u32::from(key[0] & 0x3f), |high, byte| high << 8 | u32::from(*byte))
}

/// A small record without its checksum.
pub fn body(record: &[u8]) -> &[u8] {
    &record[..record.len() - 8]
}

fn sealed(key: &[u8], body: &[u8]) -> Vec<u8> {
    [body, &hash(body, hash(key, 0)).to_le_bytes()].concat()
}

fn checksum(record: &[u8]) -> u64 {
    u64::from_le_bytes(number(record, record.len() - 8))
}

impl Forge {
    /// Opens the store's file.
    #[allow(unsafe_code, reason = "heed can't know that nobody else changes the file under the map")]
    pub fn open(store: &Path) -> Self {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(1 << 28).max_readers(8).max_dbs(8);
        let mut attempts = 0;
        let env = loop {
            // SAFETY: the tests alone have the file, and every handle of it in this process was closed.
            match unsafe { options.open(store) } {
                // Who removes a dropped table's rows may have to end its step first.
                Err(heed::Error::EnvAlreadyOpened) if attempts < 1_000 => {
                    attempts += 1;
                    std::thread::sleep(Duration::from_millis(10));
                }
                opened => break opened.expect("the store is closed"),
            }
        };
        let txn = env.read_txn().expect("a reader's slot is free");
        let opened = env.open_databases_and_commit(txn, |opener, txn| -> heed::Result<_> {
            let open = |name| {
                opener.open_database::<Bytes, Bytes>(txn, name).map(|db| db.expect("the store has it"))
            };
            let all = [open(None)?, open(Some("data"))?, open(Some("names"))?, open(Some("catalog"))?];
            let may_be = |name| opener.open_database::<Bytes, Bytes>(txn, Some(name));
            let others = [may_be("graves")?, may_be("queues")?, may_be("blobs")?];
            Ok(CommitOrAbort::<_, ()>::Commit((all, others)))
        });
        let CommitOrAbort::Commit(([main, data, names, catalog], others)) = opened.expect("the store opens")
        else {
            unreachable!("it was told to commit")
        };
        Self { env, main, data, names, catalog, others }
    }

    /// Changes something, with the store's own record in step.
    fn change(&self, change: impl FnOnce(&mut RwTxn<'_>)) {
        let mut txn = self.env.write_txn().expect("nobody writes");
        change(&mut txn);
        self.edit_record(&mut txn, self.main, b"\0meta", |body| {
            let id = txn_id(body);
            body[28..36].copy_from_slice(&(id + 1).to_le_bytes());
        });
        txn.commit().expect("there is room");
    }

    fn edit_record(&self, txn: &mut RwTxn<'_>, db: Db, key: &[u8], edit: impl FnOnce(&mut Vec<u8>)) {
        let record = db.get(txn, key).expect("it can be read").expect("it is there");
        let mut changed = body(record).to_vec();
        edit(&mut changed);
        db.put(txn, key, &sealed(key, &changed)).expect("there is room");
    }

    /// Every row: its stored key and its parts.
    pub fn rows(&self) -> Vec<(Vec<u8>, Image)> {
        let txn = self.env.read_txn().expect("a reader's slot is free");
        let rows = self.data.iter(&txn).expect("it can be read");
        rows.map(|row| row.expect("it can be read"))
            .map(|(key, row)| (key.to_vec(), Image::parse(row, &self.shapes(table_of(key)))))
            .collect()
    }

    fn shapes(&self, table: u32) -> Shapes {
        let entries = self.entries(table);
        let of_kind = |kind: u8| entries.iter().filter(move |(entry, _)| entry[0] == kind);
        let shape = |(_, body): &(Vec<u8>, Vec<u8>)| Shape {
            symbol: u16::from_le_bytes(number(body, 0)),
            columns: body[4..]
                .chunks(3)
                .map(|column| (u16::from_le_bytes(number(column, 0)), column[2]))
                .collect(),
        };
        let entity_type = of_kind(0).position(|(_, name)| name == b"EntityType").unwrap_or(0);
        Shapes { all: of_kind(5).map(shape).collect(), entity_type: entity_type as u16 }
    }

    /// Puts a row under a key, or takes it away, and keeps the counts of its table right.
    pub fn put_row(&self, key: &[u8], image: Option<&Image>) {
        self.put_bytes(key, image.map(|image| image.encode(key)));
    }

    /// Puts a row under a key whose bytes before the checksum are these, and keeps the counts of its table right.
    pub fn put_covered(&self, key: &[u8], covered: &[u8]) {
        self.put_bytes(key, Some(sealed(key, covered)));
    }

    /// The bytes of every row: its stored key, and all but its checksum.
    pub fn covered(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let txn = self.env.read_txn().expect("a reader's slot is free");
        let rows = self.data.iter(&txn).expect("it can be read");
        rows.map(|row| row.expect("it can be read"))
            .map(|(key, row)| (key.to_vec(), body(row).to_vec()))
            .collect()
    }

    fn put_bytes(&self, key: &[u8], new: Option<Vec<u8>>) {
        self.change(|txn| {
            let old = self.data.get(txn, key).expect("it can be read").map(|old| (old.len(), checksum(old)));
            let counts = [&b"\0n#"[..], &table_of(key).to_be_bytes()].concat();
            self.edit_record(txn, self.main, &counts, |body| {
                let mut add = |at: usize, plus: u64, minus: u64| {
                    let sum = u64::from_le_bytes(number(body, at)).wrapping_add(plus).wrapping_sub(minus);
                    body[at..at + 8].copy_from_slice(&sum.to_le_bytes());
                };
                let (plus, minus) = (new.as_ref(), old);
                add(0, u64::from(plus.is_some()), u64::from(minus.is_some()));
                let bytes = |length: usize| (key.len() + length) as u64;
                add(8, plus.map_or(0, |new| bytes(new.len())), minus.map_or(0, |(length, _)| bytes(length)));
                add(16, plus.map_or(0, |new| checksum(new)), minus.map_or(0, |(_, sum)| sum));
            });
            match new {
                Some(new) => self.data.put(txn, key, &new).expect("there is room"),
                None => assert!(self.data.delete(txn, key).expect("it can be read")),
            }
        });
    }

    /// The number of a property's name in a table.
    pub fn name_id(&self, table: u32, name: &str) -> u16 {
        let txn = self.env.read_txn().expect("a reader's slot is free");
        let key = [&table.to_be_bytes()[..], &[1], name.as_bytes()].concat();
        let record = self.names.get(&txn, &key).expect("it can be read").expect("the name has a number");
        u16::from_le_bytes(number(record, 0))
    }

    /// Every dictionary entry and layout of a table: its kind and the rest of its key, and its body.
    pub fn entries(&self, table: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
        let txn = self.env.read_txn().expect("a reader's slot is free");
        let entries = self.names.prefix_iter(&txn, &table.to_be_bytes()).expect("it can be read");
        entries
            .map(|entry| entry.expect("it can be read"))
            .map(|(key, record)| (key[4..].to_vec(), body(record).to_vec()))
            .collect()
    }

    /// Puts a dictionary entry or a layout, or takes it away, and keeps the table's record digest right.
    pub fn put_entry(&self, table: u32, entry: &[u8], new: Option<&[u8]>) {
        let key = [&table.to_be_bytes()[..], entry].concat();
        self.change(|txn| {
            let old = self.names.get(txn, &key).expect("it can be read").map(checksum);
            let new = new.map(|body| sealed(&key, body));
            let record_digest = [&b"\0t#"[..], &table.to_be_bytes()].concat();
            if entry[0] == 4 {
                self.edit_record(txn, self.main, &record_digest, |body| {
                    tally(body, 12, old, new.as_deref().map(checksum));
                });
            }
            match new {
                Some(new) => self.names.put(txn, &key, &new).expect("there is room"),
                None => assert!(self.names.delete(txn, &key).expect("it can be read")),
            }
        });
    }

    /// Every table's record: its folded name, and its body.
    pub fn tables(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let txn = self.env.read_txn().expect("a reader's slot is free");
        let tables = self.catalog.iter(&txn).expect("it can be read");
        tables
            .map(|table| table.expect("it can be read"))
            .map(|(key, record)| (key.to_vec(), body(record).to_vec()))
            .collect()
    }

    /// Puts a table's record, and keeps the store's and the table's counts of it right.
    pub fn put_table(&self, name: &[u8], new: &[u8]) {
        self.change(|txn| {
            let old = self.catalog.get(txn, name).expect("it can be read").map(checksum);
            let record = sealed(name, new);
            let table = u32::from_le_bytes(number(new, 0));
            let record_digest = [&b"\0t#"[..], &table.to_be_bytes()].concat();
            self.edit_record(txn, self.main, &record_digest, |body| {
                body[24..32].copy_from_slice(&checksum(&record).to_le_bytes());
            });
            self.edit_record(txn, self.main, b"\0meta", |body| tally(body, 76, old, Some(checksum(&record))));
            self.catalog.put(txn, name, &record).expect("there is room");
        });
    }

    /// Changes the store's own record.
    pub fn edit_meta(&self, edit: impl FnOnce(&mut Vec<u8>)) {
        self.change(|txn| self.edit_record(txn, self.main, b"\0meta", edit));
    }

    /// The records of every database, for a reader that has no LMDB.
    pub fn image(&self) -> reader::Image {
        let txn = self.env.read_txn().expect("a reader's slot is free");
        let records = |db: Db| -> reader::Records {
            let all = db.iter(&txn).expect("it can be read").map(|record| record.expect("it can be read"));
            all.map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
        };
        let [graves, queues, blobs] = self.others.map(|db| db.map(records));
        reader::Image {
            transaction: u64::try_from(txn.id()).expect("it has at most 64 bits"),
            main: records(self.main),
            data: records(self.data),
            names: records(self.names),
            catalog: records(self.catalog),
            graves: graves.expect("every store has it"),
            queues,
            blobs,
        }
    }

    /// Closes the file.
    pub fn close(self) {
        self.env.prepare_for_closing().wait();
    }
}

/// The transaction that wrote the store's own record.
fn txn_id(body: &[u8]) -> u64 {
    u64::from_le_bytes(number(body, 28))
}

/// Takes a record out of a digest of records, and another one in.
fn tally(body: &mut [u8], at: usize, old: Option<u64>, new: Option<u64>) {
    let count = u32::from_le_bytes(number(body, at)) + u32::from(new.is_some()) - u32::from(old.is_some());
    body[at..at + 4].copy_from_slice(&count.to_le_bytes());
    let digest = u64::from_le_bytes(number(body, at + 4));
    let digest = digest.wrapping_add(new.unwrap_or(0)).wrapping_sub(old.unwrap_or(0));
    body[at + 4..at + 12].copy_from_slice(&digest.to_le_bytes());
}
