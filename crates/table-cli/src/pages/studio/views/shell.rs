//! What stands around the pages of the studio: where one is, and where one can go.

use maud::{DOCTYPE, Markup, html};

use super::super::web::link;
use super::studio::Studio;
use crate::pages::frame::theme_switch;
use crate::pages::parts::count;

/// How many tables stand at the side. The first page has all of them.
const TABLES: usize = 40;

/// The page that is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'p> {
    Home,
    Table(&'p str),
    Named(&'static str),
    Nowhere,
}

const PAGES: [(&str, &str); 5] = [
    ("queues", "Queues"),
    ("jobs", "Jobs"),
    ("outbox", "Outbox"),
    ("statistics", "Statistics"),
    ("check", "Check"),
];

/// Returns a page with all that stands around it.
pub(super) fn shell(studio: &Studio, place: Place<'_>, title: &str, body: &Markup) -> Markup {
    let tables = studio.tables.tables().unwrap_or_default();
    let stats = studio.lmdb.as_ref().and_then(|store| store.stats().ok());
    let rows_of = |table: &str| {
        let tables = stats.as_ref()?.tables.iter();
        tables.clone().find(|of| of.name == table).map(|of| count(of.entities))
    };
    let current = |is_current: bool| is_current.then_some("page");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " \u{b7} " (studio.name) }
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="/icon.svg";
                script src="/script.js" defer {}
            }
            body {
                div.frame {
                    header.side {
                        div.brand {
                            a href="/" { strong { (studio.name) } }
                            @if studio.may_write { span.pill.warn { "may write" } } @else { span.pill { "reads alone" } }
                        }
                        nav aria-label="Tables" {
                            b { "Tables" }
                            @for table in tables.iter().take(TABLES) {
                                a href=(link(&["t", table], &[])) aria-current=[current(place == Place::Table(table))] {
                                    (table) @if let Some(rows) = rows_of(table) { span { (rows) } }
                                }
                            }
                            @if tables.len() > TABLES { a href="/" { "All " (tables.len()) } }
                        }
                        nav aria-label="Store" {
                            b { "Store" }
                            @for (page, name) in PAGES {
                                a href={ "/" (page) } aria-current=[current(place == Place::Named(page))] { (name) }
                            }
                        }
                        div.foot {
                            (theme_switch())
                            div.hints { span { kbd { "/" } " query" } span { kbd { "j" } " " kbd { "k" } " rows" } span { kbd { "n" } " next" } }
                        }
                    }
                    main { (body) }
                }
            }
        }
    }
}

/// Returns the field that every form that changes something has.
pub(super) fn form_token(studio: &Studio) -> Markup {
    html! { input type="hidden" name="form" value=(studio.form_token); }
}
