//! Series: fields of which each slot is a property.
//!
//! A derive knows neither how many slots an array's type has nor how long their names are. So the names are printed while the
//! program compiles, by the functions here.

#![expect(clippy::indexing_slicing, reason = "a place that isn't there stops the compiler")]
#![expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]

use super::Field;
use super::message::Message;

/// A field whose slots are properties: `Cpu_00`, `Cpu_01` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Series {
    /// The field's name in the struct.
    pub name: &'static str,
    /// What the names of its properties begin with.
    pub stem: &'static str,
    /// How many slots it has.
    pub slots: usize,
    /// How many digits the number of a slot has at least.
    pub width: usize,
}

/// The slot of a series that a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slot {
    /// The series.
    pub of: &'static Series,
    /// Which slot of it.
    pub at: usize,
}

/// The fewest digits of a slot's number where the declaration says nothing.
const FEWEST_DIGITS: usize = 2;

/// The most digits that a slot's number may be given: a row has no more properties than three digits count.
const MOST_DIGITS: usize = 9;

impl Series {
    /// Makes a series: the field's name, what the names of its properties begin with, and how many slots it has. The numbers of
    /// slots have as many digits as the last one, and two at least.
    #[must_use]
    pub const fn new(name: &'static str, stem: &'static str, slots: usize) -> Self {
        let most = if slots == 0 { 1 } else { digits(slots - 1) };
        Self { name, stem, slots, width: if most < FEWEST_DIGITS { FEWEST_DIGITS } else { most } }
    }

    /// Returns the series as one the numbers of whose slots have at least so many digits.
    #[must_use]
    pub const fn width(mut self, width: usize) -> Self {
        self.width = width;
        self
    }

    /// Returns the length of its longest names, of a property and of a field.
    #[doc(hidden)]
    #[must_use]
    pub const fn lengths(&self) -> (usize, usize) {
        let most = if self.slots == 0 { 1 } else { digits(self.slots - 1) };
        let number = if most < self.width { self.width } else { most };
        (self.stem.len() + 1 + number, self.name.len() + 2 + most)
    }

    /// Returns the name of the property of a slot.
    pub(crate) fn property(&self, slot: usize) -> String {
        format!("{}_{slot:0width$}", self.stem, width = self.width)
    }

    /// Returns the slot whose property has this name.
    pub(crate) const fn slot_of(&self, property: &str) -> Option<usize> {
        let (name, stem) = (property.as_bytes(), self.stem.as_bytes());
        if name.len() < stem.len() + 1 + self.width {
            return None;
        }
        let (begins, rest) = name.split_at(stem.len());
        let mut at = 0;
        while at < stem.len() {
            if begins[at] != stem[at] {
                return None;
            }
            at += 1;
        }
        let [b'_', number @ ..] = rest else { return None };
        // Beyond its width a number has no zeros in front.
        if number.len() > MOST_DIGITS || number.len() > self.width && number[0] == b'0' {
            return None;
        }
        let (mut slot, mut at) = (0, 0);
        while at < number.len() {
            let digit = number[at].wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            slot = slot * 10 + digit as usize;
            at += 1;
        }
        if slot < self.slots { Some(slot) } else { None }
    }

    /// Returns the property that both series have, if they have one.
    pub(crate) const fn meets(&self, other: &Self) -> bool {
        if !super::checks::same(self.stem, other.stem) || self.slots == 0 || other.slots == 0 {
            return false;
        }
        if self.width == other.width {
            return true;
        }
        // Numbers that are longer than both widths are written alike.
        let (wide, few) = (
            if self.width > other.width { self.width } else { other.width },
            if self.slots < other.slots { self.slots } else { other.slots },
        );
        digits(few - 1) >= wide
    }

    /// Refuses a series that can't be one: without slots, or of a width that no number needs.
    #[track_caller]
    #[doc(hidden)]
    pub const fn check(&self) {
        if self.slots == 0 {
            Message::new("the series `").text(self.name).text("` has no slots").refuse();
        }
        if self.width == 0 || self.width > MOST_DIGITS {
            let message = Message::new("the width of the series `").text(self.name).text("` is ");
            message
                .count(self.width)
                .text(": a slot's number has 1 to ")
                .count(MOST_DIGITS)
                .text(" digits")
                .refuse();
        }
    }

    /// Returns what is wrong with a slot, if there is none of this number.
    pub(crate) fn refuse_slot(&self, slot: usize) -> Option<String> {
        (slot >= self.slots).then(|| {
            format!(
                "the series `{}` has {} slots, 0 to {}, and no slot {slot}",
                self.name,
                self.slots,
                self.slots.saturating_sub(1)
            )
        })
    }
}

/// Returns the names of the properties of a series, each in its first bytes, and how many those are.
#[doc(hidden)]
#[must_use]
pub const fn slot_properties<const LENGTH: usize, const SLOTS: usize>(
    series: &Series,
) -> [([u8; LENGTH], usize); SLOTS] {
    written([series.stem, "_", ""], series.width)
}

/// Returns what its slots are called in the struct, in the same form: `cpu[13]`.
#[doc(hidden)]
#[must_use]
pub const fn slot_names<const LENGTH: usize, const SLOTS: usize>(
    series: &Series,
) -> [([u8; LENGTH], usize); SLOTS] {
    written([series.name, "[", "]"], 1)
}

