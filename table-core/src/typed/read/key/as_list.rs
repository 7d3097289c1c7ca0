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

#[cfg(all(test, feature = "json"))]
mod tests {
    use crate::{Entity, Key, Store};

    #[derive(Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    struct Employee {
        department: String,
        id: u32,
    }

    #[test]
    fn a_key_comes_back_from_what_is_written_of_it() {
        let store = Store::temporary().unwrap();
        let staff = store.table::<Employee>().unwrap();
        staff.insert(&Employee { department: "Sales".into(), id: 7 }).unwrap();
        let text = serde_json::to_string(&Employee::key("Sales", 7)).unwrap();
        assert_eq!(text, "[\"Sales\",\"empid_000007\"]");
        let key: Key<Employee> = serde_json::from_str(&text).unwrap();
        assert_eq!(staff.get(key).unwrap().unwrap().id, 7);
    }

    #[test]
    fn what_is_no_key_is_refused_or_leads_to_nothing() {
        let refused = Employee::key("a/b", 7);
        let error = serde_json::to_string(&refused).unwrap_err().to_string();
        assert!(error.contains('/'), "{error}");
        for text in ["[]", "[\"Sales\"]", "[\"Sales\",\"a\",\"b\"]", "[1,2]", "\"Sales\""] {
            assert!(serde_json::from_str::<Key<Employee>>(text).is_err(), "{text}");
        }
        let staff = Store::temporary().unwrap().table::<Employee>().unwrap();
        for text in ["[\"Sales\",\"empid_7\"]", "[\"\",\"\"]", "[\"a/b\",\"empid_000007\"]"] {
            let key: Key<Employee> = serde_json::from_str(text).unwrap();
            // An error or nothing, and never another's row.
            assert!(!matches!(staff.get(key), Ok(Some(_))), "{text}");
        }
    }
}
