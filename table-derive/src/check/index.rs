//! Rules about indexes, and about the names of what is generated for keys.

use syn::ext::IdentExt;
use table_words::{limits, taken};

use crate::ctxt::Ctxt;
use crate::model::{Copies, Entity, Storage, Template};

/// C16: an index that lies elsewhere than the entity says when its copies come; one in the entity's partition is always
/// in step, and says nothing.
pub(super) fn c16_a_copy_elsewhere_says_when_it_comes(cx: &Ctxt, entity: &Entity<'_>) {
    for index in &entity.indexes {
        // One that couldn't be read has its message.
        if index.partition.as_ref().is_some_and(|partition| !partition.sound) {
            continue;
        }
        let name = &index.name;
        if !entity.lies_elsewhere(index) {
            if let Some(word) = &index.eventual {
                let what = if index.list.is_some() { "lists" } else { "copies" };
                cx.error(
                    word.span(),
                    format!("`{name}` is in the entity's partition, where {what} are never `eventual`"),
                );
            }
            if let Some(word) = &index.atomic {
                cx.error(
                    word.span(),
                    format!("`{name}` is in the entity's partition, where every copy comes with its entity: leave out `atomic`"),
                );
            }
            continue;
        }
        match (&index.atomic, &index.eventual) {
            (Some(_), None) => {}
            (Some(_), Some(word)) => {
                let what = if index.list.is_some() { "it changes" } else { "its copies come" };
                cx.error(
                    word.span(),
                    format!("`{name}` is `atomic` already: {what} with the entity's change, and not later"),
                );
            }
            (None, Some(_)) => {
                if let Some(word) = index.unique.as_ref().filter(|_| index.list.is_none()) {
                    cx.error(
                        word.span(),
                        format!(
                            "`{name}` is `eventual`: whether a key is free is known in the entity's transaction alone; say \
                             `atomic`, or leave out `unique`"
                        ),
                    );
                }
            }
            (None, None) if index.list.is_some() => {
                let at = index.place.as_ref().unwrap_or(&index.ident);
                cx.error(
                    at.span(),
                    format!(
                        "`{name}` lies elsewhere than its entities: say `atomic`, so that it changes with them in one \
                         transaction, or `eventual`, so that it follows"
                    ),
                );
            }
            (None, None) => {
                let at = index.place.as_ref().unwrap_or(&index.ident);
                cx.error(
                    at.span(),
                    format!(
                        "`{name}` lies elsewhere than its entity: say `atomic`, so that its copies come with the entity's change, or \
                         `eventual`, so that they follow"
                    ),
                );
            }
        }
    }
}

/// C3, of an index's partition key: it has one text.
pub(super) fn c3_a_copy_lies_in_one_partition(cx: &Ctxt, entity: &Entity<'_>) {
    for template in entity.indexes.iter().filter_map(|index| index.partition.as_ref()) {
        for part in template.fields().filter(|part| part.each) {
            let place = part.place();
            cx.error(template.span(), format!("{place}: only a row key can have a row for each element"));
        }
    }
}

/// C17: a `copy(..)` list names each field once, and none that the copy's keys give anyway.
pub(super) fn c17_a_copy_names_what_it_adds(cx: &Ctxt, entity: &Entity<'_>) {
    for index in &entity.indexes {
        let Copies::Some(copied) = &index.copies else { continue };
        let mut seen = Vec::new();
        for place in copied {
            let Some(field) = entity.field(place.value) else { continue };
            let name = &field.name;
            if seen.contains(&place.value) {
                cx.error(place.span, format!("`{name}` is copied twice"));
            } else if entity.gives_back(&entity.key.row, place.value) {
                cx.error(place.span, format!("`{name}` is in the entity's key, which every copy has"));
            } else if index.row.gives_back(place.value) {
                cx.error(
                    place.span,
                    format!("`{name}` is in the row key of `{}`, which gives it back", index.name),
                );
            } else if entity.partition_of(index).gives_back(place.value) {
                cx.error(
                    place.span,
                    format!("`{name}` is in the partition key of `{}`, which gives it back", index.name),
                );
            } else if field.storage == Storage::Skipped {
                cx.error(place.span, format!("`{name}` is skipped: there is nothing to copy"));
            } else if field.storage == Storage::Grouped {
                cx.error(
                    place.span,
                    format!(
                        "`{name}` is several properties: a copy that is to hold it is whole, `copy = all`"
                    ),
                );
            } else if field.is_behind() {
                let what = if field.storage == Storage::Series { "a series" } else { "flattened" };
                cx.error(
                    place.span,
                    format!("`{name}` is {what}, of many properties: `copy = all` copies them, and `copy = keys` with `.entities()` reads them"),
                );
            }
            seen.push(place.value);
        }
    }
}

