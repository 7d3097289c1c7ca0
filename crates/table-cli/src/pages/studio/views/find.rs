//! Looking an entity up by the fields of a key.

use maud::{Markup, html};
use table_core::introspect::{KindInfo, KindKeys};

use super::super::web::{Answer, Request, link};
use super::problem::not_found;
use super::studio::{Made, Studio};
use super::values::to_row;

/// Before the names of fields in the query.
const FIELD: &str = "f.";

/// Returns a form for each key of a kind.
pub(super) fn forms(kind: &KindInfo) -> Markup {
    let indexes = kind.indexes();
    let names = indexes.iter().filter(|index| !index.shared).map(|index| Some(index.name.as_str()));
    html! {
        details.find {
            summary.faint { "Find by a key of " (kind.kind()) }
            @for index in std::iter::once(None).chain(names) {
                @if let Ok(keys) = kind.keys(index) { (form(kind, index, &keys)) }
            }
        }
    }
}

fn form(kind: &KindInfo, index: Option<&str>, keys: &KindKeys<'_>) -> Markup {
    html! {
        form.actions action=(link(&["t", kind.table(), "find"], &[])) method="get" {
            input type="hidden" name="kind" value=(kind.kind());
            @if let Some(index) = index { input type="hidden" name="index" value=(index); }
            @for field in keys.fields() {
                input type="text" name={ (FIELD) (field.name) } placeholder=(field.name) aria-label=(field.name) size="14" required;
            }
            button { "Find by " (index.unwrap_or("the key")) }
        }
    }
}

/// Sends the browser to the row of the key that the fields make.
pub(super) fn answer(studio: &Studio, table: &str, request: &Request) -> Made<Answer> {
    let kinds = studio.kinds(Some(table))?;
    let name = request.get("kind").unwrap_or_default();
    let Some(kind) = kinds.iter().find(|kind| kind.kind() == name) else {
        return Err(not_found(&format!("Table {table} has noted no kind {name:?}.")));
    };
    let index = request.get("index");
    let values: Vec<_> = request.all(FIELD).collect();
    let (partition, row) = kind.keys(index)?.print_text(&values)?;
    let indexes = kind.indexes();
    let of_index = indexes.iter().find(|of| Some(of.name.as_str()) == index).map(|of| of.table.as_str());
    Ok(Answer::see(to_row(of_index.unwrap_or_else(|| kind.entities_table()), &partition, &row)))
}
