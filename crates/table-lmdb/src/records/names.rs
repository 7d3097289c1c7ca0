//! The records of each table's dictionary: every text under its number, every number under its text, and every shape of
//! rows under its number.

use table_engine::error::{Error, ErrorKind};
use table_engine::row::dict::{Dict, Length, Numbered};
use table_engine::row::shape::{MAX_SHAPES, Shape};

use super::meta;
use super::record_digest::RecordDigest;
use crate::lmdb::{self, Databases, Db, WriteTxn};

/// The kinds of dictionary entry, as they stand in the key after the table's number.
const NAME_BY_ID: u8 = 0;
const ID_BY_NAME: u8 = 1;
const SYMBOL_BY_ID: u8 = 2;
const ID_BY_SYMBOL: u8 = 3;
/// Four is a [layout](super::layouts).
const SHAPE_BY_ID: u8 = 5;

/// The two entries of each text: under its number, and under itself.
#[derive(Clone, Copy)]
struct TextEntries {
    table: u32,
    by_id: u8,
    by_text: u8,
}

/// Reads the entries that the dictionary does not have yet.
pub(crate) fn read_new(
    dict: &mut Dict,
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: u32,
) -> Result<(), Error> {
    dict.forget();
    let record_digest = RecordDigest::read(dbs.main, txn, table)?;
    TextEntries::names(table).read_new(&mut dict.names, record_digest.names, dbs, txn)?;
    dict.find_entity_type();
    TextEntries::symbols(table).read_new(&mut dict.symbols, record_digest.symbols, dbs, txn)?;
    read_shapes(dict, record_digest.shapes, dbs, txn, table)
}

/// Writes the entries from this length on.
pub(crate) fn write_new(
    dict: &Dict,
    from: Length,
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    table: u32,
) -> Result<(), Error> {
    TextEntries::names(table).write_new(&dict.names, from.names, dbs.names, txn)?;
    TextEntries::symbols(table).write_new(&dict.symbols, from.symbols, dbs.names, txn)?;
    for (number, shape) in (0_u16..).zip(&dict.shapes).skip(from.shapes) {
        let key = entry_key(table, SHAPE_BY_ID, &number.to_be_bytes());
        dbs.names.put(txn, &key, &meta::sealed(&key, shape.encode())).map_err(lmdb::error)?;
    }
    let mut record_digest = RecordDigest::read(dbs.main, txn, table)?;
    (record_digest.names, record_digest.symbols) = (count(&dict.names), count(&dict.symbols));
    record_digest.shapes = u32::try_from(dict.shapes.len()).unwrap_or(u32::MAX);
    record_digest.write(dbs.main, txn, table)
}

/// Reads the shapes that the dictionary does not have yet. What they name has been read.
fn read_shapes(
    dict: &mut Dict,
    many: u32,
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: u32,
) -> Result<(), Error> {
    let many = usize::try_from(many).unwrap_or(usize::MAX);
    if many > MAX_SHAPES {
        return Err(damaged("it counts more shapes of rows than a table may have"));
    }
    for number in (0_u16..).take(many).skip(dict.shapes.len()) {
        let key = entry_key(table, SHAPE_BY_ID, &number.to_be_bytes());
        let record = dbs.record(dbs.names, txn, &key)?;
        let length = dict.len();
        let shape = record
            .and_then(|record| meta::opened(&key, record))
            .and_then(|body| Shape::decode(body, length.names, length.symbols, dict.entity_type()))
            .ok_or_else(|| damaged(&format!("shape {number} of {many} is missing, or can't be read")))?;
        dict.shapes.push(shape);
    }
    Ok(())
}

