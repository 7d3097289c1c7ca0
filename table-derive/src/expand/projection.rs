//! `impl Projection`, and what must be true of its fields.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::copied;
use super::fields::{default_of, taken_from_json};
use super::path::number_of;
use super::respanned;
use crate::attr::DefaultWord;
use crate::model::{ProjectedSlots, Projection, ProjectionField};

pub(crate) fn implementation(model: &Projection<'_>) -> TokenStream {
    let (krate, ident, of) = (&model.krate, model.ident, &model.of);
    let consts: Vec<_> = (0..model.fields.len()).map(|at| format_ident!("FIELD_{at}")).collect();
    let places = model.fields.iter().zip(&consts).map(|(field, name)| place(model, field, name));
    let taken = model.fields.iter().zip(&consts).map(|(field, name)| take(model, field, name));
    let list = list(model, &consts);
    let held = model.fields.iter().map(|field| {
        // The compiler points at the field that rows lack.
        let (span, krate) = (field.ident.span(), krate.at(field.ident.span()));
        let named = holding(model, field.of(), span);
        quote_spanned!(span=> #krate::RowsOf<__Path>: #krate::HasField<#named>)
    });
    let fields: BTreeSet<_> = model.fields.iter().map(ProjectionField::of).collect();
    let named = fields.into_iter().map(|field| {
        let (named, number) = (holding(model, field, Span::call_site()), number_of(field));
        quote! {
            pub enum #named {}

            impl #krate::FieldNamed for #named {
                type Number = #krate::FieldNumber<#number>;
            }
        }
    });
    // What slots of a series are read as is no struct that another entity holds.
    let has_slots = model.fields.iter().any(|field| field.slots.is_some());
    let group = (!has_slots).then(|| copied::group(krate, ident, &model.as_group()));
    // As the user's own impl: of a derived one the compiler says that its bounds may be undesired.
    let (span, at) = (ident.span(), krate.at(ident.span()));
    let held_by = quote_spanned!(span=> #at::HeldBy<__Path>);
    quote! {
        #group

        // Each finds its field in the entity, or stops the compiler.
        #(#places)*

        #[automatically_derived]
        impl #krate::Projection for #ident {
            type Entity = #of;
            type Taken = Self;

            const FIELDS: &'static [::core::primitive::usize] = #list;

            fn from_source(source: &#krate::Source<'_>) -> #krate::Result<Self> {
                ::core::result::Result::Ok(Self { #(#taken),* })
            }
        }

        #(#named)*

        impl<__Path> #held_by for #ident
        where
            #(#held),*
        {
        }
    }
}

/// Returns the type that stands for a field in messages of the compiler.
fn holding(model: &Projection<'_>, field: &str, span: Span) -> Ident {
    format_ident!("{field}_of_{}", model.ident.to_string().trim_start_matches("r#"), span = span)
}

/// Returns the places of all fields; those of a series stand for its slots, and that of a reference for both of its own.
fn list(model: &Projection<'_>, consts: &[Ident]) -> TokenStream {
    if model.fields.iter().all(|field| field.slots.is_none() && !field.refers) {
        return quote!(&[#(#consts),*]);
    }
    let krate = &model.krate;
    let counts: Vec<_> = model.fields.iter().map(|field| count(krate, field)).collect();
    quote!(&#krate::slot_places::<{ 0 #(+ #counts)* }>(&[#((#consts, #counts)),*]))
}

/// Returns how many fields of the entity a field is.
fn count(krate: &impl ToTokens, field: &ProjectionField<'_>) -> TokenStream {
    match &field.slots {
        Some(ProjectedSlots { alone: false, .. }) => {
            let ty = field.ty;
            quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::SLOTS)
        }
        // A reference is two of the entity's fields.
        _ if field.refers => quote!(2),
        _ => quote!(1),
    }
}

/// Returns the place of the first of a field's slots.
fn place_of_slots(
    model: &Projection<'_>,
    field: &ProjectionField<'_>,
    slots: &ProjectedSlots,
    constant: &Ident,
) -> TokenStream {
    let (series, ty, span) = (&slots.of, field.ty, field.ident.span());
    let (krate, of, own) = (model.krate.at(span), &model.of, &model.krate);
    let from = usize::try_from(slots.from).unwrap_or(usize::MAX);
    let at = model.krate.at(ty.span());
    let count = count(&at, field);
    let absent = field.default.is_some();
    let property = if slots.alone {
        quote_spanned!(ty.span()=> <#ty as #at::Property>)
    } else {
        quote_spanned!(ty.span()=> <#ty as #at::SeriesOf>)
    };
    let (edm, optional) = (
        quote_spanned!(ty.span()=> #property::EDM),
        quote_spanned!(ty.span()=> #property::OPTIONAL || #absent),
    );
    let assertion = quote_spanned! {span=>
        const _: () = #krate::checks::projected_slots(
            <#of as #krate::Entity>::SCHEMA, #series, #from..#from + #count, #edm, #optional,
        );
    };
    quote! {
        const #constant: ::core::primitive::usize = #own::checks::place_of_slot(
            <#of as #own::Entity>::SCHEMA, #series, #from,
        );
        #assertion
    }
}

/// Returns the field's place in the entity's schema. Every token has the user's span, so that the message points at the field.
fn place(model: &Projection<'_>, field: &ProjectionField<'_>, constant: &Ident) -> TokenStream {
    if let Some(slots) = &field.slots {
        return place_of_slots(model, field, slots, constant);
    }
    let ty = field.ty;
    let name = if field.refers { format!("{}.partition", field.name) } else { field.name.clone() };
    let span = field.ident.span();
    let (krate, of) = (model.krate.at(span), &model.of);
    let own = &model.krate;
    let private = quote!(#own);
    let (edm, optional) = if field.json {
        (quote_spanned!(span=> #krate::EdmType::String), quote_spanned!(span=> true))
    } else if field.refers {
        let at = model.krate.at(ty.span());
        (
            quote_spanned!(span=> #krate::EdmType::String),
            quote_spanned!(ty.span()=> <#ty as #at::Group>::OPTIONAL),
        )
    } else {
        let absent = field.default.is_some();
        let at = model.krate.at(ty.span());
        let property = quote_spanned!(ty.span()=> <#ty as #at::Property>);
        (
            quote_spanned!(ty.span()=> #property::EDM),
            quote_spanned!(ty.span()=> #property::OPTIONAL || #absent),
        )
    };
    let is_there = quote_spanned! {span=>
        const _: () = #krate::checks::projected_name(<#of as #krate::Entity>::SCHEMA, #name, #edm);
    };
    // Where the type is wrong the name is not.
    let at = ty.span();
    let (krate_at, of_at) = (model.krate.at(at), respanned(of, at));
    let assertion = quote_spanned! {at=>
        const _: () = #krate_at::checks::projected(
            <#of_at as #krate_at::Entity>::SCHEMA, #name, #edm, #optional,
        );
    };
    quote! {
        const #constant: ::core::primitive::usize = #private::checks::place_of(
            <#of as #private::Entity>::SCHEMA, #name,
        );
        #is_there
        #assertion
    }
}

fn take(model: &Projection<'_>, field: &ProjectionField<'_>, place: &Ident) -> TokenStream {
    let (krate, ident, ty) = (&model.krate, field.ident, field.ty);
    if let Some(ProjectedSlots { alone: false, .. }) = &field.slots {
        let slot = quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::Slot);
        let value = match &field.default {
            None => {
                let take = quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::take_at);
                quote!(#take(source, #place)?)
            }
            Some(DefaultWord::OfType) => {
                let take = quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::take_at_or);
                let default = default_of(krate, &slot);
                quote!(#take(source, #place, #default)?)
            }
            Some(DefaultWord::Is(value)) => {
                let take = quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::take_at_or);
                quote!(#take(source, #place, || #value)?)
            }
        };
        return quote!(#ident: #value);
    }
    if field.refers {
        let take = quote_spanned!(ty.span()=> <#ty as #krate::Group>::take);
        return quote!(#ident: #take(source, #place)?);
    }
    let take = quote_spanned!(ty.span()=> <#ty as #krate::Property>::TAKE);
    let value = match (field.json, &field.default) {
        (true, default) => {
            let taken = taken_from_json(krate, ty, default.as_ref(), &quote!(source.text(#place)?));
            quote!(#taken?)
        }
        (false, None) => quote!(source.field(#place, #take)?),
        (false, Some(DefaultWord::OfType)) => {
            let default = default_of(krate, ty);
            quote!(source.field_or(#place, #take, #default)?)
        }
        (false, Some(DefaultWord::Is(value))) => {
            quote!(source.field_or(#place, #take, || #value)?)
        }
    };
    quote!(#ident: #value)
}
