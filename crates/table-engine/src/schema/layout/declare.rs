//! The declaration that a layout is of, as far as the layout says it: what plans writes where there is no struct.
//!
//! All else takes declarations that live as long as the program, as constants do. So what is made here does, too, and
//! is made once for each layout: [`by_layout`](crate::typed::by_layout) keeps it. What a layout does not say is not guessed: the
//! [obstacles](Layout::obstacle) are looked for first, and what comes out says the layout again, or there is none.

use super::super::{
    Blind, ColumnType, Copies, Field, FieldPart, Format, Index, KeyType, KeyTypeOf, List, Part, PartOf,
    Place, Reads, ReadsOf, Schema, Series, Slot, Sum, SumOf, Summary, Template, part_key,
};
use super::Layout;
use super::index::{Elsewhere, LayoutIndex, LayoutRows, SumOf as NotedSum, Summed};
use super::key::{KeyPart, KeyValues, LayoutKey, Printed};
use super::line::Line;
use super::property::LayoutProperty;
use crate::model::EdmType;

/// A line of a layout by which writes can't be planned, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Obstacle {
    /// The line; nothing, if one is missing.
    pub(crate) line: String,
    pub(crate) because: &'static str,
}

impl Layout {
    /// Returns what of the layout has it that no write of its entities can be planned by it; `None` if nothing has.
    pub(crate) fn obstacle(&self) -> Option<Obstacle> {
        let found = |line: &Line, because| Some(Obstacle { line: line.to_string(), because });
        if !self.says_reads() {
            let because = "the layout is of a former release, which did not note what its properties read: the first write by \
                           the struct notes it";
            return Some(Obstacle { line: String::new(), because });
        }
        self.lines.iter().find_map(|line| match line {
            Line::Signed => found(line, "nothing but its struct signs a row"),
            Line::Of(_) => found(line, "its entities lie in that table, and not in this one"),
            Line::Copied(_) => found(line, "what it holds of another entity only the struct looks up"),
            Line::Dependent(_) => found(line, "only the struct finds the entities that hold copies of it"),
            Line::Periods(_) => found(line, "only the struct says in which of these tables an entity lies"),
            Line::Index(index) => found(line, index_obstacle(index)?),
            _ => None,
        })
    }

    /// Returns the line of a property, as it is noted.
    pub(crate) fn line_of(&self, name: &str) -> String {
        let series = self.series().find(|series| series.has(name)).map(ToString::to_string);
        let single = || self.property(name).map(|property| Line::Property(property.clone()).to_string());
        series.or_else(single).unwrap_or_default()
    }

    /// Returns the line of an index.
    pub(crate) fn line_of_index(&self, name: &str) -> String {
        self.index(name).map(|index| Line::Index(index.clone()).to_string()).unwrap_or_default()
    }

    /// Returns the line with the version.
    pub(crate) fn line_of_version(&self) -> String {
        Line::Version(self.version()).to_string()
    }

    /// Makes a declaration that says what this layout does, of entities in the table of this name. `None` if it would say
    /// anything else. What it is made of is never given back.
    pub(crate) fn declare(&self, table: &str) -> Option<&'static Schema> {
        let made = Declaring { layout: self, table: kept(table) }.schema()?;
        (Self::of(&made).sorted() == self.sorted()).then(|| &*Box::leak(Box::new(made)))
    }

    /// Returns the lines in an order that does not say when they were noted.
    fn sorted(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.lines.iter().map(ToString::to_string).collect();
        lines.sort_unstable();
        lines
    }
}

fn index_obstacle(index: &LayoutIndex) -> Option<&'static str> {
    if index.sparse {
        return Some("whether an entity has a copy there only a function of its struct says");
    }
    let of_each = |key: &LayoutKey| key.printed().any(|printed| printed.each);
    if of_each(&index.row) || index.elsewhere.as_ref().is_some_and(|elsewhere| of_each(&elsewhere.partition))
    {
        return Some("the elements of a list are of a user's type, which only the struct prints");
    }
    match &index.rows {
        LayoutRows::Sums(sums) if sums.iter().any(|sum| sum.of == Summed::CountWhen) => {
            Some("whether an entity counts only a function of its struct says")
        }
        _ => None,
    }
}

fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn all_kept<T>(all: Vec<T>) -> &'static [T] {
    Box::leak(all.into_boxed_slice())
}

fn names(names: &[String]) -> &'static [&'static str] {
    all_kept(names.iter().map(|name| kept(name)).collect())
}

/// A layout that becomes a declaration.
struct Declaring<'l> {
    layout: &'l Layout,
    table: &'static str,
}

impl Declaring<'_> {
    fn schema(&self) -> Option<Schema> {
        let layout = self.layout;
        let own = self.place(self.table, layout.partition(), layout.row())?;
        let mut places = vec![own];
        for part in 1..=layout.parts() {
            let mut row = own.row.parts.to_vec();
            row.push(PartOf::Literal(kept(&part_key("", part))));
            places.push(own.beside(Template::new(own.row.source, all_kept(row))));
        }
        let parts: Vec<_> = (1..=layout.parts()).map(|part| kept(&layout.part_kind(part))).collect();
        let indexes = layout.indexes().map(|index| self.index(&own, index)).collect::<Option<Vec<_>>>()?;
        let removed: Vec<_> = layout.removed().map(kept).collect();
        let kind = kept(&layout.kind);
        let schema = Schema::new([kind, kind], self.fields(), all_kept(places))
            .parts(all_kept(parts))
            .indexes(all_kept(indexes))
            .version(layout.version())
            .entity_type(kept(&layout.entity_type()))
            .removed(all_kept(removed));
        Some(schema)
    }

    fn fields(&self) -> &'static [Field] {
        let mut fields = Vec::with_capacity(self.layout.properties.len());
        for line in &self.layout.lines {
            match line {
                Line::Property(property) => fields.push(self.field(property)),
                Line::Series(line) => {
                    let stem = kept(&line.stem);
                    let series: &'static Series =
                        Box::leak(Box::new(Series::new(stem, stem, line.slots).width(line.width)));
                    for (at, property) in line.properties().enumerate() {
                        fields.push(Field { series: Some(Slot { of: series, at }), ..self.field(&property) });
                    }
                }
                _ => {}
            }
        }
        all_kept(fields)
    }

    fn field(&self, property: &LayoutProperty) -> Field {
        let name = kept(&property.name);
        let reads = self.layout.reads_of(property);
        let mut field = Field::PLAIN.named(name, name).in_part(property.part);
        field.edm = property.edm;
        field.optional = property.optional;
        field.exact = true;
        field.defaults = reads.defaults;
        field.reads = match &reads.reads {
            ReadsOf::Any => Reads::Any,
            ReadsOf::Integers(min, max) => Reads::Integers(*min, *max),
            ReadsOf::Single => Reads::Single,
            ReadsOf::Timestamp => Reads::Timestamp,
            ReadsOf::Names(some) => Reads::Names(names(some)),
            ReadsOf::Json => Reads::Json,
            ReadsOf::Other => Reads::Other,
        };
        field.column = match field.reads {
            Reads::Integers(min, max) => integers(min, max).unwrap_or_else(|| ColumnType::of(field.edm)),
            _ => ColumnType::of(field.edm),
        };
        field.was = property.was.as_deref().map(kept);
        if let Some(sealed) = property.sealed {
            field = field.sealed().scoped(sealed.scope);
            field.dual = sealed.dual;
            field.blind =
                sealed.tokens.and_then(|tokens| Some(Blind { property: kept(&property.token()?), tokens }));
        }
        field
    }

    fn index(&self, own: &Place, index: &LayoutIndex) -> Option<Index> {
        let place = match &index.elsewhere {
            None => own.beside(self.template(&index.row)?),
            Some(Elsewhere { table, partition, .. }) => {
                let table = table.as_deref().map_or(self.table, kept);
                self.place(table, partition, &index.row)?
            }
        };
        let mut made = Index::new(kept(&index.name), kept(&self.layout.index_kind(index)), place);
        made.unique = index.unique;
        made.arrival = index.elsewhere.as_ref().map(|elsewhere| elsewhere.arrival);
        let place_of = |name: &String| self.layout.place_of(name);
        Some(match &index.rows {
            LayoutRows::All => made,
            LayoutRows::Keys => made.copies(Copies::Keys),
            LayoutRows::Some(properties) => {
                let fields = properties.iter().map(place_of).collect::<Option<Vec<_>>>()?;
                made.copies(Copies::Some(all_kept(fields)))
            }
            LayoutRows::Sums(sums) => {
                let sum = |sum: &NotedSum| {
                    let of = match &sum.of {
                        Summed::Count => SumOf::Count,
                        Summed::CountWhen => return None,
                        Summed::Property(name) => SumOf::Field(place_of(name)?),
                    };
                    Some(Sum::new(kept(&sum.property), of))
                };
                let sums = all_kept(sums.iter().map(sum).collect::<Option<Vec<_>>>()?);
                made.summary(Summary::new(self.summary_rows(made.name, sums), sums))
            }
            LayoutRows::Ids(ids) => made.list(List::new(self.template(ids)?)),
        })
    }

    /// Returns the declaration of the rows of a summary: what is added to it has its numbers, and its keys give the rest.
    fn summary_rows(&self, name: &'static str, sums: &'static [Sum]) -> &'static Schema {
        let number = |sum: &Sum| {
            let mut field = Field::PLAIN.named(sum.property, sum.property);
            (field.edm, field.column) = (EdmType::Int64, ColumnType::I64);
            field
        };
        let fields = all_kept(sums.iter().map(number).collect());
        let places = all_kept(vec![Place::NOWHERE]);
        Box::leak(Box::new(Schema::new([name, name], fields, places).summary_of(kept(&self.layout.kind))))
    }

    fn place(&self, table: &'static str, partition: &LayoutKey, row: &LayoutKey) -> Option<Place> {
        Some(Place::new(table, self.template(partition)?, self.template(row)?))
    }

    fn template(&self, key: &LayoutKey) -> Option<Template> {
        let part = |part: &KeyPart| -> Option<Part> {
            Some(match part {
                KeyPart::Literal(text) => PartOf::Literal(kept(text)),
                KeyPart::Printed(printed) => PartOf::Field(self.printed(printed)?),
            })
        };
        let parts = key.parts.iter().map(part).collect::<Option<Vec<_>>>()?;
        Some(Template::new(kept(&key.source()), all_kept(parts)))
    }

    fn printed(&self, printed: &Printed) -> Option<FieldPart> {
        let field = self.layout.place_of(&printed.property)?;
        let source = kept(&printed.source);
        let format = Format::parse(source).ok()?;
        let part = FieldPart::printed(field, key_type(&printed.values), source, format);
        Some(FieldPart { each: printed.each, ..part.version(printed.version) })
    }
}

fn key_type(values: &KeyValues) -> KeyType {
    match values {
        KeyValues::Plain(key) => *key,
        KeyValues::Names(some) => KeyTypeOf::Names(names(some)),
        KeyValues::Optional(inner) => KeyTypeOf::Optional(Box::leak(Box::new(key_type(inner)))),
        KeyValues::Each(inner) => KeyTypeOf::Each(Box::leak(Box::new(key_type(inner)))),
    }
}

/// Returns the column that holds these integers, if their type has one of its own.
fn integers(min: i64, max: i64) -> Option<ColumnType> {
    Some(match (min, max) {
        (0, 0xff) => ColumnType::U8,
        (0, 0xffff) => ColumnType::U16,
        (0, 0xffff_ffff) => ColumnType::U32,
        (-0x80, 0x7f) => ColumnType::I8,
        (-0x8000, 0x7fff) => ColumnType::I16,
        _ => return None,
    })
}
