//! Rules about wide entities.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use table_words::limits;

use crate::ctxt::Ctxt;
use crate::model::{Copies, Entity, Storage};

/// The property of a head that says how many parts there are.
const ENTITY_PARTS: &str = "EntityParts";

/// A wide entity says where each of its parts begins, and no other entity does.
pub(super) fn parts_begin_where_it_is_said(cx: &Ctxt, entity: &Entity<'_>) {
    let begins =
        || entity.fields.iter().enumerate().filter_map(|(at, field)| Some((at, field.begins.as_ref()?)));
    let Some(wide) = &entity.wide else {
        for (_, word) in begins() {
            cx.error(
                word.span(),
                "`#[part]` begins the next row of a wide entity: say `wide` in `#[entity(..)]`",
            );
        }
        return;
    };
    if begins().next().is_none() {
        cx.error(
            wide.span(),
            "a wide entity says which field begins its next row: put `#[part]` on that field",
        );
    }
    let in_key = entity.key_arguments();
    for (at, word) in begins() {
        let Some(field) = entity.field(at) else { continue };
        let name = &field.name;
        if in_key.contains(&at) {
            cx.error(
                word.span(),
                format!("`{name}` stands in the primary key, which lies in the head: `#[part]` is for a field behind it"),
            );
        } else if at == 0 {
            cx.error(
                word.span(),
                "the first row is the head, which begins by itself: `#[part]` is for the field that begins the next one",
            );
        } else if field.storage == Storage::Skipped {
            cx.error(
                word.span(),
                format!("`{name}` is skipped, and in no row: `#[part]` is for a field that is stored"),
            );
        }
    }
    for (at, field) in entity.fields.iter().enumerate() {
        if in_key.contains(&at) && field.part > 0 && field.begins.is_none() {
            cx.error(
                field.ident.span(),
                format!("`{}` stands in the primary key, which lies in the head: put it before the first `#[part]`", field.name),
            );
        }
        if field.is_property() && field.property.value == ENTITY_PARTS {
            cx.error(
                field.property.span,
                format!(
                    "the property name `{ENTITY_PARTS}` is taken: the head of a wide entity says by it how many parts there are"
                ),
            );
        }
    }
}

/// C12, of a wide entity: each of its rows holds what lies in it.
pub(super) fn c12_each_row_holds_its_part(cx: &Ctxt, entity: &Entity<'_>) {
    let stored = |part: usize| {
        let fields = entity.fields.iter().enumerate();
        fields.filter(move |(at, field)| {
            field.part == part && field.is_property() && !entity.gives_back(&entity.key.row, *at)
        })
    };
    for part in 0..=entity.parts() {
        let (most, what) = if part == 0 {
            (limits::PROPERTIES - 2, "the head".to_owned())
        } else {
            (limits::PROPERTIES - 1, format!("part {part}"))
        };
        let beside = if part == 0 { "`EntityType` and `EntityParts`" } else { "its `EntityType`" };
        if let Some((_, field)) = stored(part).nth(most) {
            cx.error(
                field.ident.span(),
                format!(
                    "{what} of `{}` stores {} properties, and a row holds at most {most} beside {beside}: begin the next part, by \
                     `#[part]`, here or before",
                    entity.ident,
                    stored(part).count()
                ),
            );
        }
    }
}

/// C19, of a wide entity: a transaction moves all of its rows.
pub(super) fn c19_a_transaction_holds_the_parts(cx: &Ctxt, entity: &Entity<'_>) {
    let most = limits::BATCH_OPERATIONS / 2;
    let (parts, indexes) = (entity.parts(), entity.indexes.len());
    let Some(last) = entity.fields.iter().filter_map(|field| field.begins.as_ref()).next_back() else {
        return;
    };
    if entity.wide.is_some() && 1 + parts + indexes > most {
        cx.error(
            last.span(),
            format!(
                "`{}` has {parts} parts and {indexes} indexes; a change may move each of its rows, and a transaction of {} rows \
                 can move {most}",
                entity.ident,
                limits::BATCH_OPERATIONS
            ),
        );
    }
}

/// What a wide entity can't be besides.
pub(super) fn what_a_wide_entity_is_not(cx: &Ctxt, entity: &Entity<'_>) {
    if entity.wide.is_none() {
        return;
    }
    for index in entity.indexes.iter().filter(|index| matches!(index.copies, Copies::All)) {
        cx.error(
            index.ident.span(),
            format!(
                "`{}` would copy a wide entity whole, and a copy is one row: say `copy = keys` or `copy(..)`; `.entities()` \
                 reads the entities behind it",
                index.name
            ),
        );
    }
    let refuse = |span: Span, what: &str| {
        cx.error(span, format!("a wide entity {what} yet: leave it out, or leave out `wide`"));
    };
    if let Some(periods) = &entity.periods {
        refuse(periods.span, "can't have a table for each period");
    }
    let words: [Option<&Ident>; 2] = [entity.former.as_ref(), entity.signed.as_ref()];
    for (word, what) in words.into_iter().zip(["can't be a previous version", "can't be signed"]) {
        if let Some(word) = word {
            refuse(word.span(), what);
        }
    }
    if let Some(span) = entity.version_span.filter(|_| entity.version > 1 && entity.former.is_none()) {
        refuse(span, "can't have another version than the first");
    }
    if let Some(gone) = entity.gone.first() {
        refuse(gone.span, "can't have properties that go");
    }
    if let (true, Some(summary)) = (entity.is_summary, &entity.summary) {
        refuse(summary.word.span(), "can't be a summary");
    }
    for summary in &entity.summarized_in {
        refuse(summary.span(), "can't be summarized");
    }
    for holder in &entity.copied_into {
        refuse(holder.span(), "can't be copied into others");
    }
    for field in &entity.fields {
        if let Some(copy) = &field.copy {
            refuse(copy.of.span(), "can't hold copies of others");
        }
        if let Some(encrypted) = field.encrypted {
            refuse(encrypted.span, "can't have encrypted fields");
        }
        if let Some(was) = &field.was {
            refuse(was.span, "can't have renamed properties");
        }
    }
}
