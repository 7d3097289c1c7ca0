//! Rules about keys.

use table_words::{key, limits};

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
                Some(Storage::Grouped) => {
                    "a reference or a copy is several properties and can't be part of a key; name the fields that refer"
                }
                Some(Storage::Series) => "a series can't be part of a key",
                _ => continue,
            };
            cx.error(template.span(), format!("{}: {why}", part.place()));
        }
    }
}

/// C9: a key is readable, so nothing that is encrypted stands in one. Its token may.
pub(super) fn c9_no_key_holds_what_is_encrypted(cx: &Ctxt, entity: &Entity<'_>) {
    for (at, template) in entity.templates().enumerate() {
        // Those of the primary key come first.
        let is_primary = at < 2;
        for part in template.fields() {
            let Some(field) = entity.field(part.field).filter(|field| field.is_property()) else { continue };
            let (place, name) = (part.place(), &field.name);
            match (part.format() == Format::Blind, field.encrypted.is_some(), field.blind()) {
                // C22 says it.
                (true, ..) if is_primary => {}
                (true, _, None) => cx.error(
                    template.span(),
                    format!("{place}: `{name}` has no token; declare it with `#[encrypt(blind)]`"),
                ),
                (true, ..) if field.encrypted.is_some_and(|encrypted| encrypted.dual) => cx.error(
                    template.span(),
                    format!("{place}: rows that still hold `{name}` plain have no token; a `dual` field is in no index"),
                ),
                (true, ..) if part.each => {
                    cx.error(template.span(), format!("{place}: a token is of the whole value, without `[]`"));
                }
                (false, true, None) => {
                    // Rows elsewhere and lists hold no tokens, and rows that are still plain have none.
                    let may_have_token = !field.encrypted.is_some_and(|encrypted| encrypted.dual)
                        && entity.indexes.iter().any(|index| {
                            std::ptr::eq(&raw const index.row, template) && !entity.lies_elsewhere(index) && index.list.is_none()
                        });
                    let token = if may_have_token {
                        format!("; an index can hold a token of it: `{{{name}:blind}}`, with `#[encrypt(blind)]` on the field")
                    } else {
                        String::new()
                    };
                    cx.error(
                        template.span(),
                        format!("{place}: an encrypted field would be readable in the key{token}"),
                    );
                }
                (false, true, Some(_)) => cx.error(
                    template.span(),
                    format!(
                        "{place}: an encrypted field would be readable in the key; an index can hold its token: \
                         `{{{name}:blind}}`"
                    ),
                ),
                _ => {}
            }
        }
    }
}

/// C14: literal text holds only what a key can.
pub(super) fn c14_a_key_can_hold_the_text(cx: &Ctxt, entity: &Entity<'_>) {
    for template in entity.templates() {
        let mut texts = template.parts.iter().map(|part| match part {
            Part::Literal(text) => text.as_str(),
            Part::Field(part) => match part.format() {
                Format::Time(pattern) => pattern.text(),
                _ => "",
            },
        });
        // Only the first: `a/b/c` is one mistake.
        let Some(c) = texts.find_map(forbidden) else { continue };
        let column = template.source().chars().take_while(|other| *other != c).count() + 1;
        cx.error(template.span(), format!("`{}` at column {column}: a key holds {}", shown(c), key::RULE));
    }
}

/// Returns the first character that no key may hold.
pub(super) fn forbidden(text: &str) -> Option<char> {
    text.chars().find(|c| key::is_forbidden(*c))
}

/// Returns a character as a message shows it.
pub(super) fn shown(c: char) -> String {
    if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
}

/// C15, the part that the text alone shows: a key has at most 512 UTF-16 units.
pub(super) fn c15_the_text_leaves_room(cx: &Ctxt, entity: &Entity<'_>) {
    for template in entity.templates() {
        let units: usize = template
            .parts
            .iter()
            .map(|part| match part {
                Part::Literal(text) => key::utf16_units(text),
                Part::Field(_) => 0,
            })
            .sum();
        if units > limits::KEY_UNITS {
            cx.error(
                template.span(),
                format!("the text alone takes {units} UTF-16 units; a key has at most {}", limits::KEY_UNITS),
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
    if parts.all(|part| matches!(part.format(), Format::Ticks | Format::Time(_))) {
        cx.error(
            partition.span(),
            "a partition key of time alone sends every insert to one partition: put an identity before \
             it, or say `#[entity(allow(hot_partition))]`",
        );
    }
}

/// C22, the part that the format alone shows: folding makes one key of two, and a token gives nothing back.
pub(super) fn c22_a_primary_key_is_not_lossy(cx: &Ctxt, entity: &Entity<'_>) {
    for template in [&entity.key.partition, &entity.key.row] {
        for part in template.fields() {
            let why = match part.format() {
                Format::Lower => "folding could give two entities one key; only an index can have `lower`",
                Format::Blind => {
                    "a primary key gives its fields back, which a token does not; only an index can have `blind`"
                }
                _ => continue,
            };
            cx.error(template.span(), format!("{}: {why}", part.place()));
        }
    }
}
