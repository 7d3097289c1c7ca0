//! A table: its rows by page, what a query would read, its designs.

use maud::{Markup, html};
use table_core::DynamicTable;
use table_core::introspect::KindInfo;
use table_core::query::QueryClass;
use table_core::schema::Form;

use super::super::rows::{Asked, Explained, Item, Listed, Listing, Moment, Place as Part};
use super::super::web::{Request, link};
use super::problem::{self, Problem, not_found};
use super::shell::{Place, shell};
use super::studio::{Made, Studio};
use super::{find, values};
use crate::pages::parts::{Sample, chart, count, index_for, section};

/// Returns what a request asks of a table.
fn asked(request: &Request) -> Asked<'_> {
    Asked {
        kind: request.get("kind"),
        filter: request.get("filter").map(str::trim).filter(|text| !text.is_empty()),
        after: request.get("after"),
        as_they_lie: request.get("rows") == Some("all"),
    }
}

pub(super) fn page(studio: &Studio, table: &str, request: &Request) -> Made {
    let table = studio.tables.dynamic_table(table)?;
    let kinds = studio.kinds(Some(table.name()))?;
    let listing =
        Listing { tables: &studio.tables, table: &table, kinds: &kinds, compares: studio.lmdb.is_some() };
    let asked = asked(request);
    // What a query would read is told without running it, too.
    let runs = request.get("run") != Some("no");
    let moment = Moment::of(&studio.tables)?;
    let shown = listing.query(asked).and_then(|query| {
        let listed = runs.then(|| listing.page(&moment, &query, asked)).transpose()?;
        let items = listed.iter().flat_map(|listed| &listed.items);
        let mut found: Vec<_> = items.map(|item| item.row.partition_key()).collect();
        found.dedup();
        let explained = Explained::of(&moment, &table, &query, &found)?;
        Ok((listed, explained))
    });
    drop(moment);
    let is_asked = asked.filter.is_some() || asked.kind.is_some();
    let body = html! {
        div.head {
            h1 { (table.name()) }
            div.links { a href=(link(&["t", table.name(), "design"], &[])) { "Design" } }
        }
        (bar(&table, &kinds, asked))
        @match shown {
            Ok((listed, explained)) => {
                div data-explained aria-live="polite" { @if is_asked || !runs { (picture_of(&explained, &kinds, asked)) } }
                @if let Some(listed) = listed {
                    (rows(&listed, table.name(), asked))
                    @if listed.from_end > 0 {
                        p.faint { "The last " (listed.from_end) " of these were read from the end of the table: what lies between them and the damaged row is not shown." }
                    }
                    @if let Some(error) = listed.closed { (problem::note(&Problem::Store(error))) }
                }
            },
            Err(error) => {
                div data-explained aria-live="polite" {}
                (problem::note(&Problem::Store(error)))
            },
        }
    };
    Ok(shell(studio, Place::Table(table.name()), table.name(), &body))
}

/// Returns what a query would read, before it runs.
pub(super) fn explained(studio: &Studio, table: &str, request: &Request) -> Made {
    let table = studio.tables.dynamic_table(table)?;
    let kinds = studio.kinds(Some(table.name()))?;
    let listing =
        Listing { tables: &studio.tables, table: &table, kinds: &kinds, compares: studio.lmdb.is_some() };
    let asked = asked(request);
    let moment = Moment::of(&studio.tables)?;
    let explained = listing.query(asked).and_then(|query| Explained::of(&moment, &table, &query, &[]));
    Ok(match explained {
        Ok(explained) => picture_of(&explained, &kinds, asked),
        // While a filter is typed it is none yet.
        Err(error) => html! { div.explain { p.faint { (error) } } },
    })
}

/// Returns the query bar.
fn bar(table: &DynamicTable, kinds: &[KindInfo], asked: Asked<'_>) -> Markup {
    let address = link(&["t", table.name()], &[]);
    let chosen = asked.kind.and_then(|name| kinds.iter().find(|kind| kind.kind() == name));
    html! {
        form action=(address) method="get" role="search" {
            div.bar {
                input type="search" name="filter" value=(asked.filter.unwrap_or_default())
                    data-query=(link(&["t", table.name(), "explain"], &[])) autocomplete="off" spellcheck="false"
                    aria-label="Filter" placeholder="PartitionKey eq 'Sales' and Age ge 40";
                @if !kinds.is_empty() {
                    select name="kind" aria-label="Kind" {
                        option value="" { "Any kind" }
                        @for kind in kinds.iter().filter(|kind| kind.lies_here()) {
                            option value=(kind.kind()) selected[asked.kind == Some(kind.kind())] { (kind.kind()) }
                        }
                    }
                }
                button.first { "Run" }
                button name="run" value="no" { "Explain" }
            }
            div.bar-more {
                @if !kinds.is_empty() {
                    label { input type="checkbox" name="rows" value="all" checked[asked.as_they_lie]; "Rows as they lie, copies too" }
                }
                span { "A filter as the service writes it; " code { "eq ne gt ge lt le and or not" } "." }
            }
        }
        @if let Some(kind) = chosen { (find::forms(kind)) }
    }
}

