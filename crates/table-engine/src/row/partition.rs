//! What the keys of rows have in common that are read one after another, parsed once for all of them: the partition key, and
//! mostly the first parts of the row key.

use std::sync::OnceLock;

use crate::model::words;
use crate::row::key;
use crate::schema::{self, Place, PropertyValue, Template};

/// The partition that a reader of rows is in.
#[derive(Debug)]
pub(crate) struct Partition {
    /// Its rows' stored keys as far as they are the same: the table's number, the partition key, and what ends it.
    prefix: Vec<u8>,
    /// What was parsed of the key, for the first entity that asked.
    fields: OnceLock<(&'static Template, Option<Fields>)>,
    /// What the row keys have in common besides, for the first entity that asked while it was looked for.
    head: OnceLock<Option<Head>>,
    /// Whether it is looked for, or known.
    has_head: bool,
    /// Rows that have had the head.
    shared: usize,
    /// Rows without a head, before another is looked for: now, and the next time. To make one costs as much as it saves of a
    /// few rows, and the keys of some tables have none.
    left: usize,
    wait: usize,
}

/// The first parts of the keys in a place that rows have in common.
#[derive(Debug)]
struct Head {
    place: &'static Place,
    /// The stored keys, up to where they differ.
    bytes: Vec<u8>,
    /// How many parts of the row key's template it has.
    parts: usize,
    /// What those and the partition key give back.
    fields: Fields,
}

/// So many rows with one head are reason enough to look for the next at once.
const MANY: usize = 4;
/// The most rows that pass before a head is looked for again.
const LONGEST_WAIT: usize = 4_096;

/// What a partition key gives back.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// The places of the fields in the schema.
    pub(crate) at: Vec<usize>,
    pub(crate) values: Vec<PropertyValue<'static>>,
}

impl Default for Partition {
    fn default() -> Self {
        Self {
            prefix: Vec::new(),
            fields: OnceLock::new(),
            head: OnceLock::new(),
            has_head: false,
            shared: 0,
            left: 1,
            wait: 1,
        }
    }
}

impl Partition {
    /// Goes to the partition of the row with this stored key.
    #[inline]
    pub(crate) fn go_to(&mut self, stored: &[u8]) {
        if self.has_head {
            match self.head.get() {
                Some(Some(head)) if begins(stored, &head.bytes) => {
                    self.shared += 1;
                    return;
                }
                // No reader asks for entities here.
                None => {}
                Some(_) => self.leave_head(),
            }
        } else if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
        } else {
            self.look_for_head();
        }
        if self.prefix.is_empty() || !begins(stored, &self.prefix) {
            self.enter(key::partition_of(stored));
        }
    }

    #[cold]
    fn enter(&mut self, prefix: &[u8]) {
        self.prefix.clear();
        self.prefix.extend_from_slice(prefix);
        self.fields = OnceLock::new();
        self.has_head = false;
        self.left = self.wait.saturating_sub(1);
    }

    #[cold]
    fn leave_head(&mut self) {
        if self.shared >= MANY {
            self.wait = 1;
        }
        self.has_head = false;
        self.left = self.wait.saturating_sub(1);
    }

    #[cold]
    fn look_for_head(&mut self) {
        (self.head, self.has_head, self.shared) = (OnceLock::new(), true, 0);
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
    }

    /// Returns the fields that all rows with this row's head have in common, how many parts of the row key's template give
    /// them, and what of the row key follows, which is ASCII; `None` where no head is known.
    #[inline]
    pub(crate) fn parsed_head<'p>(
        &'p self,
        place: &'static Place,
        stored: &'p [u8],
    ) -> Option<(&'p Fields, usize, &'p [u8])> {
        if !self.has_head {
            return None;
        }
        let head = match self.head.get() {
            Some(known) => known.as_ref()?,
            None => self.head.get_or_init(|| self.make_head(place, stored)).as_ref()?,
        };
        let rest = stored.get(head.bytes.len()..).filter(|rest| words::are_ascii(rest))?;
        std::ptr::eq(head.place, place).then_some((&head.fields, head.parts, rest))
    }

    #[cold]
    fn make_head(&self, place: &'static Place, stored: &[u8]) -> Option<Head> {
        let parts = schema::head_of(&place.row)?;
        let (partition, row) = self.parsed(&place.partition, stored)?;
        let mut fields = Fields::default();
        fields.at.extend_from_slice(&partition.at);
        fields.values.extend(partition.values.iter().map(|value| value.lent().into_owned()));
        let length = schema::parse_head(parts, row, |field, value| {
            fields.at.push(field);
            fields.values.push(value.into_owned());
        })?;
        let bytes = stored.get(..self.prefix.len() + length)?.to_vec();
        Some(Head { place, bytes, parts: parts.len(), fields })
    }

    /// Returns the fields of the partition key, and the row key of a row in the partition if that is ASCII alone; `None` where
    /// there is no short way.
    #[inline]
    pub(crate) fn parsed<'p>(
        &'p self,
        template: &'static Template,
        stored: &'p [u8],
    ) -> Option<(&'p Fields, &'p [u8])> {
        let row = stored.get(self.prefix.len()..).filter(|row| words::are_ascii(row))?;
        let (of, fields) = match self.fields.get() {
            Some(known) => known,
            None => self.fields.get_or_init(|| (template, self.parse(template))),
        };
        let fields = fields.as_ref().filter(|_| std::ptr::eq(*of, template))?;
        Some((fields, row))
    }

    #[cold]
    fn parse(&self, template: &Template) -> Option<Fields> {
        let partition = key::StoredKey::parse(&self.prefix)?.partition()?;
        let mut fields = Fields::default();
        let fits = schema::parse(template, &partition, |field, value| {
            fields.at.push(field);
            fields.values.push(value.into_owned());
        });
        fits.then_some(fields)
    }
}

