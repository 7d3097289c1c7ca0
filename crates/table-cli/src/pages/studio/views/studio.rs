//! Which page a request asks for.

use maud::Markup;
use table_core::introspect::KindInfo;
use table_core::{Result, Store, Tables};

use super::super::web::{Answer, Method, Request};
use super::problem::{Problem, not_found};
use super::statistics::History;
use super::{check, find, home, jobs, outbox, problem, queues, row, statistics, table};
use crate::pages::frame;

/// The style of what a file of designs has not: forms, rows, bars.
const STYLE: &str = include_str!("../../assets/studio.css");
const ICON: &str = include_str!("../../assets/icon.svg");
const SCRIPT: &str = include_str!("../../assets/studio.js");

/// A store as its pages see it.
pub(crate) struct Studio {
    pub(super) tables: Tables,
    /// What one kind of store alone has: counts, and the check.
    pub(super) lmdb: Option<Store>,
    pub(super) name: String,
    pub(super) may_write: bool,
    pub(super) form_token: String,
}

/// What a page comes to.
pub(super) type Made<T = Markup> = std::result::Result<T, Problem>;

impl Studio {
    pub(crate) fn new(tables: Tables, may_write: bool, form_token: String) -> Self {
        let lmdb = Store::of(&tables);
        let name = tables.path().file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "A store".to_owned());
        Self { tables, lmdb, name, may_write, form_token }
    }

    /// Answers a request that has passed the gate.
    pub(crate) fn answer(&self, request: &Request) -> Answer {
        self.made(request).unwrap_or_else(|problem| problem::answer(self, &problem))
    }

    /// Returns a piece of a page as it is now; `None` if the page has none.
    pub(crate) fn live(&self, page: &str, history: &mut History) -> Option<Markup> {
        let made = match page {
            "statistics" => statistics::live(self, history),
            "queues" => queues::live(self),
            "jobs" => jobs::live(self),
            "outbox" => outbox::live(self),
            _ => return None,
        };
        Some(made.unwrap_or_else(|problem| problem::note(&problem)))
    }

    fn made(&self, request: &Request) -> Made<Answer> {
        let path: Vec<_> = request.path.iter().map(String::as_str).collect();
        if request.method == Method::Post {
            return self.changed(&path, request);
        }
        let page = match path[..] {
            [] => home::page(self),
            ["style.css"] => {
                return Ok(Answer::file("text/css; charset=utf-8", format!("{}{STYLE}", frame::STYLE)));
            }
            ["icon.svg"] => return Ok(Answer::file("image/svg+xml", ICON.to_owned())),
            ["script.js"] => return Ok(Answer::file("text/javascript; charset=utf-8", SCRIPT.to_owned())),
            ["t", table] => table::page(self, table, request),
            ["t", table, "explain"] => table::explained(self, table, request),
            ["t", table, "design"] => table::design(self, table),
            ["t", table, "picture", kind] => {
                return Ok(Answer::file("image/svg+xml", table::picture(self, table, kind)?));
            }
            ["t", table, "row"] => row::page(self, table, request),
            ["t", table, "find"] => return find::answer(self, table, request),
            ["queues"] => queues::page(self),
            ["queues", queue] => queues::of_queue(self, queue),
            ["jobs"] => jobs::page(self),
            ["outbox"] => outbox::page(self),
            ["statistics"] => statistics::page(self),
            ["check"] => Ok(check::page(self)),
            _ => return Err(not_found("There is no such page.")),
        };
        Ok(Answer::page(page?))
    }

    fn changed(&self, path: &[&str], request: &Request) -> Made<Answer> {
        if let ["check"] = path {
            return Ok(Answer::page(check::report(self)?));
        }
        if !self.may_write {
            return Err(Problem::Refused(
                "The studio was started to read alone: start it with --write.".to_owned(),
            ));
        }
        match *path {
            ["queues", queue, action] => queues::act(self, queue, action)?,
            ["jobs", "cancel"] => jobs::cancel(self, request)?,
            ["outbox", "retry"] => outbox::retry(self)?,
            _ => return Err(not_found("There is no such action.")),
        }
        let back = path.get(..if path.first() == Some(&"queues") { 2 } else { 1 }).unwrap_or_default();
        Ok(Answer::see(super::super::web::link(back, &[])))
    }

    /// Returns the kinds that are noted in a table, or anywhere; none of a store that notes none.
    pub(super) fn kinds(&self, table: Option<&str>) -> Result<Vec<KindInfo>> {
        let mut kinds = match self.tables.kinds() {
            Err(error) if error.kind() == table_core::ErrorKind::Unsupported => Vec::new(),
            kinds => kinds?,
        };
        kinds.retain(|kind| table.is_none_or(|table| kind.table().eq_ignore_ascii_case(table)));
        Ok(kinds)
    }
}