/// Compares the dictionary in memory, read by number, with its entries by text.
pub(crate) fn check(dict: &Dict, dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<(), Error> {
    for (numbered, kind) in [(&dict.names, ID_BY_NAME), (&dict.symbols, ID_BY_SYMBOL)] {
        for (id, text) in (0_u16..).zip(&numbered.texts) {
            let key = entry_key(table, kind, text.as_bytes());
            let stored = dbs.record(dbs.names, txn, &key)?;
            if stored.and_then(|record| meta::opened(&key, record)) != Some(&id.to_le_bytes()) {
                // The text itself is left out: that of an `EntityType` is a value, and no error shows a value.
                return Err(damaged(&format!("entry {id} is missing under its text, or damaged")));
            }
        }
    }
    Ok(())
}

/// Returns the texts of `EntityType` that have a number.
pub(super) fn symbols(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<Numbered, Error> {
    let (mut symbols, record_digest) = (Numbered::default(), RecordDigest::read(dbs.main, txn, table)?);
    TextEntries::symbols(table).read_new(&mut symbols, record_digest.symbols, dbs, txn)?;
    Ok(symbols)
}

/// Gives a number to those of these texts of `EntityType` that have none, as long as there are any.
pub(super) fn number_symbols(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    table: u32,
    texts: &[Box<str>],
) -> Result<(), Error> {
    let mut symbols = symbols(dbs, txn, table)?;
    let from = symbols.texts.len();
    for text in texts {
        if symbols.id(text).is_none() && symbols.takes_symbol(text) {
            symbols.push((&**text).into());
        }
    }
    if symbols.texts.len() == from {
        return Ok(());
    }
    TextEntries::symbols(table).write_new(&symbols, from, dbs.names, txn)?;
    let mut record_digest = RecordDigest::read(dbs.main, txn, table)?;
    record_digest.symbols = count(&symbols);
    record_digest.write(dbs.main, txn, table)
}

/// Returns how many entries a dictionary has on disk: each text by number and by itself, and each shape.
pub(crate) fn entries(dict: &Dict) -> usize {
    let Length { names, symbols, shapes } = dict.len();
    2 * (names + symbols) + shapes
}

/// Returns the prefix under which a table's entries lie.
pub(crate) fn table_prefix(table: u32) -> [u8; 4] {
    table.to_be_bytes()
}

pub(crate) fn entry_key(table: u32, kind: u8, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(5 + rest.len());
    key.extend_from_slice(&table_prefix(table));
    key.push(kind);
    key.extend_from_slice(rest);
    key
}

#[cold]
fn damaged(because: &str) -> Error {
    Error::new(ErrorKind::Corrupt).because(format!("the dictionary of the table is damaged: {because}"))
}

/// Returns how many texts have a number: at most 2^16.
fn count(numbered: &Numbered) -> u32 {
    u32::try_from(numbered.texts.len()).unwrap_or(u32::MAX)
}

impl TextEntries {
    /// Returns the entries of the names of properties.
    fn names(table: u32) -> Self {
        Self { table, by_id: NAME_BY_ID, by_text: ID_BY_NAME }
    }

    /// Returns the entries of the texts of `EntityType`.
    fn symbols(table: u32) -> Self {
        Self { table, by_id: SYMBOL_BY_ID, by_text: ID_BY_SYMBOL }
    }

    /// Reads entries until there are `many`. None may be missing: a number that only seemed to be free would be given twice.
    fn read_new(
        self,
        numbered: &mut Numbered,
        many: u32,
        dbs: &Databases,
        txn: &heed::RoTxn<'_>,
    ) -> Result<(), Error> {
        while count(numbered) < many {
            let Ok(id) = u16::try_from(numbered.texts.len()) else {
                return Err(damaged("it counts more entries than there are numbers"));
            };
            let key = entry_key(self.table, self.by_id, &id.to_be_bytes());
            let record = dbs.record(dbs.names, txn, &key)?;
            let text = record
                .and_then(|record| meta::opened(&key, record))
                .and_then(|text| std::str::from_utf8(text).ok())
                .ok_or_else(|| damaged(&format!("entry {id} of {many} is missing, or can't be read")))?;
            numbered.push(text.into());
        }
        Ok(())
    }

    /// Writes both entries of each text from the number `from` on.
    fn write_new(
        self,
        numbered: &Numbered,
        from: usize,
        db: Db,
        txn: &mut WriteTxn<'_>,
    ) -> Result<(), Error> {
        for (id, text) in (0_u16..).zip(&numbered.texts).skip(from) {
            let entries = [
                (entry_key(self.table, self.by_id, &id.to_be_bytes()), text.as_bytes()),
                (entry_key(self.table, self.by_text, text.as_bytes()), &id.to_le_bytes()),
            ];
            for (key, body) in entries {
                db.put(txn, &key, &meta::sealed(&key, body.to_vec())).map_err(lmdb::error)?;
            }
        }
        Ok(())
    }
}
