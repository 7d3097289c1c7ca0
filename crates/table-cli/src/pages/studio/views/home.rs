//! The first page: the tables, and what the store holds beside them.

use maud::html;

use super::super::web::link;
use super::problem::{Problem, note};
use super::queues::is_poison;
use super::shell::{Place, shell};
use super::studio::{Made, Studio};
use crate::pages::parts::{bytes, count};

pub(super) fn page(studio: &Studio) -> Made {
    let tables = studio.tables.tables()?;
    // Where something is damaged, the rest is shown.
    let mut problems = Vec::new();
    let kinds = studio.kinds(None).map_err(|error| problems.push(Problem::Store(error))).unwrap_or_default();
    let stats = studio.lmdb.as_ref().map(table_core::Store::stats).transpose();
    let stats = stats.map_err(|error| problems.push(Problem::Store(error))).unwrap_or_default();
    let of = |table: &str| {
        let tables = stats.as_ref()?.tables.iter();
        tables.clone().find(|of| of.name == table)
    };
    let body = html! {
        div.head { div { h1 { (studio.name) } p.lead { code { (studio.tables.path().display()) } } } }
        @for problem in &problems { (note(problem)) }
        @if let Some(stats) = &stats {
            div.tiles {
                div.tile { b { (count(stats.tables.iter().map(|table| table.entities).sum())) } span { "rows in " (tables.len()) " tables" } }
                a.tile href="/statistics" { b { (bytes(stats.file_bytes)) } span { "the file" } }
                a.tile href="/queues" { b { (count(stats.queues.iter().map(|queue| queue.ready + queue.hidden).sum())) } span { "messages in " (stats.queues.iter().filter(|queue| !is_poison(&queue.name)).count()) " queues" } }
                div.tile { b { (count(stats.blobs.names)) } span { "blobs, " (bytes(stats.blobs.bytes)) } }
            }
        }
        @if tables.is_empty() {
            p.empty { "The store has no tables yet." }
        } @else {
            div.scroll {
                table.cards {
                    thead { tr { th { "Table" } th { "Kinds of entities" } th.number { "Rows" } th.number { "Bytes" } th { "" } } }
                    tbody {
                        @for table in &tables {
                            tr {
                                td data-of="Table" { div { a href=(link(&["t", table], &[])) { b { (table) } } } }
                                td data-of="Kinds" {
                                    div.pills {
                                        @for kind in kinds.iter().filter(|kind| kind.table() == table) {
                                            a.pill href=(link(&["t", table], &[("kind", kind.kind())])) {
                                                (kind.kind()) @if !kind.lies_here() { " (copies)" }
                                            }
                                        }
                                        @if kinds.iter().all(|kind| kind.table() != table) { span.faint { "rows of any shape" } }
                                    }
                                }
                                td.number data-of="Rows" { @if let Some(of) = of(table) { (count(of.entities)) } }
                                td.number data-of="Bytes" { @if let Some(of) = of(table) { (bytes(of.bytes)) } }
                                td data-of="" { div { a href=(link(&["t", table, "design"], &[])) { "design" } } }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(shell(studio, Place::Home, "Tables", &body))
}
