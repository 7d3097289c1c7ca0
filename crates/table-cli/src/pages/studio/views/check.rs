//! The check: a look at everything in the store, when it is asked for.

use maud::{Markup, html};
use table_core::store::{CheckReport, Problem as Found};

use super::problem::Problem;
use super::shell::{Place, form_token, shell};
use super::studio::{Made, Studio};
use super::values::to_row;
use crate::pages::parts::count;

/// How many of what is wrong is shown.
const SHOWN: usize = 200;

pub(super) fn page(studio: &Studio) -> Markup {
    framed(studio, &html! {})
}

/// Runs the check, and returns what it has found.
pub(super) fn report(studio: &Studio) -> Made {
    let Some(store) = &studio.lmdb else {
        return Err(Problem::Refused("Only a store in a directory can be checked.".to_owned()));
    };
    let report = store.check()?;
    Ok(framed(studio, &found(&report)))
}

fn framed(studio: &Studio, found: &Markup) -> Markup {
    let body = html! {
        div.head { div { h1 { "Check" } p.lead { "Reads every page and every row, and compares copies with their entities. Nothing is changed." } } }
        @if studio.lmdb.is_some() {
            form.actions method="post" action="/check" { (form_token(studio)) button.first { "Check the store" } }
        } @else {
            p.empty { "Only a store in a directory can be checked." }
        }
        (found)
    };
    shell(studio, Place::Named("check"), "Check", &body)
}

fn found(report: &CheckReport) -> Markup {
    let wrong = report.problems.len() + report.wrong_copies.len();
    html! {
        @if wrong == 0 { div.note { p { "The store is sound." } } }
        @if !report.problems.is_empty() { div.note.bad { p { b { "It is damaged." } } } }
        div.tiles {
            div.tile { b { (count(report.rows)) } span { "rows in " (report.tables) " tables" } }
            div.tile { b { (count(report.copies)) } span { "copies compared" } }
            div.tile { b { (count(report.messages)) } span { "messages in " (report.queues) " queues" } }
            div.tile { b { (count(report.blobs)) } span { "blobs in " (report.containers) " containers" } }
            div.tile { b { (count(report.pending_propagation)) } span { "entities with copies to follow" } }
        }
        (list("Damage", &report.problems))
        (list("Copies that disagree", &report.wrong_copies))
        @if !report.untold.is_empty() {
            p.faint { "Of these indexes only the struct can tell which copies are missing: " code { (report.untold.join(", ")) } "." }
        }
    }
}

fn list(title: &str, problems: &[Found]) -> Markup {
    html! {
        @if !problems.is_empty() {
            h2 { (title) " \u{b7} " (problems.len()) }
            ul.advice {
                @for problem in problems.iter().take(SHOWN) {
                    li {
                        @if let (Some(table), Some((partition, row))) = (&problem.table, &problem.row) {
                            a.key href=(to_row(table, partition, row)) { (table) " / " (partition) " / " (row) }
                            div { (problem.what) }
                        } @else { (problem) }
                    }
                }
                @if problems.len() > SHOWN { li.faint { "and " (problems.len() - SHOWN) " more" } }
            }
        }
    }
}
