//! Rules about index lists.

use crate::ctxt::Ctxt;
use crate::model::{Entity, Index, List};
use crate::symbol::{COPY, UNIQUE};
use crate::template::Format;

/// What a list can't be, each with what can.
pub(super) fn a_list_is_of_all_with_a_value(cx: &Ctxt, entity: &Entity<'_>) {
    for (index, list) in lists(entity) {
        let name = &index.name;
        for word in &list.strange {
            let why = match word.to_string().as_str() {
                UNIQUE => {
                    format!(
                        "many entities stand on one list: leave out `unique`, or say `#[index({name}, .., unique)]`"
                    )
                }
                COPY => format!(
                    "a list holds ids, and no copies: leave out `copy`, or say `#[index({name}, .., copy(..))]`"
                ),
                _ => format!(
                    "a list has every entity with its value: an optional field in its key leaves out those without one, \
                     and `#[index({name}, .., when = ..)]` those that a function says"
                ),
            };
            cx.error(word.span(), why);
        }
        if entity.signed.is_some() {
            cx.error(
                index.ident.span(),
                format!(
                    "the rows of a `signed` entity are, and a list can't be: the store puts ids on it, and has no key; \
                     `#[index({name}, ..)]` has a row for each entity"
                ),
            );
        }
        let templates = index.partition.iter().chain([&index.row]);
        for (template, part) in
            templates.flat_map(|template| template.fields().map(move |part| (template, part)))
        {
            if part.format() == Format::Blind {
                let place = part.place();
                cx.error(
                    template.span(),
                    format!("{place}: a list shows who shares a value, which is encrypted: an index can hold its token"),
                );
            }
        }
        if entity.periods.is_some() {
            cx.error(
                index.ident.span(),
                format!(
                    "a kind with a table for each period has no index lists: `#[index({name}, ..)]` is read over all of them"
                ),
            );
        }
    }
}

/// C17, of a list: `of` names fields of the entity's key, each once, and none that the list's keys give anyway.
pub(super) fn c17_a_list_names_what_tells_apart(cx: &Ctxt, entity: &Entity<'_>) {
    for (index, list) in lists(entity) {
        let mut seen = Vec::new();
        for place in &list.of {
            let Some(field) = entity.field(place.value) else { continue };
            let name = &field.name;
            let is_sound = entity.key.partition.sound && entity.key.row.sound;
            if seen.contains(&place.value) {
                cx.error(place.span, format!("`{name}` is named twice"));
            } else if entity.partition_of(index).gives_back(place.value) {
                cx.error(
                    place.span,
                    format!(
                        "`{name}` is in the partition key of `{}`, which gives it back{}",
                        index.name,
                        instead(entity, index, list)
                    ),
                );
            } else if index.row.gives_back(place.value) {
                cx.error(
                    place.span,
                    format!(
                        "`{name}` is in the row key of `{}`, which gives it back{}",
                        index.name,
                        instead(entity, index, list)
                    ),
                );
            } else if is_sound && entity.key_part(place.value).is_none() {
                cx.error(
                    place.span,
                    format!(
                        "`{name}` is not in the entity's key, whose fields tell which entity an id is of{}",
                        instead(entity, index, list)
                    ),
                );
            }
            seen.push(place.value);
        }
    }
}

/// Returns what to write in the place of a field that makes up no id: the fields that do, or none if the others do already.
fn instead(entity: &Entity<'_>, index: &Index, list: &List) -> String {
    if !entity.key.partition.sound || !entity.key.row.sound || !index.row.sound {
        return String::new();
    }
    let is_given = |field: usize| entity.partition_of(index).gives_back(field) || index.row.gives_back(field);
    let ids: Vec<usize> = entity.key_arguments().into_iter().filter(|field| !is_given(*field)).collect();
    if ids.is_empty() {
        return "; a list that says all of an entity's key lists one entity: leave a field of it out of `row`".to_owned();
    }
    if ids.iter().all(|field| list.of.iter().any(|named| named.value == *field)) {
        return ": leave it out".to_owned();
    }
    let names: Vec<_> =
        ids.iter().filter_map(|field| entity.field(*field)).map(|field| field.name.as_str()).collect();
    match names.as_slice() {
        [name] => format!(": write `of = {name}`"),
        names => format!(": write `of({})`", names.join(", ")),
    }
}

fn lists<'m>(entity: &'m Entity<'_>) -> impl Iterator<Item = (&'m Index, &'m List)> {
    entity.indexes.iter().filter_map(|index| Some((index, index.list.as_ref()?)))
}
