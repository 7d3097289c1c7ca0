//! Names that are taken, and what names may hold. The service's rules stand in `table_core::limits` and in its
//! `model::names` too: a macro can't ask them.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The properties that every row has.
pub(super) const SYSTEM: [&str; 4] = ["PartitionKey", "RowKey", "Timestamp", "EntityType"];

/// Most properties of an entity.
pub(super) const PROPERTIES: usize = 252;

/// Longest name of a property, in UTF-16 units.
pub(super) const NAME_UNITS: usize = 255;

/// Longest key, in UTF-16 units.
pub(super) const KEY_UNITS: usize = 512;

/// Most rows that one transaction changes.
pub(super) const BATCH_ROWS: usize = 100;

/// The methods of a table: those of `Table` and `TableAt`, and `rows`, which a derive writes for each entity. An index's method of the
/// same name would be hidden behind them.
pub(crate) const TABLE_METHODS: [&str; 38] = [
    "add",
    "all",
    "at",
    "bulk_insert",
    "check",
    "clone",
    "cost",
    "delete",
    "delete_if",
    "delete_partition",
    "delete_where",
    "drop_index",
    "dynamic",
    "egt",
    "exists",
    "forget_copies",
    "get",
    "get_all",
    "get_as",
    "get_many",
    "get_or_insert",
    "insert",
    "insert_many",
    "join",
    "list",
    "merge",
    "move_to",
    "put",
    "rebuild",
    "reencrypt",
    "remove",
    "repair",
    "replace",
    "rows",
    "try_update",
    "update",
    "upsert",
    "view",
];

/// Names that are kept for methods that tables are to get, which would hide an index's method.
pub(crate) const TABLE_RESERVED: [&str; 16] = [
    "batch",
    "bulk",
    "count",
    "explain",
    "insert_or_merge",
    "latest",
    "migrate",
    "name",
    "page",
    "patch",
    "query",
    "relocate",
    "schema",
    "snapshot",
    "store",
    "views",
];

/// The methods of a query, which a method of a key's part would collide with.
pub(crate) const QUERY_METHODS: [&str; 17] = [
    "across_partitions",
    "all_shards",
    "clone",
    "count",
    "entities",
    "exists",
    "explain",
    "filter",
    "first",
    "into_iter",
    "latest",
    "page",
    "rev",
    "select",
    "shard",
    "top",
    "views",
];

/// The first character that no key may hold.
pub(super) fn forbidden_in_keys(text: &str) -> Option<char> {
    text.chars().find(|c| matches!(c, '/' | '\\' | '#' | '?' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'))
}

/// A character as a message shows it.
pub(super) fn shown(c: char) -> String {
    if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
}

/// How many UTF-16 units the text takes.
pub(super) fn utf16_units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Whether the service takes the name for a property: an identifier of C# and a name of XML.
pub(super) fn is_property(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_property) && chars.all(continues_property)
}

fn starts_property(c: char) -> bool {
    c == '_'
        || if c.is_ascii() {
            c.is_ascii_alphabetic()
        } else {
            is_letter(c.general_category()) && in_xml_name(c)
        }
}

fn continues_property(c: char) -> bool {
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

#[cfg(test)]
mod tests {
    use table_core::{ErrorKind, Query};

    use super::is_property;

    /// Whether the store takes the name.
    fn is_taken(name: &str) -> bool {
        match Query::new().select([name]).explain() {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::PropertyNameInvalid, "{error}");
                false
            }
        }
    }

    #[test]
    fn the_macros_and_the_store_take_the_same_names() {
        let mut taken = [0; 2];
        for c in '\0'..=char::MAX {
            for (count, name) in taken.iter_mut().zip([format!("{c}"), format!("a{c}")]) {
                assert_eq!(is_property(&name), is_taken(&name), "{name:?}");
                *count += u32::from(is_property(&name));
            }
        }
        // Letters of all scripts; and marks, digits, connectors and formatting characters besides.
        let [first, later] = taken;
        assert!(first > 140_000 && later > first + 3_000, "{first} {later}");
        for name in ["", "a b", "_", "1", "größe", "名前\u{301}"] {
            assert_eq!(is_property(name), is_taken(name), "{name:?}");
        }
    }
}
