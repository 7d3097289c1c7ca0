//! Queues: their counts, their messages, and those that were set aside.

use std::time::Duration;

use maud::{Markup, html};
use table_core::queue::{Peeked, Queue, QueueStats};
use table_core::{ErrorKind, Ticks};

use super::super::web::link;
use super::problem::not_found;
use super::shell::{Place, form_token, shell};
use super::studio::{Made, Studio};
use crate::pages::parts::{bytes, count};

/// How many messages are shown.
const SHOWN: usize = 50;
/// How the names of queues end that have what was set aside.
const POISON: &str = "-poison";
/// How many messages are sent anew by one press.
const REQUEUED: usize = 1_000;
/// For how long such a message is held meanwhile.
const HELD: Duration = Duration::from_secs(30);

/// Returns whether a queue has what was set aside of another, and is shown with that.
pub(super) fn is_poison(name: &str) -> bool {
    name.ends_with(POISON)
}

pub(super) fn page(studio: &Studio) -> Made {
    let body = html! {
        div.head { h1 { "Queues" } }
        div data-live="/live/queues" { (live(studio)?) }
    };
    Ok(shell(studio, Place::Named("queues"), "Queues", &body))
}

/// Returns the counts of all queues.
pub(super) fn live(studio: &Studio) -> Made {
    let mut all = Vec::new();
    for name in names(studio)? {
        // One that was dropped meanwhile is not shown.
        if let Some(queue) = studio.tables.find_queue::<String>(&name)? {
            all.push(queue.stats()?);
        }
    }
    let (poison, queues): (Vec<_>, Vec<_>) = all.into_iter().partition(|of| is_poison(&of.name));
    let set_aside = |name: &str| {
        let name = format!("{name}{POISON}");
        poison.iter().find(|of| of.name == name).map_or(0, |of| of.ready + of.hidden)
    };
    Ok(html! {
        @if queues.is_empty() {
            p.empty { "The store has no queues." }
        } @else {
            div.scroll {
                table.cards {
                    thead { tr { th { "Queue" } th.number { "Ready" } th.number { "Hidden" } th.number { "Set aside" } th.number { "Sent" } th.number { "Completed" } th.number { "Bytes" } th { "Oldest" } } }
                    tbody { @for queue in &queues { (line(queue, set_aside(&queue.name))) } }
                }
            }
        }
    })
}

fn names(studio: &Studio) -> Made<Vec<String>> {
    match studio.tables.queues() {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(Vec::new()),
        names => Ok(names?),
    }
}

fn line(queue: &QueueStats, set_aside: u64) -> Markup {
    html! {
        tr {
            td data-of="Queue" {
                div {
                    a href=(link(&["queues", &queue.name], &[])) { b { (queue.name) } }
                    @if queue.is_paused { " " span.pill.warn { "paused" } }
                }
            }
            td.number data-of="Ready" { (count(queue.ready)) }
            td.number data-of="Hidden" { (count(queue.hidden)) }
            td.number data-of="Set aside" { div { @if set_aside > 0 { span.pill.bad { (count(set_aside)) } } @else { "0" } } }
            td.number data-of="Sent" { (count(queue.sent)) }
            td.number data-of="Completed" { (count(queue.completed)) }
            td.number data-of="Bytes" { (bytes(queue.bytes)) }
            td data-of="Oldest" { @if let Some(since) = queue.oldest_ready { "ready for " (ago(since)) } }
        }
    }
}

