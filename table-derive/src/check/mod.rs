//! The rules that the macro alone can see: one rule, one function, its number and its English above it.
//!
//! The generated code checks what needs a type's constant or a trait: C3, C4, C6, C7, C8, C21, C22, C26, C27, C28, and
//! what of C25 and C31 needs two entities. The part of such a rule that the macro sees stands here.
//!
//! Some rules are about how a declaration is read, and stand where it is read:
//!
//! | rule | where |
//! | --- | --- |
//! | C1, C2 | [`template`](crate::template) |
//! | C5 | `table_words::format` |
//! | C17 | here, and unknown fields in [`model::Index`](crate::model::Index) |
//! | C23, C29 | [`model`](crate::model) |
//! | C24 | [`attr`](crate::attr); words that contradict each other in [`model::Field`](crate::model::Field) |
//! | C30 | [`model::Entity`](crate::model::Entity), [`model::Index`](crate::model::Index) |

mod copied;
mod entity;
mod index;
mod key;
mod key_part;
mod list;
mod periods;
mod property;
mod set;
mod summary;
mod version;
mod wide;

use crate::ctxt::Ctxt;
use crate::model::{Entity, EntitySet, KeyPart, Projection, Properties};

/// Every rule about an entity.
pub(crate) fn entity(cx: &Ctxt, entity: &Entity<'_>) {
    if entity.former.is_none() {
        entity::c13_the_service_takes_the_table(cx, entity);
    }
    entity::kind_is_a_word(cx, entity);
    version::c31_versions_follow_one_another(cx, entity);

    key::c3_a_primary_key_has_one_row(cx, entity);
    key::c3_a_key_holds_what_is_stored(cx, entity);
    key::c9_no_key_holds_what_is_encrypted(cx, entity);
    key::c14_a_key_can_hold_the_text(cx, entity);
    key::c15_the_text_leaves_room(cx, entity);
    key::c20_no_partition_of_time_alone(cx, entity);
    key::c22_a_primary_key_is_not_lossy(cx, entity);

    index::c3_a_copy_lies_in_one_partition(cx, entity);
    index::c16_a_copy_elsewhere_says_when_it_comes(cx, entity);
    index::c17_a_copy_names_what_it_adds(cx, entity);
    index::c18_indexes_have_names_of_their_own(cx, entity);
    index::c18_functions_have_names_of_their_own(cx, entity);
    index::c18_parts_leave_queries_their_methods(cx, entity);
    index::every_row_has_its_name(cx, entity);
    index::c19_a_transaction_holds_the_copies(cx, entity);

    list::a_list_is_of_all_with_a_value(cx, entity);
    list::c17_a_list_names_what_tells_apart(cx, entity);

    copied::a_copy_is_found_by_fields(cx, entity);
    periods::c27_all_of_an_entity_lies_in_its_period(cx, entity);

    summary::a_summary_holds_numbers(cx, entity);
    summary::c19_a_transaction_holds_the_summaries(cx, entity);

    property::c10_properties_have_names_of_their_own(cx, &entity.fields);
    property::c11_the_service_takes_the_names(cx, &entity.fields);
    if entity.wide.is_some() {
        wide::c12_each_row_holds_its_part(cx, entity);
    } else {
        property::c12_a_row_holds_the_properties(cx, entity);
    }

    wide::parts_begin_where_it_is_said(cx, entity);
    wide::c19_a_transaction_holds_the_parts(cx, entity);
    wide::what_a_wide_entity_is_not(cx, entity);
}

/// Every rule about a struct of properties.
pub(crate) fn properties(cx: &Ctxt, properties: &Properties<'_>) {
    property::c10_properties_have_names_of_their_own(cx, &properties.fields);
    property::c11_the_service_takes_the_names(cx, &properties.fields);
}

/// Every rule about a projection: of the names by which others hold it.
pub(crate) fn projection(cx: &Ctxt, projection: &Projection<'_>) {
    let fields = projection.as_group();
    property::c10_previous_names_are_no_field_s(cx, &fields);
    property::c11_previous_names_are_names(cx, &fields);
}

/// Every rule about a type in a key.
pub(crate) fn key_part(cx: &Ctxt, part: &KeyPart<'_>) {
    key_part::c7_variants_have_texts_of_their_own(cx, part);
    key_part::c14_a_key_can_hold_the_texts(cx, part);
}

/// Every rule about a set of entities.
pub(crate) fn entity_set(cx: &Ctxt, set: &EntitySet<'_>) {
    set::c25_a_kind_is_in_it_once(cx, set);
}