/// Returns what a query reads, drawn.
fn picture_of(explained: &Explained, kinds: &[KindInfo], asked: Asked<'_>) -> Markup {
    let explain = &explained.explain;
    let class = explain.class();
    // What is said of the class stands before it.
    let text = explain.to_string();
    let rest = text.strip_prefix(&class.to_string()).unwrap_or(&text).trim_start_matches([';', ' ']);
    let is_meant = |kind: &&KindInfo| kind.lies_here() && asked.kind.is_none_or(|name| kind.kind() == name);
    let advice = asked
        .filter
        .filter(|_| class >= QueryClass::PartitionScan)
        .and_then(|filter| kinds.iter().filter(is_meant).find_map(|kind| index_for(kind, filter)));
    html! {
        div.explain {
            p {
                @match class {
                    QueryClass::PartitionScan => span.pill.warn { (class) },
                    QueryClass::TableScan => span.pill.bad { (class) },
                    _ => span.pill.good { (class) },
                }
                " " code { (rest) }
            }
            div.space role="img" aria-label={ "Partitions: " (explain.partition()) " are read" } {
                @for place in &explained.partitions { (part(place)) }
            }
            @if !explained.rows.is_empty() {
                div.space role="img" aria-label={ "Rows: " (explain.row()) " are read" } {
                    @for place in &explained.rows { (part(place)) }
                }
            }
            @if let Some(declaration) = advice { p.faint { "An index makes a range of it: " code { (declaration) } } }
        }
    }
}

fn part(place: &Part) -> Markup {
    html! {
        @if place.is_gap { span.gap.read[place.is_read] title="partitions that are not shown" { "\u{22ef}" } }
        @else { span.read[place.is_read] title=(place.text) { @if place.text.is_empty() { "(empty)" } @else { (place.text) } } }
    }
}

fn rows(listed: &Listed<'_>, table: &str, asked: Asked<'_>) -> Markup {
    let page = |after: &str| {
        let rows = if asked.as_they_lie { "all" } else { "" };
        let said = [
            ("filter", asked.filter.unwrap_or_default()),
            ("kind", asked.kind.unwrap_or_default()),
            ("rows", rows),
            ("after", after),
        ];
        link(&["t", table], &said)
    };
    html! {
        @if listed.items.is_empty() {
            p.empty { @if listed.next.is_some() { "None among the rows that were read. There are more." } @else { "No rows." } }
        } @else {
            div.rows { @for item in &listed.items { (row(item, table)) } }
        }
        div.pages {
            span {
                (listed.items.len()) @if listed.items.len() == 1 { " row" } @else { " rows" }
                @if listed.folded > 0 { ", " (count(listed.folded)) " copies folded" }
            }
            span {
                @if asked.after.is_some() { a.button href=(page("")) { "First page" } " " }
                @if let Some(next) = &listed.next { a.button href=(page(next)) data-next rel="next" { "Next page" } }
            }
        }
    }
}

fn row(item: &Item<'_>, table: &str) -> Markup {
    let (partition, key) = (item.row.partition_key(), item.row.row_key());
    html! {
        details {
            summary data-row {
                span.key { (partition) }
                span.key.row-key { b { (key) } }
                (values::kind(item))
                span.preview { (values::preview(item)) }
                (values::agreement(item))
            }
            div.inside {
                div {
                    h3 { a href=(values::to_row(table, partition, key)) { "This row" } }
                    (values::table(&item.row, item.identity.as_ref(), &[]))
                }
                @if !item.copies.is_empty() { div { h3 { "Copies" } (values::copies(&item.copies)) } }
                @if item.owner.is_some() { div { h3 { "The entity that it is a copy of" } (values::owner(item)) } }
            }
        }
    }
}

pub(super) fn design(studio: &Studio, table: &str) -> Made {
    let table = studio.tables.dynamic_table(table)?;
    let kinds = studio.kinds(Some(table.name()))?;
    let all: Vec<_> = kinds.iter().collect();
    let sample = Sample::of(&table).ok();
    let body = html! {
        div.head {
            div { h1 { (table.name()) } p.lead { "Design" } }
            div.links { a href=(link(&["t", table.name()], &[])) { "Rows" } }
        }
        @if kinds.is_empty() {
            p.empty { "No kind of entities is noted: rows of any shape." }
        } @else {
            h3 { "Entity chart" }
            (chart(table.name(), &all))
            @for kind in all.iter().filter(|kind| kind.lies_here()) {
                (section(kind, sample.as_ref()))
                details {
                    summary.faint { "As a picture" }
                    p { img.picture src=(link(&["t", table.name(), "picture", kind.kind()], &[])) alt={ "The rows of " (kind.kind()) } loading="lazy"; }
                }
            }
        }
    };
    Ok(shell(studio, Place::Table(table.name()), table.name(), &body))
}

/// Returns the picture of a kind.
pub(super) fn picture(studio: &Studio, table: &str, kind: &str) -> Made<String> {
    let kinds = studio.kinds(Some(table))?;
    let kind = kinds.iter().find(|of| of.kind() == kind);
    let kind = kind.ok_or_else(|| not_found("There is no such kind in the table."))?;
    Ok(kind.design().drawn(Form::Svg))
}
