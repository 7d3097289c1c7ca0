//! Rows of executors that keep properties by their names, put into the form that readers know.
//!
//! A reader of entities knows packed rows alone, so its short ways are the same for every executor. A row that comes
//! with its names is packed when it comes in, under numbers that are this process's own.

use std::cmp::Ordering;
use std::sync::{Arc, PoisonError, RwLock};

use super::dict::Dict;
use super::row_write::{NameRef, RowWriter};
use super::selection::Selection;
use super::vault::Vault;
use super::view::RowView;
use super::{DIGEST, INLINE, Row, key};
use crate::error::Result;
use crate::model::names::ENTITY_TYPE;
use crate::model::{EntityKeys, Ticks, ValueRef};
use crate::sorting;

/// Most values have no more bytes.
const MOST_VALUES: usize = 24;

/// A property by its name.
pub type Named<'p> = (&'p str, ValueRef<'p>);

/// The numbers that a process gives to the names of a table's properties. They never change, so rows that were packed
/// before a name came are read with those that were packed after it.
#[derive(Debug, Default)]
pub struct Names(RwLock<Arc<Dict>>);

/// What a row has besides its keys and its properties.
#[derive(Clone, Copy, Debug)]
pub struct RowHead {
    /// When it was written.
    pub timestamp: Ticks,
    /// Its keyed digest, if it is signed.
    pub digest: Option<[u8; DIGEST]>,
}

/// A row that has been packed.
#[derive(Clone, Debug, Default)]
pub struct PackedRow {
    key: Vec<u8>,
    row: Vec<u8>,
    /// Has every name of the row.
    dict: Arc<Dict>,
}

/// How the properties of a row are written: in which order, under which numbers.
#[derive(Debug, Default)]
struct Order {
    dict: Arc<Dict>,
    /// The place of each property among those that are given, and its number.
    places: Vec<(usize, u16)>,
    /// The number of the text that the row calls itself by, if it has one.
    symbol: Option<u16>,
}

/// Packs rows of a table, one after another. What one has found out of its names is known for the next of them that has them
/// too, as most rows of a range have.
#[derive(Debug)]
pub struct Packer<'n> {
    names: &'n Names,
    table: u32,
    order: Order,
    /// The names of the row before, as they were given.
    last: Vec<Box<str>>,
    /// What the row before calls itself.
    last_kind: Option<Box<str>>,
    writer: RowWriter,
    packed: PackedRow,
}

impl Names {
    /// Makes the numbers of a table whose sealed values this opens.
    pub fn of_vault(vault: Arc<dyn Vault>) -> Self {
        Self(RwLock::new(Arc::new(Dict::of_vault(Some(vault)))))
    }

