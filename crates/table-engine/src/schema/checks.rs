//! The rules of a declaration that need a type's constants, for `const _: () = ..` in generated code.
//!
//! Each rule is a function that gives the message of the first mistake it sees, with its number and its English
//! above it. The functions here run the rules and stop the compiler, at the place in the user's code from which they
//! are called. After a mistake in a template, the rules that build on templates keep silent: one mistake gives one
//! message.

#![expect(clippy::large_types_passed_by_value, reason = "the compiler builds the messages, not the program")]

mod copied_fields;
mod key_of;
mod keys;
mod list;
mod parts;
mod periods;
mod projection;
mod rows;
mod summary;

pub use key_of::{KeyOf, offers_prefix, offers_range};
use std::ops::Range;

use key_of::{field_at, field_name, index};
pub(crate) use rows::same;

use super::message::Message;
use super::{Content, CopiedFields, Index, Part, Schema, Series};
use crate::model::EdmType;

/// C21, beyond what the bound on the type says: a property is there or absent, and nothing between.
/// `is_nested` and `content` are those of [`Property`](super::Property). Rows would hold the property as it is, and nothing
/// says that they may.
#[track_caller]
pub const fn property(name: &str, is_nested: bool, content: Content) {
    if matches!(content, Content::Secrets) {
        let message = Message::new("`")
            .text(name)
            .text("` is a `Secret`, and rows would hold it as it is: `#[encrypt]` seals it");
        message
            .text(", and `#[property(plain)]` says that it is only to be hidden and wiped in memory")
            .refuse();
    }
    plain_property(name, is_nested, content);
}

/// Refuses a nested `Option`, and a `SealedBlob`, whose key rows would hold, as a property that says that it may lie in the
/// clear.
#[track_caller]
pub const fn plain_property(name: &str, is_nested: bool, content: Content) {
    if matches!(content, Content::SealedBlobs) {
        let message = Message::new("`")
            .text(name)
            .text("` is a `SealedBlob`, and rows would hold the key that opens it as it is: `#[encrypt]` ");
        message.text("seals it, and a `Blob` is for bytes that need not be sealed").refuse();
    }
    nested(name, is_nested);
}

/// Refuses a nested `Option`, and blobs that sealing their reference does not protect, as a property that is sealed.
#[track_caller]
pub const fn sealed_property(name: &str, is_nested: bool, content: Content, is_dual: bool, is_blind: bool) {
    if matches!(content, Content::Blobs) {
        let message = Message::new("`")
            .text(name)
            .text("` is a `Blob`, whose bytes lie in the store as they are uploaded: write `SealedBlob`, whose bytes ");
        message.text("`Store::upload_sealed` seals, or leave out `#[encrypt]`").refuse();
    }
    if matches!(content, Content::SealedBlobs) && (is_dual || is_blind) {
        let message = Message::new("`").text(name).text("` is a `SealedBlob`");
        if is_dual {
            message
                .text(", and no bytes become sealed by sealing what refers to them: leave out `dual`, and upload ")
                .text("the blobs of former rows anew, by `Store::upload_sealed`, into a field of its own")
                .refuse();
        }
        message.text(", of which no two are equal to look up: leave out `blind`").refuse();
    }
    nested(name, is_nested);
}

#[track_caller]
const fn nested(name: &str, is_nested: bool) {
    if is_nested {
        let message = Message::new("`").text(name).text("` is an `Option` of an `Option`");
        message.text(", and a property is there or absent: write one `Option`").refuse();
    }
}

/// C28, of a series: it has slots, and a width that fits.
#[track_caller]
pub const fn series(series: &Series) {
    series.check();
}

/// What `#[encrypt]` needs.
#[track_caller]
pub const fn encrypt() {
    if !cfg!(feature = "encrypt") {
        Message::new("`#[encrypt]` needs the feature `encrypt` of `table-core`").refuse();
    }
}

