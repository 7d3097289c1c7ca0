//! Rules about sets of entities.

use quote::ToTokens;

use crate::ctxt::Ctxt;
use crate::model::EntitySet;

/// C25, the part that one enum shows: an entity is in it once. Two entities of one kind are found by the generated code.
pub(super) fn c25_a_kind_is_in_it_once(cx: &Ctxt, set: &EntitySet<'_>) {
    let text = |ty: &syn::Type| ty.to_token_stream().to_string();
    for (i, member) in set.members.iter().enumerate() {
        let ty = text(member.ty);
        if let Some(first) = set.members.iter().take(i).find(|first| text(first.ty) == ty) {
            cx.error_on(member.ty, format!("`{ty}` is already in the set, as `{}`", first.variant));
        }
    }
}