/// Returns whether a stored key begins so. Of most partitions that is so short that two words have it all, and no call is made
/// for each row; four words have it with the head of a row key.
#[inline]
pub fn begins(stored: &[u8], prefix: &[u8]) -> bool {
    let Some(stored) = stored.get(..prefix.len()) else { return false };
    match prefix.len() {
        8..=16 => ends_agree::<8>(stored, prefix),
        17..=32 => ends_agree::<16>(stored, prefix),
        _ => stored == prefix,
    }
}

/// Returns whether the first bytes of both agree, and the last.
#[inline]
fn ends_agree<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<N>() == other.first_chunk() && one.last_chunk::<N>() == other.last_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FieldPart, KeyPart, Part};

    #[test]
    fn a_key_begins_with_what_it_begins_with() {
        let key: Vec<u8> = (0..40).collect();
        for length in 0..=key.len() {
            let prefix = &key[..length];
            assert!(begins(&key, prefix), "{length} bytes");
            assert!(length == 0 || !begins(&prefix[..length - 1], prefix), "cut short, {length} bytes");
            for at in 0..length {
                let mut other = key.clone();
                other[at] ^= 1;
                assert!(!begins(&other, prefix), "{length} bytes, of which {at} differs");
            }
        }
    }

    fn stored(partition: &str, row: &str) -> Vec<u8> {
        let mut stored = Vec::new();
        key::encode(7, partition, row, &mut stored);
        stored
    }

    /// Returns all that the keys of a row give back to its reader.
    fn given(partition: &Partition, place: &'static Place, stored: &[u8]) -> Option<Vec<(usize, String)>> {
        let known = match partition.parsed_head(place, stored) {
            None => partition.parsed(&place.partition, stored).map(|(fields, row)| (fields, 0, row)),
            found => found,
        };
        let (fields, parts, rest) = known?;
        let text = |value: &PropertyValue<'_>| format!("{:?}", value.as_value_ref());
        let mut given: Vec<_> = fields.at.iter().copied().zip(fields.values.iter().map(text)).collect();
        let fits = schema::parse_rest(&place.row, parts, rest, |at, value| given.push((at, text(&value))));
        fits.then_some(given)
    }

    #[test]
    fn rows_give_back_the_same_whichever_row_was_read_before() {
        const TEAM: Part = Part::Field(FieldPart::new(0, String::KEY, ""));
        const NAME: Part = Part::Field(FieldPart::new(1, String::KEY, ""));
        const ID: Part = Part::Field(FieldPart::new(2, u32::KEY, "04"));
        const LINE: Part = Part::Field(FieldPart::new(3, u32::KEY, "04"));
        const OF_TEAM: Template = Template::new("{team}", &[TEAM]);
        static PLACES: [Place; 3] = [
            Place::new(
                "Company",
                OF_TEAM,
                Template::new("name_{name}_{id:04}", &[Part::Literal("name_"), NAME, Part::Literal("_"), ID]),
            ),
            Place::new(
                "Company",
                OF_TEAM,
                Template::new("{id:04}{name}--{line:04}", &[ID, NAME, Part::Literal("--"), LINE]),
            ),
            Place::new("Company", OF_TEAM, Template::new("id_{id:04}", &[Part::Literal("id_"), ID])),
        ];
        let mut random = 1_u64;
        let mut below = |most: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(random >> 33).unwrap() % most
        };
        let (mut heads, mut misfits) = (0, 0);
        let mut reader = Partition::default();
        for round in 0..20_000 {
            let place = &PLACES[below(3)];
            if round % 10 == 0 {
                reader = Partition::default();
            }
            // Groups of rows of one name, of one row up to dozens of them.
            let name = ["Jones", "Jone", "J", "", "Abercrombie-Fotheringay", "Zoë"][below(6)];
            for id in 0..below(if round % 50 == 0 { 40 } else { 4 }) {
                let team = ["Sales", "IT"][usize::from(round % 7 == 0)];
                let row = match below(20) {
                    0 => format!("name_{name}-{id:04}"),
                    1 => format!("name_{name}_{id:03}"),
                    2..10 => format!("{:04}{name}--{id:04}", 7),
                    10..18 => format!("name_{name}_{id:04}"),
                    _ => format!("id_{id:04}"),
                };
                let stored = stored(team, &row);
                reader.go_to(&stored);
                let mut alone = Partition::default();
                alone.go_to(&stored);
                let expected = given(&alone, place, &stored);
                // A reader who has read rows of another place may know no short way.
                let found = given(&reader, place, &stored);
                assert!(found.is_none() || found == expected, "{row} by {}: {found:?}", place.row.source);
                heads += usize::from(reader.parsed_head(place, &stored).is_some());
                misfits += usize::from(expected.is_none());
            }
        }
        assert!(heads > 1_000 && misfits > 1_000, "{heads} heads, {misfits} misfits");
    }

    #[test]
    fn a_reader_goes_from_one_partition_to_the_next() {
        let mut partition = Partition::default();
        for (key, row) in [("Sales", "1"), ("Sales", ""), ("Sale", "2"), ("", "3"), ("Sales", "4"), ("", "")]
        {
            let stored = stored(key, row);
            partition.go_to(&stored);
            assert_eq!(&stored[partition.prefix.len()..], row.as_bytes());
        }
    }
}