/// What `#[entity(signed)]` needs.
#[track_caller]
pub const fn signed() {
    if !cfg!(feature = "encrypt") {
        Message::new("`#[entity(signed)]` needs the feature `encrypt` of `table-core`").refuse();
    }
}

/// What `#[encrypt(blind)]` needs: many values, each of which equals itself. `has_few` is
/// [`Property::FEW`](super::Property::FEW) of the field's type.
#[track_caller]
pub const fn blind(name: &str, edm: EdmType, has_few: bool) {
    let message = Message::new("`").text(name);
    if has_few {
        message
            .text(
                "` has so few values that how often each token occurs would tell them: leave out `blind`, and compare \
                 the field of the entities that are read",
            )
            .refuse();
    }
    if matches!(edm, EdmType::Double) {
        message
            .text("` is a float, and floats that look equal need not be: `blind` is for what is looked up exactly")
            .refuse();
    }
}

/// C10 and C12, where fields are flattened: properties have names of their own, and a row holds all of them.
#[inline]
#[track_caller]
pub const fn properties(schema: &Schema) {
    if let Some(message) = rows::properties(schema) {
        message.refuse();
    }
}

/// A wide entity. C7: no row of a part has the key of another row of the entity's. What each row holds is counted by
/// [`properties`], and by the derive if each field is one property.
#[inline]
#[track_caller]
pub const fn wide(schema: &Schema) {
    if let Some(message) = sound(schema, rows::parts(schema)) {
        message.refuse();
    }
}

/// The partition key. C3, C4, C5, C6, C14 and C15: what its template says. C20: it is more than a time, unless
/// `allow(hot_partition)` says that it may be one.
#[inline]
#[track_caller]
pub const fn partition(schema: &Schema, may_be_hot: bool) {
    template(schema, KeyOf::Partition);
    if !may_be_hot {
        hot_partition(schema);
    }
}

/// The row key. C3, C4, C5, C6, C14 and C15: what its template says. C22: the primary key tells entities apart.
#[inline]
#[track_caller]
pub const fn row(schema: &Schema) {
    template(schema, KeyOf::Row);
    identity(schema);
}

/// A table for each period. C27: its field is a time, and every key that is unique says the period.
#[inline]
#[track_caller]
pub const fn periods(schema: &Schema) {
    if let Some(message) = periods::determined(schema) {
        message.refuse();
    }
}

/// C31: what is to go is no property of the entity.
#[track_caller]
pub const fn gone(schema: &Schema) {
    if let Some(message) = rows::gone(schema) {
        message.refuse();
    }
}

/// C31: a version is one later than the one that it is made from, of the same kind, and no value and no row begins to be sealed
/// or signed with it: rows of the version before would be accepted from any writer.
#[inline]
#[track_caller]
pub const fn follows(schema: &Schema, previous: &Schema) {
    if let Some(message) = rows::follows(schema, previous) {
        message.refuse();
    }
}

/// An index. C3, C4, C5, C6, C14 and C15: what its template says. C7: no row of it can have the key of another row of
/// the entity's. C8: it tells entities apart, or says `unique`.
#[inline]
#[track_caller]
pub const fn index_row(schema: &Schema, index: usize) {
    template(schema, KeyOf::Index(index));
    readable_elsewhere(schema, index);
    disjoint(schema, index);
    determined(schema, index);
}

/// C8, of an index list: its ids tell the entities on it apart. What else a list can't be stands with its other words.
#[inline]
#[track_caller]
pub const fn index_list(schema: &Schema, index: usize) {
    if let Some(message) = sound(schema, list::determined(schema, index)) {
        message.refuse();
    }
}

/// The partition key of an index that lies elsewhere than its entities. C3, C4, C5, C6, C14 and C15: what its template says.
/// And what a copy elsewhere can hold: nothing that is sealed, and no token of it.
#[inline]
#[track_caller]
pub const fn index_partition(schema: &Schema, index: usize) {
    template(schema, KeyOf::IndexPartition(index));
}

