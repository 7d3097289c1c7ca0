//! The entity chart, as books on keyed tables draw it: the keys of each kind of row, and its copies under it.

use maud::{Markup, html};
use table_core::introspect::KindInfo;
use table_core::schema::{DesignKey, DesignRow, KeyPiece, RowRole};

/// Returns the chart of these kinds in a table. Of a kind that lies in another table it has the rows alone that lie in this one.
pub(crate) fn chart(table: &str, kinds: &[&KindInfo]) -> Markup {
    html! {
        div.scroll {
            table.cards.chart {
                thead { tr { th { "Partition key" } th { "Row key" } th { "Row" } th { "Holds besides its keys" } } }
                @for kind in kinds {
                    tbody {
                        @for row in &kind.design().rows {
                            @if kind.lies_here() || lies_in(row, kind, table) { (line(row, kind)) }
                        }
                    }
                }
            }
        }
    }
}

fn lies_in(row: &DesignRow, kind: &KindInfo, table: &str) -> bool {
    row.table.as_deref().unwrap_or_else(|| kind.entities_table()).eq_ignore_ascii_case(table)
}

fn line(row: &DesignRow, kind: &KindInfo) -> Markup {
    let is_own = matches!(row.role, RowRole::Entity);
    html! {
        tr.own[is_own] {
            td data-of="Partition key" { (key(&row.partition)) }
            td data-of="Row key" { (key(&row.row)) }
            td data-of="Row" .copy[!is_own] {
                div {
                    code { b { (row.kind) } }
                    " "
                    span.pills { @for word in words(row, kind) { span.pill { (word) } } }
                }
            }
            td.holds.wide data-of="Holds" { div { (holds(row)) } }
        }
    }
}

fn holds(row: &DesignRow) -> Markup {
    html! {
        @if row.holds.is_empty() { "the keys alone" }
        @for held in &row.holds { span { b { (held.name) } " " (held.what) } " " }
    }
}

/// Returns what is said of a row in a word or two each.
fn words(row: &DesignRow, kind: &KindInfo) -> Vec<String> {
    let role = match row.role {
        RowRole::Part(part) => Some(format!("part {part}")),
        RowRole::List => Some("list".to_owned()),
        RowRole::Summary => Some("summary".to_owned()),
        RowRole::Copy if !kind.lies_here() => {
            Some(format!("copy of {} in {}", kind.kind(), kind.entities_table()))
        }
        _ => None,
    };
    let elsewhere = row.table.as_ref().filter(|_| kind.lies_here()).map(|table| format!("in {table}"));
    role.into_iter().chain(row.words.iter().cloned()).chain(elsewhere).collect()
}

/// Returns a key as its template, with its fields set apart from its text.
pub(super) fn key(key: &DesignKey) -> Markup {
    html! {
        span.key {
            @if key.pieces.is_empty() { i { "by its struct" } }
            @for piece in &key.pieces {
                @match piece {
                    KeyPiece::Field(_) => b { (piece) },
                    KeyPiece::Text(_) => i { (piece) },
                    _ => (piece),
                }
            }
        }
    }
}
