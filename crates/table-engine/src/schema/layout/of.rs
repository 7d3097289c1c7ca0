//! The layout of a declaration.

use super::super::{Arrival, CopiedFields, Copies, Field, Index, Schema, SumOf as DeclaredSum};
use super::Layout;
use super::index::{Elsewhere, LayoutIndex, LayoutRows, SumOf, Summed};
use super::key::LayoutKey;
use super::line::{CopiedLine, Line};
use super::property::{LayoutProperty, Sealed};
use super::reads::ReadsLine;
use super::series::SeriesLine;

impl Layout {
    /// Returns the layout of an entity, as it is noted in its own table.
    #[doc(hidden)]
    pub fn of(schema: &Schema) -> Self {
        Self::of_in(schema, schema.table())
    }

    /// Returns the layout of an entity, as it is noted in the table of this name: its own, or one where copies of it lie.
    pub(crate) fn of_in(schema: &Schema, table: &str) -> Self {
        let property = |field: usize| schema.fields.get(field).map_or("", |field| field.property).to_owned();
        let mut lines = vec![Line::Version(schema.version)];
        if schema.signed {
            lines.push(Line::Signed);
        }
        // A previous version is of the table of the entity that it has become.
        if !schema.table().is_empty() && !schema.lies_in(table) && schema.periods().is_none() {
            lines.push(Line::Of(schema.table().to_owned()));
        }
        lines.push(Line::Partition(LayoutKey::of(&schema.place().partition, &property)));
        lines.push(Line::Row(LayoutKey::of(&schema.place().row, &property)));
        lines.extend(schema.fields.iter().filter_map(of_field));
        lines.extend(schema.copied.iter().map(|copy| Line::Copied(of_copy(copy, &property))));
        lines.extend(schema.dependents.iter().map(|kind| Line::Dependent((*kind).to_owned())));
        lines.extend(schema.removed.iter().map(|name| Line::Removed((*name).to_owned())));
        lines.extend(schema.periods().map(|tables| Line::Periods(tables.source.to_owned())));
        lines.push(Line::Reads(ReadsLine::marker()));
        lines.extend(schema.fields.iter().filter_map(ReadsLine::of).map(Line::Reads));
        lines.extend(schema.indexes.iter().map(|index| Line::Index(of_index(schema, index, &property))));
        Self::new(schema.kind, lines)
    }
}

/// Returns the line of a field; of a series, its first slot has it.
fn of_field(field: &Field) -> Option<Line> {
    match field.series {
        Some(slot) if slot.at == 0 => Some(Line::Series(SeriesLine::of(slot.of, field))),
        Some(_) => None,
        None => Some(Line::Property(LayoutProperty {
            name: field.property.to_owned(),
            edm: field.edm,
            optional: field.optional,
            sealed: Sealed::of(field),
            part: field.part,
            was: field.was.map(str::to_owned),
        })),
    }
}

fn of_copy(copy: &CopiedFields, property: &dyn Fn(usize) -> String) -> CopiedLine {
    CopiedLine {
        property: copy.property.to_owned(),
        is_eventual: copy.is_eventual(),
        key: copy.key.iter().map(|field| property(*field)).collect(),
    }
}

fn of_index(schema: &Schema, index: &Index, property: &dyn Fn(usize) -> String) -> LayoutIndex {
    let elsewhere = |arrival: Arrival| {
        let table = index.place.table.source();
        let is_other = !schema.table().eq_ignore_ascii_case(table);
        let partition = LayoutKey::of(&index.place.partition, property);
        Elsewhere { table: is_other.then(|| table.to_owned()), partition, arrival }
    };
    LayoutIndex {
        name: index.name.to_owned(),
        elsewhere: index.arrival.map(elsewhere),
        row: LayoutKey::of(&index.place.row, property),
        unique: index.unique,
        sparse: index.sparse,
        when_version: index.when_version,
        rows: of_rows(index, property),
    }
}

fn of_rows(index: &Index, property: &dyn Fn(usize) -> String) -> LayoutRows {
    if let Some(summary) = index.summary {
        let sums = summary.sums.iter().map(|sum| SumOf {
            property: sum.property.to_owned(),
            of: match sum.of {
                DeclaredSum::Count => Summed::Count,
                DeclaredSum::CountWhen => Summed::CountWhen,
                DeclaredSum::Field(field) => Summed::Property(property(field)),
            },
        });
        return LayoutRows::Sums(sums.collect());
    }
    if let Some(list) = index.list {
        return LayoutRows::Ids(LayoutKey::of(&list.ids, property));
    }
    match index.copies {
        Copies::All => LayoutRows::All,
        Copies::Keys => LayoutRows::Keys,
        Copies::Some(fields) => LayoutRows::Some(fields.iter().map(|field| property(*field)).collect()),
    }
}
