//! The properties of a stored row, by its table's dictionary, whether or not it has a shape.

use super::dict::Dict;
use super::shape::{self, Place, Shape};
use super::shaped::Parts;
use super::slots::{Slot, SlotRow, Slots};
use super::value::{self, Decoded};
use super::{Body, Damaged, INLINE, Row, SMALL, key, key_seed};
use crate::error::{Error, ErrorKind, Result};
use crate::model::names::ENTITY_TYPE;
use crate::model::{Name, ValueRef};

/// A row with what it takes to read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed<'r> {
    pub(crate) key: &'r [u8],
    pub(crate) row: &'r Row<'r>,
    /// It [covers](super::view::covers) the row.
    pub(crate) dict: &'r Dict,
    /// Whether large values are compared with their checksums.
    pub(crate) verify: bool,
}

/// A property that a row has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'r> {
    Slot(SlotRow<'r>, Slot),
    /// What the shape says of all its rows: `EntityType`, by its number and that of its text.
    Kind(u16, u16),
    Column(Parts<'r>, u16, Place),
}

/// The properties of a row, in the order in which the table first saw their names.
#[derive(Clone, Debug)]
pub(crate) enum Entries<'r> {
    Slots(SlotRow<'r>, Slots<'r>),
    Shaped { shape: &'r Shape, parts: Parts<'r>, entity_type: u16, at: usize },
}

impl<'r> Iterator for Entries<'r> {
    type Item = Entry<'r>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'r>> {
        let (shape, parts, entity_type, at) = match self {
            Self::Slots(row, slots) => return slots.next().map(|slot| Entry::Slot(*row, slot)),
            Self::Shaped { shape, parts, entity_type, at } => (*shape, *parts, *entity_type, at),
        };
        loop {
            let now = *at;
            *at += 1;
            if now == shape.kind_at() {
                return Some(Entry::Kind(entity_type, shape.symbol()));
            }
            let column = if now > shape.kind_at() { now - 1 } else { now };
            let (column, place) = shape.columns().get(column).zip(shape.places().get(column))?;
            if parts.has(*place) {
                return Some(Entry::Column(parts, column.id, *place));
            }
        }
    }
}

impl<'r> Packed<'r> {
    /// Returns the shape and the parts of a row that has a shape.
    #[inline]
    fn parts(&self) -> Result<Option<(&'r Shape, Parts<'r>)>> {
        let Body::Shaped(shaped) = self.row.body() else { return Ok(None) };
        let shape = self.dict.shape(shaped.shape()).ok_or_else(|| self.damaged(shape::UNKNOWN))?;
        let parts = shaped.open(shape).map_err(|damaged| self.damaged(damaged))?;
        Ok(Some((shape, parts)))
    }

