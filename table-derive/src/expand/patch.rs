//! The patch: some of the fields, to be set on an entity that is stored.

use proc_macro2::TokenStream;
use quote::quote;

use super::beside::Beside;
use super::debug;
use super::names::Names;
use crate::model::{Entity, Field, Krate, Storage};
use crate::symbol::PATCH;

/// The fields that a patch can set: all that are stored but those of the primary key, which no merge can change.
fn settable<'m, 'a>(model: &'m Entity<'a>) -> Vec<&'m Field<'a>> {
    let in_key = model.key_arguments();
    let fields = model.fields.iter().enumerate();
    fields
        .filter(|(at, field)| field.storage != Storage::Skipped && !in_key.contains(at))
        .map(|(_, field)| field)
        .collect()
}

/// The patch's type with a setter for each field.
pub(crate) fn patch(model: &Entity<'_>, names: &Names<'_>, beside: &mut Beside<'_>) -> TokenStream {
    let (vis, patch) = (model.vis, &names.patch);
    let fields = settable(model);
    let declared = fields.iter().map(|field| {
        let (ident, ty) = (field.ident, field.ty);
        quote!(#ident: ::core::option::Option<#ty>)
    });
    let setters = fields.iter().map(|field| setter(field));
    let in_key = model.key_arguments().into_iter().filter_map(|at| model.fields.get(at));
    let moved = in_key.map(|field| moved(&model.krate, field));
    let doc = format!("What a merge sets on the `{}` there: nothing at first.", model.ident);
    let debug = debug::named(&model.krate, patch);
    let definition = quote! {
        #[doc = #doc]
        #[must_use = "a patch does nothing until it is merged"]
        #vis struct #patch {
            #(#declared),*
        }
    };
    let definition = beside.place(PATCH, definition);
    quote! {
        #definition

        impl #patch {
            #(#setters)*
            #(#moved)*
        }

        #debug
    }
}

/// Sets one field. It is inline: a program calls some of the setters, and only those are compiled.
fn setter(field: &Field<'_>) -> TokenStream {
    let (vis, ident, ty) = (field.vis, field.ident, field.ty);
    let doc = format!("Sets `{}`.", field.name);
    // Text is mostly at hand as a literal.
    let (given, value) = if field.is_string() {
        (quote!(impl ::core::convert::Into<#ty>), quote!(::core::convert::Into::into(#ident)))
    } else {
        (quote!(#ty), quote!(#ident))
    };
    quote! {
        #[doc = #doc]
        #[inline]
        #vis fn #ident(mut self, #ident: #given) -> Self {
            self.#ident = ::core::option::Option::Some(#value);
            self
        }
    }
}

/// A field of the key, which no patch sets: the compiler says so, and what does.
fn moved(krate: &Krate, field: &Field<'_>) -> TokenStream {
    let (vis, ident) = (field.vis, field.ident);
    quote! {
        #[doc(hidden)]
        #vis fn #ident(self, _: impl #krate::SetsAKey) -> Self {
            self
        }
    }
}

/// The function on the struct that makes an empty patch.
pub(crate) fn function(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (vis, patch) = (model.vis, &names.patch);
    let name = model.patch_name();
    let fields = settable(model);
    let idents = fields.iter().map(|field| field.ident);
    quote! {
        /// A patch that sets nothing yet, for a merge.
        #[inline]
        #vis fn #name() -> #patch {
            #patch { #(#idents: ::core::option::Option::None),* }
        }
    }
}

/// The part of `impl Entity` that applies a patch.
pub(crate) fn exchange(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (krate, patch) = (&model.krate, &names.patch);
    let fields = settable(model);
    let idents = fields.iter().map(|field| field.ident);
    let unused = fields.is_empty().then(|| quote!(let _ = patch;));
    quote! {
        type Patch = #patch;

        fn exchange(&mut self, patch: &mut #patch) {
            #unused
            #(#krate::exchange(&mut self.#idents, &mut patch.#idents);)*
        }
    }
}
