//! Each table's dictionary: property names, and the few texts of `EntityType`, as numbers.
//!
//! Numbers are given once and never change, so what a process has read stays true. A number enters a process's
//! dictionary only when the transaction that gave it has committed.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::numbers::{self, Known, PropertyNumber, RowNumbers};
use crate::error::{Error, ErrorKind};
use crate::model::Name;
use crate::model::names::ENTITY_TYPE;
use crate::plan::{Cause, RowKind};
use crate::schema::{Field, Schema};
#[cfg(feature = "encrypt")]
use crate::store::encryption::sign::Binding;
#[cfg(feature = "encrypt")]
use crate::store::encryption::vault::Encryption;
use crate::store::lmdb::{self, Databases, Db, WriteTxn};
use crate::store::records::inventory::Inventory;
use crate::store::records::meta;

/// Names that a table numbers; those that come later stand in the rows themselves, so that data used as names
/// can't grow the dictionary without end.
pub(crate) const MAX_NAMES: usize = 60_000;
/// Texts of `EntityType` that a table numbers, and the longest of them in bytes.
const MAX_SYMBOLS: usize = 1_000;
const MAX_SYMBOL_BYTES: usize = 64;

/// How many texts are compared rather than hashed.
const FEW: usize = 8;
/// How many names after the last one are looked at before one is looked up.
const NEAR: usize = 4;

/// The kinds of dictionary entry, as they stand in the key after the table's number.
const NAME_BY_ID: u8 = 0;
const ID_BY_NAME: u8 = 1;
const SYMBOL_BY_ID: u8 = 2;
const ID_BY_SYMBOL: u8 = 3;

/// One direction of numbering: texts by number and numbers by text.
#[derive(Clone, Debug, Default)]
struct Numbered {
    texts: Vec<Name>,
    ids: HashMap<Name, u16, TextHash>,
}

impl Numbered {
    fn id(&self, text: &str) -> Option<u16> {
        if self.texts.len() <= FEW {
            return (0..).zip(&self.texts).find(|(_, known)| ***known == *text).map(|(id, _)| id);
        }
        self.ids.get(text).copied()
    }

    fn push(&mut self, text: Name) -> Option<u16> {
        let id = u16::try_from(self.texts.len()).ok()?;
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        Some(id)
    }

    fn truncate(&mut self, length: usize) {
        for text in self.texts.drain(length.min(self.texts.len())..) {
            self.ids.remove(&text);
        }
    }
}

/// What a process knows of a table's dictionary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dict {
    names: Numbered,
    symbols: Numbered,
    /// The number of [`ENTITY_TYPE`], which every read asks for.
    entity_type: Option<u16>,
    /// What was asked of it for structs.
    structs: Known<[Field], Vec<PropertyNumber>>,
    /// And for the rows of entities.
    rows: Known<Schema, Vec<Option<RowNumbers>>>,
    /// What opens the table's sealed values. It is no name, but every view of a row has its table's dictionary.
    #[cfg(feature = "encrypt")]
    keys: Option<Encryption>,
    /// What its rows' digests are bound to.
    #[cfg(feature = "encrypt")]
    binding: Binding,
}

impl Dict {
    /// The dictionary of a table of which nothing is known but what opens its sealed values and vouches for its rows.
    #[cfg(feature = "encrypt")]
    pub(crate) fn with_keys(keys: Option<Encryption>, binding: Binding) -> Self {
        Self { keys, binding, ..Self::default() }
    }