    #[inline]
    pub(crate) fn entries(&self) -> Result<Entries<'r>> {
        if let Body::Slots(slots) = self.row.body() {
            return Ok(Entries::Slots(*slots, slots.slots()));
        }
        match (self.parts()?, self.dict.entity_type()) {
            (Some((shape, parts)), Some(entity_type)) => {
                Ok(Entries::Shaped { shape, parts, entity_type, at: 0 })
            }
            _ => Err(self.damaged(shape::UNKNOWN)),
        }
    }

    /// Returns how many properties it has.
    pub(crate) fn len(&self) -> usize {
        match self.row.body() {
            Body::Slots(slots) => slots.len(),
            Body::Shaped(_) => self.entries().map_or(0, Iterator::count),
        }
    }

    /// Returns the value of the property of this name.
    pub(crate) fn get(&self, name: &str) -> Result<Option<ValueRef<'r>>> {
        match self.dict.id(name) {
            Some(id) => self.find(id, 0),
            None => self.find_inline(name),
        }
    }

    /// Returns the value of a property whose name stands in the row, where the dictionary is full.
    pub(crate) fn find_inline(&self, name: &str) -> Result<Option<ValueRef<'r>>> {
        self.entry_inline(name)?.map(|entry| self.value(&entry)).transpose()
    }

    /// Returns the value of the property of this number, which may well have this place among the slots.
    #[inline]
    pub(crate) fn find(&self, id: u16, near: usize) -> Result<Option<ValueRef<'r>>> {
        self.entry(id, near)?.map(|entry| self.value(&entry)).transpose()
    }

    /// Returns the property of this number, which may well have this place among the slots.
    #[inline]
    pub(crate) fn entry(&self, id: u16, near: usize) -> Result<Option<Entry<'r>>> {
        if let Body::Slots(slots) = self.row.body() {
            return Ok(slots.find_near(near, id).map(|slot| Entry::Slot(*slots, slot)));
        }
        let Some((shape, parts)) = self.parts()? else { return Ok(None) };
        if self.dict.entity_type() == Some(id) {
            return Ok(Some(Entry::Kind(id, shape.symbol())));
        }
        let found = shape.find(id).filter(|(_, place)| parts.has(**place));
        Ok(found.map(|(column, place)| Entry::Column(parts, column.id, *place)))
    }

    /// Returns the property whose name stands in the row.
    pub(crate) fn entry_inline(&self, name: &str) -> Result<Option<Entry<'r>>> {
        match self.row.body() {
            Body::Slots(slots) if self.dict.names_full() => {
                let slot = slots.find_inline(name, self.seed()).map_err(|e| self.damaged(e))?;
                Ok(slot.map(|slot| Entry::Slot(*slots, slot)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the text of `EntityType`: what the row is.
    pub(crate) fn kind(&self) -> Result<Option<&'r str>> {
        let kind = match self.dict.entity_type() {
            // It is mostly the first name that a table sees.
            Some(id) => self.find(id, 0)?,
            None => self.find_inline(ENTITY_TYPE)?,
        };
        Ok(kind.and_then(ValueRef::as_str))
    }

    /// Returns the property's name.
    #[inline]
    pub(crate) fn name(&self, entry: &Entry<'r>) -> Result<&'r str> {
        match entry {
            Entry::Slot(row, slot) if slot.id == INLINE => {
                let payload = self.payload(*row, slot)?;
                value::inline_name(payload).map(|(name, _)| name).map_err(|e| self.damaged(e))
            }
            _ => self.dict.name(entry.id()).map(|name| &**name).ok_or_else(|| self.unknown()),
        }
    }

    /// Returns the name of a property, shared.
    #[inline]
    pub(crate) fn shared_name(&self, entry: &Entry<'r>) -> Result<Name> {
        if entry.id() == INLINE {
            return self.name(entry).map(Into::into);
        }
        self.dict.name(entry.id()).cloned().ok_or_else(|| self.unknown())
    }

    /// Returns the property's value.
    #[cfg_attr(
        not(debug_assertions),
        expect(clippy::inline_always, reason = "for each property, a call costs as much as what it does"),
        inline(always)
    )]
    pub(crate) fn value(&self, entry: &Entry<'r>) -> Result<ValueRef<'r>> {
        match entry {
            Entry::Slot(row, slot) => {
                let mut payload = self.payload(*row, slot)?;
                if slot.id == INLINE {
                    payload = value::inline_name(payload).map_err(|e| self.damaged(e))?.1;
                }
                match value::decode(slot.tag, payload).map_err(|e| self.damaged(e))? {
                    Decoded::Value(value) => Ok(value),
                    Decoded::Symbol(id) => self.symbol(id),
                }
            }
            Entry::Kind(_, symbol) => self.symbol(*symbol),
            Entry::Column(parts, _, place) => {
                // Most values are small, and need no seed.
                let found = parts.value(*place, || self.seed()).map_err(|e| self.damaged(e))?;
                found.ok_or_else(|| self.unknown())
            }
        }
    }

    fn symbol(&self, id: u16) -> Result<ValueRef<'r>> {
        self.dict.symbol(id).map(|text| ValueRef::String(text)).ok_or_else(|| self.unknown())
    }

    /// Returns what the checksums of large values begin with, where they are compared.
    fn seed(&self) -> Option<u64> {
        self.verify.then(|| key_seed(self.key))
    }

    #[inline]
    fn payload(&self, row: SlotRow<'r>, slot: &Slot) -> Result<&'r [u8]> {
        let seed = if slot.length() > SMALL { self.seed() } else { None };
        row.payload(slot, seed).map_err(|e| self.damaged(e))
    }

    #[cold]
    pub(crate) fn damaged(&self, damaged: Damaged) -> Error {
        key::locate(damaged.into(), self.key)
    }

    #[cold]
    fn unknown(&self) -> Error {
        let error =
            Error::new(ErrorKind::Corrupt).because("the row has a property that the dictionary lacks");
        key::locate(error, self.key)
    }
}

impl Entry<'_> {
    /// Returns the property's number.
    #[inline]
    pub(crate) fn id(&self) -> u16 {
        match self {
            Self::Slot(_, slot) => slot.id,
            Self::Kind(id, _) | Self::Column(_, id, _) => *id,
        }
    }
}
