//! Declarations as a derive writes them: entities, their keys and their copies, as constants that all else interprets.
//!
//! Nothing here does I/O or knows a user's type. The derive writes a [`Schema`] as a constant; non-generic functions
//! print and parse keys by it, plan writes by it and draw it.
//!
//! Declarations are made by `const` functions, so that they can grow: a new capability is a new method, and code that was
//! generated before stands as it is. No struct here can be written out elsewhere, and no `match` on an enum is complete.
//!
//! ```
//! use table_core::schema::{
//!     Field, FieldPart, Index, KeyPart, Part, Place, Property, Schema, Template,
//! };
//!
//! const FIELDS: &[Field] = &[String::FIELD.named("team", "Team"), u32::FIELD.named("id", "Id")];
//! const TEAM: &[Part] = &[Part::Field(FieldPart::new(0, String::KEY, ""))];
//! const ID: &[Part] = &[Part::Field(FieldPart::new(1, u32::KEY, ""))];
//! const ROW: Place = Place::new("Club", Template::new("{team}", TEAM), Template::new("{id}", ID));
//! const BY_TEAM: Place = ROW.beside(Template::new("{team}", TEAM));
//! const MEMBER: Schema = Schema::new(["Member", "member"], FIELDS, &[ROW])
//!     .indexes(&[Index::new("by_team", "member.by_team", BY_TEAM).unique()]);
//! assert_eq!((MEMBER.version, MEMBER.signed, MEMBER.indexes.len()), (1, false, 1));
//! ```

mod absent;
#[doc(hidden)]
pub mod checks;
mod column_type;
mod copied_fields;
mod cost;
mod countable;
mod encrypted;
mod field;
mod format;
mod held;
mod index;
mod index_states;
mod key_error;
mod key_field;
mod keys;
mod layout;
mod list;
mod message;
mod periods;
mod picture;
mod place;
mod properties;
mod reads;
mod series;
mod signing;
mod summary;
mod template;
mod value;
mod version;
mod wide;

#[doc(hidden)]
pub use absent::{Absent, value as absent_value};
#[doc(hidden)]
pub use column_type::ColumnType;
#[doc(hidden)]
pub use copied_fields::{ByDependent, ByProjection, CopiedInto};
pub use copied_fields::{CopiedFields, Kin};
pub use cost::{Basis, ChangeCost, Cost, RowCost, Usage, Values};
pub use countable::Countable;
pub(crate) use countable::added;
#[doc(hidden)]
pub use encrypted::TOKEN_BYTES;
pub(crate) use encrypted::token_text;
pub use encrypted::{Blind, KeyScope, TokenScope};
pub use field::Field;
pub(crate) use format::bounds::{
    Edge, Fixed, KeySpan, Next, PrintedRange, keys_of, print_known, print_range, unoffered,
};
pub use format::charset::CharSet;
pub use format::escape::{escape, unescape};
#[doc(hidden)]
pub use format::fold::fold_char;
pub(crate) use format::key_type::edm;
pub use format::key_type::{Format, KeyElements, KeyPart, KeyType, KeyTypeOf};
#[doc(hidden)]
pub use format::parse::parse_parts;
pub(crate) use format::parse::{
    head_of, parse, parse_bytes, parse_field, parse_head, parse_plain_field, parse_rest,
};
#[cfg(feature = "access")]
pub(crate) use format::print::print_start;
pub(crate) use format::print::{KEY_BYTES, into_text, print, print_all, try_print_parts};
#[doc(hidden)]
pub use format::print::{KeyValues, print_parts};
pub(crate) use held::holds;
pub use index::{Arrival, Copies, Index};
#[doc(hidden)]
pub use index_states::{
    Blocked, IndexEvent, IndexMask, IndexState, IndexStates, KindEvent, KindState, Refusal, Rows, Unread,
    index_mask, rows, unread,
};
pub(crate) use key_error::KeyError;
pub use key_field::KeyField;
pub(crate) use keys::{KeyPair, as_keys, fields, gives_back, has_same_key, keys, own_keys, print_keys};
pub(crate) use layout::{
    Differences, Obstacle, advice, differences_in, forgotten, kinds_that_meet, layout, same_keys, takes,
    united,
};
#[doc(hidden)]
pub use layout::{
    Layout, LayoutIndex, LayoutKey, LayoutProperty, LayoutRows, Outdated, both_names, outdated, same_index,
    without_copies,
};
pub use list::List;
pub(crate) use list::SEPARATOR as LIST_SEPARATOR;
pub use periods::{Period, PeriodTables};
pub use picture::Markdown;
pub use place::{Place, TableTemplate};
pub(crate) use reads::knows_json;
#[doc(hidden)]
pub use reads::{Reads, ReadsOf};
pub use series::{Series, Slot};
#[doc(hidden)]
pub use series::{slot_fields, slot_names, slot_properties};
pub(crate) use signing::RowTag;
pub use summary::{Sum, SumOf, Summary};
#[doc(hidden)]
pub use summary::{SummarizedIn, Summarizing, SummaryOf, source_field};
pub(crate) use table_words::format::{BLIND_DIGITS, shard_digits};
pub use table_words::picture::{
    AccessClass, AccessPattern, Design, DesignKey, DesignRow, FieldPiece, Form, Held, KeyPiece, RowRole,
    UnknownForm,
};
pub use table_words::{TimeItem, TimePattern};
pub use template::{FieldPart, FieldPartOf, Part, PartOf, Template};
pub(crate) use value::FastPath;
#[doc(hidden)]
pub use value::{Content, Take};
pub use value::{Property, PropertyValue, ValueError};
pub(crate) use version::{Kinship, kind_of};
#[doc(hidden)]
pub use version::{RowKinds, other_version};
pub use wide::fields_in_part;
pub(crate) use wide::part_suffix;
#[doc(hidden)]
pub use wide::{head_key, part_key};

