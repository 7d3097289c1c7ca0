//! A schema as the tables of the design guide draw it: the entity, and each copy of it.
//!
//! A line for each kind of row: the templates of its keys, and what it holds besides them.

use std::fmt;

use super::layout::Sealed;
use super::{Arrival, FieldPart, Index, List, Place, Schema, SumOf, Summary, fields, holds};

/// The picture's columns.
const TITLES: [&str; 4] = ["Row", "PartitionKey", "RowKey", "Properties"];

/// A schema as a table of Markdown. Made by [`Schema::markdown`].
#[derive(Clone, Copy, Debug)]
pub struct Markdown<'a>(&'a Schema);

impl Schema {
    /// Returns the schema as a table of Markdown, for documents.
    pub fn markdown(&self) -> Markdown<'_> {
        Markdown(self)
    }

    /// Returns the name of each kind of row, its keys, and what it holds besides them.
    #[inline]
    fn lines(&self) -> Vec<[String; 4]> {
        let line = |name: String, place: &Place, properties: String| {
            [name, place.partition.source.to_owned(), place.row.source.to_owned(), properties]
        };
        let mut lines = Vec::with_capacity(self.places.len() + self.indexes.len());
        for (part, place) in self.places.iter().enumerate() {
            let lies_there = |field: usize| self.fields.get(field).is_some_and(|field| field.part == part);
            let properties = self.properties(|field| lies_there(field) && !place.gives_back(field));
            if part > 0 {
                lines.push(line(format!("{}, part {part}", self.kind), place, properties));
                continue;
            }
            let held = if self.dependents.is_empty() { "" } else { ", copied into " };
            lines.push(line(
                format!("{}{held}{}", self.kind, self.dependents.join(" and ")),
                place,
                properties,
            ));
        }
        for (number, index) in self.indexes.iter().enumerate() {
            let Index { kind, place, unique, sparse, arrival, .. } = index;
            let mut name = (*kind).to_owned();
            if index.summary.is_some() {
                name.push_str(", summary");
            }
            if index.list.is_some() {
                name.push_str(", list");
            }
            let words = [(*unique, ", unique"), (*sparse, ", not of every entity")];
            name.extend(words.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word));
            let table = place.table.source();
            if !table.eq_ignore_ascii_case(self.table()) {
                name.extend([", in table ", table]);
            }
            match arrival {
                Some(Arrival::Atomic) => name.push_str(", atomic"),
                Some(Arrival::Eventual) => name.push_str(", eventual"),
                None => {}
            }
            if let Some(summary) = index.summary {
                lines.push(line(name, place, self.sums(summary)));
                continue;
            }
            if let Some(list) = index.list {
                lines.push(line(name, place, format!("Ids: list of {}", self.ids(list))));
                continue;
            }
            let properties =
                self.properties(|field| holds(self, Some(number), field) && !place.gives_back(field));
            lines.push(line(name, place, properties));
        }
        lines
    }

    /// Returns the numbers of a summary: `Employees: count, Salaries: sum of Salary`.
    #[inline]
    fn sums(&self, summary: Summary) -> String {
        let property = |field: usize| self.fields.get(field).map_or("", |field| field.property);
        let named = summary.sums.iter().map(|sum| match sum.of {
            SumOf::Count => format!("{}: count", sum.property),
            SumOf::CountWhen => format!("{}: count of some", sum.property),
            SumOf::Field(field) => format!("{}: sum of {}", sum.property, property(field)),
        });
        named.collect::<Vec<_>>().join(", ")
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
    fn properties(&self, wanted: impl Fn(usize) -> bool) -> String {
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
                format!("{}{to}: {copied}{sealed}{of}{absent}", field.property)
            });
        named.collect::<Vec<_>>().join(", ")
    }
}

/// As a table of text, under the name of the table.
impl fmt::Display for Schema {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        let mut widths = TITLES.map(|title| title.chars().count());
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        writeln!(f, "{} in table {}", self.entity, self.table())?;
        row(f, &TITLES, &widths)?;
        for line in &lines {
            f.write_str("\n")?;
            row(f, line, &widths)?;
        }
        Ok(())
    }
}

#[inline]
fn row(f: &mut fmt::Formatter<'_>, cells: &[impl AsRef<str>; 4], widths: &[usize; 4]) -> fmt::Result {
    let mut gap = 0;
    for (cell, width) in cells.iter().map(AsRef::as_ref).zip(widths) {
        // The gap comes before a cell, so that no line ends in spaces.
        if !cell.is_empty() {
            write!(f, "{:gap$}{cell}", "")?;
            gap = 0;
        }
        gap += width + 2 - cell.chars().count();
    }
    Ok(())
}

impl fmt::Display for Markdown<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(schema) = self;
        let [row, partition, row_key, properties] = TITLES;
        writeln!(f, "| {row} | {partition} | {row_key} | {properties} |")?;
        write!(f, "| --- | --- | --- | --- |")?;
        for [name, partition, row_key, properties] in schema.lines() {
            // A template may hold what Markdown takes for the end of a cell.
            let [partition, row_key] = [partition, row_key].map(|key| key.replace('|', "\\|"));
            write!(f, "\n| {name} | `{partition}` | `{row_key}` | {properties} |")?;
        }
        Ok(())
    }
}
