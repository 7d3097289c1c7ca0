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
//!     Field, FieldPart, Format, Index, KeyPart, Part, Place, Property, Schema, Template,
//! };
//!
//! const FIELDS: &[Field] = &[String::FIELD.named("team", "Team"), u32::FIELD.named("id", "Id")];
//! const TEAM: &[Part] = &[Part::Field(FieldPart::new(0, String::KEY, Format::Plain))];
//! const ID: &[Part] = &[Part::Field(FieldPart::new(1, u32::KEY, Format::Plain))];
//! const ROW: Place = Place::new("Club", Template::new("{team}", TEAM), Template::new("{id}", ID));
//! const BY_TEAM: Place = ROW.beside(Template::new("{team}", TEAM));
//! const MEMBER: Schema = Schema::new(["Member", "member"], FIELDS, &[ROW])
//!     .indexes(&[Index::new("by_team", "member.by_team", BY_TEAM).unique()]);
//! assert_eq!((MEMBER.version, MEMBER.signed, MEMBER.indexes.len()), (1, false, 1));
//! ```

mod absent;
mod bounds;
mod charset;
#[doc(hidden)]
pub mod checks;
mod column_type;
mod cost;
mod countable;
mod digits;
mod encrypted;
mod escape;
mod fold;
mod form;
mod held;
mod holder;
mod key_error;
mod key_type;
mod keys;
mod layout;
mod list;
mod lives;
mod message;
mod overlap;
mod parse;
mod periods;
mod picture;
mod place;
mod print;
mod properties;
mod series;
mod signing;
mod summary;
mod value;
mod version;
mod wide;

#[doc(hidden)]
pub use absent::{Absent, value as absent_value};
pub(crate) use bounds::{Edge, Fixed, KeySpan, Next, keys_of, unoffered};
pub use charset::CharSet;
#[doc(hidden)]
pub use column_type::ColumnType;
pub use cost::{Basis, ChangeCost, Cost, RowCost, Usage, Values};
pub use countable::Countable;
pub(crate) use countable::added;
pub use encrypted::{Blind, KeyScope, TokenScope};
pub(crate) use encrypted::{TOKEN_BYTES, token_text};
pub use escape::{escape, unescape};
pub use fold::fold_char;
pub(crate) use held::holds;
#[doc(hidden)]
pub use holder::{CopiedInto, CopyOf};
pub use holder::{HeldCopy, Kin};
pub(crate) use key_error::KeyError;
pub(crate) use key_type::{BLIND_DIGITS, edm, shard_digits};
pub use key_type::{Format, KeyElements, KeyPart, KeyType, TimeItem};
pub(crate) use keys::{KeyPair, fields, gives_back, has_same_key, keys, own_keys, print_keys};
pub(crate) use layout::layout;
pub(crate) use layout::{
    Differences, Outdated, advice, differences_in, forgotten, layout_in, noted_elsewhere, outdated, read,
    same_index, same_keys, takes, united, with_index, with_table_renamed, without_index,
};
pub use list::List;
pub(crate) use list::SEPARATOR as LIST_SEPARATOR;
#[doc(hidden)]
pub use lives::{Blocked, IndexEvent, IndexState, KindEvent, KindState, Lives, Standing};
pub(crate) use lives::{Refusal, Rows, Unread, rows, standing, unread};
pub(crate) use parse::{parse, parse_bytes, parse_field};
pub use periods::{Period, PeriodTables};
pub use picture::Markdown;
pub(crate) use place::meet as places_meet;
pub use place::{Place, TableTemplate};
pub(crate) use print::{KEY_BYTES, KeyValues, into_text, print, print_all};
pub use series::{Series, Slot};
#[doc(hidden)]
pub use series::{slot_fields, slot_names, slot_properties};
pub(crate) use signing::RowTag;
pub use summary::{Sum, SumOf, Summary};
#[doc(hidden)]
pub use summary::{SummarizedIn, Summarizing, SummaryOf, source_field};
pub use value::{Property, PropertyValue, ValueError};
pub(crate) use version::{Kinship, entity_type, kind_of, other_version};
pub use wide::fields_in_part;
pub(crate) use wide::{head_key, part_key, part_suffix};

use self::form::Form;
use crate::model::{EdmType, Value};

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
    pub former: Option<&'static Self>,
    /// Properties that rows may still have and that are to go.
    pub gone: &'static [&'static str],
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
    pub copied: &'static [HeldCopy],
    /// The kinds of the entities that hold copies of it.
    pub holders: &'static [&'static str],
    /// The declarations of those.
    #[doc(hidden)]
    pub kin: Kin,
}

