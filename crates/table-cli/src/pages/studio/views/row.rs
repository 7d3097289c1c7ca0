//! One row: its values, its copies or its entity, and its text as the service writes it.

use maud::html;
use table_core::odata::{Metadata, Writer};

use super::super::rows::{Agreement, Listing, Moment};
use super::super::web::{Request, link};
use super::problem::not_found;
use super::shell::{Place, shell};
use super::studio::{Made, Studio};
use super::values;

pub(super) fn page(studio: &Studio, table: &str, request: &Request) -> Made {
    // A key may be empty, and what is empty is left out.
    let (partition, row) = (request.get("p").unwrap_or_default(), request.get("r").unwrap_or_default());
    let table = studio.tables.dynamic_table(table)?;
    let kinds = studio.kinds(Some(table.name()))?;
    let moment = Moment::of(&studio.tables)?;
    let Some(found) = moment.get(&table, partition, row)? else {
        return Err(not_found(&format!(
            "Table {} has no row {row:?} in partition {partition:?}.",
            table.name()
        )));
    };
    let mut json = Vec::new();
    Writer::new(Metadata::Minimal).entity(&found, &mut json)?;
    let listing = Listing { tables: &studio.tables, table: &table, kinds: &kinds, compares: true };
    let item = listing.item(&moment, found)?;
    let marked = match &item.owner {
        Some((_, Agreement::Differs(names))) => names.clone(),
        _ => item.copies.iter().filter_map(differing).flatten().cloned().collect(),
    };
    let body = html! {
        div.head {
            div {
                h1 { span.key { (row) } }
                p.lead { "partition " span.key { (partition) } ", table " a href=(link(&["t", table.name()], &[])) { (table.name()) } }
            }
            div.links { (values::kind(&item)) (values::agreement(&item)) }
        }
        div.card {
            div.inside {
                div { h3 { "Values" } (values::table(&item.row, item.identity.as_ref(), &marked)) }
                @if !item.copies.is_empty() { div { h3 { "Copies" } (values::copies(&item.copies)) } }
                @if item.owner.is_some() { div { h3 { "The entity that it is a copy of" } (values::owner(&item)) } }
            }
        }
        h2 { "JSON" }
        pre.json { (String::from_utf8_lossy(&json)) }
    };
    Ok(shell(studio, Place::Table(table.name()), row, &body))
}

fn differing(copy: &super::super::rows::CopyState) -> Option<&Vec<String>> {
    match &copy.agreement {
        Agreement::Differs(names) => Some(names),
        _ => None,
    }
}
