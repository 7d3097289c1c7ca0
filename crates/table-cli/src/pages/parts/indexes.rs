//! The indexes of a kind, and how far each is.

use maud::{Markup, html};
use table_core::introspect::{IndexCondition, IndexInfo, KindInfo};

/// Returns the indexes of a kind as a table; a sentence if it has none.
pub(super) fn indexes(kind: &KindInfo) -> Markup {
    let indexes = kind.indexes();
    html! {
        @if indexes.is_empty() {
            p.faint { "It has none." }
        } @else {
            div.scroll {
                table.cards {
                    thead { tr { th { "Index" } th { "State" } th { "Table" } th { "Of its rows" } } }
                    tbody {
                        @for index in &indexes {
                            tr {
                                td data-of="Index" { code { (index.name) } }
                                td data-of="State" { div { (condition(index.condition.as_ref())) } }
                                td data-of="Table" { (index.table) }
                                td data-of="Of its rows" { div { (words(index).join(", ")) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn words(index: &IndexInfo) -> Vec<&'static str> {
    let words = [
        (index.shared, "of many entities together"),
        (!index.shared && !index.sparse, "one for each entity"),
        (!index.shared && index.sparse, "one for some entities"),
        (index.unique, "no two with one key"),
        (index.eventual, "follow their entities"),
    ];
    words.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word).collect()
}

fn condition(condition: Option<&IndexCondition>) -> Markup {
    html! {
        @match condition {
            None => span.pill.good { "ready" },
            Some(condition @ IndexCondition::Ready) => span.pill.good { (condition) },
            Some(condition @ IndexCondition::Blocked(_)) => { span.pill.bad { "blocked" } " " span.faint { (condition) } },
            Some(condition) => span.pill.warn { (condition) },
        }
    }
}
