//! Names that are taken, and what names may hold. What the service demands stands in `table_core::limits` and in its
//! `model::names` too: a macro can't ask them.

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

/// The methods of a table, which a method of an index would not be seen behind.
pub(crate) const TABLE_METHODS: [&str; 35] = [
    "at",
    "batch",
    "bulk",
    "bulk_insert",
    "clone",
    "count",
    "delete",
    "dynamic",
    "egt",
    "explain",
    "get",
    "get_as",
    "get_many",
    "insert",
    "insert_or_merge",
    "insert_or_replace",
    "latest",
    "merge",
    "migrate",
    "move_to",
    "name",
    "page",
    "patch",
    "put",
    "query",
    "relocate",
    "replace",
    "rows",
    "schema",
    "snapshot",
    "store",
    "update",
    "upsert",
    "view",
    "views",
];

/// The methods of a query, which a method of a key's part would collide with.
pub(crate) const QUERY_METHODS: [&str; 15] = [
    "across_partitions",
    "all_shards",
    "clone",
    "count",
    "entities",
    "explain",
    "filter",
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

/// Whether the service takes the name for a property: a letter or `_`, then letters, digits and `_`.
pub(super) fn is_property(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first == '_' || first.is_alphabetic() && in_xml_name(first))
        && chars.all(|c| c == '_' || c.is_alphanumeric() && in_xml_name(c))
}

/// The letters and digits that XML 1.0 allows in a name.
fn in_xml_name(c: char) -> bool {
    c.is_ascii()
        || matches!(c,
            '\u{b7}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{37d}'
            | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{203f}'..='\u{2040}'
            | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
            | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}
