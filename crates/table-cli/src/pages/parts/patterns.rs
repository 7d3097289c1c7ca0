//! Access patterns: what a kind answers without a filter, and what that reads.

use maud::{Markup, html};
use table_core::introspect::KindInfo;
use table_core::schema::{AccessClass, AccessPattern};

/// Returns the ways to the entities of a kind as a table.
pub(super) fn patterns(kind: &KindInfo) -> Markup {
    html! {
        div.scroll {
            table.cards {
                thead { tr { th { "Asked by" } th { "Keys given" } th { "Class" } th { "Reads" } th { "In the order of" } } }
                tbody {
                    @for pattern in kind.access_patterns() {
                        tr {
                            td data-of="Asked by" { div { (pattern.by) @if let Some(call) = &pattern.call { " " code { (call) } } } }
                            td data-of="Keys given" { div { (given(&pattern)) } }
                            td data-of="Class" { div { (class(pattern.class)) } }
                            td data-of="Reads" { (pattern.reads) }
                            td data-of="Order" { @if pattern.order.is_empty() { span.faint { "one row" } } @else { (pattern.order) } }
                        }
                    }
                }
            }
        }
    }
}

fn given(pattern: &AccessPattern) -> Markup {
    html! {
        @if pattern.given.is_empty() { span.faint { "none" } }
        @for (at, part) in pattern.given.iter().enumerate() { @if at > 0 { ", " } code { (part) } }
        @if let Some(next) = &pattern.narrowed_by { span.faint { ", and a range of " code { (next) } } }
    }
}

fn class(class: AccessClass) -> Markup {
    html! {
        @match class {
            AccessClass::Point | AccessClass::Range => span.pill.good { (class) },
            AccessClass::PartitionScan => span.pill.warn { (class) },
            _ => span.pill.bad { (class) },
        }
    }
}
