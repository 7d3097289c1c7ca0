//! The patch: some of the fields, to be set on an entity that is stored.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::named_types::Beside;
use super::names::Names;
use super::series;
use super::{bound, debug};
use crate::model::{Entity, Field, Krate, Storage};
use crate::symbol::PATCH;

/// Returns the fields that a patch can set: all that are stored but those of the primary key, which no merge can change.
fn settable<'m, 'a>(model: &'m Entity<'a>) -> Vec<&'m Field<'a>> {
    let in_key = model.key_arguments();
    let fields = model.fields.iter().enumerate();
    fields
        .filter(|(at, field)| field.storage != Storage::Skipped && !in_key.contains(at))
        .map(|(_, field)| field)
        .collect()
}

/// Returns the patch's type with a setter for each field.
pub(crate) fn patch(model: &Entity<'_>, names: &Names<'_>, beside: &mut Beside<'_>) -> TokenStream {
    let (vis, patch) = (model.vis, &names.patch);
    let fields = settable(model);
    let krate = &model.krate;
    let declared = fields.iter().map(|field| {
        let (ident, ty) = (field.ident, field.ty);
        if field.storage == Storage::Series {
            let slot = series::slot(krate, field);
            return quote!(#ident: #krate::SeriesPatch<#slot>);
        }
        quote!(#ident: ::core::option::Option<#ty>)
    });
    let setters = fields.iter().map(|field| setter(krate, field));
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
    let definition = beside.place(PATCH, patch, definition);
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
fn setter(krate: &Krate, field: &Field<'_>) -> TokenStream {
    if field.storage == Storage::Series {
        return series::setter(krate, field);
    }
    let (vis, ident, ty, value) = (field.vis, field.ident, field.ty, bound(field.ident));
    let doc = field.done_with(&format!("Sets `{}`.", field.name));
    // Text is mostly at hand as a literal.
    let (given, set) = if field.is_string() {
        (quote!(impl ::core::convert::Into<#ty>), quote!(::core::convert::Into::into(#value)))
    } else {
        (quote!(#ty), quote!(#value))
    };
    quote! {
        #[doc = #doc]
        #[inline]
        #vis fn #ident(mut self, #value: #given) -> Self {
            self.#ident = ::core::option::Option::Some(#set);
            self
        }
    }
}

/// Returns a field of the key, which no patch sets: the compiler says so, and what does.
fn moved(krate: &Krate, field: &Field<'_>) -> TokenStream {
    let (vis, ident) = (field.vis, field.ident);
    quote! {
        #[doc(hidden)]
        #vis fn #ident(self, _: impl #krate::SetsAKey) -> Self {
            self
        }
    }
}

/// Returns the function on the struct that makes an empty patch.
pub(crate) fn function(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (vis, patch) = (model.vis, &names.patch);
    let name = model.patch_name();
    let (krate, fields) = (&model.krate, settable(model));
    let nothing = fields.iter().map(|field| {
        let ident = field.ident;
        if field.storage == Storage::Series {
            let of = series::of(series::place(model, field));
            return quote!(#ident: #krate::SeriesPatch::new(&#of));
        }
        quote!(#ident: ::core::option::Option::None)
    });
    let doc = format!(
        "A patch that sets nothing yet, for a merge. Its methods are called as the fields are; `#[entity(types)]` puts `{patch}` \
         beside the struct, where `cargo doc` shows them."
    );
    quote! {
        #[doc = #doc]
        #[inline]
        #vis fn #name() -> #patch {
            #patch { #(#nothing),* }
        }
    }
}

/// Returns the part of `impl Entity` that applies a patch.
pub(crate) fn exchange(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (krate, patch) = (&model.krate, &names.patch);
    let fields = settable(model);
    let exchanged = fields.iter().map(|field| {
        let (ident, ty) = (field.ident, field.ty);
        if field.storage == Storage::Series {
            let exchange = quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::exchange);
            return quote!(#exchange(&mut self.#ident, &mut patch.#ident););
        }
        quote!(#krate::exchange(&mut self.#ident, &mut patch.#ident);)
    });
    let check = series::check_patch(krate, patch, &fields);
    let unused = fields.is_empty().then(|| quote!(let _ = patch;));
    quote! {
        type Patch = #patch;

        fn exchange(&mut self, patch: &mut #patch) {
            #unused
            #(#exchanged)*
        }

        #check
    }
}
