//! All that is shown of one kind.

use maud::{Markup, html};
use table_core::introspect::KindInfo;

use super::advice::advice;
use super::indexes::indexes;
use super::patterns::patterns;
use super::sample::Sample;
use super::writes::writes;

/// Returns what is to be said of a kind in its own table.
pub(crate) fn section(kind: &KindInfo, sample: Option<&Sample>) -> Markup {
    let advice = advice(kind);
    html! {
        section.kind id=(anchor(kind)) {
            h2 { (kind.kind()) }
            p.lead {
                "version " (kind.version())
                @if let Some(from) = kind.converting_from() { ", some rows are of version " (from) }
                @if kind.is_signed() { ", each row is signed" }
                ", " (kind.properties().len()) " properties, " (kind.indexes().len()) " indexes"
            }
            h3 { "Access patterns" }
            (patterns(kind))
            h3 { "Rows that a change writes" }
            (writes(kind, sample))
            h3 { "Indexes" }
            (indexes(kind))
            @if !advice.is_empty() {
                h3 { "Cost and advice" }
                ul.advice { @for line in &advice { li { (line) } } }
            }
        }
    }
}

/// Returns the name by which a page's links find a kind.
pub(crate) fn anchor(kind: &KindInfo) -> String {
    format!("kind-{}-{}", kind.table(), kind.kind())
}
