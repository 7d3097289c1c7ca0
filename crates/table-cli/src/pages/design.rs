//! The designs of a store in one file.

use maud::{Markup, html};
use table_core::introspect::KindInfo;
use table_core::{ErrorKind, Result, Store, Tables};

use super::frame::{standalone, theme_switch};
use super::parts::{Sample, bytes, chart, count, section};

/// Which designs are shown.
pub(crate) struct DesignOf<'d> {
    /// What the store is called.
    pub(crate) store: &'d str,
    /// The one table that is shown; `None` for all.
    pub(crate) table: Option<&'d str>,
}

/// A table, as it is drawn.
struct Drawn {
    name: String,
    /// How many rows it has, and their bytes, where the store keeps count.
    counts: Option<(u64, u64)>,
    kinds: Vec<KindInfo>,
    sample: Option<Sample>,
}

impl DesignOf<'_> {
    /// Returns the page, with all that it needs within it.
    pub(crate) fn page(&self, tables: &Tables) -> Result<String> {
        let drawn = self.read(tables)?;
        let body = html! {
            header.head { div { h1 { (self.store) } p.lead { "Designs, as the store has noted them" } } (theme_switch()) }
            @if drawn.len() > 1 {
                ul.toc { @for table in &drawn { li { a href={ "#table-" (table.name) } { (table.name) } } } }
            }
            @if drawn.is_empty() { p.note { "The store has no tables." } }
            @for table in &drawn { (of_table(table)) }
        };
        Ok(standalone(&format!("{}: designs", self.store), &body).into_string())
    }

    fn read(&self, tables: &Tables) -> Result<Vec<Drawn>> {
        let is_shown = |name: &str| self.table.is_none_or(|table| table.eq_ignore_ascii_case(name));
        if let Some(table) = self.table {
            // So that a table that is not there is an error, and no empty page.
            tables.dynamic_table(table)?;
        }
        let kinds = tables.kinds()?;
        let counts = Store::of(tables).map(|store| store.stats()).transpose()?;
        let mut drawn = Vec::new();
        for name in tables.tables()?.into_iter().filter(|name| is_shown(name)) {
            let of_table: Vec<_> = kinds.iter().filter(|kind| kind.table() == name).cloned().collect();
            let stats =
                counts.as_ref().and_then(|stats| stats.tables.iter().find(|table| table.name == name));
            let sample = match tables.dynamic_table(&name).and_then(|table| Sample::of(&table)) {
                Ok(sample) => Some(sample),
                // It was dropped meanwhile, its rows are damaged, or are read by keys alone: the design is told all the same.
                Err(error) if is_of_rows(error.kind()) => None,
                Err(error) => return Err(error),
            };
            let counts = stats.map(|table| (table.entities, table.bytes));
            drawn.push(Drawn { name, counts, kinds: of_table, sample });
        }
        Ok(drawn)
    }
}

/// Returns whether an error is one of rows that can't be read, and says nothing of the store.
fn is_of_rows(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::TableNotFound | ErrorKind::KeyUnavailable) || kind.is_damage()
}

fn of_table(table: &Drawn) -> Markup {
    let kinds: Vec<_> = table.kinds.iter().collect();
    html! {
        section.section id={ "table-" (table.name) } {
            h2 { (table.name) }
            @if let Some((rows, size)) = table.counts { p.lead { (count(rows)) " rows, " (bytes(size)) } }
            @if kinds.is_empty() {
                p.note { "No kind of entities is noted: rows of any shape." }
            } @else {
                h3 { "Entity chart" }
                (chart(&table.name, &kinds))
                @for kind in &kinds {
                    @if kind.lies_here() { (section(kind, table.sample.as_ref())) }
                }
            }
        }
    }
}
