//! The generated code.
//!
//! Everything lies in one `const _` block, so that nothing of it can clash with what the user wrote beside the struct.
//! Only functions on the struct reach out of it, and the types that the user wants beside it. Paths are absolute, from
//! the crate's `__private`. What can be done without knowing a type is done there.

mod assertions;
mod copied;
mod debug;
mod entity;
mod exact;
mod fields;
mod former;
mod key;
mod key_part;
mod named_types;
mod names;
mod patch;
mod path;
mod projection;
mod properties;
mod schema;
mod series;
mod set;
mod summary;
#[cfg(test)]
mod tests;
mod view;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;

use crate::model::{Entity, EntitySet, KeyPart, Krate, Projection, Properties};
use named_types::Beside;
use names::Names;

pub(crate) fn entity(model: &Entity<'_>) -> TokenStream {
    if model.former.is_some() {
        let (implementation, assertions) = (former::implementation(model), assertions::assertions(model));
        let series = series::constants(&model.krate, &model.fields, false);
        return in_a_block(&model.krate, &quote!(#series #implementation #assertions));
    }
    let names = Names::of(model);
    let mut beside = Beside::new(&model.types, &model.krate);
    let implementation = entity::implementation(model, &names);
    let surroundings = surroundings(model, &names, &mut beside);
    let view = view::view(model, &names, &mut beside, false);
    let (assertions, summaries) = (assertions::assertions(model), summary::items(model));
    let (series, copies) = (series::constants(&model.krate, &model.fields, false), copied::items(model));
    let former = former::link(model);
    let items = quote!(#series #former #implementation #surroundings #view #summaries #copies #assertions);
    let block = in_a_block(&model.krate, &items);
    let beside = beside.into_items();
    quote!(#beside #block)
}

/// Returns what the uses of an entity need, if its declaration is wrong: the same types and functions, and no assertions.
pub(crate) fn entity_stub(model: &Entity<'_>) -> TokenStream {
    if model.former.is_some() {
        return in_a_block(&model.krate, &former::stub(model));
    }
    let names = Names::of(model);
    let mut beside = Beside::new(&model.types, &model.krate);
    let (implementation, surroundings) =
        (entity::stub(model, &names), surroundings(model, &names, &mut beside));
    let view = view::view(model, &names, &mut beside, true);
    let (summaries, copies) = (summary::stubs(model), copied::sides(model));
    let series = series::constants(&model.krate, &model.fields, true);
    let items = quote!(#series #implementation #surroundings #view #summaries #copies);
    let block = in_a_block(&model.krate, &items);
    let beside = beside.into_items();
    quote!(#beside #block)
}

/// Everything but the `impl`.
fn surroundings(model: &Entity<'_>, names: &Names<'_>, beside: &mut Beside<'_>) -> TokenStream {
    let functions = key::functions(model, names);
    let add = series::add(model);
    let parts = [functions, patch::patch(model, names, beside), path::indexes(model, names, beside), add];
    quote!(#(#parts)*)
}

/// Returns the items in a block where `krate` is a name of what they call.
pub(crate) fn in_a_block(krate: &Krate, items: &TokenStream) -> TokenStream {
    let import = krate.import();
    quote! {
        #[allow(
            dead_code,
            missing_debug_implementations,
            non_camel_case_types,
            unused_qualifications,
            clippy::arbitrary_source_item_ordering,
            clippy::impl_trait_in_params,
            clippy::same_name_method,
            clippy::should_implement_trait,
            reason = "which of it is called is the user's choice; some types have no values to be shown, and some are named as fields are, in their order; names are the same wherever the user's imports lead; no caller would name the type of a key's part; a query's own methods come before an iterator's"
        )]
        const _: () = {
            #import
            #items
        };
    }
}

pub(crate) fn key_part(model: &KeyPart<'_>) -> TokenStream {
    in_a_block(&model.krate, &key_part::implementation(model))
}

pub(crate) fn properties(model: &Properties<'_>) -> TokenStream {
    let implementation = properties::implementation(model);
    let assertions = assertions::of_fields(&model.krate, &model.fields);
    let series = series::constants(&model.krate, &model.fields, false);
    in_a_block(&model.krate, &quote!(#series #implementation #assertions))
}

/// Returns what the uses of a struct of properties need, if its declaration is wrong.
pub(crate) fn properties_stub(model: &Properties<'_>) -> TokenStream {
    let (series, stub) = (series::constants(&model.krate, &model.fields, true), properties::stub(model));
    in_a_block(&model.krate, &quote!(#series #stub))
}

pub(crate) fn projection(model: &Projection<'_>) -> TokenStream {
    in_a_block(&model.krate, &projection::implementation(model))
}

pub(crate) fn entity_set(model: &EntitySet<'_>) -> TokenStream {
    let (implementation, assertions) = (set::implementation(model), set::assertions(model));
    in_a_block(&model.krate, &quote!(#implementation #assertions))
}

/// Returns what the uses of a set need, if its declaration is wrong.
pub(crate) fn entity_set_stub(model: &EntitySet<'_>) -> TokenStream {
    in_a_block(&model.krate, &set::stub(model))
}

/// Returns what a function's parameter for a field is called: with a sign behind it, since a constant of the user's that has the
/// field's name would be a pattern in its place.
fn bound(field: &Ident) -> Ident {
    format_ident!("{}_", field.unraw())
}

/// Returns the tokens, as the user's at this place. An assertion is reported there only if all of its tokens are.
fn respanned(tokens: &impl ToTokens, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            let mut group = Group::new(group.delimiter(), respanned(&group.stream(), span));
            group.set_span(span);
            return TokenTree::Group(group);
        }
        token.set_span(span);
        token
    };
    tokens.to_token_stream().into_iter().map(at).collect()
}