impl Schema {
    /// An entity of version 1: the names of its struct and its kind, its fields, and where its own rows lie.
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
            former: None,
            gone: &[],
            signed: false,
            fields,
            places,
            parts: &[],
            indexes: &[],
            summary_of: None,
            copied: &[],
            holders: &[],
            kin: Kin::NONE,
        }
    }

    /// The same entity, which has parts: the rest of its [places](Self::places) are of rows with these texts of `EntityType`.
    #[must_use]
    pub const fn parts(mut self, parts: &'static [&'static str]) -> Self {
        self.parts = parts;
        self
    }

    /// The same entity with these copies.
    #[must_use]
    pub const fn indexes(mut self, indexes: &'static [Index]) -> Self {
        self.indexes = indexes;
        self
    }

    /// The same, whose rows are a summary of the entities of the struct of this name.
    #[must_use]
    pub const fn summary_of(mut self, source: &'static str) -> Self {
        self.summary_of = Some(source);
        self
    }

    /// The same entity in this version of its layout.
    #[must_use]
    pub const fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// The same entity with this text on its rows, which says the version.
    #[must_use]
    pub const fn entity_type(mut self, entity_type: &'static str) -> Self {
        self.entity_type = entity_type;
        self
    }

    /// The same entity, which is also read from rows of the version before.
    #[must_use]
    pub const fn from_former(mut self, former: &'static Self) -> Self {
        self.former = Some(former);
        self
    }

    /// The same entity, whose rows may still have these properties, which are to go.
    #[must_use]
    pub const fn gone(mut self, properties: &'static [&'static str]) -> Self {
        self.gone = properties;
        self
    }

    /// The same entity, each row of which carries a keyed digest.
    #[must_use]
    pub const fn signed(mut self) -> Self {
        self.signed = true;
        self
    }

    /// Where the row with the entity's key lies.
    #[must_use]
    pub const fn place(&self) -> &'static Place {
        match self.places {
            [place, ..] => place,
            [] => &Place::NOWHERE,
        }
    }

    /// The table of that row, as it is declared.
    pub(crate) const fn table(&self) -> &'static str {
        self.place().table.source()
    }

    /// The other tables in which copies of it lie, each once.
    pub(crate) fn other_tables(&self) -> impl Iterator<Item = &'static str> {
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

    /// Whether some of its copies follow its changes.
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

    /// Whether the copies in the index at this place follow its changes.
    #[expect(clippy::indexing_slicing, reason = "an index that isn't there stops the compiler")]
    pub(crate) const fn is_eventual(&self, index: usize) -> bool {
        index < self.indexes.len() && self.indexes[index].is_eventual()
    }

    /// Whether it has fields that are sealed.
    pub(crate) const fn seals(&self) -> bool {
        let mut fields = self.fields;
        while let [field, rest @ ..] = fields {
            if field.encrypted {
                return true;
            }
            fields = rest;
        }
        false
    }

    /// Whether a field has a default that stands for it where a row lacks it.
    pub(crate) fn has_defaults(&self) -> bool {
        self.fields.iter().any(|field| field.absent.is_some())
    }

    /// What stands for a property where a row lacks it.
    pub(crate) fn default_of(&self, property: &str) -> Option<Value> {
        self.fields.iter().find(|field| field.property == property)?.absent?.value()
    }

    /// The same of a property that the entity's own row holds: its key does not say it.
    pub(crate) fn stored_default_of(&self, property: &str) -> Option<Value> {
        let field = self.fields.iter().position(|field| field.property == property)?;
        if self.place().gives_back(field) { None } else { self.default_of(property) }
    }

    /// A place for a declaration.
    pub(crate) const NOTHING: Self = Self::new([""; 2], &[], &[Place::NOWHERE]).version(0);
}