    /// What its rows' digests are bound to.
    #[cfg(feature = "encrypt")]
    pub(crate) fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Whether the store was opened with keys.
    #[cfg(feature = "encrypt")]
    pub(crate) fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, reason = "as it is with the feature")]
    pub(crate) fn has_keys(&self) -> bool {
        false
    }

    /// What opens the table's sealed values; `None` where the store was opened without a provider.
    #[cfg(feature = "encrypt")]
    pub(crate) fn keys(&self) -> Option<&Encryption> {
        self.keys.as_ref()
    }

    pub(crate) fn name(&self, id: u16) -> Option<&Name> {
        self.names.texts.get(usize::from(id))
    }

    /// The numbers of a struct's properties, in its order.
    pub(crate) fn numbers_of(&self, fields: &'static [Field]) -> &[PropertyNumber] {
        self.structs.of(fields, |fields| numbers::numbers(self, fields))
    }

    /// How rows of this kind are written; `None` if something in them has no number.
    pub(crate) fn row_numbers(&self, kind: RowKind) -> Option<&RowNumbers> {
        let rows = self.rows.of(kind.schema, |schema| RowNumbers::of_all(self, schema));
        let at = match kind.cause {
            Cause::Entity => 0,
            Cause::Index(index) => index + 1,
        };
        rows.get(at)?.as_ref()
    }

    /// Forgets what was found for declarations: the dictionary changes.
    fn forget(&mut self) {
        self.structs = Known::default();
        self.rows = Known::default();
    }

    pub(crate) fn id(&self, name: &str) -> Option<u16> {
        self.names.id(name)
    }

    /// The number of a name that may well be one of those after `last`: properties mostly come in the order in which
    /// the table first saw their names, a copy leaves some out, and comparing a few is quicker than looking one up.
    pub(crate) fn id_after(&self, last: Option<u16>, name: &str) -> Option<u16> {
        let first = last.map_or(0, |last| last.saturating_add(1));
        let names = self.names.texts.get(usize::from(first)..).unwrap_or_default();
        let near = (first..).zip(names).take(NEAR).find(|(_, known)| ***known == *name);
        near.map(|(id, _)| id).or_else(|| self.id(name))
    }

    /// The number of the property [`ENTITY_TYPE`].
    pub(crate) fn entity_type(&self) -> Option<u16> {
        self.entity_type
    }

    pub(crate) fn symbol(&self, id: u16) -> Option<&Name> {
        self.symbols.texts.get(usize::from(id))
    }

    pub(crate) fn symbol_id(&self, text: &str) -> Option<u16> {
        self.symbols.id(text)
    }

    /// How many names and symbols there are.
    pub(crate) fn len(&self) -> (usize, usize) {
        (self.names.texts.len(), self.symbols.texts.len())
    }

    pub(crate) fn names_full(&self) -> bool {
        self.names.texts.len() >= MAX_NAMES
    }

    /// Whether this text of `EntityType` is to be numbered.
    pub(crate) fn takes_symbol(&self, text: &str) -> bool {
        text.len() <= MAX_SYMBOL_BYTES && self.symbols.texts.len() < MAX_SYMBOLS
    }

    pub(crate) fn push_name(&mut self, name: Name) -> Option<u16> {
        self.forget();
        let is_entity_type = &*name == ENTITY_TYPE;
        let id = self.names.push(name);
        if is_entity_type {
            self.entity_type = id;
        }
        id
    }

    pub(crate) fn push_symbol(&mut self, text: Name) -> Option<u16> {
        self.forget();
        self.symbols.push(text)
    }

    /// Forgets what was pushed since the dictionary had this length.
    pub(crate) fn truncate(&mut self, (names, symbols): (usize, usize)) {
        self.forget();
        self.names.truncate(names);
        self.symbols.truncate(symbols);
        self.entity_type = self.id(ENTITY_TYPE);
    }

    /// Reads the entries that the dictionary does not have yet.
    pub(crate) fn read_new(
        &mut self,
        dbs: &Databases,
        txn: &heed::RoTxn<'_>,
        table: u32,
    ) -> Result<(), Error> {
        self.forget();
        let inventory = Inventory::read(dbs.main, txn, table)?;
        read_new(&mut self.names, inventory.names, dbs, txn, (table, NAME_BY_ID))?;
        self.entity_type = self.id(ENTITY_TYPE);
        read_new(&mut self.symbols, inventory.symbols, dbs, txn, (table, SYMBOL_BY_ID))
    }

    /// Writes the entries from this length on.
    pub(crate) fn write_new(
        &self,
        (names, symbols): (usize, usize),
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        table: u32,
    ) -> Result<(), Error> {
        write_new(&self.names, names, dbs.names, txn, (table, NAME_BY_ID, ID_BY_NAME))?;
        write_new(&self.symbols, symbols, dbs.names, txn, (table, SYMBOL_BY_ID, ID_BY_SYMBOL))?;
        let mut inventory = Inventory::read(dbs.main, txn, table)?;
        (inventory.names, inventory.symbols) = (count(&self.names), count(&self.symbols));
        inventory.write(dbs.main, txn, table)
    }

    /// Compares the dictionary in memory, read by number, with its entries by text.
    pub(crate) fn check(&self, db: Db, txn: &heed::RoTxn<'_>, table: u32) -> Result<(), Error> {
        for (numbered, kind) in [(&self.names, ID_BY_NAME), (&self.symbols, ID_BY_SYMBOL)] {
            for (id, text) in (0_u16..).zip(&numbered.texts) {
                let key = entry_key(table, kind, text.as_bytes());
                let stored = db.get(txn, &key).map_err(lmdb::error)?;
                if stored.and_then(|record| meta::opened(&key, record)) != Some(&id.to_le_bytes()) {
                    // Not the text itself: that of an `EntityType` is a value, and no error shows one.
                    return Err(damaged(&format!("entry {id} is missing under its text, or damaged")));
                }
            }
        }
        Ok(())
    }
}

