//! What a design costs that need not be, and which declaration would change it.

use maud::{Markup, html};
use table_core::EdmType;
use table_core::introspect::{IndexCondition, KindInfo, PropertyInfo};
use table_core::schema::{AccessClass, Design, DesignKey, DesignRow, FieldPiece, KeyPiece, RowRole};

/// Returns advice on a kind, a line for each piece.
pub(super) fn advice(kind: &KindInfo) -> Vec<Markup> {
    let design = kind.design();
    let mut lines = conditions(kind);
    lines.extend(scans(kind, &design));
    lines.extend(sealed(kind));
    lines.extend(whole_copies(&design));
    lines.extend(apart(&design));
    lines
}

/// Indexes that are not ready: nothing is read by them.
fn conditions(kind: &KindInfo) -> Vec<Markup> {
    let line = |name: &str, condition: &IndexCondition| {
        let cure = match condition {
            IndexCondition::Ready => return None,
            IndexCondition::Absent => "Table::rebuild makes its rows",
            IndexCondition::Building => "Table::rebuild goes on where the job is",
            IndexCondition::Blocked(_) => {
                "one of the two entities has to change, and then Table::rebuild goes on"
            }
            _ => "Table::drop_index goes on where the job is",
        };
        Some(html! { code { (name) } " is not read: " (condition) ". " (cure) "." })
    };
    let indexes = kind.indexes();
    indexes.iter().filter_map(|index| line(&index.name, index.condition.as_ref()?)).collect()
}

/// Properties that no key begins with: a filter on one reads all rows of a partition, and an index would make a range of it.
fn scans(kind: &KindInfo, design: &Design) -> Option<Markup> {
    let [first, ..] = &design.rows[..] else { return None };
    let lacking: Vec<_> = kind
        .properties()
        .into_iter()
        .filter(|property| property.part == 0 && is_lacking(design, property))
        .filter_map(|property| Some((declaration(&property, &first.row)?, property.name)))
        .collect();
    let scan = if kind.access_patterns().iter().any(|pattern| pattern.class == AccessClass::PartitionScan) {
        "every row of the partition"
    } else {
        "every row of the kind in the partition"
    };
    let (example, name) = lacking.first()?;
    Some(html! {
        "A filter on " code { (name) }
        @if lacking.len() > 1 { ", or on one of " (lacking.len() - 1) " other properties that no key begins with," }
        " reads " (scan) ", and over all partitions the whole table. An index makes a range of it: " code { (example) }
        @if lacking.len() > 1 {
            details {
                summary.faint { "The others" }
                @for (declaration, _) in lacking.iter().skip(1) { div { code { (declaration) } } }
            }
        }
    })
}

/// Returns the declaration of an index by which this filter would read a range; `None` if it asks for no property that one can
/// be made by.
#[cfg(feature = "studio")]
pub(crate) fn index_for(kind: &KindInfo, filter: &str) -> Option<String> {
    let design = kind.design();
    let own = &design.rows.first()?.row;
    let mut words = filter.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let properties = kind.properties();
    words.find_map(|word| {
        let named =
            properties.iter().find(|property| property.name == word && is_lacking(&design, property))?;
        declaration(named, own)
    })
}

/// Returns whether no key begins with a property, or has it in its partition, and one could.
fn is_lacking(design: &Design, property: &PropertyInfo) -> bool {
    let leads = |row: &DesignRow| {
        let mut fields = fields(&row.partition).chain(fields(&row.row).take(1));
        fields.any(|field| field.name == property.name)
    };
    !property.encrypted && !design.rows.iter().any(leads)
}

fn fields(key: &DesignKey) -> impl Iterator<Item = &FieldPiece> {
    key.pieces.iter().filter_map(|piece| match piece {
        KeyPiece::Field(field) => Some(field),
        _ => None,
    })
}

/// Returns the declaration of an index by a property; `None` for a type that keys can't tell apart, or hardly.
fn declaration(property: &PropertyInfo, own_row: &DesignKey) -> Option<String> {
    let field = snake(&property.name);
    let format = match property.edm {
        EdmType::String | EdmType::Guid => "",
        EdmType::Int32 => ":010",
        EdmType::Int64 => ":019",
        EdmType::DateTime => ":ticks",
        _ => return None,
    };
    let mut rest = String::new();
    for FieldPiece { name, format, .. } in fields(own_row) {
        let colon = if format.is_empty() { "" } else { ":" };
        rest.push_str(&["_{", &snake(name), colon, format, "}"].concat());
    }
    Some(format!("#[index(by_{field}, row = \"{field}_{{{field}{format}}}{rest}\")]"))
}

/// Returns a property's name as its field is called, unless that is called otherwise.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, c) in name.chars().enumerate() {
        if c.is_uppercase() && at > 0 && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// Sealed properties that nothing looks up.
fn sealed(kind: &KindInfo) -> Option<Markup> {
    let properties = kind.properties();
    let closed: Vec<_> = properties
        .iter()
        .filter(|of| of.encrypted && of.token.is_none())
        .map(|of| of.name.as_str())
        .collect();
    (!closed.is_empty()).then(|| {
        html! {
            "Sealed, and found by reading all rows alone: " code { (closed.join(", ")) }
            ". " code { "#[encrypt(blind)]" } " gives one a token by which an index finds it."
        }
    })
}

/// Copies that hold all that their entity holds.
fn whole_copies(design: &Design) -> Option<Markup> {
    let own = design.rows.first().map_or(0, |row| row.holds.len());
    let is_whole = |row: &&DesignRow| row.role == RowRole::Copy && row.holds.len() >= own && own > 2;
    let whole: Vec<_> = design.rows.iter().filter(is_whole).map(|row| row.name.as_str()).collect();
    (!whole.is_empty()).then(|| {
        html! {
            "Whole copies, which every change rewrites: " code { (whole.join(", ")) }
            ". " code { "copy(..)" } " with what is read by it, or " code { "copy = keys" } ", makes them smaller and changes cheaper."
        }
    })
}

/// Copies in other partitions and tables.
fn apart(design: &Design) -> Option<Markup> {
    let first = design.rows.first()?;
    let is_apart = |row: &&DesignRow| {
        row.role == RowRole::Copy && (row.table.is_some() || row.partition != first.partition)
    };
    let apart: Vec<_> = design.rows.iter().filter(is_apart).collect();
    let (eventual, atomic): (Vec<_>, Vec<_>) =
        apart.into_iter().partition(|row| row.words.iter().any(|word| word == "eventual"));
    let names = |rows: &[&DesignRow]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>().join(", ");
    (!eventual.is_empty() || !atomic.is_empty()).then(|| {
        html! {
            "Copies in other partitions: "
            @if !eventual.is_empty() { code { (names(&eventual)) } " follow later, by way of the outbox" }
            @if !eventual.is_empty() && !atomic.is_empty() { "; " }
            @if !atomic.is_empty() { code { (names(&atomic)) } " come with the change, in a transaction over partitions" }
            "."
        }
    })
}

#[cfg(test)]
mod tests {
    use super::snake;

    #[test]
    fn fields_are_called_as_structs_call_them() {
        assert_eq!(snake("LastName"), "last_name");
        assert_eq!(snake("Id"), "id");
        assert_eq!(snake("\u{c4}gypten"), "\u{e4}gypten");
        assert_eq!(snake(""), "");
    }
}
