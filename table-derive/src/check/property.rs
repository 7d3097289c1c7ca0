//! Rules about properties.

use std::collections::BTreeMap;
use std::iter;

use table_words::names::{PROPERTY_RULE, is_of_every_row, is_property};
use table_words::{key, limits};

use crate::ctxt::Ctxt;
use crate::model::{Copies, Entity, Field, Template};

/// C10: no two properties have one name.
pub(super) fn c10_properties_have_names_of_their_own(cx: &Ctxt, fields: &[Field<'_>]) {
    let mut seen: BTreeMap<&str, &Field<'_>> = BTreeMap::new();
    for field in fields.iter().filter(|field| field.is_property()) {
        let name = field.property.value.as_str();
        if let Some(first) = seen.get(name) {
            cx.error(
                field.property.span,
                format!(
                    "the property name `{name}` is already that of the field `{}`: give this one another by `#[property(rename = \"..\")]`",
                    first.name
                ),
            );
        } else {
            seen.insert(name, field);
        }
    }
    c10_previous_names_are_no_field_s(cx, fields);
    for field in fields.iter().filter(|field| field.is_property()) {
        let (Some(blind), token) = (field.blind(), field.token_property()) else { continue };
        if let Some(other) = seen.get(token.as_str()) {
            cx.error(
                blind.span,
                format!(
                    "the token of `{}` is kept in the property `{token}`, which is already that of the field `{}`",
                    field.name, other.name
                ),
            );
        }
    }
}

/// C10, of the names that properties had.
pub(super) fn c10_previous_names_are_no_field_s(cx: &Ctxt, fields: &[Field<'_>]) {
    let own = |name: &str| fields.iter().find(|field| field.is_property() && field.property.value == name);
    let mut former: BTreeMap<&str, &Field<'_>> = BTreeMap::new();
    for field in fields.iter().filter(|field| field.is_property()) {
        let Some(was) = &field.was else { continue };
        let name = was.value.as_str();
        if let Some(other) = own(name) {
            let whose = if other.name == field.name {
                "still its own".to_owned()
            } else {
                format!("that of the field `{}`", other.name)
            };
            cx.error(
                was.span,
                format!("the property name `{name}` is {whose}: `was` is a name that no field has any more"),
            );
        } else if let Some(first) = former.insert(name, field) {
            cx.error(was.span, format!("`{name}` is already what the field `{}` was", first.name));
        }
    }
}

/// C11: the service takes the names, and keeps none of them for itself.
pub(super) fn c11_the_service_takes_the_names(cx: &Ctxt, fields: &[Field<'_>]) {
    c11_previous_names_are_names(cx, fields);
    for field in fields.iter().filter(|field| field.is_property()) {
        let (name, span) = (field.property.value.as_str(), field.property.span);
        let hint = if field.renamed { "" } else { "; give it another by `#[property(rename = \"..\")]`" };
        if is_of_every_row(name) {
            cx.error(
                span,
                format!("the property name `{name}` is taken: every row has one of its own{hint}"),
            );
        } else if !is_property(name) {
            cx.error(span, format!("`{name}` is no property name: {PROPERTY_RULE}{hint}"));
        } else if let units = key::utf16_units(name)
            && units > limits::NAME_UNITS
        {
            cx.error(
                span,
                format!(
                    "a property's name has at most {} UTF-16 units; this one has {units}{hint}",
                    limits::NAME_UNITS
                ),
            );
        } else if let units = key::utf16_units(&field.token_property())
            && units > limits::NAME_UNITS
            && let Some(blind) = field.blind()
        {
            cx.error(
                blind.span,
                format!(
                    "the token of `{}` is kept in a property of {units} UTF-16 units, `{name}` with `Token` behind it; \
                     a name has at most {}{hint}",
                    field.name,
                    limits::NAME_UNITS
                ),
            );
        }
    }
}

/// C11, of the names that properties had.
pub(super) fn c11_previous_names_are_names(cx: &Ctxt, fields: &[Field<'_>]) {
    for was in fields.iter().filter_map(|field| field.was.as_ref()) {
        let name = was.value.as_str();
        if is_of_every_row(name) || !is_property(name) {
            cx.error(was.span, format!("no property was ever called `{name}`: {PROPERTY_RULE}"));
        }
    }
}

/// C12: a row holds at most 252 properties, and `EntityType` is one. What its key gives back is not among them.
pub(super) fn c12_a_row_holds_the_properties(cx: &Ctxt, entity: &Entity<'_>) {
    let most = limits::PROPERTIES - 1;
    // A field that has a token counts twice.
    let stored = |partition: &Template, row: &Template| {
        let places = entity.fields.iter().enumerate().filter(|(place, field)| {
            // The generated code counts the fields of flattened structs, which are another derive's.
            field.is_property() && !partition.gives_back(*place) && !row.gives_back(*place)
        });
        places
            .flat_map(|(_, field)| iter::repeat_n(field, 1 + usize::from(field.blind().is_some())))
            .collect::<Vec<_>>()
    };
    let fields = stored(&entity.key.partition, &entity.key.row);
    let limit = format!("a row holds at most {most} beside its `EntityType`");
    if let Some(first) = fields.get(most) {
        cx.error(
            first.ident.span(),
            format!(
                "`{}` stores {} properties; {limit}: `wide`, in `#[entity(..)]`, has it lie in several rows, of which the next \
                 begins with a field that has `#[part]`, this one or one before it",
                entity.ident,
                fields.len()
            ),
        );
        return;
    }
    for index in entity.indexes.iter().filter(|index| matches!(index.copies, Copies::All)) {
        let count = stored(entity.partition_of(index), &index.row).len();
        if count > most {
            cx.error(
                index.ident.span(),
                format!(
                    "a copy in `{}` stores {count} properties; {limit}: say `copy = keys`, or `copy(..)` with some of the fields",
                    index.name
                ),
            );
        }
    }
}
