//! Names of properties and tables.

use std::sync::Arc;

#[doc(hidden)]
pub use table_words::names::ENTITY_TYPE;
use table_words::names::{PROPERTY_RULE, TableMistake, is_property};
pub(crate) use table_words::names::{SYSTEM, continues_property, starts_property};

use crate::error::{Error, ErrorKind};
use crate::limits;

/// A property's name, shared between the rows that carry it.
#[doc(hidden)]
pub type Name = Arc<str>;

/// The property of a wide entity's head that says how many parts it has.
#[doc(hidden)]
pub const ENTITY_PARTS: &str = "EntityParts";

/// Checks a property's name: at most 255 UTF-16 units, an identifier of C# and a valid XML name.
pub(crate) fn check_property(name: &str) -> Result<(), Error> {
    let units = super::key::utf16_units(name);
    if units > limits::NAME_UNITS {
        return Err(Error::new(ErrorKind::PropertyNameTooLong).because(format!(
            "a property's name has {units} UTF-16 units; it may have {}",
            limits::NAME_UNITS
        )));
    }
    if SYSTEM.contains(&name) {
        return Err(Error::new(ErrorKind::PropertyNameInvalid)
            .because(format!("`{name}` is a name of the store's own; give the property another")));
    }
    if is_property(name) {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::PropertyNameInvalid)
            .because(format!("`{}` is no property name: {PROPERTY_RULE}", name.escape_debug())))
    }
}

/// Checks a table's name: three to 63 ASCII letters and digits, a letter first, and not `tables`.
#[doc(hidden)]
pub fn check_table(name: &str) -> Result<(), Error> {
    let Some(mistake) = TableMistake::of(name) else { return Ok(()) };
    let (kind, why) = match mistake {
        TableMistake::Kept => (ErrorKind::InvalidTableName, mistake.rule()),
        TableMistake::Length => (ErrorKind::TableNameLength, mistake.rule()),
        TableMistake::Character | TableMistake::Start => (
            ErrorKind::InvalidTableName,
            "a table's name holds ASCII letters and digits alone and starts with a letter",
        ),
    };
    Err(Error::new(kind).because(why.to_owned()).table(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn property_names_are_identifiers() {
        for name in ["A", "名前", "EntityType", &"x".repeat(255)] {
            assert_eq!(check_property(name).map_err(|e| e.kind()), Ok(()), "{name}");
        }
        for name in ["", "1a", "PartitionKey", "Timestamp", "a\u{2f800}\0"] {
            assert_eq!(
                check_property(name).map_err(|e| e.kind()),
                Err(ErrorKind::PropertyNameInvalid),
                "{name}"
            );
        }
        let kind = check_property(&"x".repeat(256)).map_err(|e| e.kind());
        assert_eq!(kind, Err(ErrorKind::PropertyNameTooLong));
        // 128 astral letters are 256 units, though 128 characters.
        let kind = check_property(&"\u{10400}".repeat(128)).map_err(|e| e.kind());
        assert_eq!(kind, Err(ErrorKind::PropertyNameTooLong));
    }

    #[test]
    fn table_names_are_short_and_plain() {
        for name in ["abc", "A12", &"x".repeat(63), "Tables1"] {
            assert_eq!(check_table(name).map_err(|e| e.kind()), Ok(()), "{name}");
        }
        for name in ["1ab", "a-b", "a b", "äbc", "tables", "TABLES"] {
            assert_eq!(check_table(name).map_err(|e| e.kind()), Err(ErrorKind::InvalidTableName), "{name}");
        }
        for name in ["", "ab", &"x".repeat(64)] {
            assert_eq!(check_table(name).map_err(|e| e.kind()), Err(ErrorKind::TableNameLength), "{name}");
        }
    }
}
