//! What a change of an entity writes: which of its rows, and about how many bytes.

use maud::{Markup, html};
use table_core::introspect::{KindInfo, RowOf};

use super::numbers::bytes;
use super::sample::Sample;

/// Properties whose change writes one set of rows.
struct Change {
    names: Vec<String>,
    rows: Vec<RowOf>,
}

/// Returns a line for each kind of change, with a mark for each kind of row that it writes.
pub(super) fn writes(kind: &KindInfo, sample: Option<&Sample>) -> Markup {
    let all = kind.rows();
    let mut changes = vec![
        Change { names: vec!["insert".into()], rows: all.clone() },
        Change { names: vec!["delete".into()], rows: all.clone() },
    ];
    changes.extend(by_property(kind));
    html! {
        div.scroll {
            table.dots {
                thead {
                    tr {
                        th { "A change of" }
                        @for row in &all { th { (name(row, kind)) } }
                        th { "Rows" }
                        @if sample.is_some() { th { "About" } }
                    }
                }
                tbody {
                    @for (at, change) in changes.iter().enumerate() {
                        tr {
                            td {
                                @if at < 2 { b { "the entity: " (change.names.join(", ")) } }
                                @else { @for (at, name) in change.names.iter().enumerate() { @if at > 0 { ", " } code { (name) } } }
                            }
                            @for row in &all {
                                td { @if change.rows.contains(row) { span.dot title="written" { "\u{25cf}" } } @else { span.none { "\u{b7}" } } }
                            }
                            td { (change.rows.len()) }
                            @if let Some(sample) = sample { td { (size(&change.rows, kind, sample)) } }
                        }
                    }
                }
            }
        }
        p.legend {
            "A property in the key of an index moves a row: one is removed and one is written. "
            "Rows of an index that is sparse, or that have one for each element, may be none or several."
            @if sample.is_some() { " Bytes are those of the service's formula, from the rows at the table's beginning." }
        }
    }
}

fn by_property(kind: &KindInfo) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for property in kind.properties() {
        let Some(rows) = kind.rows_written_by(&property.name) else { continue };
        match changes.iter_mut().find(|change| change.rows == rows) {
            Some(change) => change.names.push(property.name),
            None => changes.push(Change { names: vec![property.name], rows }),
        }
    }
    changes
}

fn name(row: &RowOf, kind: &KindInfo) -> String {
    match row {
        RowOf::Entity => kind.kind().to_owned(),
        RowOf::Part(part) => format!("part {part}"),
        RowOf::Index(index) => index.clone(),
        _ => String::new(),
    }
}

/// Returns the bytes of these rows, if rows of each kind were met.
fn size(rows: &[RowOf], kind: &KindInfo, sample: &Sample) -> Markup {
    let indexes = kind.indexes();
    let entity_type = |row: &RowOf| match row {
        RowOf::Entity => Some(kind.entity_type()),
        RowOf::Index(name) => {
            indexes.iter().find(|index| index.name == *name).map(|index| index.entity_type.clone())
        }
        _ => None,
    };
    let mut total = 0;
    let mut is_whole = true;
    for row in rows {
        match entity_type(row).and_then(|of| sample.mean(&of)) {
            Some(mean) => total += mean,
            None => is_whole = false,
        }
    }
    html! {
        @if total == 0 { span.faint { "unknown" } }
        @else { @if !is_whole { "over " } (bytes(total)) }
    }
}
