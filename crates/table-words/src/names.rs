//! The rules of names: those of properties and of tables, and the properties that every row has.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::limits;

/// The property that says what a row is: the kind of an entity, or the index whose copy it is.
pub const ENTITY_TYPE: &str = "EntityType";

/// The properties that the service keeps for itself.
pub const SYSTEM: [&str; 3] = ["PartitionKey", "RowKey", "Timestamp"];

/// What the name of a property is, behind "no property name" and a colon.
pub const PROPERTY_RULE: &str = "a letter or `_`, then letters, decimal digits, combining marks and `_`";

/// Returns whether every row has a property of this name, so that no field can.
pub fn is_of_every_row(name: &str) -> bool {
    SYSTEM.contains(&name) || name == ENTITY_TYPE
}

/// Returns whether the service takes the name for a property: an identifier of C# and a name of XML. Its length is not looked at.
#[inline]
pub fn is_property(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_property) && chars.all(continues_property)
}

/// Returns whether a property's name may start so: with a letter of C#'s, or with `_`.
#[inline]
pub fn starts_property(c: char) -> bool {
    c == '_'
        || if c.is_ascii() {
            c.is_ascii_alphabetic()
        } else {
            is_letter(c.general_category()) && in_xml_name(c)
        }
}

/// Returns whether a property's name may go on so: with a letter, a combining mark, a decimal digit, a connector or a formatting
/// character of C#'s.
#[inline]
pub fn continues_property(c: char) -> bool {
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

/// Returns what XML 1.0 allows in a name, beyond ASCII.
fn in_xml_name(c: char) -> bool {
    matches!(c,
        '\u{b7}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{203f}'..='\u{2040}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

/// Why the service takes no table of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableMistake {
    /// It keeps the name for itself.
    Kept,
    /// A character is neither a letter nor a digit of ASCII.
    Character,
    /// A digit stands first.
    Start,
    /// It is too short or too long.
    Length,
}

impl TableMistake {
    /// Returns what is wrong with a table's name. `None` if the service takes it.
    pub fn of(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("tables") {
            Some(Self::Kept)
        } else if !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
            Some(Self::Character)
        } else if name.bytes().next().is_some_and(|b| b.is_ascii_digit()) {
            Some(Self::Start)
        } else if !(limits::TABLE_NAME_MIN..=limits::TABLE_NAME_MAX).contains(&name.len()) {
            Some(Self::Length)
        } else {
            None
        }
    }

    /// Returns the rule that the name is against.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Kept => "the service keeps the name `tables` for itself",
            Self::Character => "a table's name holds ASCII letters and digits alone",
            Self::Start => "a table's name starts with a letter",
            Self::Length => "a table's name has 3 to 63 characters",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_letters_of_all_scripts() {
        let count = |takes: fn(char) -> bool| ('\0'..=char::MAX).filter(|c| takes(*c)).count();
        // And marks, digits, connectors and formatting characters behind the first.
        let (first, later) = (count(starts_property), count(continues_property));
        assert!(first > 140_000 && later > first + 3_000, "{first} {later}");
        assert!(('\0'..=char::MAX).all(|c| continues_property(c) || !starts_property(c)));
        for name in [
            "A",
            "_",
            "_1",
            "FirstName",
            "größe",
            "名前",
            "a\u{10400}",
            // A mark, a spacing mark, a connector, a joiner, another script's digit; a letter that is a number.
            "a\u{301}",
            "a\u{903}",
            "a\u{203f}b",
            "a\u{200d}b",
            "a\u{663}",
            "\u{2160}",
        ] {
            assert!(is_property(name), "{name:?}");
        }
        for name in [
            "",
            "1a",
            "a-b",
            "a b",
            "a.b",
            "a:b",
            "a'b",
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
            assert!(!is_property(name), "{name:?}");
        }
    }

    #[test]
    fn each_rule_of_a_table_s_name_is_told() {
        for (name, mistake) in [
            ("abc", None),
            ("A12", None),
            ("Tables1", None),
            ("TABLES", Some(TableMistake::Kept)),
            ("a-b", Some(TableMistake::Character)),
            ("äbc", Some(TableMistake::Character)),
            ("1ab", Some(TableMistake::Start)),
            ("", Some(TableMistake::Length)),
            ("ab", Some(TableMistake::Length)),
        ] {
            assert_eq!(TableMistake::of(name), mistake, "{name}");
        }
        let longest = "x".repeat(limits::TABLE_NAME_MAX);
        assert_eq!(TableMistake::of(&longest), None);
        assert_eq!(TableMistake::of(&(longest + "x")), Some(TableMistake::Length));
        let numbers = format!("{} to {}", limits::TABLE_NAME_MIN, limits::TABLE_NAME_MAX);
        assert!(TableMistake::Length.rule().contains(&numbers));
    }
}
