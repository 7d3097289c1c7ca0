//! Rules about keys.

use super::names;
use crate::ctxt::Ctxt;
use crate::model::{Entity, Storage};
use crate::template::{Format, Part};

/// C3, the part that shows in the template: only an index has a row for each element.
pub(super) fn c3_a_primary_key_has_one_row(cx: &Ctxt, entity: &Entity<'_>) {
    for template in [&entity.key.partition, &entity.key.row] {
        for part in template.fields().filter(|part| part.each) {
            let place = part.place();
            cx.error(template.span(), format!("{place}: only an index can have a row for each element"));
        }
    }
}

/// C3, the part that shows in attributes: a field that is not stored, or is several properties, has no text.
pub(super) fn c3_a_key_holds_what_is_stored(cx: &Ctxt, entity: &Entity<'_>) {
    for template in entity.templates() {
        for part in template.fields() {
            let why = match entity.field(part.field).map(|field| field.storage) {
                Some(Storage::Skipped) => "a skipped field can't be part of a key",
                Some(Storage::Flattened) => "a flattened field can't be part of a key",
                _ => continue,
            };
            cx.error(template.span(), format!("{}: {why}", part.place()));
        }
    }
}

/// C9: a key is readable, so nothing that is encrypted stands in one. Its token may.
pub(super) fn c9_no_key_holds_what_is_encrypted(cx: &Ctxt, entity: &Entity<'_>) {
    for template in entity.templates() {
        for part in template.fields() {
            let encrypted = entity.field(part.field).is_some_and(|field| field.encrypted.is_some());
            if part.format == Format::Blind {
                cx.error(
                    template.span(),
                    format!("{}: the format `blind` is not supported yet", part.place()),
                );
            } else if encrypted {
                cx.error(
                    template.span(),
                    format!("{}: an encrypted field would be readable in the key", part.place()),
                );
            }
        }
    }
}

/// C14: literal text holds only what a key can.
pub(super) fn c14_a_key_can_hold_the_text(cx: &Ctxt, entity: &Entity<'_>) {
    for template in entity.templates() {
        let mut texts = template.parts.iter().map(|part| match part {
            Part::Literal(text) => text.as_str(),
            Part::Field(part) => match &part.format {
                Format::Time(pattern) => pattern.text.as_str(),
                _ => "",
            },
        });
        // The first of them: who wrote `a/b/c` made one mistake.
        let Some(c) = texts.find_map(names::forbidden_in_keys) else { continue };
        let column = template.source().chars().take_while(|other| *other != c).count() + 1;
        let shown = names::shown(c);
        cx.error(
            template.span(),
            format!(
                "`{shown}` at column {column}: a key holds neither `/`, `\\`, `#`, `?` nor control characters"
            ),
        );
    }
}

/// C15, the part that the text alone shows: a key has at most 512 UTF-16 units.
pub(super) fn c15_the_text_leaves_room(cx: &Ctxt, entity: &Entity<'_>) {
    for template in entity.templates() {
        let units: usize = template
            .parts
            .iter()
            .map(|part| match part {
                Part::Literal(text) => names::utf16_units(text),
                Part::Field(_) => 0,
            })
            .sum();
        if units > names::KEY_UNITS {
            cx.error(
                template.span(),
                format!("the text alone takes {units} UTF-16 units; a key has at most {}", names::KEY_UNITS),
            );
        }
    }
}

/// C20, the part that shows in the formats: a partition key of time alone sends every insert to one partition.
pub(super) fn c20_no_partition_of_time_alone(cx: &Ctxt, entity: &Entity<'_>) {
    let partition = &entity.key.partition;
    let mut parts = partition.fields().peekable();
    // A part that couldn't be read might have been the identity.
    if !partition.sound || parts.peek().is_none() || entity.allows_hot_partition() {
        return;
    }
    if parts.all(|part| matches!(part.format, Format::Ticks | Format::Time(_))) {
        cx.error(
            partition.span(),
            "a partition key of time alone sends every insert to one partition: put an identity before \
             it, or say `#[entity(allow(hot_partition))]`",
        );
    }
}

/// C22, the part that the format alone shows: folding makes one key of two.
pub(super) fn c22_a_primary_key_is_not_folded(cx: &Ctxt, entity: &Entity<'_>) {
    for template in [&entity.key.partition, &entity.key.row] {
        for part in template.fields().filter(|part| part.format == Format::Lower) {
            let place = part.place();
            cx.error(
                template.span(),
                format!("{place}: folding could give two entities one key; only an index can have `lower`"),
            );
        }
    }
}
