//! What a holder of a copy and its source say of each other. Each asserts the other's trait on the token by which it names it.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use super::fields::{behind, trait_of};
use super::{respanned, schema};
use crate::model::{Entity, HeldCopy, Storage, copied};

/// Returns the copies as the declaration says them, the kinds of those who hold copies, and both sides' declarations.
pub(super) fn declared(model: &Entity<'_>) -> TokenStream {
    let krate = &model.krate;
    let held: Vec<_> = copied::held(&model.fields).map(|copy| declaration(model, &copy)).collect();
    let holders = model.copied_into.iter().map(|holder| {
        let (span, ident) = (holder.span(), model.ident);
        let krate = krate.at(span);
        let here = respanned(ident, span);
        quote_spanned!(span=> <#holder as #krate::CopyOf<#here>>::KIND)
    });
    let holders: Vec<_> = holders.collect();
    if held.is_empty() && holders.is_empty() {
        return TokenStream::new();
    }
    let copied = (!held.is_empty()).then(|| quote!(.copied(&[#(#held),*])));
    let holders = (!holders.is_empty()).then(|| quote!(.dependents(&[#(#holders),*])));
    let ident = model.ident;
    quote!(#copied #holders .kin(#krate::schema::Kin::new(#krate::kin::<#ident>)))
}

fn declaration(model: &Entity<'_>, copy: &HeldCopy<'_>) -> TokenStream {
    let krate = &model.krate;
    let Some(field) = model.field(copy.field) else { return TokenStream::new() };
    let (name, property, ty) = (&field.name, &field.property.value, field.ty);
    let before = behind(&model.fields).map(|(_, other)| other).take_while(|other| other.name != field.name);
    let before = before.map(|other| {
        let (ty, of) = (other.ty, trait_of(other));
        let count = if other.storage == Storage::Series { quote!(SLOTS) } else { quote!(FIELDS.len()) };
        quote!(<#ty as #krate::#of>::#count)
    });
    let own = model.fields.iter().filter(|field| field.is_property()).count();
    let key = copy.key.iter().map(|part| schema::place(model, part.value));
    let arrival = copy.arrival.map(|arrival| match arrival {
        copied::Arrival::Atomic => quote!(.atomic()),
        copied::Arrival::Eventual => quote!(.eventual()),
    });
    quote! {
        #krate::schema::CopiedFields::new(
            [#name, #property],
            [#own #(+ #before)*, <#ty as #krate::Group>::FIELDS.len()],
            &[#(#key),*],
        ) #arrival
    }
}

/// Returns how copies are made, and who holds them, as constants of `Entity`.
pub(super) fn constants(model: &Entity<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let held = copied::held(&model.fields).filter_map(|copy| {
        let (of, projection) = (copy.of, model.field(copy.field)?.optional()?);
        Some(quote!(#krate::CopyReader::of::<#of, #projection>()))
    });
    let held: Vec<_> = held.collect();
    let held = (!held.is_empty()).then(|| {
        quote!(
            const HELD: &'static [#krate::CopyReader] = &[#(#held),*];
        )
    });
    let holders: Vec<_> = model
        .copied_into
        .iter()
        .map(|holder| {
            let span = holder.span();
            let krate = krate.at(span);
            let here = respanned(ident, span);
            quote_spanned!(span=> <#holder as #krate::CopyOf<#here>>::DEPENDENT)
        })
        .collect();
    let holders = (!holders.is_empty()).then(|| {
        quote!(
            const DEPENDENTS: &'static [#krate::Dependent] = &[#(#holders),*];
        )
    });
    quote!(#held #holders)
}

/// Returns the traits of both sides, and the rules that need both sides' constants.
pub(super) fn items(model: &Entity<'_>) -> TokenStream {
    let sides = sides(model);
    let rules = copied::held(&model.fields).enumerate().map(|(at, copy)| {
        let Some(projection) = model.field(copy.field).and_then(crate::model::Field::optional) else {
            return TokenStream::new();
        };
        let span = copy.of.span();
        let krate = model.krate.at(span);
        let (here, there) = (respanned(model.ident, span), respanned(copy.of, span));
        let projected = respanned(projection, span);
        let own = quote_spanned!(span=> <#here as #krate::Entity>::SCHEMA);
        let source = quote_spanned!(span=> <#there as #krate::Entity>::SCHEMA);
        let key = copy.key.iter().enumerate().map(|(nth, part)| {
            let krate = model.krate.at(part.span);
            let (own, source) = (respanned(&own, part.span), respanned(&source, part.span));
            quote_spanned!(part.span=> const _: () = #krate::checks::copy_key(#own, #source, #at, #nth);)
        });
        quote_spanned! {span=>
            const _: fn() = || {
                fn told<S: #krate::CopiedInto<H, P, By>, H, P, By>() {}
                told::<#there, #here, #projected, _>();
            };
            const _: () = #krate::checks::copied(
                #own, #source, #at, <#projected as #krate::Projection>::FIELDS,
            );
        }
        .into_iter()
        .chain(quote!(#(#key)*))
        .collect()
    });
    let rules: Vec<TokenStream> = rules.collect();
    quote!(#sides #(#rules)*)
}

/// Returns the traits alone, after a mistake: the compiler must not report it at the other side, too.
pub(super) fn sides(model: &Entity<'_>) -> TokenStream {
    let (krate, ident, kind) = (&model.krate, model.ident, &model.kind.value);
    let mut sources: Vec<(String, &syn::Path, Vec<usize>)> = Vec::new();
    for (at, copy) in copied::held(&model.fields).enumerate() {
        let text = copy.of.to_token_stream().to_string();
        match sources.iter_mut().find(|(known, ..)| *known == text) {
            Some((_, _, copies)) => copies.push(at),
            None => sources.push((text, copy.of, vec![at])),
        }
    }
    let of = sources.iter().map(|(_, of, copies)| {
        quote! {
            #[automatically_derived]
            impl #krate::CopyOf<#of> for #ident {
                const COPIES: &'static [::core::primitive::usize] = &[#(#copies),*];
                const KIND: &'static ::core::primitive::str = #kind;
            }
        }
    });
    let into = model.copied_into.iter().map(|holder| {
        quote! {
            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl<__Projection> #krate::CopiedInto<#holder, __Projection, #krate::ByDependent> for #ident {}
            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl<__Dependent> #krate::CopiedInto<__Dependent, #holder, #krate::ByProjection> for #ident {}
        }
    });
    quote!(#(#of)* #(#into)*)
}

/// Returns a part of the struct that a group of a projection's fields is: each where it is stored, by its place from the first
/// on.
pub(super) fn group(
    krate: &crate::model::Krate,
    ident: &Ident,
    fields: &[crate::model::Field<'_>],
) -> TokenStream {
    let declared = super::fields::declared(krate, fields);
    let given = super::fields::given(krate, fields, |_| false);
    let own = fields.iter().filter(|field| field.is_property());
    let mut taken: Vec<_> = own
        .enumerate()
        .map(|(at, field)| {
            let ident = field.ident;
            let value = super::fields::single_at(krate, field, &quote!(first + #at));
            quote!(#ident: #value)
        })
        .collect();
    let count = taken.len();
    for (at, (_, field)) in behind(fields).enumerate() {
        // References, of two properties each.
        let (ident, ty, place) = (field.ident, field.ty, count + 2 * at);
        let take = quote_spanned!(ty.span()=> <#ty as #krate::Group>::take);
        taken.push(quote!(#ident: #take(source, first + #place)?));
    }
    quote! {
        #[automatically_derived]
        impl #krate::Group for #ident {
            const FIELDS: &'static [#krate::schema::Field] = #declared;

            #[inline]
            fn values<'entity>(&'entity self, values: &mut #krate::Values<'entity>) {
                #given
            }

            #[inline]
            fn take(
                source: &#krate::Source<'_>,
                first: ::core::primitive::usize,
            ) -> #krate::Result<Self> {
                ::core::result::Result::Ok(Self { #(#taken),* })
            }
        }
    }
}
