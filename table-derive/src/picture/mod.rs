//! What a declaration looks like on the struct's page in rustdoc: its rows as a chart, and the ways to its entities.
//!
//! The macro sees a declaration as it is written. Where only the compiler knows more, it draws the field and its type as
//! written: of flattened fields, of types by another name, of summaries, whose keys another struct declares.

#[cfg(test)]
mod tests;
mod ty;

use std::sync::OnceLock;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;
use table_words::picture::{Design, DesignKey, DesignRow, FieldPiece, Held, KeyPiece, RowRole};

use crate::attr::{KeyScope, TokenScope};
use crate::model::copied::Arrival;
use crate::model::{Copies, Encrypted, Entity, Field, Index, Storage, Template};
use crate::template::Part;

/// Returns the picture for the struct's page, as documentation of the `impl` with its functions: it stands behind what the user
/// says of the struct.
///
/// Nothing but rustdoc shows it, and tokens cost time even where `cfg` removes them. So they are made for rustdoc alone, which
/// runs the macro in its own process. A struct says `picture = false` to have none.
pub(crate) fn documentation(model: &Entity<'_>) -> Option<TokenStream> {
    static IS_RUSTDOC: OnceLock<bool> = OnceLock::new();
    let is_rustdoc = *IS_RUSTDOC.get_or_init(|| {
        let exe = std::env::current_exe().ok();
        exe.and_then(|exe| exe.file_stem().map(|stem| stem == "rustdoc")).unwrap_or_default()
    });
    (is_rustdoc && model.picture).then(|| {
        let text = text(&design(model));
        quote!(#[doc = #text])
    })
}

/// Returns what the page says: the chart as it is, since a block of HTML ends at an empty line alone, and a table of Markdown.
pub(crate) fn text(design: &Design) -> String {
    format!("<div>{}</div>\n\n{}\n", design.inline_svg(), design.access_markdown())
}

/// Returns the design of an entity, as far as its declaration tells.
pub(crate) fn design(model: &Entity<'_>) -> Design {
    let mut design = Design::new(&model.kind.value, &model.table.value).of(model.ident.to_string());
    design.version = model.version;
    design.in_periods = model.periods.is_some();
    for part in 0..=model.parts() {
        design.rows.push(own_row(model, part));
    }
    design.rows.extend(model.indexes.iter().map(|index| row_of(model, index)));
    design.rows.extend(model.summarized_in.iter().map(summary));
    design
}

/// Returns the row of an entity, or of a part of a wide one.
fn own_row(model: &Entity<'_>, part: usize) -> DesignRow {
    let suffixed = (part > 0).then(|| model.key.row.with_suffix(&format!("_{part:02}")));
    let row = suffixed.as_ref().unwrap_or(&model.key.row);
    let templates = [&model.key.partition, row];
    let role = if part == 0 { RowRole::Entity } else { RowRole::Part(part) };
    let keys = templates.map(|template| key(model, template, &[]));
    let is_held = |at: usize, field: &Field<'_>| field.part == part && !gives_back(templates, at);
    let mut drawn = DesignRow::new(role, model.key_name().to_string(), &model.kind.value, keys)
        .holding(held(model, &is_held));
    if part == 0 && !model.copied_into.is_empty() {
        let names: Vec<_> = model.copied_into.iter().map(last_name).collect();
        drawn.words.push(format!("copied into {}", names.join(" and ")));
    }
    drawn
}

/// Returns the rows of an index.
fn row_of(model: &Entity<'_>, index: &Index) -> DesignRow {
    let templates = [model.partition_of(index), &index.row];
    let keys = templates.map(|template| key(model, template, &index.aliases));
    let kind = format!("{}.{}", model.entity_type(), index.name);
    let (role, holds) = if let Some(list) = &index.list {
        let property = |field: usize| model.field(field).map_or("", |field| &*field.property.value);
        let ids: Vec<_> = list.of.iter().map(|field| property(field.value)).collect();
        (RowRole::List, vec![Held::new("Ids", format!("list of {}", ids.join(" and ")))])
    } else {
        let own = [&model.key.partition, &model.key.row];
        let is_held = |at: usize, _: &Field<'_>| {
            let is_listed = match &index.copies {
                Copies::All => true,
                Copies::Keys => false,
                Copies::Some(fields) => fields.iter().any(|field| field.value == at),
            };
            let in_own = own.iter().any(|template| template.fields().any(|part| part.field == at));
            let mut of_copy = templates.iter().flat_map(|template| template.fields());
            let in_copy = of_copy.any(|part| part.field == at && part.is_held());
            (is_listed || in_own || in_copy) && !gives_back(templates, at)
        };
        (RowRole::Copy, held(model, &is_held))
    };
    let mut drawn = DesignRow::new(role, &index.name, kind, keys).holding(holds);
    drawn.function = index.function.as_ref().map(ToString::to_string);
    let other = index.table.as_ref().filter(|table| !table.value.eq_ignore_ascii_case(&model.table.value));
    drawn.table = other.map(|table| table.value.clone());
    let words = [(index.unique.is_some(), "unique"), (index.when.is_some(), "not of every entity")];
    drawn.words.extend(words.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word.to_owned()));
    if model.lies_elsewhere(index) {
        drawn.words.push(if index.eventual.is_some() { "eventual" } else { "atomic" }.to_owned());
    }
    drawn
}

