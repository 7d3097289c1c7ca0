//! The generated code.
//!
//! Everything lies in one `const _` block, so that nothing of it can clash with what the user wrote beside the struct;
//! only functions on the struct reach out of it. Paths are absolute, from the crate's `__private`. What can be done
//! without knowing a type is done there.

mod assertions;
mod entity;
mod fields;
mod key;
mod key_part;
mod names;
mod patch;
mod path;
mod properties;
mod schema;
mod set;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::model::{Entity, EntitySet, KeyPart, Projection, Properties};
use names::Names;

pub(crate) fn entity(model: &Entity<'_>) -> TokenStream {
    let names = Names::of(model);
    let parts = [
        entity::implementation(model, &names),
        key::functions(model, &names),
        patch::patch(model, &names),
        path::indexes(model, &names),
        assertions::assertions(model),
    ];
    quote! {
        const _: () = {
            #(#parts)*
        };
    }
}

pub(crate) fn key_part(model: &KeyPart<'_>) -> TokenStream {
    key_part::implementation(model)
}

pub(crate) fn properties(model: &Properties<'_>) -> TokenStream {
    properties::implementation(model)
}

pub(crate) fn projection(model: &Projection<'_>) -> TokenStream {
    later(model.ident, "#[derive(Projection)]")
}

pub(crate) fn entity_set(model: &EntitySet<'_>) -> TokenStream {
    set::implementation(model)
}

/// What is read and checked already, and not built yet.
fn later(ident: &syn::Ident, what: &str) -> TokenStream {
    syn::Error::new(ident.span(), format!("`{what}` is not supported yet")).into_compile_error()
}

/// The tokens, as the user's at this place. An assertion is reported there only if all of its tokens are.
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
