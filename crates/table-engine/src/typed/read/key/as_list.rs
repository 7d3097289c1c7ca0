//! serde's traits for keys of entities, and for references: a list of the partition key and the row key.

use super::{Key, Ref};
use crate::typed::entity::Entity;

impl<E> serde::Serialize for Key<E> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = self.as_strs().map_err(serde::ser::Error::custom)?;
        serde::Serialize::serialize(&keys, serializer)
    }
}

/// The texts are taken as they are. Those that no entity has the key of lead to none.
impl<'de, E: Entity> serde::Deserialize<'de> for Key<E> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (partition, row) = <(String, String) as serde::Deserialize>::deserialize(deserializer)?;
        Ok(Self::verbatim(&partition, &row))
    }
}

impl<E> serde::Serialize for Ref<E> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = self.as_strs().map_err(serde::ser::Error::custom)?;
        serde::Serialize::serialize(&keys, serializer)
    }
}

impl<'de, E: Entity> serde::Deserialize<'de> for Ref<E> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Key<E> as serde::Deserialize>::deserialize(deserializer).map(Self::from)
    }
}