/// C3, C4, C5, C6, C14 and C15: what one key template says.
#[inline]
#[track_caller]
pub(super) const fn template(schema: &Schema, place: KeyOf) {
    if let Some(message) = template_mistake(schema, place) {
        message.refuse();
    }
}

/// C22: the primary key tells entities apart.
#[inline]
#[track_caller]
pub(super) const fn identity(schema: &Schema) {
    if let Some(message) = sound(schema, keys::identity(schema)) {
        message.refuse();
    }
}

/// C20: the partition key is more than a time.
#[inline]
#[track_caller]
pub(super) const fn hot_partition(schema: &Schema) {
    if let Some(message) = sound(schema, keys::hot_partition(schema)) {
        message.refuse();
    }
}

/// C7: no row of the index can have the key of another row of the entity's.
#[inline]
#[track_caller]
pub(super) const fn disjoint(schema: &Schema, index: usize) {
    if let Some(message) = sound(schema, rows::disjoint(schema, index)) {
        message.refuse();
    }
}

/// A copy that lies elsewhere than its entity holds nothing that is sealed, and no token: those are bound to the entity's
/// own table and partition.
#[inline]
#[track_caller]
const fn readable_elsewhere(schema: &Schema, index: usize) {
    if let Some(message) = rows::sealed_elsewhere(schema, index) {
        message.refuse();
    }
}

/// C8: the index tells entities apart, or says `unique`.
#[inline]
#[track_caller]
pub(super) const fn determined(schema: &Schema, index: usize) {
    if let Some(message) = sound(schema, rows::determined(schema, index)) {
        message.refuse();
    }
}

/// C25: the kinds of a set are of one table and have names of their own. C7, of two kinds in one table: no row of
/// one can have the key of a row of the other.
#[inline]
#[track_caller]
pub const fn kinds(a: &Schema, b: &Schema) {
    if let Some(message) = rows::apart(a, b) {
        message.refuse();
    }
    if let Some(message) = sound(a, sound(b, rows::disjoint_kinds(a, b))) {
        message.refuse();
    }
}

/// A projection's field is one of the entity's: there is one of the name. Its type is given so that of a type that is no
/// property this is not said too.
#[inline]
#[track_caller]
pub const fn projected_name(schema: &Schema, name: &str, _: EdmType) {
    if let Some(message) = projection::unknown(schema, name) {
        message.refuse();
    }
}

/// Refuses a projection's field whose type is not that of the entity's, or that takes a field that may be absent as one that
/// may not.
#[inline]
#[track_caller]
pub const fn projected(schema: &Schema, name: &str, edm: EdmType, takes_absent: bool) {
    if let Some(message) = projection::mistake(schema, name, edm, takes_absent) {
        message.refuse();
    }
}

/// Refuses slots of a projection that are not all among those of the entity's series of this name.
#[inline]
#[track_caller]
pub const fn projected_slots(
    schema: &Schema,
    name: &str,
    slots: Range<usize>,
    edm: EdmType,
    takes_absent: bool,
) {
    if let Some(message) = projection::mistake_in_slots(schema, name, slots, edm, takes_absent) {
        message.refuse();
    }
}

/// Returns the place of a slot of the series of this name. If there is none, [`projected_slots`] has said so.
#[must_use]
pub const fn place_of_slot(schema: &Schema, name: &str, slot: usize) -> usize {
    projection::place_of_slot(schema, name, slot)
}

/// Returns the place of the field of this name. If there is none, [`projected`] has said so.
#[must_use]
pub const fn place_of(schema: &Schema, name: &str) -> usize {
    projection::place(schema, name)
}

/// A query of the index can select the field.
#[track_caller]
pub const fn held(schema: &Schema, place: Option<usize>, field: usize) {
    if let Some(at) = place
        && !super::holds(schema, place, field)
    {
        let message = Message::new("rows of the index `").text(index(schema, at).name);
        let message = message.text("` hold no `").text(field_name(schema, field));
        message.text("`: add it to the index's `copy(..)`, or ask for `.entities()`").refuse();
    }
}

