//! Statistics: what the store holds and what its file's pages are used for, as they change.

use std::collections::VecDeque;

use maud::{Markup, html};
use table_core::store::StoreStats;

use super::shell::{Place, shell};
use super::studio::{Made, Studio};
use crate::pages::parts::{bytes, count};

/// Of how many pieces the numbers are kept: one a second.
const KEPT: usize = 90;

/// Numbers of the last pieces.
#[derive(Debug, Default)]
pub(crate) struct History {
    rows: VecDeque<u64>,
    file: VecDeque<u64>,
    held_back: VecDeque<u64>,
}

impl History {
    fn add(&mut self, stats: &StoreStats) {
        let rows = stats.tables.iter().map(|table| table.entities).sum();
        let numbers = [
            (&mut self.rows, rows),
            (&mut self.file, stats.file_bytes),
            (&mut self.held_back, stats.space.held_back_bytes),
        ];
        for (kept, number) in numbers {
            if kept.len() >= KEPT {
                kept.pop_front();
            }
            kept.push_back(number);
        }
    }
}

pub(super) fn page(studio: &Studio) -> Made {
    let body = html! {
        div.head { h1 { "Statistics" } }
        div data-live="/live/statistics" { (live(studio, &mut History::default())?) }
    };
    Ok(shell(studio, Place::Named("statistics"), "Statistics", &body))
}

/// Returns the numbers as they are now.
pub(super) fn live(studio: &Studio, history: &mut History) -> Made {
    let Some(store) = &studio.lmdb else {
        return Ok(html! { p.empty { "Only a store in a directory keeps counts." } });
    };
    let stats = store.stats()?;
    history.add(&stats);
    let rows: u64 = stats.tables.iter().map(|table| table.entities).sum();
    let space = stats.space;
    Ok(html! {
        div.tiles {
            div.tile { b { (count(rows)) } span { "rows" } (spark(&history.rows)) }
            div.tile { b { (bytes(stats.file_bytes)) } span { "the file" } (spark(&history.file)) }
            div.tile { b { (bytes(space.held_back_bytes)) } span { "held back by snapshots" } (spark(&history.held_back)) }
            div.tile { b { (count(stats.dropped)) } span { "dropped tables to be freed" } }
        }
        h2 { "The file's pages" }
        (pages(&[("live", "In use", space.live_bytes), ("held", "Held back", space.held_back_bytes), ("free", "Free", space.free_bytes)]))
        @if let Some(oldest) = &stats.oldest_snapshot {
            p.faint {
                "The oldest snapshot is of process " (oldest.process)
                @if let Some(age) = oldest.age { ", and " (age.as_secs()) " s old" }
                "."
            }
        }
        @if let Some(failure) = &stats.reclaim_failure { div.note.bad { p { (format!("{failure:?}")) } } }
        h2 { "Tables" }
        div.scroll {
            table.cards {
                thead { tr { th { "Table" } th.number { "Rows" } th.number { "Bytes" } th.number { "Bytes a row" } } }
                tbody {
                    @for table in &stats.tables {
                        tr {
                            td data-of="Table" { (table.name) }
                            td.number data-of="Rows" { (count(table.entities)) }
                            td.number data-of="Bytes" { (bytes(table.bytes)) }
                            td.number data-of="Bytes a row" { @if let Some(mean) = table.bytes.checked_div(table.entities) { (count(mean)) } }
                        }
                    }
                }
            }
        }
        h2 { "Blobs" }
        p { (count(stats.blobs.blobs)) " blobs under " (count(stats.blobs.names)) " names, " (bytes(stats.blobs.bytes)) "; " (count(stats.blobs.waiting)) " wait." }
    })
}

/// Returns a line of numbers over time; nothing of the first one.
fn spark(numbers: &VecDeque<u64>) -> Markup {
    let (Some(least), Some(most)) = (numbers.iter().min(), numbers.iter().max()) else { return html! {} };
    let height = |number: &u64| {
        // In hundredths, from the top; in the middle where nothing changes.
        if least == most { 50 } else { 95 - (number - least).saturating_mul(90) / (most - least) }
    };
    let mut path = String::new();
    for (at, number) in numbers.iter().enumerate() {
        path.push(if at == 0 { 'M' } else { 'L' });
        path.push_str(&[at.to_string(), height(number).to_string()].join(" "));
    }
    let wide = numbers.len().saturating_sub(1).max(1);
    html! {
        @if numbers.len() > 1 {
            svg.spark viewBox={ "0 0 " (wide) " 100" } preserveAspectRatio="none" aria-hidden="true" { path d=(path) {} }
        }
    }
}

/// Returns shares side by side in a bar, with what each is.
fn pages(shares: &[(&str, &str, u64)]) -> Markup {
    let all: u64 = shares.iter().map(|(_, _, size)| size).sum();
    let mut from = 0;
    let mut places = Vec::new();
    for (class, name, size) in shares {
        let wide = size.saturating_mul(1_000).checked_div(all).unwrap_or_default();
        places.push((class, name, size, from, wide));
        from += wide;
    }
    html! {
        svg.space-bar viewBox="0 0 1000 16" preserveAspectRatio="none" role="img" aria-label="What the pages are used for" {
            @for (class, _, _, from, wide) in &places { rect class=(class) x=(from) y="0" width=(wide) height="16" {} }
        }
        p.legend {
            @for (class, name, size, _, _) in &places { span class={ "swatch " (class) } {} (name) " " (bytes(**size)) " \u{a0} " }
        }
    }
}
