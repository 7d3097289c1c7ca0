//! Rows and their values, as pages show them. What is sealed stays closed.

use maud::{Markup, html};
use table_core::introspect::RowOf;
use table_core::model::names::ENTITY_TYPE;
use table_core::{DynamicEntity, Value};

use super::super::rows::{Agreement, CopyState, Identity, Item};
use super::super::web::link;

/// How many letters of the values of a row stand in its line.
const PREVIEW: usize = 220;
/// How many letters of one value.
const OF_ONE: usize = 48;
/// How many bytes of a binary value are shown.
const BYTES: usize = 48;

/// Returns a value as text.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Int64(number) => number.to_string(),
        Value::Binary(bytes) => {
            let shown: Vec<_> = bytes.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect();
            let shown = shown.concat();
            let more = if bytes.len() > BYTES { "\u{2026}" } else { "" };
            format!("{shown}{more} ({} bytes)", bytes.len())
        }
        value => format!("{value:?}"),
    }
}

/// Returns what a property of a row is instead of a value to read, as its kind says: sealed, or the token of what is.
fn closed(identity: Option<&Identity<'_>>, name: &str) -> Option<&'static str> {
    let properties = identity?.kind.properties();
    if properties.iter().any(|property| property.name == name && property.encrypted) {
        return Some("sealed");
    }
    properties.iter().any(|property| property.token.as_deref() == Some(name)).then_some("token")
}

/// Returns the beginning of a row's values, in a line.
pub(super) fn preview(item: &Item<'_>) -> String {
    let mut line = String::new();
    for (name, value) in item.row.properties().filter(|(name, _)| *name != ENTITY_TYPE) {
        if line.chars().count() > PREVIEW {
            line.push('\u{2026}');
            break;
        }
        if !line.is_empty() {
            line.push_str("  \u{b7}  ");
        }
        line.push_str(name);
        line.push(' ');
        match closed(item.identity.as_ref(), name) {
            Some(word) => line.push_str(word),
            None => line.push_str(&shortened(&text(value), OF_ONE)),
        }
    }
    line
}

fn shortened(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        short.push('\u{2026}');
    }
    short
}

/// Returns a row's values as a table. Those named are marked.
pub(super) fn table(row: &DynamicEntity, identity: Option<&Identity<'_>>, marked: &[String]) -> Markup {
    html! {
        table.values {
            tbody {
                @for (name, value) in row.properties() {
                    tr.differs[marked.iter().any(|of| of == name)] {
                        td { (name) }
                        td { (format!("{:?}", value.edm_type())) }
                        td { @if let Some(word) = closed(identity, name) { (sealed(word, value)) } @else { (text(value)) } }
                    }
                }
                @if let Some(at) = row.timestamp() { tr { td.faint { "Timestamp" } td { "DateTime" } td { (at) } } }
                @if let Some(etag) = row.etag() { tr { td.faint { "ETag" } td {} td { (etag) } } }
            }
        }
    }
}

fn sealed(word: &str, value: &Value) -> Markup {
    let bytes = value.as_bytes().map_or(0, <[u8]>::len);
    html! { span.pill { (word) } @if bytes > 0 { " " (bytes) " bytes" } }
}

/// Returns what a row is, in a word.
pub(super) fn kind(item: &Item<'_>) -> Markup {
    let Some(Identity { kind, row }) = &item.identity else { return html! { span.pill { "row" } } };
    html! {
        @match row {
            RowOf::Entity => span.pill { (kind.kind()) },
            RowOf::Part(part) => span.pill { (kind.kind()) ", part " (part) },
            RowOf::Index(index) => span.pill { (kind.kind()) "." (index) },
            _ => span.pill { (kind.kind()) },
        }
    }
}

/// Returns how a row and its copies agree, in a word.
pub(super) fn agreement(item: &Item<'_>) -> Markup {
    let wrong = item.copies.iter().filter(|copy| copy.agreement.is_wrong()).count();
    let follow = item.copies.iter().filter(|copy| copy.agreement == Agreement::Follows).count();
    let agree = item.copies.iter().filter(|copy| copy.agreement == Agreement::Agrees).count();
    html! {
        span.pills {
            @if wrong > 0 { span.pill.bad { (wrong) " disagree" @if wrong == 1 { "s" } } }
            @if follow > 0 { span.pill.warn { (follow) " to follow" } }
            @if wrong + follow == 0 && agree > 0 { span.pill.good { (agree) @if agree == 1 { " copy" } @else { " copies" } } }
            @if let Some((_, agreement)) = &item.owner { (of_copy(agreement)) }
        }
    }
}

fn of_copy(agreement: &Agreement) -> Markup {
    html! {
        @match agreement {
            Agreement::Agrees => span.pill.good { "agrees" },
            Agreement::Differs(_) => span.pill.bad { "disagrees" },
            Agreement::Missing => span.pill.bad { "of no entity" },
            Agreement::Follows => span.pill.warn { "to follow" },
            Agreement::Untold(_) => span.pill { "a copy" },
        }
    }
}

/// Returns the copies of an entity, each with a link and how it agrees.
pub(super) fn copies(copies: &[CopyState]) -> Markup {
    html! {
        ul.copies {
            @for copy in copies {
                li {
                    (state(&copy.agreement))
                    code { (copy.index) }
                    @if let Some((partition, row)) = &copy.keys {
                        a.key href=(to_row(&copy.table, partition, row)) { (partition) " / " (row) }
                        span.faint { "in " (copy.table) }
                    }
                    (why(&copy.agreement))
                }
            }
        }
    }
}

fn state(agreement: &Agreement) -> Markup {
    html! {
        @match agreement {
            Agreement::Agrees => span.pill.good { "agrees" },
            Agreement::Differs(_) => span.pill.bad { "disagrees" },
            Agreement::Missing => span.pill.bad { "missing" },
            Agreement::Follows => span.pill.warn { "to follow" },
            Agreement::Untold(_) => span.pill { "not told" },
        }
    }
}

fn why(agreement: &Agreement) -> Markup {
    html! {
        @match agreement {
            Agreement::Differs(names) => span.why { "says something else of " (names.join(", ")) },
            Agreement::Untold(why) => span.why { (why) },
            Agreement::Agrees | Agreement::Missing | Agreement::Follows => {},
        }
    }
}

/// Returns the entity that a row is a copy of, with a link and how they agree.
pub(super) fn owner(item: &Item<'_>) -> Markup {
    let (Some((keys, agreement)), Some(identity)) = (&item.owner, &item.identity) else { return html! {} };
    html! {
        ul.copies {
            li {
                (of_copy(agreement))
                @if let Some((partition, row)) = keys {
                    a.key href=(to_row(identity.kind.entities_table(), partition, row)) { (partition) " / " (row) }
                }
                (why(agreement))
            }
        }
    }
}

/// Returns the address of a row's page.
pub(super) fn to_row(table: &str, partition: &str, row: &str) -> String {
    link(&["t", table, "row"], &[("p", partition), ("r", row)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_text_that_ends() {
        assert_eq!(text(&Value::Int64(42)), "42");
        assert_eq!(text(&Value::from("a\nb")), "a\nb");
        assert_eq!(text(&Value::from(vec![0_u8, 255])), "00ff (2 bytes)");
        assert!(text(&Value::from(vec![7_u8; 60_000])).len() < 200);
        assert_eq!(shortened("a\nb", 10), "a b");
        assert_eq!(shortened(&"x".repeat(50), 3), "xxx\u{2026}");
    }
}
