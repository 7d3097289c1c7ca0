//! Whether a row is of the kind that a query asks for, by its bytes.

use super::dict::Dict;
use super::value::{self, Decoded, Tag};
use super::{Body, Damaged, Row, shape};
use crate::model::ValueRef;
use crate::model::names::ENTITY_TYPE;
use crate::query::Kind;

/// The test of a row's `EntityType`, by the numbers that one dictionary gives.
#[derive(Clone, Copy, Debug)]
pub struct KindTest {
    text: &'static str,
    /// The number of the property; `None` where its name stands in the rows, if anywhere.
    property: Option<u16>,
    /// The number of the text, if it has one.
    symbol: Option<u16>,
    /// The latest shape of the kind's rows: most have it.
    shape: Option<u16>,
}

impl KindTest {
    pub fn new(dict: &Dict, kind: Kind) -> Self {
        let symbol = dict.symbol_id(kind.name);
        let shape = symbol.and_then(|symbol| dict.shapes_of(symbol).next()).map(|(number, _)| number);
        Self { text: kind.name, property: dict.entity_type(), symbol, shape }
    }

    /// Returns the latest shape of the kind's rows.
    #[inline]
    pub fn shape(&self) -> Option<u16> {
        self.shape
    }

    /// Returns whether the row says first that it is of the kind, by its shape or by the text's number: most that are say so.
    #[inline]
    pub fn stands_first(&self, row: &Row<'_>) -> bool {
        let slots = match row.body() {
            Body::Shaped(shaped) => return self.shape == Some(shaped.shape()),
            Body::Slots(slots) => slots,
        };
        slots.slot(0).is_some_and(|slot| {
            Some(slot.id) == self.property
                && slot.tag == Tag::Symbol.code()
                && slots.payload(&slot, None).is_ok_and(|payload| {
                    self.symbol.is_some_and(|symbol| payload == symbol.to_le_bytes().as_slice())
                })
        })
    }

    /// Returns whether the row is of the kind. The dictionary must [cover](super::view::covers) the row.
    #[inline]
    pub fn holds(&self, row: &Row<'_>, dict: &Dict) -> Result<bool, Damaged> {
        let slots = match row.body() {
            Body::Shaped(shaped) => {
                let shape = dict.shape(shaped.shape()).ok_or(shape::UNKNOWN)?;
                return Ok(self.symbol == Some(shape.symbol()));
            }
            Body::Slots(slots) => slots,
        };
        let slot = match self.property {
            // It is mostly the first name that a table sees.
            Some(property) => slots.find_near(0, property),
            None => slots.find_inline(ENTITY_TYPE, None)?,
        };
        let Some(slot) = slot else { return Ok(false) };
        let mut payload = slots.payload(&slot, None)?;
        if self.property.is_none() {
            payload = value::inline_name(payload)?.1;
        }
        Ok(match value::decode(slot.tag, payload)? {
            Decoded::Symbol(symbol) => self.symbol == Some(symbol),
            Decoded::Value(ValueRef::String(text)) => text == self.text,
            Decoded::Value(_) => false,
        })
    }
}