/// Returns how long ago a time is, in its largest unit.
pub(super) fn ago(time: Ticks) -> String {
    let seconds = Ticks::now().saturating_since(time).as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Returns the page of a queue.
pub(super) fn of_queue(studio: &Studio, name: &str) -> Made {
    let queue = find(studio, name)?;
    let stats = queue.stats()?;
    let poison = if is_poison(name) { None } else { find(studio, &format!("{name}{POISON}")).ok() };
    let aside = poison.as_ref().map(|queue| queue.peek(SHOWN)).transpose()?.unwrap_or_default();
    let ready = queue.peek(SHOWN)?;
    let action = |action: &str| link(&["queues", name, action], &[]);
    let body = html! {
        div.head {
            div { h1 { (name) } p.lead { a href="/queues" { "Queues" } } }
            @if stats.is_paused { span.pill.warn { "paused" } }
        }
        div.tiles {
            div.tile { b { (count(stats.ready)) } span { "ready" } }
            div.tile { b { (count(stats.hidden)) } span { "hidden" } }
            div.tile { b { (count(stats.completed)) } span { "completed of " (count(stats.sent)) " sent" } }
            div.tile { b { (count(stats.poisoned)) } span { "were set aside" } }
        }
        @if studio.may_write {
            div.actions {
                form.inline method="post" action=(action(if stats.is_paused { "resume" } else { "pause" })) {
                    (form_token(studio))
                    button { @if stats.is_paused { "Resume" } @else { "Pause" } }
                }
                @if !aside.is_empty() {
                    form.inline method="post" action=(action("requeue")) {
                        (form_token(studio))
                        button { "Send anew what was set aside" }
                    }
                }
            }
        }
        @if !aside.is_empty() {
            h2 { "Set aside" }
            p.faint { "Received too often without being completed." }
            (messages(&aside))
        }
        h2 { "Next" }
        @if ready.is_empty() { p.empty { "No message is ready." } } @else { (messages(&ready)) }
    };
    Ok(shell(studio, Place::Named("queues"), name, &body))
}

/// Returns a table of messages. A column that says nothing of any of them is left out.
fn messages(messages: &[Peeked<String>]) -> Markup {
    let were_received = messages.iter().any(|message| message.count() > 0);
    let have_failed = messages.iter().any(|message| message.last_error().is_some());
    html! {
        div.scroll {
            table.cards {
                thead {
                    tr {
                        th.number { "Number" }
                        th { "Message" }
                        @if were_received { th.number { "Received" } }
                        th { "Sent" }
                        @if have_failed { th { "Last error" } }
                    }
                }
                tbody {
                    @for message in messages {
                        tr {
                            td.number data-of="Number" { (message.id()) }
                            td.wide data-of="Message" { code { (beginning(message)) } }
                            @if were_received { td.number data-of="Received" { (message.count()) } }
                            td data-of="Sent" { (ago(message.sent())) " ago" }
                            @if have_failed { td data-of="Last error" { (message.last_error().unwrap_or_default()) } }
                        }
                    }
                }
            }
        }
    }
}

fn beginning(text: &str) -> String {
    const MOST: usize = 400;
    let mut short: String = text.chars().take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('\u{2026}');
    }
    short
}

/// Returns a queue, its messages as the texts that they are.
fn find(studio: &Studio, name: &str) -> Made<Queue<String>> {
    let queue = studio.tables.find_queue::<String>(name)?;
    let queue = queue.ok_or_else(|| not_found(&format!("There is no queue {name:?}.")))?;
    Ok(queue.into_text())
}

/// Does what a button says.
pub(super) fn act(studio: &Studio, name: &str, action: &str) -> Made<()> {
    let queue = find(studio, name)?;
    match action {
        "pause" => queue.pause()?,
        "resume" => queue.resume()?,
        "requeue" => requeue(studio, &queue)?,
        _ => return Err(not_found("There is no such action.")),
    }
    Ok(())
}

/// Sends anew what was set aside of a queue, each message in the transaction that takes it away.
fn requeue(studio: &Studio, queue: &Queue<String>) -> Made<()> {
    let poison = find(studio, &format!("{}{POISON}", queue.name()))?;
    for _ in 0..REQUEUED {
        let Some(message) = poison.receive(HELD)? else { break };
        studio.tables.transaction().send(queue, &*message).complete(&message).commit()?;
    }
    Ok(())
}
