//! Jobs that were begun and have not ended.

use maud::{Markup, html};
use table_core::ErrorKind;
use table_core::typed::JobInfo;

use super::super::web::{Request, link};
use super::problem::not_found;
use super::queues::ago;
use super::shell::{Place, form_token, shell};
use super::studio::{Made, Studio};
use crate::pages::parts::count;

/// The words with which the names of jobs begin that can be given up without their declaration.
const GIVEN_UP: [&str; 4] = ["delete", "delete-partition", "repair", "re-encrypt"];

pub(super) fn page(studio: &Studio) -> Made {
    let body = html! {
        div.head { div { h1 { "Jobs" } p.lead { "Begun, and not at their end. Each goes on where it is when a program asks for it again." } } }
        div data-live="/live/jobs" { (live(studio)?) }
    };
    Ok(shell(studio, Place::Named("jobs"), "Jobs", &body))
}

/// Returns the jobs as they are now.
pub(super) fn live(studio: &Studio) -> Made {
    let jobs = match studio.tables.jobs() {
        Err(error) if error.kind() == ErrorKind::Unsupported => Vec::new(),
        jobs => jobs?,
    };
    Ok(html! {
        @if jobs.is_empty() {
            p.empty { "No job is under way." }
        } @else {
            div.scroll {
                table.cards {
                    thead { tr { th { "Job" } th { "Table" } th { "Progress" } th.number { "Changed" } th { "Begun" } @if studio.may_write { th {} } } }
                    tbody { @for job in &jobs { (line(studio, job)) } }
                }
            }
        }
    })
}

fn line(studio: &Studio, job: &JobInfo) -> Markup {
    html! {
        tr {
            td data-of="Job" { div { b { (job.name) } @if !job.asked.is_empty() { div { code { (job.asked) } } } } }
            td data-of="Table" { a href=(link(&["t", &job.table], &[])) { (job.table) } }
            td.wide data-of="Progress" {
                div {
                    progress value=(job.done) max=(job.total.max(1)) aria-label="Progress" {}
                    div.faint { (count(job.done)) " of about " (count(job.total)) " rows" }
                }
            }
            td.number data-of="Changed" { (count(job.changed)) }
            td data-of="Begun" { (ago(job.begun)) " ago" }
            @if studio.may_write {
                td data-of="" {
                    @if job.name.split(' ').next().is_some_and(|word| GIVEN_UP.contains(&word)) {
                        form.inline method="post" action="/jobs/cancel" {
                            (form_token(studio))
                            input type="hidden" name="table" value=(job.table);
                            input type="hidden" name="name" value=(job.name);
                            button { "Give up" }
                        }
                    }
                }
            }
        }
    }
}

/// Gives a job up. What it has done stays done.
pub(super) fn cancel(studio: &Studio, request: &Request) -> Made<()> {
    let (table, name) = (request.field("table"), request.field("name"));
    let jobs = studio.tables.jobs()?;
    let job = jobs.iter().find(|job| Some(job.table.as_str()) == table && Some(job.name.as_str()) == name);
    let job = job.ok_or_else(|| not_found("The job is not there any more."))?;
    Ok(studio.tables.cancel_job(job)?)
}