    /// Packs a row of the table of this number.
    pub fn pack(
        &self,
        table: u32,
        partition: &str,
        row: &str,
        timestamp: Ticks,
        properties: &[Named<'_>],
    ) -> Result<PackedRow> {
        self.pack_signed(
            table,
            EntityKeys::new(partition, row),
            &RowHead { timestamp, digest: None },
            properties,
        )
    }

    /// Packs a row of these keys, which may have a keyed digest.
    pub fn pack_signed(
        &self,
        table: u32,
        keys: EntityKeys<'_>,
        head: &RowHead,
        properties: &[Named<'_>],
    ) -> Result<PackedRow> {
        let mut packed =
            PackedRow { key: key::stored(table, keys.partition, keys.row), ..PackedRow::default() };
        self.order(properties).write(head, properties, &mut RowWriter::default(), &mut packed)?;
        Ok(packed)
    }

    /// Returns what packs rows of the table of this number.
    pub fn packer(&self, table: u32) -> Packer<'_> {
        Packer {
            names: self,
            table,
            order: Order::default(),
            last: Vec::new(),
            last_kind: None,
            writer: RowWriter::default(),
            packed: PackedRow::default(),
        }
    }

    fn order(&self, properties: &[Named<'_>]) -> Order {
        let dict = self.with(properties);
        let id = |place: usize| properties.get(place).and_then(|(name, _)| dict.id(name)).unwrap_or(INLINE);
        let mut places: Vec<_> = (0..properties.len()).map(|place| (place, id(place))).collect();
        let name = |place: usize| properties.get(place).map(|(name, _)| *name);
        sorting::sort_by(&mut places, |(place, a), (other, b)| {
            a.cmp(b)
                .then_with(|| if *a == INLINE { name(*place).cmp(&name(*other)) } else { Ordering::Equal })
        });
        let symbol = kind(properties).and_then(|text| dict.symbol_id(text));
        Order { dict, places, symbol }
    }

    /// Returns every name.
    pub(crate) fn dict(&self) -> Arc<Dict> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a dictionary that has the names of these properties, as far as there is room.
    fn with(&self, properties: &[Named<'_>]) -> Arc<Dict> {
        let known = self.dict();
        if properties.iter().all(|property| has(&known, property.0, property.1)) {
            return known;
        }
        let mut dict = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let grown = Arc::make_mut(&mut dict);
        for (name, value) in properties {
            if grown.id(name).is_none() && !grown.names_full() {
                grown.push_name((*name).into());
            }
            if let (&ENTITY_TYPE, ValueRef::String(text)) = (name, value)
                && grown.symbol_id(text).is_none()
                && grown.takes_symbol(text)
            {
                grown.push_symbol((*text).into());
            }
        }
        dict.clone()
    }
}

impl Order {
    /// Appends a row to one that has its key alone.
    fn write(
        &self,
        head: &RowHead,
        properties: &[Named<'_>],
        writer: &mut RowWriter,
        packed: &mut PackedRow,
    ) -> Result<()> {
        let seed = super::key_seed(&packed.key);
        // Taken at once: what grows by and by costs more than all else here.
        writer.start(properties.len(), properties.len() * MOST_VALUES);
        for &(place, id) in &self.places {
            let Some(&(name, value)) = properties.get(place) else { continue };
            let symbol = match value {
                ValueRef::String(_) if self.dict.entity_type() == Some(id) => self.symbol,
                _ => None,
            };
            let name = if id == INLINE { NameRef::Inline(name) } else { NameRef::Id(id) };
            writer.push(name, value, symbol, seed);
        }
        writer.finish(&mut packed.row, head.digest.as_ref())?;
        super::stamp(&mut packed.row, head.timestamp, seed);
        if !Arc::ptr_eq(&packed.dict, &self.dict) {
            packed.dict = self.dict.clone();
        }
        Ok(())
    }
}

impl Packer<'_> {
    /// Packs the row of these keys, which may have a keyed digest, and lends it until the next.
    pub fn pack(
        &mut self,
        partition: &str,
        row: &str,
        head: &RowHead,
        properties: &[Named<'_>],
    ) -> Result<&PackedRow> {
        if !self.is_like_the_last(properties) {
            self.order = self.names.order(properties);
            self.last = properties.iter().map(|(name, _)| (*name).into()).collect();
            self.last_kind = kind(properties).map(Into::into);
        }
        self.packed.key.clear();
        self.packed.row.clear();
        key::encode(self.table, partition, row, &mut self.packed.key);
        self.order.write(head, properties, &mut self.writer, &mut self.packed)?;
        Ok(&self.packed)
    }

    fn is_like_the_last(&self, properties: &[Named<'_>]) -> bool {
        self.last.len() == properties.len()
            && self.last.iter().zip(properties).all(|(last, (name, _))| **last == **name)
            && self.last_kind.as_deref() == kind(properties)
    }
}

/// Returns what a row calls itself, if it does so by a text.
fn kind<'p>(properties: &[Named<'p>]) -> Option<&'p str> {
    properties.iter().find_map(|(name, value)| match value {
        ValueRef::String(text) if *name == ENTITY_TYPE => Some(*text),
        _ => None,
    })
}

/// Returns whether the dictionary has all numbers that a property may get.
fn has(dict: &Dict, name: &str, value: ValueRef<'_>) -> bool {
    let is_symbol_known = || match value {
        ValueRef::String(text) if name == ENTITY_TYPE => {
            dict.symbol_id(text).is_some() || !dict.takes_symbol(text)
        }
        _ => true,
    };
    (dict.id(name).is_some() || dict.names_full()) && is_symbol_known()
}

impl PackedRow {
    /// Returns a row that was packed before, with a dictionary that has every name of it.
    pub(crate) fn of(key: &[u8], row: &[u8], dict: Arc<Dict>) -> Self {
        Self { key: key.into(), row: row.into(), dict }
    }

    /// Lends the row.
    pub fn view(&self) -> Result<RowView<'_>> {
        let row = Row::parse(&self.row)?;
        Ok(RowView::new(self.key.as_slice(), row, &*self.dict, false))
    }

    /// Returns what has every name of the row.
    #[cfg(feature = "async")]
    pub(crate) fn dict(&self) -> Arc<Dict> {
        self.dict.clone()
    }

    /// Returns the key and the bytes.
    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        (&self.key, &self.row)
    }
}

