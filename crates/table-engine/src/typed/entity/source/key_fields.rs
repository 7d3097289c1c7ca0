//! What the keys of a row give back.

use crate::model::ValueRef;
use crate::schema::PropertyValue;

/// Fields that few keys have more of.
const FEW: usize = 4;

/// What the keys give back, by field.
#[derive(Debug)]
pub(super) struct KeyFields<'v> {
    /// A bit for each of the first fields that is here: most that are asked for are not.
    bits: u64,
    /// The fields that are here, as far as few are, and what each of them holds.
    few: [usize; FEW],
    values: [ValueRef<'v>; FEW],
    length: usize,
    /// Those beyond them, and what was made for the purpose.
    more: Vec<(usize, PropertyValue<'v>)>,
}

impl Default for KeyFields<'_> {
    #[inline]
    fn default() -> Self {
        let values = [ValueRef::Boolean(false); FEW];
        Self { bits: 0, few: [0; FEW], values, length: 0, more: Vec::new() }
    }
}

impl<'v> KeyFields<'v> {
    fn bit(field: usize) -> u64 {
        if field < 64 { 1 << field } else { 0 }
    }

    /// Adds a field's value. If keys that don't fit together give a field twice, the first value counts.
    #[expect(clippy::inline_always, reason = "the value stays in registers")]
    #[inline(always)]
    pub(super) fn push(&mut self, field: usize, value: PropertyValue<'v>) {
        match value {
            PropertyValue::Borrowed(value) => self.push_ref(field, value),
            value => self.push_any(field, value),
        }
    }

    /// Adds a borrowed value, as `add` does an owned one.
    #[expect(clippy::inline_always, reason = "the value stays in registers")]
    #[inline(always)]
    pub(super) fn push_ref(&mut self, field: usize, value: ValueRef<'v>) {
        let bit = Self::bit(field);
        match (self.few.get_mut(self.length), self.values.get_mut(self.length)) {
            (Some(few), Some(place)) if bit & !self.bits != 0 => {
                (*few, *place) = (field, value);
                self.bits |= bit;
                self.length += 1;
            }
            _ => self.push_any(field, PropertyValue::Borrowed(value)),
        }
    }

    /// Adds the value of a field, if the keys give it back.
    #[inline(never)]
    fn push_any(&mut self, field: usize, value: PropertyValue<'v>) {
        if !self.may_have(field) || self.get(field).is_none() {
            self.bits |= Self::bit(field);
            self.more.push((field, value));
        }
    }

    /// Returns whether the field may be here.
    #[inline]
    pub(super) fn may_have(&self, field: usize) -> bool {
        field >= 64 || self.bits & Self::bit(field) != 0
    }

    #[inline]
    pub(super) fn get(&self, field: usize) -> Option<ValueRef<'_>> {
        match self.few.iter().take(self.length).position(|known| *known == field) {
            Some(at) => self.values.get(at).copied(),
            None => self.more.iter().find(|(known, _)| *known == field)?.1.as_value_ref(),
        }
    }
}
