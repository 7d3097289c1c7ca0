//! Designs as pictures: which rows an entity has, under which keys, and what each holds.
//!
//! A [`Design`] is what is drawn. The macro makes one of a declaration as it is written, and the library of a schema or of a
//! layout that a store has noted, so that all of them are drawn alike. A [`Form`] is how it is drawn.
//!
//! ```
//! use table_words::picture::{Design, DesignKey, DesignRow, Form, Held, RowRole};
//!
//! let key = |text| DesignKey::new().field(text, "");
//! let row = DesignRow::new(RowRole::Entity, "key", "employee", [key("department"), key("id")]);
//! let design = Design::new("employee", "Company").with(row.holding([Held::new("Age", "Int32")]));
//! assert_eq!(
//!     design.drawn(Form::Text),
//!     "\
//! employee in table Company
//! Row       PartitionKey  RowKey  Properties
//! employee  {department}  {id}    Age: Int32"
//! );
//! ```

mod access;
mod form;
mod json;
mod key;
mod markdown;
mod mermaid;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use std::fmt::{self, Write as _};

pub use access::{AccessClass, AccessPattern};
pub use form::{Form, UnknownForm};
pub use key::{DesignKey, FieldPiece, KeyPiece};

/// A kind of entity as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Design {
    /// The name of the struct. What a store has noted of a kind has none.
    pub entity: Option<String>,
    /// The kind, which every version of the entity has.
    pub kind: String,
    /// The version of its layout.
    pub version: u32,
    /// Its table; of tables for periods, the template.
    pub table: String,
    /// Whether it has a table for each period.
    pub in_periods: bool,
    /// Its rows: its own, and then those of each index.
    pub rows: Vec<DesignRow>,
}

/// One kind of row of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DesignRow {
    /// What it is to the entity.
    pub role: RowRole,
    /// The name of the index; of the entity's own rows `key`.
    pub name: String,
    /// What its key is made by, where that is not called as the index is; of a summary, the name of its struct.
    pub function: Option<String>,
    /// The text of `EntityType` on it.
    pub kind: String,
    /// Its table, if it is not the entity's.
    pub table: Option<String>,
    /// What else is to be said of it: `unique`, `eventual`.
    pub words: Vec<String>,
    /// Its partition key.
    pub partition: DesignKey,
    /// Its row key.
    pub row: DesignKey,
    /// What it holds besides its keys.
    pub holds: Vec<Held>,
}

/// What a row is to its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowRole {
    /// It is the entity; of a wide one, its head.
    Entity,
    /// It is a part of a wide entity, counted from 1.
    Part(usize),
    /// It is a copy under another key.
    Copy,
    /// It lists the entities of one value.
    List,
    /// It counts the entities of one value, or adds up what they hold.
    Summary,
}

/// What a row holds under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Held {
    /// The property.
    pub name: String,
    /// What it is: `Int32`, `encrypted String?`.
    pub what: String,
}

impl Design {
    /// Makes a design of a kind in a table, without rows, of version 1.
    #[must_use]
    pub fn new(kind: impl Into<String>, table: impl Into<String>) -> Self {
        Self {
            entity: None,
            kind: kind.into(),
            version: 1,
            table: table.into(),
            in_periods: false,
            rows: Vec::new(),
        }
    }

    /// Returns the design as one of a struct of this name.
    #[must_use]
    pub fn of(mut self, entity: impl Into<String>) -> Self {
        self.entity = Some(entity.into());
        self
    }

    /// Returns the design with a further row.
    #[must_use]
    pub fn with(mut self, row: DesignRow) -> Self {
        self.rows.push(row);
        self
    }

    /// Returns the picture of the design.
    #[must_use]
    pub fn drawn(&self, form: Form) -> String {
        match form {
            Form::Text => text::draw(self),
            Form::Markdown => markdown::draw(self),
            Form::Mermaid => mermaid::draw(self),
            Form::Json => json::draw(self),
            Form::Svg => svg::draw(self, svg::Place::File),
        }
    }

    /// Returns the picture as SVG to stand inside of a page: its text has the page's colour, light or dark.
    #[must_use]
    pub fn inline_svg(&self) -> String {
        svg::draw(self, svg::Place::Page)
    }

    /// Returns the ways to its entities that it answers without a filter: one for each key, and for each part of a key.
    #[must_use]
    pub fn access_patterns(&self) -> Vec<AccessPattern> {
        access::patterns(self)
    }

    /// Returns the ways to its entities as a table of Markdown.
    #[must_use]
    pub fn access_markdown(&self) -> String {
        markdown::draw_access(self)
    }

    /// Returns the ways to its entities as a table of text.
    #[must_use]
    pub fn access_text(&self) -> String {
        text::draw_access(self)
    }

    /// Returns the name of the struct, or the kind where there is none.
    #[must_use]
    pub fn title(&self) -> &str {
        self.entity.as_deref().unwrap_or(&self.kind)
    }

    /// Returns how many rows one of its entities is, without copies.
    fn own_rows(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row.role, RowRole::Entity | RowRole::Part(_))).count()
    }
}

impl DesignRow {
    /// Makes a row of a name and a kind under these keys, the partition's first.
    #[must_use]
    pub fn new(
        role: RowRole,
        name: impl Into<String>,
        kind: impl Into<String>,
        [partition, row]: [DesignKey; 2],
    ) -> Self {
        Self {
            role,
            name: name.into(),
            function: None,
            kind: kind.into(),
            table: None,
            words: Vec::new(),
            partition,
            row,
            holds: Vec::new(),
        }
    }

    /// Returns the row with what it holds.
    #[must_use]
    pub fn holding(mut self, holds: impl IntoIterator<Item = Held>) -> Self {
        self.holds.extend(holds);
        self
    }

    /// Returns its kind, and what is to be said of it: `employee.by_email, unique`.
    fn heading(&self) -> String {
        let mut heading = self.kind.clone();
        if let RowRole::Part(part) = self.role {
            push(&mut heading, format_args!(", part {part}"));
        }
        for word in self.notes() {
            heading.push_str(", ");
            heading.push_str(&word);
        }
        heading
    }

    /// Returns what is to be said of it, its table among it.
    fn notes(&self) -> Vec<String> {
        let role = match self.role {
            RowRole::Summary => Some("summary"),
            RowRole::List => Some("list"),
            RowRole::Entity | RowRole::Part(_) | RowRole::Copy => None,
        };
        let role = role.map(str::to_owned);
        // When a copy comes stands behind where it lies.
        let is_arrival = |word: &&String| *word == "atomic" || *word == "eventual";
        let table = self.table.as_ref().map(|table| format!("in table {table}"));
        let before = self.words.iter().filter(|word| !is_arrival(word)).cloned();
        role.into_iter()
            .chain(before)
            .chain(table)
            .chain(self.words.iter().filter(is_arrival).cloned())
            .collect()
    }

    /// Returns what it holds in a line: `Age: Int32, Email: String?`.
    fn held(&self) -> String {
        let held: Vec<_> = self.holds.iter().map(|held| format!("{}: {}", held.name, held.what)).collect();
        held.join(", ")
    }
}

/// Appends what is formatted; a text takes everything.
fn push(out: &mut String, what: fmt::Arguments<'_>) {
    out.write_fmt(what).unwrap_or_default();
}

impl Held {
    /// Makes what a row holds of a property.
    #[must_use]
    pub fn new(name: impl Into<String>, what: impl Into<String>) -> Self {
        Self { name: name.into(), what: what.into() }
    }
}