use crate::model::Value;

#[cfg(test)]
mod tests;

/// An entity as it was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// The name of the struct.
    pub entity: &'static str,
    /// Its kind, which is the same in every version.
    pub kind: &'static str,
    /// Its type tag: the text of `EntityType` on its rows, the kind and from version 2 on the version, `employee@2`.
    pub entity_type: &'static str,
    /// The version of its layout.
    pub version: u32,
    /// The version before, of which rows are read as well.
    pub previous: Option<&'static Self>,
    /// Properties that rows may still have and that are to go.
    pub removed: &'static [&'static str],
    /// Whether every row of it carries a keyed digest.
    pub signed: bool,
    /// Every field, in order.
    pub fields: &'static [Field],
    /// The places of its own rows: first that of its head, the row with its key, and then those of its parts, if it is wide.
    pub places: &'static [Place],
    /// The texts of `EntityType` on the rows of its parts.
    pub parts: &'static [&'static str],
    /// The copies under other keys.
    pub indexes: &'static [Index],
    /// The name of the struct that it is a summary of: its rows are written by changes of that one's entities alone.
    pub summary_of: Option<&'static str>,
    /// The copies of other entities' fields that it holds.
    pub copied: &'static [CopiedFields],
    /// The kinds of the entities that hold copies of it.
    pub dependents: &'static [&'static str],
    /// The declarations of those.
    #[doc(hidden)]
    pub kin: Kin,
}

impl Schema {
    /// Makes an entity of version 1: the names of its struct and its kind, its fields, and where its own rows lie.
    #[must_use]
    pub const fn new(
        [entity, kind]: [&'static str; 2],
        fields: &'static [Field],
        places: &'static [Place],
    ) -> Self {
        Self {
            entity,
            kind,
            entity_type: kind,
            version: 1,
            previous: None,
            removed: &[],
            signed: false,
            fields,
            places,
            parts: &[],
            indexes: &[],
            summary_of: None,
            copied: &[],
            dependents: &[],
            kin: Kin::NONE,
        }
    }

    /// Returns the entity as one that has parts: the rest of its [places](Self::places) are of rows with these texts of
    /// `EntityType`.
    #[must_use]
    pub const fn parts(mut self, parts: &'static [&'static str]) -> Self {
        self.parts = parts;
        self
    }

    /// Returns the entity with these copies.
    #[must_use]
    pub const fn indexes(mut self, indexes: &'static [Index]) -> Self {
        self.indexes = indexes;
        self
    }

    /// Returns the entity as one whose rows are a summary of the entities of the struct of this name.
    #[must_use]
    pub const fn summary_of(mut self, source: &'static str) -> Self {
        self.summary_of = Some(source);
        self
    }

    /// Returns the entity in this version of its layout.
    #[must_use]
    pub const fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// Returns the entity with this text on its rows, which says the version.
    #[must_use]
    pub const fn entity_type(mut self, entity_type: &'static str) -> Self {
        self.entity_type = entity_type;
        self
    }

