//! What is said where a page can't be.

use maud::{Markup, html};
use table_core::{Error, ErrorKind};

use super::super::web::Answer;
use super::shell::{Place, shell};
use super::studio::Studio;

/// Why there is no page.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The store refuses.
    Store(Error),
    /// What is asked for is not there.
    NotFound(String),
    /// It is not to be done.
    Refused(String),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

pub(super) fn not_found(text: &str) -> Problem {
    Problem::NotFound(text.to_owned())
}

/// Returns a page that says it.
pub(super) fn answer(studio: &Studio, problem: &Problem) -> Answer {
    let (status, title) = match problem {
        Problem::Store(error) => (error.status(), "The store refuses"),
        Problem::NotFound(_) => (404, "Not there"),
        Problem::Refused(_) => (403, "Not to be done"),
    };
    Answer::problem(status, shell(studio, Place::Nowhere, title, &note(problem)))
}

/// Returns what is said of it.
pub(super) fn note(problem: &Problem) -> Markup {
    let is_closed = matches!(problem, Problem::Store(error) if error.kind() == ErrorKind::KeyUnavailable);
    html! {
        div.note.bad[!is_closed].warn[is_closed] role="alert" {
            @match problem {
                Problem::Store(error) => {
                    p { (error) }
                    @if is_closed {
                        p.faint { "A row among these is signed or sealed. Start the studio with --keys FILE, the store's key ring, or ask for a kind in one partition: rows that bear no token are read without." }
                    }
                },
                Problem::NotFound(text) | Problem::Refused(text) => p { (text) },
            }
        }
    }
}