/// A field of an entity.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a word of the declaration, or of the field's type"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in the struct.
    pub name: &'static str,
    /// The property's name in the store.
    pub property: &'static str,
    /// The type of the property.
    pub edm: EdmType,
    /// Whether it may be absent.
    pub optional: bool,
    /// Whether the store holds it sealed: `#[encrypt]`. Its rows have Edm.Binary then, whatever `edm` says of what
    /// is sealed.
    pub encrypted: bool,
    /// Whether rows may still hold it plain, as they did before it was sealed: `#[encrypt(dual)]`. It is written sealed.
    pub dual: bool,
    /// The scope whose key seals it.
    pub scope: KeyScope,
    /// Whether it can be looked up by a token.
    pub blind: Option<Blind>,
    /// Whether every value of it is read as it was written: none is floored, or kept as other text.
    pub exact: bool,
    /// Whether its type hides it from `Debug`.
    pub secret: bool,
    /// Whether its type refers to blobs.
    #[doc(hidden)]
    pub blob: bool,
    /// How rows hold it, as long as it is plain.
    #[doc(hidden)]
    pub column: ColumnType,
    /// What stands for it where a row lacks it.
    #[doc(hidden)]
    pub absent: Option<Absent>,
    /// What its property was called: rows may still have it under this name. It is written under the other.
    pub was: Option<&'static str>,
    /// The slot of a series that it is, if it is one.
    pub series: Option<Slot>,
    /// Which of a wide entity's own rows holds it: 0 is the head.
    pub part: usize,
}

impl Field {
    /// A field that is stored as it is, for declarations to complete.
    pub const PLAIN: Self = Self {
        name: "",
        property: "",
        edm: EdmType::String,
        optional: false,
        encrypted: false,
        dual: false,
        scope: KeyScope::Store,
        blind: None,
        exact: false,
        secret: false,
        blob: false,
        column: ColumnType::Text,
        absent: None,
        was: None,
        series: None,
        part: 0,
    };

    /// The same field with a name in the struct and one in the store.
    #[must_use]
    pub const fn named(mut self, name: &'static str, property: &'static str) -> Self {
        self.name = name;
        self.property = property;
        self
    }

    /// The same field, held by this one of a wide entity's own rows.
    #[must_use]
    pub const fn in_part(mut self, part: usize) -> Self {
        self.part = part;
        self
    }

    /// The same field, which may be absent.
    #[must_use]
    pub const fn or_default(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The same field, which rows may still have under this name.
    #[must_use]
    pub const fn was(mut self, property: &'static str) -> Self {
        self.was = Some(property);
        self
    }

    /// The same field, which may be absent; its type's default stands for it then.
    #[must_use]
    pub const fn or_default_of<T: Property + Default>(self) -> Self {
        self.or(absent::of_type::<T>)
    }

    /// The same field, which may be absent; this value stands for it then.
    #[must_use]
    pub const fn or(mut self, value: fn() -> Option<Value>) -> Self {
        self.optional = true;
        self.absent = Some(Absent::new(value));
        self
    }

    /// The same field, sealed under the store's key.
    #[must_use]
    #[track_caller]
    pub const fn sealed(mut self) -> Self {
        if self.blob {
            checks::sealed_blob(self.name);
        }
        self.encrypted = true;
        self
    }

    /// The same field, sealed under the keys of this scope.
    #[must_use]
    pub const fn scoped(mut self, scope: KeyScope) -> Self {
        self.scope = scope;
        self
    }

    /// The same field, which rows may still hold plain.
    #[must_use]
    pub const fn dual(mut self) -> Self {
        self.dual = true;
        self
    }

    /// The same field, which can be looked up by a token in this property.
    #[must_use]
    pub const fn blind(mut self, property: &'static str, tokens: TokenScope) -> Self {
        self.blind = Some(Blind { property, tokens });
        self
    }

    /// Whether all of these fields are read as they were written.
    pub(crate) const fn are_exact(mut fields: &[Self]) -> bool {
        while let [field, rest @ ..] = fields {
            if !field.exact {
                return false;
            }
            fields = rest;
        }
        true
    }
}

/// A key template: what its parts print, one after another, is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Template {
    /// The template as declared.
    pub source: &'static str,
    /// Its parts.
    pub parts: &'static [Part],
}

impl Template {
    /// A template as declared, and its parts.
    #[must_use]
    pub const fn new(source: &'static str, parts: &'static [Part]) -> Self {
        Self { source, parts }
    }
}

/// A part of a key template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text that stands for itself.
    Literal(&'static str),
    /// A field.
    Field(FieldPart),
}

/// A field in a key template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldPart {
    /// Its place among [`Schema::fields`].
    pub field: usize,
    /// Its type, as far as keys go: `<T as KeyPart>::KEY`.
    pub key: KeyType,
    /// How it is printed.
    pub format: Format,
    /// Written `{v[]}`: a row for each element.
    pub each: bool,
    /// The version of what its type prints: `<T as KeyPart>::VERSION`.
    pub version: u32,
    /// The bytes that it prints, if their number doesn't vary.
    width: Option<usize>,
    /// How it is read.
    form: Form,
}