/// Each slot's number, of at least so many digits, between the first two texts and the last.
const fn written<const LENGTH: usize, const SLOTS: usize>(
    [stem, before, after]: [&str; 3],
    width: usize,
) -> [([u8; LENGTH], usize); SLOTS] {
    let mut names = [([0; LENGTH], 0); SLOTS];
    let mut slot = 0;
    while slot < SLOTS {
        let (name, length) = &mut names[slot];
        *length = write(name, 0, stem);
        *length = write(name, *length, before);
        *length = write_number(name, *length, slot, width);
        *length = write(name, *length, after);
        slot += 1;
    }
    names
}

/// Returns the fields that a series is: one like this for each slot, with these names.
#[doc(hidden)]
#[must_use]
pub const fn slot_fields<const A: usize, const B: usize, const SLOTS: usize>(
    series: &'static Series,
    field: Field,
    names: &'static [([u8; A], usize); SLOTS],
    properties: &'static [([u8; B], usize); SLOTS],
) -> [Field; SLOTS] {
    let mut fields = [field; SLOTS];
    let mut slot = 0;
    while slot < SLOTS {
        let (name, property) = (&names[slot], &properties[slot]);
        let field = &mut fields[slot];
        field.name = text(&name.0, name.1);
        field.property = text(&property.0, property.1);
        field.series = Some(Slot { of: series, at: slot });
        slot += 1;
    }
    fields
}

const fn text(bytes: &'static [u8], length: usize) -> &'static str {
    let (text, _) = bytes.split_at(length);
    match std::str::from_utf8(text) {
        Ok(text) => text,
        // Names are texts, and numbers digits.
        Err(_) => "",
    }
}

const fn write(into: &mut [u8], from: usize, text: &str) -> usize {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        into[from + at] = bytes[at];
        at += 1;
    }
    from + bytes.len()
}

const DIGITS: &[u8; 10] = b"0123456789";

const fn write_number(into: &mut [u8], from: usize, number: usize, width: usize) -> usize {
    let most = digits(number);
    let length = if most < width { width } else { most };
    let (mut rest, mut at) = (number, from + length);
    while at > from {
        at -= 1;
        into[at] = DIGITS[rest % 10];
        rest /= 10;
    }
    from + length
}

/// Returns how many digits a number has.
const fn digits(mut number: usize) -> usize {
    let mut digits = 1;
    while number > 9 {
        number /= 10;
        digits += 1;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(stem: &'static str, slots: usize, width: usize) -> Series {
        Series::new("cpu", stem, slots).width(width)
    }

    #[test]
    fn a_slots_name_says_its_number() {
        for (slots, width) in [(1, 1), (7, 2), (24, 2), (249, 3), (249, 2), (120, 1), (24, 3)] {
            let series = series("Cpu", slots, width);
            for slot in 0..slots {
                assert_eq!(series.slot_of(&series.property(slot)), Some(slot), "{slots} {width} {slot}");
            }
            assert_eq!(series.slot_of(&series.property(slots)), None);
        }
        let cpu = series("Cpu", 120, 2);
        for other in
            ["Cpu", "Cpu_", "Cpu_1", "Cpu_001", "Cpu_0100", "Cpu_1x", "Dpu_01", "Cpu_120", "Cpu_99999999999"]
        {
            assert_eq!(cpu.slot_of(other), None, "{other}");
        }
    }

    #[test]
    fn widths_follow_the_last_slot() {
        for (slots, width) in [(1, 2), (24, 2), (100, 2), (101, 3), (249, 3)] {
            assert_eq!(Series::new("cpu", "Cpu", slots).width, width, "{slots}");
        }
    }

    #[test]
    fn names_are_printed_as_they_are_read() {
        const CPU: Series = Series::new("cpu", "Cpu", 120).width(2);
        const LENGTHS: (usize, usize) = CPU.lengths();
        const PROPERTIES: [([u8; LENGTHS.0], usize); 120] = slot_properties(&CPU);
        const NAMES: [([u8; LENGTHS.1], usize); 120] = slot_names(&CPU);
        static FIELDS: [Field; 120] = slot_fields(&CPU, Field::PLAIN, &NAMES, &PROPERTIES);
        for (slot, field) in FIELDS.iter().enumerate() {
            assert_eq!(field.property, CPU.property(slot));
            assert_eq!(field.name, format!("cpu[{slot}]"));
            assert_eq!(field.series.map(|slot| slot.at), Some(slot));
        }
    }

    /// Returns whether two series share a property, by all of their names.
    #[test]
    fn series_meet_if_they_share_a_name() {
        let all: Vec<Series> = [1, 9, 10, 11, 100, 101, 249]
            .into_iter()
            .flat_map(|slots| (1..4).map(move |width| series("Cpu", slots, width)))
            .chain([series("Mem", 100, 2)])
            .collect();
        for a in &all {
            for b in &all {
                let shares = (0..a.slots)
                    .any(|slot| b.slot_of(&format!("{}_{slot:0w$}", a.stem, w = a.width)).is_some());
                assert_eq!(a.meets(b), shares, "{a:?} {b:?}");
            }
        }
    }
}