    /// Returns the entity as one that is also read from rows of the version before.
    #[must_use]
    pub const fn from_previous(mut self, previous: &'static Self) -> Self {
        self.previous = Some(previous);
        self
    }

    /// Returns the entity as one whose rows may still have these properties, which are to go.
    #[must_use]
    pub const fn removed(mut self, properties: &'static [&'static str]) -> Self {
        self.removed = properties;
        self
    }

    /// Returns the entity as one each row of which carries a keyed digest.
    #[must_use]
    pub const fn signed(mut self) -> Self {
        self.signed = true;
        self
    }

    /// Returns where the row with the entity's key lies.
    #[must_use]
    pub const fn place(&self) -> &'static Place {
        match self.places {
            [place, ..] => place,
            [] => &Place::NOWHERE,
        }
    }

    /// Returns the table of that row, as it is declared.
    #[doc(hidden)]
    pub const fn table(&self) -> &'static str {
        self.place().table.source()
    }

    /// Returns whether each row that comes of an entity is its own, and lies in its partition of the table that this schema
    /// names.
    pub(crate) fn stays_in_place(&self) -> bool {
        let stays = |index: &Index| !index.is_elsewhere() && !index.is_shared();
        self.periods().is_none() && self.indexes.iter().all(stays)
    }

    /// Returns whether it has an index in which some of its entities have no copy.
    pub(crate) fn has_sparse(&self) -> bool {
        self.indexes.iter().any(|index| index.sparse)
    }

    /// Returns the other tables in which copies of it lie, each once.
    #[doc(hidden)]
    pub fn other_tables(&self) -> impl Iterator<Item = &'static str> {
        let of = |at: usize| {
            self.indexes.get(at).filter(|index| index.is_elsewhere()).map(|index| index.place.table.source())
        };
        let is_other = move |(at, table): &(usize, &'static str)| {
            !table.eq_ignore_ascii_case(self.table())
                && (0..*at).filter_map(of).all(|before| !before.eq_ignore_ascii_case(table))
        };
        (0..self.indexes.len())
            .filter_map(move |at| Some((at, of(at)?)))
            .filter(is_other)
            .map(|(_, table)| table)
    }

    /// Returns whether some of its copies follow its changes.
    pub(crate) const fn has_eventual(&self) -> bool {
        let mut indexes = self.indexes;
        while let [index, rest @ ..] = indexes {
            if index.is_eventual() {
                return true;
            }
            indexes = rest;
        }
        false
    }

    /// Returns whether the copies in the index at this place follow its changes.
    #[expect(clippy::indexing_slicing, reason = "an index that isn't there stops the compiler")]
    pub(crate) const fn is_eventual(&self, index: usize) -> bool {
        index < self.indexes.len() && self.indexes[index].is_eventual()
    }

    /// Returns whether it has fields that are sealed.
    #[doc(hidden)]
    pub const fn seals(&self) -> bool {
        let mut fields = self.fields;
        while let [field, rest @ ..] = fields {
            if field.encrypted {
                return true;
            }
            fields = rest;
        }
        false
    }

    /// Returns whether a field of its key is kept in copies under a name that the entity's own row never has: only they tell
    /// whether they were written before the property had its name.
    pub(crate) const fn renames_key(&self) -> bool {
        let (mut fields, mut at) = (self.fields, 0);
        while let [field, rest @ ..] = fields {
            if field.was.is_some() && self.place().gives_back(at) {
                return true;
            }
            fields = rest;
            at += 1;
        }
        false
    }

    /// Returns whether a field has a default that stands for it where a row lacks it.
    pub(crate) fn has_defaults(&self) -> bool {
        self.fields.iter().any(|field| field.absent.is_some())
    }

    /// Returns what stands for a property where a row lacks it.
    pub(crate) fn default_of(&self, property: &str) -> Option<Value> {
        self.fields.iter().find(|field| field.property == property)?.absent?.value()
    }

    /// Returns what stands for a property where a row lacks it; `None` of one that the key says, so that the entity's own row
    /// does not hold it.
    #[inline]
    pub(crate) fn stored_default_of(&self, property: &str) -> Option<Value> {
        let field = self.fields.iter().position(|field| field.property == property)?;
        if self.place().gives_back(field) { None } else { self.default_of(property) }
    }

    /// A place for a declaration.
    pub(crate) const NOTHING: Self = Self::new([""; 2], &[], &[Place::NOWHERE]).version(0);
}