impl FieldPart {
    /// A field that is printed once.
    #[must_use]
    pub const fn new(field: usize, key: KeyType, format: Format) -> Self {
        Self {
            field,
            key,
            format,
            each: false,
            version: 1,
            width: key_type::width(key, format),
            form: Form::of(key, format),
        }
    }

    /// A field of which each element has a row.
    #[must_use]
    pub const fn each(field: usize, key: KeyType, format: Format) -> Self {
        Self { each: true, ..Self::new(field, key, format) }
    }

    /// The same field, whose type prints in this version.
    #[must_use]
    pub const fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// The same field, printed so.
    pub(crate) const fn printed(&self, format: Format) -> Self {
        Self { each: self.each, version: self.version, ..Self::new(self.field, self.key, format) }
    }

    /// Whether the key gives the value back.
    pub(crate) fn is_lossless(&self) -> bool {
        key_type::is_lossless(self.format) && !self.each
    }
}

/// A copy of an entity under another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Index {
    /// The index's name: `by_email`.
    pub name: &'static str,
    /// The text of `EntityType` on its rows: `employee.by_email`.
    pub kind: &'static str,
    /// Where its rows lie.
    pub place: Place,
    /// Whether a second entity with the same key is refused.
    pub unique: bool,
    /// What a row of it holds.
    pub copies: Copies,
    /// Whether a function of the entity says if it has a row at all.
    pub sparse: bool,
    /// The version of that function.
    pub when_version: u32,
    /// When its rows come, if they lie in another partition than the entity or in another table. In the entity's
    /// partition they come with the entity.
    pub arrival: Option<Arrival>,
    /// What its rows hold if they are no copies, but those of a summary.
    pub summary: Option<Summary>,
    /// What they hold if they are lists of entities.
    pub list: Option<List>,
}

/// When the rows of an index come that lie elsewhere than their entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arrival {
    /// With the entity's change, in one transaction.
    Atomic,
    /// Later: the entity's change leaves a note that its copies are to follow.
    Eventual,
}

impl Index {
    /// An index of whole copies: its name, the kind of its rows, and where they lie.
    #[must_use]
    pub const fn new(name: &'static str, kind: &'static str, place: Place) -> Self {
        Self {
            name,
            kind,
            place,
            unique: false,
            copies: Copies::All,
            sparse: false,
            when_version: 1,
            arrival: None,
            summary: None,
            list: None,
        }
    }

    /// The same index, which refuses a second entity with the same key.
    #[must_use]
    pub const fn unique(mut self) -> Self {
        self.unique = true;
        self
    }

    /// The same index, whose rows hold this.
    #[must_use]
    pub const fn copies(mut self, copies: Copies) -> Self {
        self.copies = copies;
        self
    }

    /// The same index, in which a function of the entity says if it has a row.
    #[must_use]
    pub const fn sparse(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// The same index, whose function is of this version.
    #[must_use]
    pub const fn when_version(mut self, version: u32) -> Self {
        self.when_version = version;
        self
    }

    /// The same index, which lies elsewhere than its entities: its rows come in the transaction of their change.
    #[must_use]
    pub const fn atomic(mut self) -> Self {
        self.arrival = Some(Arrival::Atomic);
        self
    }

    /// The rows of a summary, to which the entities add.
    #[must_use]
    pub const fn summary(mut self, summary: Summary) -> Self {
        self.copies = Copies::Keys;
        self.summary = Some(summary);
        self
    }

    /// Rows that list the entities.
    #[must_use]
    pub const fn list(mut self, list: List) -> Self {
        self.copies = Copies::Keys;
        self.list = Some(list);
        self
    }

    /// The same index, which lies elsewhere than its entities: its rows follow their change.
    #[must_use]
    pub const fn eventual(mut self) -> Self {
        self.arrival = Some(Arrival::Eventual);
        self
    }

    /// Whether its rows follow the change of their entities.
    pub(crate) const fn is_eventual(&self) -> bool {
        matches!(self.arrival, Some(Arrival::Eventual))
    }

    /// Whether its rows lie in another partition than their entities, or in another table.
    pub(crate) const fn is_elsewhere(&self) -> bool {
        self.arrival.is_some()
    }
}

/// What a row of an index holds besides its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Copies {
    /// Every property.
    All,
    /// What leads back to the entity.
    Keys,
    /// That, and these fields.
    Some(&'static [usize]),
}
