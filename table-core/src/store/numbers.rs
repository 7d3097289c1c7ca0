//! The numbers that a dictionary gives to the properties of a struct, looked up once for all reads.

use std::sync::OnceLock;

use super::dict::Dict;
use crate::schema::Field;

/// Where a property is to be found in rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PropertyNumber {
    /// Its number; `None` where the dictionary has none.
    pub(crate) id: Option<u16>,
    /// Its place among the slots of a row that has all properties and gives none of them back by its keys.
    pub(crate) place: usize,
}

/// What one dictionary says of the structs that are read by it: few, each found by its address.
#[derive(Debug, Default)]
pub(super) struct Known(OnceLock<Box<Struct>>);

#[derive(Debug)]
struct Struct {
    fields: &'static [Field],
    numbers: Vec<PropertyNumber>,
    next: Known,
}

/// A dictionary that is cloned is about to change.
impl Clone for Known {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Known {
    /// The numbers of these fields' properties.
    pub(super) fn of(&self, dict: &Dict, fields: &'static [Field]) -> &[PropertyNumber] {
        let mut known = self;
        loop {
            let found = known.0.get_or_init(|| {
                Box::new(Struct { fields, numbers: numbers(dict, fields), next: Self::default() })
            });
            if std::ptr::eq(found.fields, fields) {
                return &found.numbers;
            }
            known = &found.next;
        }
    }
}

fn numbers(dict: &Dict, fields: &[Field]) -> Vec<PropertyNumber> {
    let ids: Vec<_> = fields.iter().map(|field| dict.id(field.property)).collect();
    let before = |id: u16| {
        let others = ids.iter().flatten().filter(|other| **other < id).count();
        others + usize::from(dict.entity_type().is_some_and(|kind| kind < id))
    };
    ids.iter().map(|id| PropertyNumber { id: *id, place: id.map_or(0, before) }).collect()
}
