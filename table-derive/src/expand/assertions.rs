//! The rules that need a type's constants, as assertions that the compiler evaluates.
//!
//! Each stands outside every impl: a constant of a trait is evaluated only where it is used. Each of its tokens has the
//! user's own span, so that the message points there and nowhere else.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use super::fields::property_of;
use super::respanned;
use crate::model::{Entity, Field, Krate, Storage};
use crate::symbol::HOT_PARTITION;

pub(crate) fn assertions(model: &Entity<'_>) -> TokenStream {
    let key = &model.key;
    let mut all = Vec::new();
    all.push(of_fields(&model.krate, &model.fields));
    let may_be_hot = model.allow.iter().any(|word| *word == HOT_PARTITION);
    all.push(whole(model, key.partition.span(), &quote!(partition), &quote!(, #may_be_hot)));
    all.push(whole(model, key.row.span(), &quote!(row), &TokenStream::new()));
    for (number, index) in model.indexes.iter().enumerate() {
        if let Some(partition) = index.partition.as_ref().filter(|_| model.lies_elsewhere(index)) {
            all.push(whole(model, partition.span(), &quote!(index_partition), &quote!(, #number)));
        }
        all.push(whole(model, index.row.span(), &quote!(index_row), &quote!(, #number)));
        if let Some(first) = index.list.as_ref().and_then(|list| list.of.first()) {
            all.push(whole(model, first.span, &quote!(index_list), &quote!(, #number)));
        }
    }
    if let Some(field) = model.fields.iter().find(|field| field.is_behind()) {
        all.push(whole(model, field.ident.span(), &quote!(properties), &TokenStream::new()));
    }
    if let Some(wide) = &model.wide {
        all.push(whole(model, wide.span(), &quote!(wide), &TokenStream::new()));
    }
    if let Some(periods) = &model.periods {
        all.push(whole(model, periods.span, &quote!(periods), &TokenStream::new()));
    }
    if let Some(gone) = model.gone.first() {
        all.push(whole(model, gone.span, &quote!(gone), &TokenStream::new()));
    }
    if let Some(from) = &model.from {
        let span = from.span();
        let krate = model.krate.at(span);
        let ident = model.ident;
        all.push(whole(
            model,
            span,
            &quote!(follows),
            &quote!(, <#ident as #krate::FromPreviousVersion<_>>::FROM),
        ));
    }
    if let Some(word) = &model.signed {
        let in_core = model.krate.at(word.span());
        all.push(quote_spanned!(word.span()=> const _: () = #in_core::checks::signed();));
    }
    quote!(#(#all)*)
}

/// Returns the rules about fields each by itself.
pub(crate) fn of_fields(krate: &Krate, fields: &[Field<'_>]) -> TokenStream {
    let values = fields.iter().filter(|field| field.storage == Storage::Value);
    // The compiler tells the first mistake of a constant alone. A field whose type is written like an `Option` of an
    // `Option` has a constant of its own. Another type can be one only by way of another name.
    let (apart, together): (Vec<_>, Vec<_>) =
        values.partition(|field| has_nested_arguments(field.ty) || is_special(field.ty));
    let property = |field: &&Field<'_>| {
        let (name, ty, span) = (&field.name, field.ty, field.ident.span());
        let (in_core, property) = (krate.at(span), property_of(field));
        let of = |constant| quote_spanned!(ty.span()=> <#ty as #in_core::#property>::#constant);
        let (nested, content) = (of(quote!(NESTED)), of(quote!(CONTENT)));
        if let Some(encrypted) = field.encrypted {
            let (is_dual, is_blind) = (encrypted.dual, encrypted.blind.is_some());
            return quote_spanned! {span=>
                #in_core::checks::sealed_property(#name, #nested, #content, #is_dual, #is_blind);
            };
        }
        let rule = Ident::new(if field.plain { "plain_property" } else { "property" }, span);
        quote_spanned!(span=> #in_core::checks::#rule(#name, #nested, #content);)
    };
    let of_series = fields.iter().enumerate().filter(|(_, field)| field.storage == Storage::Series);
    let of_series = of_series.map(|(at, field)| super::series::assertion(krate, at, field));
    let apart = apart.iter().map(property);
    let apart = apart.map(|property| quote!(const _: () = { #property };));
    let together = (!together.is_empty()).then(|| {
        let together = together.iter().map(property);
        quote!(const _: () = { #(#together)* };)
    });
    let all = quote!(#together #(#apart)* #(#of_series)*);
    // One field that says it is enough.
    let encrypted = fields.iter().filter(|field| field.is_property()).find_map(|field| field.encrypted);
    let blind = fields.iter().filter_map(|field| Some((field, field.blind()?.span))).map(|(field, span)| {
        let (name, ty, in_core) = (&field.name, field.ty, krate.at(span));
        let of = |constant| quote_spanned!(ty.span()=> <#ty as #in_core::Property>::#constant);
        let (edm, few) = (of(quote!(EDM)), of(quote!(FEW)));
        quote_spanned!(span=> const _: () = #in_core::checks::blind(#name, #edm, #few);)
    });
    let feature = encrypted.map(|encrypted| {
        let span = encrypted.span;
        let in_core = krate.at(span);
        quote_spanned!(span=> const _: () = #in_core::checks::encrypt();)
    });
    quote!(#all #feature #(#blind)*)
}

/// Returns whether the type is written with arguments that have arguments.
fn has_nested_arguments(ty: &Type) -> bool {
    let opening = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '<');
    ty.to_token_stream().into_iter().filter(opening).count() > 1
}

/// Returns whether the type is written like one that rows do not hold in every way.
fn is_special(ty: &Type) -> bool {
    ty.to_token_stream().into_iter().any(|token| {
        matches!(token, TokenTree::Ident(ident) if ident == "Secret" || ident == "Blob" || ident == "SealedBlob")
    })
}

/// Returns the rules about one template, or about the whole declaration.
fn whole(model: &Entity<'_>, span: Span, rule: &TokenStream, more: &TokenStream) -> TokenStream {
    let krate = model.krate.at(span);
    let ident = respanned(model.ident, span);
    let (rule, more) = (respanned(rule, span), respanned(more, span));
    let of = if model.former.is_some() { "PreviousVersion" } else { "Entity" };
    let of = Ident::new(of, span);
    quote_spanned! {span=>
        const _: () = #krate::checks::#rule(<#ident as #krate::#of>::SCHEMA #more);
    }
}
