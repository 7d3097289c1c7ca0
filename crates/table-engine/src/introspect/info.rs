//! A kind as it is noted in a table.

use std::fmt;

use super::keys::KindKeys;
use crate::error::{Error, ErrorKind, Result};
use crate::model::EdmType;
use crate::schema::{
    AccessPattern, Design, IndexState, IndexStates, KindState, Layout, LayoutIndex, LayoutProperty, Schema,
};

/// What a table has noted of a kind of entities.
#[derive(Clone, Debug)]
pub struct KindInfo {
    table: String,
    pub(crate) layout: Layout,
    /// `None` of a store that keeps no states.
    states: Option<IndexStates>,
}

/// A property of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PropertyInfo {
    /// Its name.
    pub name: String,
    /// The type of its values, sealed or not.
    pub edm: EdmType,
    /// Whether rows may lack it.
    pub optional: bool,
    /// Whether rows hold it sealed.
    pub encrypted: bool,
    /// The property that holds the tokens by which it is looked up, if it has any.
    pub token: Option<String>,
    /// The part of a wide entity that holds it; 0 is the head.
    pub part: usize,
    /// The name that rows may still have it under.
    pub was: Option<String>,
}

/// An index of a kind.
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the declaration")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexInfo {
    /// Its name: `by_email`.
    pub name: String,
    /// The text of `EntityType` on its rows.
    pub entity_type: String,
    /// The table where its rows lie.
    pub table: String,
    /// Whether a second entity with the same key is refused.
    pub unique: bool,
    /// Whether a function of the entity says if it has a row.
    pub sparse: bool,
    /// Whether its rows follow the change of their entities.
    pub eventual: bool,
    /// Whether its rows are no copies, but what many entities give together: those of a summary, or of a list.
    pub shared: bool,
    /// How far it is; `None` where the store keeps no states, so that every index is ready.
    pub condition: Option<IndexCondition>,
}

/// How far an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexCondition {
    /// It is read.
    Ready,
    /// It has not been made.
    Absent,
    /// It is being made.
    Building,
    /// It can't be made: two entities claim one of its keys, as the text says.
    Blocked(String),
    /// Its rows are being removed.
    Dropping,
}

impl KindInfo {
    #[inline]
    pub(crate) fn new(table: &str, layout: Layout, states: Option<IndexStates>) -> Self {
        Self { table: table.to_owned(), layout, states }
    }

    /// Returns what a store notes of a declaration, in its own table.
    #[inline]
    pub fn of(schema: &Schema) -> Self {
        Self::new(schema.table(), Layout::of(schema), None)
    }

    /// Returns the table where it is noted.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Returns the table where its entities lie: another one where the table where it is noted has copies alone.
    pub fn entities_table(&self) -> &str {
        if self.layout.table().is_empty() { &self.table } else { self.layout.table() }
    }

    /// Returns whether its entities lie in the table where it is noted.
    pub fn lies_here(&self) -> bool {
        self.entities_table().eq_ignore_ascii_case(&self.table)
    }

    /// Returns the name of the kind.
    pub fn kind(&self) -> &str {
        &self.layout.kind
    }

    /// Returns the version of the layout.
    pub fn version(&self) -> u32 {
        self.layout.version()
    }

    /// Returns the text of `EntityType` on the entities' own rows.
    pub fn entity_type(&self) -> String {
        self.layout.entity_type()
    }

    /// Returns whether each row carries a keyed digest.
    pub fn is_signed(&self) -> bool {
        self.layout.is_signed()
    }

    /// Returns the previous version that some rows may still have; `None` if all are of this one.
    pub fn converting_from(&self) -> Option<u32> {
        match self.states.as_ref()?.kind {
            KindState::Stable => None,
            KindState::Converting { from } | KindState::Stopped { from, .. } => Some(from),
        }
    }

    /// Returns the layout as the text that is noted, a line for each thing that rows depend on.
    pub fn layout(&self) -> String {
        self.layout.to_string()
    }

    /// Returns its properties, those of series among them, in the order of the declaration.
    #[inline]
    pub fn properties(&self) -> Vec<PropertyInfo> {
        let info = |property: &LayoutProperty| PropertyInfo {
            name: property.name.clone(),
            edm: property.edm,
            optional: property.optional,
            encrypted: property.sealed.is_some(),
            token: property.token(),
            part: property.part,
            was: property.was.clone(),
        };
        self.layout.properties.iter().map(info).collect()
    }

    /// Returns its indexes, in the order of the declaration.
    #[inline]
    pub fn indexes(&self) -> Vec<IndexInfo> {
        self.layout.indexes().map(|index| self.index_info(index)).collect()
    }

    fn index_info(&self, index: &LayoutIndex) -> IndexInfo {
        let state = self.states.as_ref().map(|states| states.index(&self.layout, &index.name));
        IndexInfo {
            name: index.name.clone(),
            entity_type: self.layout.index_kind(index),
            table: self.layout.table_of(index).unwrap_or_else(|| self.entities_table()).to_owned(),
            unique: index.unique,
            sparse: index.sparse,
            eventual: index.is_eventual(),
            shared: index.is_shared(),
            condition: state.map(IndexCondition::of),
        }
    }

    /// Returns the design, to be drawn.
    #[inline]
    pub fn design(&self) -> Design {
        self.layout.design(&self.table)
    }

    /// Returns the ways to its entities that need no filter.
    #[inline]
    pub fn access_patterns(&self) -> Vec<AccessPattern> {
        self.design().access_patterns()
    }

    /// Returns what prints and reads the keys of its entities, or those of an index.
    ///
    /// An index that it has not is [`InvalidKey`](ErrorKind::InvalidKey), with the names of those that it has.
    #[inline]
    pub fn keys(&self, index: Option<&str>) -> Result<KindKeys<'_>> {
        let Some(name) = index else { return Ok(KindKeys::new(self, None)) };
        if let Some(found) = self.layout.index(name) {
            return Ok(KindKeys::new(self, Some(found)));
        }
        let known: Vec<_> = self.layout.indexes().map(|index| format!("`{}`", index.name)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let because = format!("`{}` has no index `{name}`; it has {known}", self.kind());
        let error = Error::new(ErrorKind::InvalidKey).because(because);
        Err(error.attempted("make a key for").table(&self.table))
    }
}

impl IndexCondition {
    fn of(state: IndexState) -> Self {
        match state {
            IndexState::Ready { .. } => Self::Ready,
            IndexState::Absent => Self::Absent,
            IndexState::Purge | IndexState::Backfill => Self::Building,
            IndexState::Blocked(by) => Self::Blocked(by.to_string()),
            IndexState::Dropping => Self::Dropping,
        }
    }
}

impl fmt::Display for IndexCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "ready",
            Self::Absent => "not made",
            Self::Building => "being made",
            Self::Blocked(by) => return write!(f, "blocked: {by}"),
            Self::Dropping => "being dropped",
        })
    }
}
