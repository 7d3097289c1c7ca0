//! What was read, as two numbers: so that no engine wins by reading less.

use table_core::ValueRef;

use crate::floor;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) rows: u64,
    pub(crate) sum: u64,
}

/// Lengths are far below 2^64.
fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl Digest {
    pub(crate) fn row(&mut self) {
        self.rows += 1;
    }

    pub(crate) fn add(&mut self, number: u64) {
        self.sum = self.sum.wrapping_add(number);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.add(length(text.len()));
    }

    pub(crate) fn ours(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::String(v) => self.text(v),
            ValueRef::Binary(v) => self.add(length(v.len())),
            ValueRef::Boolean(v) => self.add(v.into()),
            ValueRef::Int32(v) => self.add(v.cast_unsigned().into()),
            ValueRef::Int64(v) => self.add(v.cast_unsigned()),
            ValueRef::Double(v) => self.add(v.to_bits()),
            ValueRef::DateTime(v) => self.add(v.get()),
            ValueRef::Guid(v) => self.add(v.as_u64_pair().0),
        }
    }

    pub(crate) fn floor(&mut self, value: &floor::Value) {
        match value {
            floor::Value::String(v) => self.text(v),
            floor::Value::Binary(v) => self.add(length(v.len())),
            floor::Value::Boolean(v) => self.add((*v).into()),
            floor::Value::Int32(v) => self.add(v.cast_unsigned().into()),
            floor::Value::Int64(v) => self.add(v.cast_unsigned()),
            floor::Value::Double(v) => self.add(v.to_bits()),
            floor::Value::DateTime(v) => self.add(*v),
            floor::Value::Guid(v) => {
                self.add(u64::from_be_bytes(v.first_chunk().copied().unwrap_or_default()));
            }
        }
    }
}
