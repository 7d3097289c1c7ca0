//! Rules about copies of other entities' fields.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Path, Type};

use crate::ctxt::Ctxt;
use crate::model::{Entity, Storage, copied};

/// A copy is an `Option` of a projection, found by fields that are properties themselves and readable.
pub(super) fn a_copy_is_found_by_fields(cx: &Ctxt, entity: &Entity<'_>) {
    for field in &entity.fields {
        let Some(copy) = &field.copy else { continue };
        if let Some(ty) = field.optional().filter(|ty| is_path(ty, &copy.of)) {
            let of = copy.of.to_token_stream();
            cx.error(
                ty.span(),
                format!(
                    "a copy is of some of the fields, and `{of}` is all of them: write `Option<..>` of a struct that has those, with \
                     `#[derive(Projection)]` and `#[projection(of = {of})]`"
                ),
            );
        }
        if field.optional().is_none() {
            cx.error(
                field.ty.span(),
                format!("there may be no source to copy: write `Option<{}>`", field.ty.to_token_stream()),
            );
        }
        for name in &copy.key {
            let Some(place) = copied::position(&entity.fields, name) else {
                cx.error(name.span(), copied::unknown(&entity.fields, entity.ident, name));
                continue;
            };
            let Some(other) = entity.field(place) else { continue };
            let why = match other.storage {
                Storage::Skipped => "it is not stored",
                Storage::Json => "it is kept as JSON",
                Storage::Flattened | Storage::Grouped | Storage::Series => "it is several properties",
                Storage::Value if other.encrypted.is_some() => "it is encrypted",
                Storage::Value => continue,
            };
            cx.error(name.span(), format!("a source can't be found by `{}`: {why}", other.name));
        }
    }
    if entity.periods.is_some() {
        let held =
            entity.fields.iter().filter_map(|field| field.copy.as_ref()).map(crate::model::CopyOf::span);
        for span in held.chain(entity.copied_into.iter().map(Spanned::span)) {
            cx.error(
                span,
                "a kind with a table for each period is no part of a copy: all of it goes with its period",
            );
        }
    }
    if let Some(former) = &entity.former {
        let held =
            entity.fields.iter().filter_map(|field| field.copy.as_ref()).map(crate::model::CopyOf::span);
        for span in held.chain(entity.copied_into.iter().map(Spanned::span)) {
            cx.error(
                span,
                format!("a `{former}` version is read and nothing else: nobody keeps copies of it"),
            );
        }
    }
    if let (true, Some(first)) = (entity.is_summary, entity.copied_into.first()) {
        cx.error(first.span(), "a summary is in nobody's copy: it is read beside, in one snapshot");
    }
}

/// Returns whether the type is written as this path is.
fn is_path(ty: &Type, path: &Path) -> bool {
    ty.to_token_stream().to_string() == path.to_token_stream().to_string()
}