/// Returns the rows of a summary in which the entity counts. Its struct says where they lie.
fn summary(path: &Path) -> DesignRow {
    let name = last_name(path);
    let nowhere = [DesignKey::new(), DesignKey::new()];
    let mut drawn = DesignRow::new(RowRole::Summary, &name, &name, nowhere);
    drawn.function = Some(name);
    drawn.words.push("as its struct says".to_owned());
    drawn
}

fn last_name(path: &Path) -> String {
    path.segments.last().map_or_else(String::new, |last| last.ident.to_string())
}

fn gives_back(templates: [&Template; 2], field: usize) -> bool {
    templates.iter().any(|template| template.gives_back(field))
}

/// Returns a template as it is drawn; queries call its `[]` parts by the aliases, if there are any.
fn key(model: &Entity<'_>, template: &Template, aliases: &[proc_macro2::Ident]) -> DesignKey {
    let mut key = DesignKey::new();
    let mut aliases = aliases.iter();
    key.pieces.extend(template.parts.iter().map(|part| match part {
        Part::Literal(text) => KeyPiece::Text(text.clone()),
        Part::Field(part) => {
            let name = model.field(part.field).map_or("", |field| &*field.name);
            let piece = FieldPiece::new(name, &part.source);
            let alias = if part.each { aliases.next().map(ToString::to_string) } else { None };
            KeyPiece::Field(if part.each { piece.of_each(alias) } else { piece })
        }
    }));
    key
}

/// Returns the properties that are wanted, those that are one field each before the others, as a schema has them.
fn held(model: &Entity<'_>, wanted: &dyn Fn(usize, &Field<'_>) -> bool) -> Vec<Held> {
    let fields = || model.fields.iter().enumerate();
    let own = fields().filter(|(_, field)| field.is_property());
    let behind = fields().filter(|(_, field)| field.is_behind());
    own.chain(behind).filter(|(at, field)| wanted(*at, field)).flat_map(|(_, field)| shown(field)).collect()
}

/// Returns what rows hold of a field.
fn shown(field: &Field<'_>) -> Vec<Held> {
    let property = &field.property.value;
    let written = ty::written(field.ty);
    match field.storage {
        Storage::Skipped => Vec::new(),
        Storage::Flattened => vec![Held::new(&field.name, written)],
        Storage::Grouped => match (field.referred(), &field.copy) {
            (Some(_), None) => {
                let absent = if field.optional().is_some() { "?" } else { "" };
                ["Partition", "Row"]
                    .map(|of| Held::new(format!("{property}{of}"), format!("String{absent}")))
                    .into()
            }
            (_, copy) => {
                let is_eventual = copy.as_ref().is_some_and(|copy| copy.arrival == Some(Arrival::Eventual));
                let copied = if is_eventual { "eventually copied" } else { "copied" };
                vec![Held::new(property, format!("{copied} {written}"))]
            }
        },
        Storage::Series => vec![series(field, written)],
        Storage::Json | Storage::Value => {
            let (what, optional) = if field.storage == Storage::Json {
                ("String".to_owned(), false)
            } else {
                ty::property(field.ty)
            };
            let absent = if optional || field.default.is_some() { "?" } else { "" };
            let sealed = field.encrypted.map_or_else(String::new, sealed);
            vec![Held::new(property, format!("{sealed}{what}{absent}"))]
        }
    }
}

/// Returns what rows hold of a series: its first property and its last, where the declaration says how many there are.
fn series(field: &Field<'_>, written: String) -> Held {
    let stem = &field.property.value;
    let (Some(slot), Some(slots)) = (field.slots(), ty::length(field.ty)) else {
        return Held::new(stem, written);
    };
    let last = slots.saturating_sub(1);
    let fewest = field.width.as_ref().map_or(2, |width| usize::try_from(width.value).unwrap_or(2));
    let width = if field.width.is_some() { fewest } else { last.to_string().len().max(fewest) };
    let to = if last == 0 { String::new() } else { format!(" .. {stem}_{last:0width$}") };
    let (what, optional) = ty::property(slot);
    let absent = if optional || field.default.is_some() { "?" } else { "" };
    Held::new(format!("{stem}_{:0width$}{to}", 0), format!("{what}{absent}"))
}

/// Returns the words before the type of a sealed property.
fn sealed(encrypted: Encrypted) -> String {
    let mut words = if encrypted.dual { "encrypted(dual) " } else { "encrypted " }.to_owned();
    words.push_str(match encrypted.scope {
        KeyScope::Store => "",
        KeyScope::Table => "by table ",
        KeyScope::Partition => "by partition ",
    });
    words.push_str(match encrypted.blind.map(|blind| blind.tokens) {
        None => "",
        Some(TokenScope::Partition) => "blind ",
        Some(TokenScope::Table) => "blind by table ",
    });
    words
}