/// How many entries a dictionary has on disk: each text by number and by itself.
pub(crate) fn entries(dict: &Dict) -> usize {
    let (names, symbols) = dict.len();
    2 * (names + symbols)
}

/// The prefix under which a table's entries lie.
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
    Error::new(ErrorKind::Corrupt).because(format!("the dictionary of property names is damaged: {because}"))
}

/// How many texts have a number: at most 2^16.
fn count(numbered: &Numbered) -> u32 {
    u32::try_from(numbered.texts.len()).unwrap_or(u32::MAX)
}

/// Reads the entries up to this many. A number that only seemed to be free would be given twice, so none may be missing.
fn read_new(
    numbered: &mut Numbered,
    many: u32,
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    (table, kind): (u32, u8),
) -> Result<(), Error> {
    while count(numbered) < many {
        let Ok(id) = u16::try_from(numbered.texts.len()) else {
            return Err(damaged("it counts more entries than there are numbers"));
        };
        let key = entry_key(table, kind, &id.to_be_bytes());
        let record = dbs.names.get(txn, &key).map_err(lmdb::error)?;
        let text = record
            .and_then(|record| meta::opened(&key, record))
            .and_then(|text| std::str::from_utf8(text).ok())
            .ok_or_else(|| damaged(&format!("entry {id} of {many} is missing, or can't be read")))?;
        numbered.push(text.into());
    }
    Ok(())
}

fn write_new(
    numbered: &Numbered,
    from: usize,
    db: Db,
    txn: &mut WriteTxn<'_>,
    kinds: (u32, u8, u8),
) -> Result<(), Error> {
    let (table, by_id, by_text) = kinds;
    for (id, text) in (0_u16..).zip(&numbered.texts).skip(from) {
        let entries = [
            (entry_key(table, by_id, &id.to_be_bytes()), text.as_bytes()),
            (entry_key(table, by_text, text.as_bytes()), &id.to_le_bytes()),
        ];
        for (key, body) in entries {
            db.put(txn, &key, &meta::sealed(&key, body.to_vec())).map_err(lmdb::error)?;
        }
    }
    Ok(())
}

/// Hashes names with the checksum's own function, which is quicker on short texts than the standard library's,
/// and seeds it per process, so that chosen names can't collide on purpose.
#[derive(Clone, Copy, Debug, Default)]
struct TextHash;

impl BuildHasher for TextHash {
    type Hasher = TextHasher;

    fn build_hasher(&self) -> TextHasher {
        static SEED: OnceLock<u64> = OnceLock::new();
        TextHasher(*SEED.get_or_init(|| RandomState::new().build_hasher().finish()))
    }
}

struct TextHasher(u64);

impl Hasher for TextHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    /// The byte that ends a `str` in its hash; one text is all that is ever hashed.
    fn write_u8(&mut self, _: u8) {}
}
