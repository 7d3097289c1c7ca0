//! What a plan gives a row to hold, as the server is to have it.

use table_engine::__executor::{Content, RowProperty};
use table_engine::model::EntityKeys;
use table_engine::model::names::ENTITY_TYPE;
use table_engine::{Result, Value};

#[cfg(feature = "blob")]
use crate::blobs::{Reference, of_properties};
use crate::body::Body;
use crate::table::TableEntry;

fn properties<'c>(content: &'c Content<'_>) -> Box<dyn Iterator<Item = RowProperty<'c>> + 'c> {
    match content {
        Content::Properties(given) => Box::new(given.iter().copied()),
        Content::Row(row) => Box::new(row.properties()),
    }
}

/// Returns the content of a row of these keys, which is signed if its kind's rows are.
pub(crate) fn body(entry: Option<&TableEntry>, keys: EntityKeys<'_>, content: &Content<'_>) -> Result<Body> {
    let digest = match (content, entry) {
        (Content::Row(row), Some(entry)) if row.kind.signs() => {
            Some(entry.sign(keys, row.properties().collect())?)
        }
        _ => None,
    };
    Ok(Body::signed(properties(content), digest.as_deref()))
}

/// Returns the properties apart from the caller's memory.
pub(crate) fn owned(content: &Content<'_>) -> Vec<(String, Value)> {
    properties(content).map(|(name, value)| (name.to_owned(), value.to_value())).collect()
}

/// Returns the references to blobs in what a row is given; `body` is that as the server is to have it, where it is made already.
#[cfg(feature = "blob")]
pub(crate) fn references(body: Option<&Body>, content: Option<&Content<'_>>) -> Vec<Reference> {
    match body {
        // They were found when that was made.
        Some(body) => body.references.clone(),
        None => content.map(|content| of_properties(properties(content))).unwrap_or_default(),
    }
}

/// Returns what the row is to call itself, if it says.
pub(crate) fn kind_of(content: &Content<'_>) -> Option<String> {
    let kind = properties(content).find(|(name, _)| *name == ENTITY_TYPE);
    kind.and_then(|(_, value)| value.as_str().map(str::to_owned))
}