/// C18, of indexes: each has a name of its own, which is no method of a table.
pub(super) fn c18_indexes_have_names_of_their_own(cx: &Ctxt, entity: &Entity<'_>) {
    let mut seen = Vec::new();
    for index in &entity.indexes {
        let name = index.name.as_str();
        if seen.contains(&name) {
            cx.error(index.ident.span(), format!("there is already an index `{name}`"));
        } else if taken::TABLE_METHODS.contains(&name) {
            cx.error(
                index.ident.span(),
                format!("an index can't be called `{name}`: a table has a method of that name"),
            );
        } else if taken::TABLE_RESERVED.contains(&name) {
            cx.error(
                index.ident.span(),
                format!("an index can't be called `{name}`: the name is kept for a method of tables to come"),
            );
        }
        seen.push(name);
    }
}

/// C18, of the functions on the struct: no two have one name.
pub(super) fn c18_functions_have_names_of_their_own(cx: &Ctxt, entity: &Entity<'_>) {
    let key = &entity.key;
    let own = [(&key.name, "key"), (&key.partition_name, "partition"), (&entity.patch_name, "patch")];
    let mut seen: Vec<String> = Vec::new();
    if entity.fields.iter().any(|field| field.storage == Storage::Series) {
        seen.push("add".to_owned());
    }
    for (given, default) in own {
        let name = given.as_ref().map_or_else(|| default.to_owned(), |name| name.unraw().to_string());
        if let Some(given) = given.as_ref().filter(|_| seen.contains(&name)) {
            cx.error(given.span(), format!("`{}` already gets a function `{name}`", entity.ident));
        }
        seen.push(name);
    }
    for (i, index) in entity.indexes.iter().enumerate() {
        let name = index.function().unraw().to_string();
        // Two indexes of one name have their message already.
        let told = entity.indexes.iter().take(i).any(|earlier| earlier.name == index.name);
        if seen.contains(&name) && !told {
            cx.error(
                index.function().span(),
                format!(
                    "`{}` already gets a function `{name}`; rename this one by `name = ..` in the index",
                    entity.ident
                ),
            );
        }
        seen.push(name);
    }
}

/// C18, of the parts of keys: a query has a method for each, and keeps its own.
pub(super) fn c18_parts_leave_queries_their_methods(cx: &Ctxt, entity: &Entity<'_>) {
    for (place, field) in entity.fields.iter().enumerate() {
        let name = field.name.as_str();
        let is_part =
            entity.key.partition.fields().chain(entity.key.row.fields()).any(|part| part.field == place)
                || entity.copying().any(|(_, index)| {
                    let partition = index.partition.iter().flat_map(Template::fields);
                    partition
                        .chain(index.row.fields())
                        .any(|part| part.field == place && (!part.each || index.aliases.is_empty()))
                });
        if is_part && taken::QUERY_METHODS.contains(&name) {
            cx.error(
                field.ident.span(),
                format!(
                    "a field in a key can't be called `{name}`: a query has a method of that name; give the field another \
                     name, and the property keeps its own by `#[property(rename = \"{}\")]`",
                    field.property.value
                ),
            );
        }
    }
    for alias in entity.indexes.iter().flat_map(|index| &index.aliases) {
        let name = alias.unraw().to_string();
        if taken::QUERY_METHODS.contains(&name.as_str()) {
            cx.error(
                alias.span(),
                format!(
                    "a part of a key can't be called `{name}`: a query has a method of that name; give it another in `as`"
                ),
            );
        }
    }
}

/// `as` names each `[]` part of the index's row key, by a name that no other part of the key has.
pub(super) fn every_row_has_its_name(cx: &Ctxt, entity: &Entity<'_>) {
    for index in &entity.indexes {
        let Some(first) = index.aliases.first().filter(|_| index.row.sound) else { continue };
        let parts = index.row.fields().filter(|part| part.each).count();
        let named = index.aliases.len();
        if parts == 0 {
            cx.error(first.span(), "`as` names the parts with `[]`, and this row key has none");
        } else if parts != named {
            cx.error(
                first.span(),
                format!("`as` names each part with `[]`: the row key has {parts}, and the list {named}"),
            );
        }
        let mut seen: Vec<String> = entity
            .partition_of(index)
            .fields()
            .chain(index.row.fields().filter(|part| !part.each))
            .filter_map(|part| entity.field(part.field).map(|field| field.name.clone()))
            .collect();
        for alias in &index.aliases {
            let name = alias.unraw().to_string();
            if seen.contains(&name) {
                cx.error(alias.span(), format!("another part of the key is called `{name}`"));
            }
            seen.push(name);
        }
    }
}

/// C19: a transaction holds every row that a change may touch: the entity, the copies that go and those that come.
pub(super) fn c19_a_transaction_holds_the_copies(cx: &Ctxt, entity: &Entity<'_>) {
    let most = (limits::BATCH_OPERATIONS - 1) / 2;
    let Some(first) = entity.indexes.get(most) else { return };
    cx.error(
        first.ident.span(),
        format!(
            "`{}` has {} indexes; a change may move the copy in each, and a transaction of {} rows can move {most}",
            entity.ident,
            entity.indexes.len(),
            limits::BATCH_OPERATIONS,
        ),
    );
}
