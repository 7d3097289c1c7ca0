//! Names of properties and tables.

use std::sync::Arc;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::error::{Error, ErrorKind};
use crate::limits;

/// A property's name, shared between the rows that carry it.
pub(crate) type Name = Arc<str>;

/// The property that says what a row is: the kind of an entity, or the index whose copy it is.
pub(crate) const ENTITY_TYPE: &str = "EntityType";

/// The property of a wide entity's head that says how many parts it has.
pub(crate) const ENTITY_PARTS: &str = "EntityParts";

/// Names that the service keeps for itself.
pub(crate) const SYSTEM: [&str; 3] = ["PartitionKey", "RowKey", "Timestamp"];

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
    let mut chars = name.chars();
    if chars.next().is_some_and(starts_name) && chars.all(continues_name) {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::PropertyNameInvalid).because(format!(
            "`{}` is no property name: a letter or `_`, then letters, decimal digits, combining marks and `_`",
            name.escape_debug()
        )))
    }
}

// The macros have the same rule in `table_derive::check::names`, and a test there that compares every character.

/// Whether a property's name may start so: with a letter of C#'s, or with `_`.
pub(crate) fn starts_name(c: char) -> bool {
    c == '_'
        || if c.is_ascii() {
            c.is_ascii_alphabetic()
        } else {
            is_letter(c.general_category()) && in_xml_name(c)
        }
}

/// Whether a property's name may go on so: with a letter, a combining mark, a decimal digit, a connector or a formatting
/// character of C#'s.
pub(crate) fn continues_name(c: char) -> bool {
    use GeneralCategory::{ConnectorPunctuation, DecimalNumber, Format, NonspacingMark, SpacingMark};
    if c.is_ascii() {
        return c == '_' || c.is_ascii_alphanumeric();
    }
    let category = c.general_category();
    let continues =
        matches!(category, NonspacingMark | SpacingMark | DecimalNumber | ConnectorPunctuation | Format);
    (continues || is_letter(category)) && in_xml_name(c)
}

/// Lu, Ll, Lt, Lm, Lo and Nl.
fn is_letter(category: GeneralCategory) -> bool {
    use GeneralCategory::{
        LetterNumber, LowercaseLetter, ModifierLetter, OtherLetter, TitlecaseLetter, UppercaseLetter,
    };
    matches!(
        category,
        UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter | LetterNumber
    )
}

/// What XML 1.0 allows in a name, beyond ASCII.
fn in_xml_name(c: char) -> bool {
    matches!(c,
        '\u{b7}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{203f}'..='\u{2040}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

/// Checks a table's name: three to 63 ASCII letters and digits, a letter first, and not `tables`.
pub(crate) fn check_table(name: &str) -> Result<(), Error> {
    let error = |kind, why: &str| Err(Error::new(kind).because(why.to_owned()).table(name));
    let valid = name.bytes().all(|b| b.is_ascii_alphanumeric())
        && name.bytes().next().is_none_or(|b| b.is_ascii_alphabetic());
    if !valid {
        return error(
            ErrorKind::InvalidTableName,
            "a table's name holds ASCII letters and digits alone and starts with a letter",
        );
    }
    if !(limits::TABLE_NAME_MIN..=limits::TABLE_NAME_MAX).contains(&name.len()) {
        return error(ErrorKind::TableNameLength, "a table's name has 3 to 63 characters");
    }
    if name.eq_ignore_ascii_case("tables") {
        return error(ErrorKind::InvalidTableName, "the service keeps the name `tables` for itself");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn property_names_are_identifiers() {
        for name in [
            "A",
            "_",
            "_1",
            "FirstName",
            "größe",
            "名前",
            "a\u{10400}",
            &"x".repeat(255),
            // A mark, a spacing mark, a connector, a joiner, another script's digit; a letter that is a number.
            "a\u{301}",
            "a\u{903}",
            "a\u{203f}b",
            "a\u{200d}b",
            "a\u{663}",
            "\u{2160}",
        ] {
            assert_eq!(check_property(name).map_err(|e| e.kind()), Ok(()), "{name}");
        }
        for name in [
            "",
            "1a",
            "a-b",
            "a b",
            "a.b",
            "a:b",
            "a'b",
            "PartitionKey",
            "Timestamp",
            "a\u{2f800}\0",
            // A fraction, a subscript, and a circled letter are no digits and no letters.
            "a\u{2153}",
            "a\u{2081}",
            "a\u{24b6}",
            // A mark, a connector and a digit start nothing, though Unicode calls the first alphabetic.
            "\u{903}a",
            "\u{203f}a",
            "\u{663}a",
            "\u{200d}a",
            // A letter, and a connector, that XML has not.
            "\u{aa}",
            "a\u{fe33}\u{ff}\u{f7}",
        ] {
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