/// Returns what of the rows a query selects.
pub(crate) fn selection(names: Option<&[Box<str>]>, dict: &Dict) -> Arc<Selection> {
    Arc::new(Selection::new(names, dict))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Value;
    use crate::row::dict::MAX_NAMES;

    fn pack(names: &Names, row: &str, properties: &[(&str, Value)]) -> PackedRow {
        let properties: Vec<_> = properties.iter().map(|(name, v)| (*name, v.as_value_ref())).collect();
        names.pack(7, "p", row, Ticks::MIN, &properties).unwrap()
    }

    #[test]
    fn rows_are_read_as_they_were_given_whatever_came_after_them() {
        let names = Names::default();
        let long = "x".repeat(10_000);
        let first = [("Age", Value::from(7)), ("EntityType", Value::from("employee")), ("Note", long.into())];
        let second = [("Zeal", Value::from(true)), ("Age", Value::from(8)), ("EntityType", "guest".into())];
        let [one, two] = [("1", &first), ("2", &second)].map(|(row, given)| pack(&names, row, given));
        for (packed, row, given, kind) in [(&one, "1", &first, "employee"), (&two, "2", &second, "guest")] {
            let view = packed.view().unwrap();
            assert_eq!((&*view.partition_key(), &*view.row_key(), view.len()), ("p", row, 3));
            assert_eq!(view.kind().unwrap(), Some(kind));
            for (name, value) in given {
                assert_eq!(view.get(name).unwrap(), Some(value.as_value_ref()), "{name}");
            }
        }
        // A reader of both reads them by the names that are known now.
        let (key, row) = one.parts();
        let late = PackedRow::of(key, row, names.dict());
        assert_eq!(late.view().unwrap().to_entity().unwrap(), one.view().unwrap().to_entity().unwrap());
        assert_eq!(late.view().unwrap().get("Zeal").unwrap(), None);
    }

    #[test]
    fn a_packer_packs_each_row_as_it_is_packed_alone() {
        let names = Names::default();
        let rows = [
            vec![("Age", Value::from(7)), ("EntityType", "employee".into()), ("Note", "a".into())],
            vec![("Age", Value::from(8)), ("EntityType", "employee".into()), ("Note", "b".into())],
            // Another kind, another type of it, other names, another order, none.
            vec![("Age", Value::from(8)), ("EntityType", "guest".into()), ("Note", "c".into())],
            vec![("Age", Value::from(8)), ("EntityType", Value::from(5)), ("Note", "c".into())],
            vec![("Age", Value::from(8)), ("EntityType", "employee".into()), ("Zeal", true.into())],
            vec![("Zeal", Value::from(true)), ("Age", Value::from(8)), ("EntityType", "employee".into())],
            vec![],
            vec![("Age", Value::from("old"))],
            vec![("Age", Value::from(9))],
        ];
        let mut pack_next = names.packer(7);
        for (at, properties) in rows.iter().enumerate() {
            let row = at.to_string();
            let given: Vec<_> = properties.iter().map(|(name, v)| (*name, v.as_value_ref())).collect();
            // Every other row is signed: the digest of one is none of the next.
            let digest = (at % 2 == 1).then_some([7; DIGEST]);
            let head = RowHead { timestamp: Ticks::MIN, digest };
            let packed = pack_next.pack("p", &row, &head, &given).unwrap().clone();
            let alone = names.pack_signed(7, EntityKeys::new("p", &row), &head, &given).unwrap();
            assert_eq!(packed.view().unwrap().row().is_signed(), digest.is_some(), "{at}");
            assert_eq!(packed.parts(), alone.parts(), "{at}");
            assert_eq!(
                packed.view().unwrap().to_entity().unwrap(),
                alone.view().unwrap().to_entity().unwrap()
            );
        }
    }

    #[test]
    fn names_beyond_those_that_are_numbered_stand_in_the_rows() {
        let names = Names::default();
        let many: Vec<_> = (0..MAX_NAMES).map(|at| format!("N{at}")).collect();
        for some in many.chunks(200) {
            let given: Vec<_> = some.iter().map(|name| (&**name, Value::from(1))).collect();
            pack(&names, "r", &given);
        }
        let given = [("Zeal", Value::from(2)), ("N5", Value::from(3)), ("Awe", Value::from(4))];
        let packed = pack(&names, "r", &given);
        let view = packed.view().unwrap();
        for (name, value) in &given {
            assert_eq!(view.get(name).unwrap(), Some(value.as_value_ref()), "{name}");
        }
    }

    #[test]
    fn a_row_of_too_many_properties_is_refused() {
        let many: Vec<_> = (0..256).map(|at| format!("N{at}")).collect();
        let given: Vec<_> = many.iter().map(|name| (&**name, ValueRef::Int32(1))).collect();
        let error = Names::default().pack(7, "p", "r", Ticks::MIN, &given).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::TooManyProperties);
    }
}
