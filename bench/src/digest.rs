//! What was read, as two numbers: so that no engine wins by reading less.

use table_core::ValueRef;

use crate::floor;

/// What was read, as a count and a sum. It does not depend on the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// How many rows were read.
    pub rows: u64,
    /// The sum of what was in them.
    pub sum: u64,
}

/// Lengths are far below 2^64.
fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl Digest {
    /// Adds what another digest holds.
    pub fn absorb(&mut self, other: Self) {
        self.rows += other.rows;
        self.add(other.sum);
    }

    /// Adds an employee, read whole: lengths, both ends of each text, and numbers. Much cheaper than reading one,
    /// so that it hides no differences.
    #[allow(clippy::too_many_arguments, reason = "an employee in parts, however an engine has them")]
    pub fn employee(
        &mut self,
        department: &str,
        id: u32,
        first_name: &str,
        last_name: &str,
        email: &str,
        age: i32,
        salary: f64,
    ) {
        self.row();
        self.ends(department);
        self.ends(first_name);
        self.ends(last_name);
        self.ends(email);
        self.add(u64::from(id) << 20);
        self.add(u64::from(age.cast_unsigned()) << 32);
        self.add(salary.to_bits());
    }

    fn ends(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let (first, last) = (bytes.first().copied(), bytes.last().copied());
        self.add(
            length(bytes.len()) ^ u64::from(first.unwrap_or(0)) << 8 ^ u64::from(last.unwrap_or(0)) << 16,
        );
    }

    /// Adds a row of which one property was read: a number's bits, a truth value as 0 or 1, a time's ticks.
    pub fn one(&mut self, bits: u64) {
        self.row();
        self.add(bits);
    }

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