/// A field of a summary's key is one of its source.
#[inline]
#[track_caller]
pub const fn summary_key(source: &Schema, summary: &Schema, field: usize) {
    if let Some(message) = summary::key_field(source, summary, field) {
        message.refuse();
    }
}

/// What a number of a summary adds up is an integer of its source.
#[inline]
#[track_caller]
pub const fn summed(source: &Schema, name: &str) {
    if let Some(message) = summary::summed(source, name) {
        message.refuse();
    }
}

/// A number of a summary has the width of a number.
#[track_caller]
pub const fn summary_number(summary: &Schema, field: usize) {
    if let Some(message) = summary::number(summary, field) {
        message.refuse();
    }
}

/// A summary says when it changes if it lies elsewhere than its source, which is no summary.
#[inline]
#[track_caller]
pub const fn summary(source: &Schema, summary: &Schema, index: &Index) {
    if let Some(message) = summary::of_source(source, summary, index) {
        message.refuse();
    }
}

/// C7 of a summary among the rows of its source: no row of it can have the key of another; and its name is no other's.
#[inline]
#[track_caller]
pub const fn summarized(schema: &Schema, at: usize) {
    if index(schema, at).kind.is_empty() {
        return;
    }
    if let Some(message) = summary::name_taken(schema, at) {
        message.refuse();
    }
    disjoint(schema, at);
}

/// A copy of another entity's fields: the source is one whose changes can keep it, in the place that is said, and they find the
/// dependents by rows whose keys begin with the source's.
#[inline]
#[track_caller]
pub const fn copied(dependent: &Schema, source: &Schema, at: usize, fields: &[usize]) {
    if dependent.entity.is_empty() || source.entity.is_empty() {
        return;
    }
    let copy = copy(dependent, at);
    // What else there is to say would follow from it.
    if copied_fields::is_any_mistyped(dependent, source, copy) {
        return;
    }
    let mistake = match copied_fields::source(dependent, source, copy) {
        Some(mistake) => Some(mistake),
        None => match copied_fields::fields(source, fields) {
            Some(mistake) => Some(mistake),
            None => copied_fields::way_back(dependent, source, copy),
        },
    };
    if let Some(message) = sound(dependent, mistake) {
        message.refuse();
    }
}

/// A field of the dependent that stands in the key of the source is of the type of the field there.
#[inline]
#[track_caller]
pub const fn copy_key(dependent: &Schema, source: &Schema, at: usize, nth: usize) {
    if dependent.entity.is_empty() || source.entity.is_empty() {
        return;
    }
    if let Some(message) = copied_fields::key(dependent, source, copy(dependent, at), nth) {
        message.refuse();
    }
}

#[expect(clippy::indexing_slicing, reason = "a copy that isn't there stops the compiler")]
const fn copy(schema: &Schema, at: usize) -> &CopiedFields {
    &schema.copied[at]
}

/// Returns the mistake, if the templates have none.
#[inline]
const fn sound(schema: &Schema, mistake: Option<Message>) -> Option<Message> {
    if mistake.is_none() {
        return None;
    }
    let mut is_sound = template_mistake(schema, KeyOf::Partition).is_none()
        && template_mistake(schema, KeyOf::Row).is_none();
    let mut at = 0;
    while is_sound && at < schema.indexes.len() {
        is_sound = template_mistake(schema, KeyOf::Index(at)).is_none()
            && (!index(schema, at).is_elsewhere()
                || template_mistake(schema, KeyOf::IndexPartition(at)).is_none());
        at += 1;
    }
    if is_sound { mistake } else { None }
}

#[inline]
const fn template_mistake(schema: &Schema, place: KeyOf) -> Option<Message> {
    let mut parts = place.template(schema).parts;
    while let [part, rest @ ..] = parts {
        let mistake = match part {
            Part::Literal(text) => keys::literal(schema, place, text),
            Part::Field(part) => parts::mistake(schema, part, rest, place.is_primary()),
        };
        if mistake.is_some() {
            return mistake;
        }
        parts = rest;
    }
    keys::length(schema, place)
}
