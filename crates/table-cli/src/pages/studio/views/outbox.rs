//! The outbox: entities whose copies are to follow.

use maud::{Markup, html};
use table_core::ErrorKind;
use table_core::typed::{FailedPropagation, PendingPropagation};

use super::queues::ago;
use super::shell::{Place, form_token, shell};
use super::studio::{Made, Studio};
use super::values::to_row;
use crate::pages::parts::count;

pub(super) fn page(studio: &Studio) -> Made {
    let body = html! {
        div.head { div { h1 { "Outbox" } p.lead { "Changes whose copies in other tables are to follow." } } }
        div data-live="/live/outbox" { (live(studio)?) }
    };
    Ok(shell(studio, Place::Named("outbox"), "Outbox", &body))
}

/// Returns what waits now.
pub(super) fn live(studio: &Studio) -> Made {
    let pending = match studio.tables.pending_propagation() {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            return Ok(html! { p.empty { "This store has no outbox." } });
        }
        pending => pending?,
    };
    Ok(of(studio, &pending))
}

fn of(studio: &Studio, pending: &PendingPropagation) -> Markup {
    html! {
        @if pending.entities == 0 {
            p.empty { "Nothing waits: every copy is where its entity says." }
        } @else {
            div.tiles {
                div.tile { b { (count(pending.entities)) } span { "entities whose copies are to follow" } }
                div.tile { b { (count(pending.set_aside)) } span { "set aside" } }
                @if let Some(oldest) = pending.oldest { div.tile { b { (ago(oldest)) } span { "since the first of them" } } }
            }
            @if let Some(failure) = &pending.failure { div.note.bad { p { (failure) } } }
            @if !pending.failing.is_empty() {
                h2 { "Tried in vain" }
                (failing(&pending.failing))
                @if studio.may_write {
                    form.actions method="post" action="/outbox/retry" { (form_token(studio)) button { "Try all of them now" } }
                }
            } @else {
                p.faint { "A program that knows their kinds propagates them, by itself or by " code { "store.propagate()" } "." }
            }
        }
    }
}

fn failing(failing: &[FailedPropagation]) -> Markup {
    html! {
        div.scroll {
            table.cards {
                thead { tr { th { "Entity" } th { "Table" } th.number { "Tries" } th { "Error" } } }
                tbody {
                    @for failed in failing {
                        tr {
                            td data-of="Entity" { a.key href=(to_row(&failed.table, &failed.partition, &failed.row)) { (failed.partition) " / " (failed.row) } }
                            td data-of="Table" { (failed.table) }
                            td.number data-of="Tries" { (failed.tries) @if failed.is_set_aside { " " span.pill.bad { "set aside" } } }
                            td.wide data-of="Error" { (failed.error) }
                        }
                    }
                }
            }
        }
    }
}

/// Has all that failed tried at once.
pub(super) fn retry(studio: &Studio) -> Made<()> {
    studio.tables.retry_failed()?;
    Ok(())
}
