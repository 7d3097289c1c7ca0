//! A layout as it is drawn, as a schema is. Fields have the names of their properties.

use table_words::picture::{Design, DesignKey, DesignRow, FieldPiece, Held, KeyPiece, RowRole};

use super::super::part_key;
use super::super::picture::arrival_word;
use super::Layout;
use super::index::{LayoutIndex, LayoutRows, SumOf, Summed};
use super::key::{self, LayoutKey};
use super::line::Line;
use super::property::LayoutProperty;

impl Layout {
    /// Returns the design of a kind whose layout is noted in the table of this name.
    #[doc(hidden)]
    #[inline]
    pub fn design(&self, table: &str) -> Design {
        let own_table = if self.table().is_empty() { table } else { self.table() };
        let mut design = Design::new(&self.kind, own_table);
        design.version = self.version();
        let keys = self.keys_of(None);
        for part in 0..=self.parts() {
            let role = if part == 0 { RowRole::Entity } else { RowRole::Part(part) };
            let [partition, mut row] = keys.map(drawn);
            if part > 0 {
                row = with_text(row, &part_key("", part));
            }
            let holds = self.held(&|property| property.part == part && !gives_back(keys, property));
            let mut row = DesignRow::new(role, "key", &self.kind, [partition, row]).holding(holds);
            let dependents: Vec<_> = self.dependents().collect();
            if part == 0 && !dependents.is_empty() {
                row.words.push(format!("copied into {}", dependents.join(" and ")));
            }
            design.rows.push(row);
        }
        design.rows.extend(self.indexes().map(|index| self.row_of(index)));
        design
    }

    /// Returns the rows of an index.
    fn row_of(&self, index: &LayoutIndex) -> DesignRow {
        let keys = self.keys_of(Some(index));
        let (role, holds) = match &index.rows {
            LayoutRows::Sums(sums) => (RowRole::Summary, sums.iter().map(number).collect()),
            LayoutRows::Ids(ids) => {
                let ids: Vec<_> = ids.printed().map(|printed| &*printed.property).collect();
                (RowRole::List, vec![Held::new("Ids", format!("list of {}", ids.join(" and ")))])
            }
            LayoutRows::All | LayoutRows::Keys | LayoutRows::Some(_) => {
                let is_held =
                    |property: &LayoutProperty| self.holds(index, property) && !gives_back(keys, property);
                (RowRole::Copy, self.held(&is_held))
            }
        };
        let kind = self.index_kind(index);
        let mut row = DesignRow::new(role, &index.name, kind, keys.map(drawn)).holding(holds);
        row.table = self.table_of(index).map(str::to_owned);
        let words = [(index.unique, "unique"), (index.sparse, "not of every entity")];
        row.words.extend(words.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word.to_owned()));
        let arrival = index.elsewhere.as_ref().map(|elsewhere| arrival_word(elsewhere.arrival).to_owned());
        row.words.extend(arrival);
        row
    }

    /// Returns the properties that are wanted; a series is one.
    fn held(&self, wanted: &dyn Fn(&LayoutProperty) -> bool) -> Vec<Held> {
        let shown = |name: String, property: &LayoutProperty| {
            let copy = self.copied().filter(|copy| property.name.starts_with(&*copy.property));
            let copied = match copy.max_by_key(|copy| copy.property.len()) {
                Some(copy) if copy.is_eventual => "eventually copied ",
                Some(_) => "copied ",
                None => "",
            };
            let sealed = property.sealed.map_or(String::new(), |sealed| sealed.to_string());
            let absent = if property.optional { "?" } else { "" };
            Held::new(name, format!("{copied}{sealed}{:?}{absent}", property.edm))
        };
        let of_line = |line: &Line| match line {
            Line::Property(property) if wanted(property) => Some(shown(property.name.clone(), property)),
            Line::Series(series) => {
                let first = series.properties().next().filter(wanted)?;
                let last = series.property(series.slots.saturating_sub(1));
                let to = if last == first.name { String::new() } else { format!(" .. {last}") };
                Some(shown(format!("{}{to}", first.name), &first))
            }
            _ => None,
        };
        self.lines.iter().filter_map(of_line).collect()
    }
}

fn number(sum: &SumOf) -> Held {
    let what = match &sum.of {
        Summed::Count => "count".to_owned(),
        Summed::CountWhen => "count of some".to_owned(),
        Summed::Property(of) => format!("sum of {of}"),
    };
    Held::new(&sum.property, what)
}

/// Returns whether keys give a property back whole.
fn gives_back(keys: [&LayoutKey; 2], property: &LayoutProperty) -> bool {
    let mut printed = keys.into_iter().flat_map(LayoutKey::printed);
    printed.any(|printed| {
        printed.property == property.name
            && !printed.each
            && printed.format().is_some_and(table_words::Format::is_lossless)
    })
}

/// Returns a key as it is drawn.
fn drawn(of: &LayoutKey) -> DesignKey {
    let mut drawn = DesignKey::new();
    drawn.pieces.extend(of.parts.iter().map(|part| match part {
        key::KeyPart::Literal(text) => KeyPiece::Text(text.clone()),
        key::KeyPart::Printed(printed) => {
            let piece = FieldPiece::new(&printed.property, &printed.source);
            KeyPiece::Field(if printed.each { piece.of_each(None) } else { piece })
        }
    }));
    drawn
}

/// Returns a key with a text behind it.
fn with_text(mut key: DesignKey, text: &str) -> DesignKey {
    match key.pieces.last_mut() {
        Some(KeyPiece::Text(last)) => last.push_str(text),
        _ => key.pieces.push(KeyPiece::Text(text.to_owned())),
    }
    key
}
