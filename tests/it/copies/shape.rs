//! What a kind of entity must say of itself to be tested: its rows, written out by hand.

use std::fmt::Debug;

use integration_tests::random::Random;
use table_core::typed::InOneTable;
use table_core::{DynamicEntity, ErrorKind, Key, Partition, Patch, Table, Value};

/// A kind of entity with its rows as the declaration means them.
pub(super) trait Shape: InOneTable + Clone + PartialEq + Debug {
    /// The properties that are stored sealed.
    const SEALED: &'static [&'static str] = &[];

    /// Any entity, out of few enough that keys and unique values come again.
    fn random(random: &mut Random) -> Self;

    /// The key of its partition.
    fn partition_key(&self) -> String;

    /// The key of its own row.
    fn row_key(&self) -> String;

    /// Its rows, its own first; or why a value of it can't stand in a key.
    fn rows(&self) -> Result<Vec<Row>, ErrorKind>;

    /// Its typed key.
    fn key(&self) -> Key<Self>;

    /// Its typed partition.
    fn partition(&self) -> Partition<Self>;

    /// Takes over the fields of another's partition key.
    fn set_partition(&mut self, other: &Self);

    /// Takes over the fields of another's row key.
    fn set_row(&mut self, other: &Self);

    /// Takes over what must be unique.
    fn set_unique(&mut self, other: &Self);

    /// Takes over those of another's remaining fields that the mask names.
    fn set(&mut self, other: &Self, mask: u64);

    /// The patch that does the same.
    fn patch(other: &Self, mask: u64) -> Patch<Self>;

    /// Reads and queries find what the entities say.
    fn find(table: &Table<Self>, entities: &[&Self], random: &mut Random);
}

/// A row that an entity implies.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) key: String,
    /// Whether no other entity may have it.
    pub(super) is_unique: bool,
    pub(super) properties: Vec<(&'static str, Value)>,
}

impl Row {
    pub(super) fn new(kind: &str, key: String) -> Self {
        Self { key, is_unique: false, properties: vec![("EntityType", kind.into())] }
    }

    pub(super) fn unique(kind: &str, key: String) -> Self {
        Self { is_unique: true, ..Self::new(kind, key) }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.properties.push((name, value.into()));
        self
    }

    pub(super) fn maybe(self, name: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The row as a scan finds it.
    pub(super) fn stored(&self, partition: &str) -> DynamicEntity {
        self.properties.iter().fold(DynamicEntity::new(partition, &self.key), |row, (name, value)| {
            row.with(name, value.clone())
        })
    }
}

/// What may stand in a key: separators, what is escaped, prefixes of each other, nothing, astral characters.
pub(super) const TEXTS: [&str; 9] =
    ["", "a", "a!", "a_b", "a/b#?", "ab", "\u{1f600}", "\u{e000}", "film_0001"];

pub(super) fn text(random: &mut Random) -> String {
    TEXTS[random.below(9) as usize].to_owned()
}

/// `{s:escaped}` of these texts, written out by hand.
pub(super) fn escaped(text: &str) -> String {
    let one = |c| match c {
        '!' => "$21".to_owned(),
        '#' => "$23".to_owned(),
        '/' => ".1".to_owned(),
        '?' => ">1".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

/// A list of texts that need no JSON escapes.
pub(super) fn json<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    format!("[{}]", texts.into_iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(","))
}
