//! Digests of entities, by which what was copied is compared with what it was copied from.

use table_core::ValueRef;
use table_core::odata::Source;
use twox_hash::XxHash3_64;

use super::text;

/// The sum of the hashes of entities, in whatever order they come. Versions and times of writing are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) entities: u64,
    sum: u64,
}

impl Digest {
    /// Adds the hash of an entity.
    pub(crate) fn add(&mut self, hash: u64) {
        self.entities += 1;
        self.sum = self.sum.wrapping_add(hash);
    }

    /// Returns it as text.
    pub(crate) fn text(self) -> String {
        format!("{:016x}", self.sum)
    }
}

/// Hashes entities; it keeps the memory that this takes.
#[derive(Debug, Default)]
pub(crate) struct Hasher(Vec<u8>);

impl Hasher {
    /// Returns the hash of an entity's keys and properties, in whatever order they stand.
    pub(crate) fn entity(&mut self, entity: &impl Source) -> table_core::Result<u64> {
        let bytes = &mut self.0;
        let (partition, row) = entity.keys()?;
        bytes.clear();
        push_part(partition.as_bytes(), bytes);
        push_part(row.as_bytes(), bytes);
        let keys = XxHash3_64::oneshot(bytes);
        let mut sum = keys;
        entity.for_each_property(|name, value| {
            bytes.clear();
            push_part(name.as_bytes(), bytes);
            push_typed(value, bytes);
            // The keys are the seed, so that values can't change places between entities unseen.
            sum = sum.wrapping_add(XxHash3_64::oneshot_with_seed(keys, bytes));
            Ok(())
        })?;
        Ok(XxHash3_64::oneshot(&sum.to_le_bytes()))
    }
}

fn push_part(part: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&u64::try_from(part.len()).unwrap_or_default().to_le_bytes());
    bytes.extend_from_slice(part);
}

fn push_typed(value: ValueRef<'_>, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(text::short_type(value.edm_type()).as_bytes());
    bytes.push(b':');
    match value {
        ValueRef::Binary(binary) => bytes.extend_from_slice(binary),
        other => text::push_value(other, bytes),
    }
}

#[cfg(test)]
mod tests {
    use table_core::DynamicEntity;

    use super::*;

    #[test]
    fn an_entity_hashes_by_all_it_has_and_not_by_its_order() {
        let hash = |entity: &DynamicEntity| Hasher::default().entity(entity).unwrap();
        let jun = DynamicEntity::new("p", "r").with("A", 1).with("B", "x");
        assert_eq!(hash(&jun), hash(&DynamicEntity::new("p", "r").with("B", "x").with("A", 1)));
        for other in [
            DynamicEntity::new("p", "r").with("A", 1_i64).with("B", "x"),
            DynamicEntity::new("p", "r").with("A", 1).with("B", "y"),
            DynamicEntity::new("p", "q").with("A", 1).with("B", "x"),
            DynamicEntity::new("pr", "").with("A", 1).with("B", "x"),
            DynamicEntity::new("p", "r").with("A", 1),
        ] {
            assert_ne!(hash(&jun), hash(&other), "{other:?}");
        }
    }

    #[test]
    fn a_digest_is_of_the_entities_in_any_order() {
        let (mut one, mut other) = (Digest::default(), Digest::default());
        for hash in [3, 5, u64::MAX] {
            one.add(hash);
        }
        for hash in [u64::MAX, 3, 5] {
            other.add(hash);
        }
        assert_eq!((one, one.entities), (other, 3));
    }
}
