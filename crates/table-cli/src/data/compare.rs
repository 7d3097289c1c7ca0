//! Two sequences of entities compared, in the order of their keys and in constant memory.

use std::cmp::Ordering;

use table_core::DynamicEntity;

use super::blobs::contents::{self, Contents};
use super::digest::{Digest, Hasher};
use super::pull::Pull;
use crate::failure::Failure;

/// A sequence, and the contents that its entities refer to.
pub(crate) struct Side {
    pub(crate) rows: Pull,
    pub(crate) contents: Contents,
}

/// How the rows of a key differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The first side alone has one.
    OnlyFirst,
    /// The second side alone has one.
    OnlySecond,
    /// Both have one, with other properties.
    Changed,
}

/// A difference.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) partition: String,
    pub(crate) row: String,
    pub(crate) how: How,
    /// The names of the properties that differ.
    pub(crate) properties: Vec<String>,
}

/// What a comparison came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    /// The entities of the first side.
    pub(crate) first: Digest,
    /// Those of the second side whose keys the first side has, too.
    pub(crate) second: Digest,
    pub(crate) only_first: u64,
    pub(crate) only_second: u64,
    pub(crate) changed: u64,
}

/// Compares two sides, and tells `each` the differences.
pub(crate) fn compare(
    first: &mut Side,
    second: &mut Side,
    each: &mut dyn FnMut(Difference) -> Result<(), Failure>,
) -> Result<Compared, Failure> {
    let mut compared = Compared::default();
    let mut hasher = Hasher::default();
    let (mut one, mut other) = (first.rows.next()?, second.rows.next()?);
    loop {
        let order = match (&one, &other) {
            (None, None) => return Ok(compared),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => keys(one).cmp(&keys(other)),
        };
        if order != Ordering::Greater
            && let Some(one) = &one
        {
            compared.first.add(hasher.entity(one)?);
        }
        match (order, &one, &other) {
            (Ordering::Less, Some(one), _) => {
                compared.only_first += 1;
                each(difference(one, How::OnlyFirst, Vec::new()))?;
            }
            (Ordering::Greater, _, Some(other)) => {
                compared.only_second += 1;
                each(difference(other, How::OnlySecond, Vec::new()))?;
            }
            (_, Some(one), Some(other)) => {
                let differ = differing(one, other, [&first.contents, &second.contents])?;
                // What is alike but for references to blobs of the same contents counts as equal.
                let hash = if differ.is_empty() { hasher.entity(one)? } else { hasher.entity(other)? };
                compared.second.add(hash);
                if !differ.is_empty() {
                    compared.changed += 1;
                    each(difference(one, How::Changed, differ))?;
                }
            }
            _ => {}
        }
        if order != Ordering::Greater {
            one = first.rows.next()?;
        }
        if order != Ordering::Less {
            other = second.rows.next()?;
        }
    }
}

fn keys(entity: &DynamicEntity) -> (&str, &str) {
    (entity.partition_key(), entity.row_key())
}

fn difference(entity: &DynamicEntity, how: How, properties: Vec<String>) -> Difference {
    let (partition, row) = keys(entity);
    Difference { partition: partition.to_owned(), row: row.to_owned(), how, properties }
}

/// Returns the names of the properties that differ.
fn differing(
    one: &DynamicEntity,
    other: &DynamicEntity,
    sides: [&Contents; 2],
) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for (name, value) in one.properties() {
        let is_same = match other.get(name) {
            None => false,
            Some(found) if found == value => true,
            Some(found) => contents::are_same(sides, [value.as_value_ref(), found.as_value_ref()])?,
        };
        if !is_same {
            names.push(name.to_owned());
        }
    }
    for (name, _) in other.properties() {
        if one.get(name).is_none() {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}
