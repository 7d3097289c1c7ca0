//! The rules that need a type's constants, as assertions that the compiler evaluates.
//!
//! Each stands outside every impl, since a constant of a trait is evaluated only where it is used; and has the user's
//! own span on each of its tokens, since then the message points there and nowhere else.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::respanned;
use crate::model::{Entity, Field, Krate, Storage};
use crate::symbol::HOT_PARTITION;

pub(crate) fn assertions(model: &Entity<'_>) -> TokenStream {
    let key = &model.key;
    let mut all = Vec::new();
    all.push(of_fields(&model.krate, &model.fields));
    all.push(check(model, key.partition.span(), &quote!(template), &quote!(Partition)));
    all.push(check(model, key.row.span(), &quote!(template), &quote!(Row)));
    all.push(whole(model, key.row.span(), &quote!(identity), &TokenStream::new()));
    if model.allow.iter().all(|word| *word != HOT_PARTITION) {
        all.push(whole(model, key.partition.span(), &quote!(hot_partition), &TokenStream::new()));
    }
    for (number, index) in model.indexes.iter().enumerate() {
        let span = index.row.span();
        all.push(check(model, span, &quote!(template), &quote!(Index(#number))));
        all.push(whole(model, span, &quote!(disjoint), &quote!(, #number)));
        all.push(whole(model, span, &quote!(determined), &quote!(, #number)));
    }
    if let Some(field) = model.fields.iter().find(|field| field.storage == Storage::Flattened) {
        all.push(whole(model, field.ident.span(), &quote!(properties), &TokenStream::new()));
    }
    quote!(#(#all)*)
}

/// The rules about fields each by itself.
pub(crate) fn of_fields(krate: &Krate, fields: &[Field<'_>]) -> TokenStream {
    let values = fields.iter().filter(|field| field.storage == Storage::Value);
    let all = values.map(|field| {
        let (name, ty, span) = (&field.name, field.ty, field.ident.span());
        let in_core = krate.at(span);
        let nested = quote_spanned!(ty.span()=> <#ty as #in_core::__private::Property>::NESTED);
        quote_spanned!(span=> const _: () = #in_core::__private::checks::property(#name, #nested);)
    });
    // One that says it is enough.
    let encrypted = fields.iter().filter(|field| field.is_property()).find_map(|field| field.encrypted);
    let blind = fields.iter().filter_map(|field| Some((field, field.blind()?.span))).map(|(field, span)| {
        let (name, ty, in_core) = (&field.name, field.ty, krate.at(span));
        let of = |constant| quote_spanned!(ty.span()=> <#ty as #in_core::__private::Property>::#constant);
        let (edm, few) = (of(quote!(EDM)), of(quote!(FEW)));
        quote_spanned!(span=> const _: () = #in_core::__private::checks::blind(#name, #edm, #few);)
    });
    let feature = encrypted.map(|encrypted| {
        let span = encrypted.span;
        let in_core = krate.at(span);
        quote_spanned!(span=> const _: () = #in_core::__private::checks::encrypt();)
    });
    quote!(#(#all)* #feature #(#blind)*)
}

/// A rule about one template.
fn check(model: &Entity<'_>, span: Span, rule: &TokenStream, place: &TokenStream) -> TokenStream {
    let krate = model.krate.at(span);
    whole(model, span, rule, &quote_spanned!(span=> , #krate::__private::checks::Place::#place))
}

/// A rule about the whole declaration.
fn whole(model: &Entity<'_>, span: Span, rule: &TokenStream, more: &TokenStream) -> TokenStream {
    let krate = model.krate.at(span);
    let ident = respanned(model.ident, span);
    let (rule, more) = (respanned(rule, span), respanned(more, span));
    quote_spanned! {span=>
        const _: () = #krate::__private::checks::#rule(<#ident as #krate::__private::Entity>::SCHEMA #more);
    }
}
