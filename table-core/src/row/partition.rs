//! What a partition key gives back, parsed once for rows that are read one after another.

use std::sync::OnceLock;

use crate::model::words;
use crate::row::key;
use crate::schema::{self, PropertyValue, Template};

/// The partition that a reader of rows is in.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    /// Its rows' stored keys as far as they are the same: the table's number, the partition key, and what ends it.
    prefix: Vec<u8>,
    /// What was parsed of the key, for the first entity that asked.
    fields: OnceLock<(&'static Template, Option<Fields>)>,
}

/// What a partition key gives back.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// The places of the fields in the schema.
    pub(crate) at: Vec<usize>,
    pub(crate) values: Vec<PropertyValue<'static>>,
}

impl Partition {
    /// Goes to the partition of the row with this stored key.
    #[inline]
    pub(crate) fn go_to(&mut self, stored: &[u8]) {
        if self.prefix.is_empty() || !begins(stored, &self.prefix) {
            self.enter(key::partition_of(stored));
        }
    }

    #[cold]
    fn enter(&mut self, prefix: &[u8]) {
        self.prefix.clear();
        self.prefix.extend_from_slice(prefix);
        self.fields = OnceLock::new();
    }

    /// The fields of the partition key, and the row key of a row in the partition if that is ASCII alone; `None` where
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

/// Whether a stored key begins so. Of most partitions that is so short that two words have it all, and no call is made for
/// each row.
#[inline]
pub(crate) fn begins(stored: &[u8], prefix: &[u8]) -> bool {
    match (prefix.first_chunk::<8>(), prefix.last_chunk::<8>(), stored.get(..prefix.len())) {
        (Some(first), Some(last), Some(stored)) if prefix.len() <= 16 => {
            stored.first_chunk() == Some(first) && stored.last_chunk() == Some(last)
        }
        _ => stored.starts_with(prefix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_reader_goes_from_one_partition_to_the_next() {
        let stored = |partition: &str, row: &str| {
            let mut stored = Vec::new();
            key::encode(7, partition, row, &mut stored);
            stored
        };
        let mut partition = Partition::default();
        for (key, row) in [("Sales", "1"), ("Sales", ""), ("Sale", "2"), ("", "3"), ("Sales", "4"), ("", "")]
        {
            let stored = stored(key, row);
            partition.go_to(&stored);
            assert_eq!(&stored[partition.prefix.len()..], row.as_bytes());
        }
    }
}
