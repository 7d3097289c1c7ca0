//! A schema as the tables of the design guide draw it: the entity, and each copy of it.
//!
//! A line for each kind of row: the templates of its keys, and what it holds besides them. What draws it is in `table-words`,
//! since the derive draws the same picture for rustdoc.

use std::fmt;

use table_words::picture::{
    AccessPattern, Design, DesignKey, DesignRow, FieldPiece, Form, Held, KeyPiece, RowRole,
};

use super::layout::Sealed;
use super::{
    Arrival, Field, FieldPart, Index, List, Part, Place, Schema, SumOf, Summary, Template, fields, holds,
};

/// A schema as a table of Markdown. Made by [`Schema::markdown`].
#[derive(Clone, Copy, Debug)]
pub struct Markdown<'a>(&'a Schema);

impl Schema {
    /// Returns the schema as a table of Markdown, for documents.
    pub fn markdown(&self) -> Markdown<'_> {
        Markdown(self)
    }

    /// Returns the ways to its entities that need no filter: by each key, and by each part of a key.
    ///
    /// ```
    /// # use table_core::Entity;
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee {
    /// #     department: String,
    /// #     id: u32,
    /// # }
    /// let patterns = Employee::SCHEMA.access_patterns();
    /// let calls: Vec<_> = patterns.iter().flat_map(|pattern| pattern.call.as_deref()).collect();
    /// assert_eq!(
    ///     calls,
    ///     ["table.get(Employee::key(.., ..))", "table.rows().department(..)", "table.all()"]
    /// );
    /// assert_eq!(patterns[1].class.to_string(), "range");
    /// ```
    ///
    /// Functions that the declaration calls otherwise have the derive's own names here.
    #[inline]
    pub fn access_patterns(&self) -> Vec<AccessPattern> {
        self.design().access_patterns()
    }

    /// Returns the design, which is drawn as text, Markdown, Mermaid, JSON and SVG.
    ///
    /// ```
    /// use table_core::Entity;
    /// use table_core::schema::Form;
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     age: Option<i32>,
    /// }
    ///
    /// let design = Employee::SCHEMA.design();
    /// assert_eq!(design.rows[0].row.to_string(), "empid_{id:06}");
    /// assert_eq!(design.drawn(Form::Text), Employee::SCHEMA.to_string());
    /// assert!(design.drawn(Form::Svg).starts_with("<svg "));
    /// ```
    #[inline]
    pub fn design(&self) -> Design {
        let mut design = Design::new(self.kind, self.table()).of(self.entity);
        design.version = self.version;
        design.in_periods = self.periods().is_some();
        for (part, place) in self.places.iter().enumerate() {
            let role = if part == 0 { RowRole::Entity } else { RowRole::Part(part) };
            let lies_there = |field: usize| self.fields.get(field).is_some_and(|field| field.part == part);
            let holds = self.held(|field| lies_there(field) && !place.gives_back(field));
            let mut row = DesignRow::new(role, "key", self.kind, keys(place, self.fields)).holding(holds);
            if part == 0 && !self.dependents.is_empty() {
                row.words.push(format!("copied into {}", self.dependents.join(" and ")));
            }
            design.rows.push(row);
        }
        design.rows.extend(self.indexes.iter().enumerate().map(|(at, index)| self.row_of(at, index)));
        design
    }

    /// Returns the rows of an index.
    #[inline]
    fn row_of(&self, number: usize, index: &Index) -> DesignRow {
        let place = &index.place;
        let (role, holds) = match (index.summary, index.list) {
            (Some(summary), _) => (RowRole::Summary, self.sums(summary)),
            (None, Some(list)) => {
                (RowRole::List, vec![Held::new("Ids", format!("list of {}", self.ids(list)))])
            }
            (None, None) => {
                let is_held = |field| holds(self, Some(number), field) && !place.gives_back(field);
                (RowRole::Copy, self.held(is_held))
            }
        };
        let mut row = DesignRow::new(role, index.name, index.kind, keys(place, self.fields)).holding(holds);
        row.function = index.summary.map(|summary| summary.schema.entity.to_owned());
        let table = place.table.source();
        row.table = (!table.eq_ignore_ascii_case(self.table())).then(|| table.to_owned());
        let words = [(index.unique, "unique"), (index.sparse, "not of every entity")];
        row.words.extend(words.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word.to_owned()));
        row.words.extend(index.arrival.map(|arrival| arrival_word(arrival).to_owned()));
        row
    }

    /// Returns the numbers of a summary: `Employees: count`, `Salaries: sum of Salary`.
    #[inline]
    fn sums(&self, summary: Summary) -> Vec<Held> {
        let property = |field: usize| self.fields.get(field).map_or("", |field| field.property);
        let named = summary.sums.iter().map(|sum| {
            let what = match sum.of {
                SumOf::Count => "count".to_owned(),
                SumOf::CountWhen => "count of some".to_owned(),
                SumOf::Field(field) => format!("sum of {}", property(field)),
            };
            Held::new(sum.property, what)
        });
        named.collect()
    }

    /// Returns what makes up the ids of a list: `Id`.
    #[inline]
    fn ids(&self, list: List) -> String {
        let property = |part: &FieldPart| self.fields.get(part.field).map_or("", |field| field.property);
        fields(&list.ids).map(property).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the properties of the wanted fields: `Age: Int32`, with `?` for one that may be absent; `Ssn: encrypted String`;
    /// `ManagerName: copied String?` of what it holds of another entity, with `eventually` before it where that comes after the
    /// other has changed; `Photo: Blob` for what refers to one.
    #[inline]
    fn held(&self, wanted: impl Fn(usize) -> bool) -> Vec<Held> {
        let fields = self.fields.iter().enumerate().filter(|(at, _)| wanted(*at));
        let named =
            fields.filter(|(_, field)| field.series.is_none_or(|slot| slot.at == 0)).map(|(at, field)| {
                let absent = if field.optional { "?" } else { "" };
                let sealed = Sealed::of(field).map_or(String::new(), |sealed| sealed.to_string());
                let last = field.series.map(|slot| slot.of.property(slot.of.slots.saturating_sub(1)));
                let to = last
                    .filter(|last| last != field.property)
                    .map_or(String::new(), |last| format!(" .. {last}"));
                let copied = match self.copy_of(at).map(|copy| copy.arrival) {
                    Some(Some(Arrival::Eventual)) => "eventually copied ",
                    Some(_) => "copied ",
                    None => "",
                };
                let of = if field.blob { "Blob".to_owned() } else { format!("{:?}", field.edm) };
                Held::new(format!("{}{to}", field.property), format!("{copied}{sealed}{of}{absent}"))
            });
        named.collect()
    }
}

pub(super) const fn arrival_word(arrival: Arrival) -> &'static str {
    match arrival {
        Arrival::Atomic => "atomic",
        Arrival::Eventual => "eventual",
    }
}

fn keys(place: &Place, fields: &[Field]) -> [DesignKey; 2] {
    [&place.partition, &place.row].map(|template| key(template, fields))
}

/// Returns a template as it is drawn.
fn key(template: &Template, fields: &[Field]) -> DesignKey {
    let mut key = DesignKey::new();
    key.pieces.extend(template.parts.iter().map(|part| match part {
        Part::Literal(text) => KeyPiece::Text((*text).to_owned()),
        Part::Field(part) => {
            let name = fields.get(part.field).map_or("", |field| field.name);
            let piece = FieldPiece::new(name, part.source);
            KeyPiece::Field(if part.each { piece.of_each(None) } else { piece })
        }
    }));
    key
}

/// As a table of text, under the name of the table.
impl fmt::Display for Schema {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.design().drawn(Form::Text))
    }
}

impl fmt::Display for Markdown<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.design().drawn(Form::Markdown))
    }
}
