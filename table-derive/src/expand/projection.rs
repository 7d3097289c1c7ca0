//! `impl Projection`, and what must be true of its fields.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::copied;
use crate::attr::DefaultWord;
use crate::model::{Projection, ProjectionField};

pub(crate) fn implementation(model: &Projection<'_>) -> TokenStream {
    let (krate, ident, of) = (&model.krate, model.ident, &model.of);
    let consts: Vec<_> = (0..model.fields.len()).map(|at| format_ident!("FIELD_{at}")).collect();
    let places = model.fields.iter().zip(&consts).map(|(field, name)| place(model, field, name));
    // A reference is two of the entity's fields.
    let all = model.fields.iter().zip(&consts).map(|(field, name)| {
        let second = field.refers.then(|| quote!(, #name + 1));
        quote!(#name #second)
    });
    let taken = model.fields.iter().zip(&consts).map(|(field, name)| take(model, field, name));
    let group = copied::group(krate, ident, &model.as_group());
    quote! {
        #group

        // Each finds its field in the entity, or stops the compiler.
        #(#places)*

        #[automatically_derived]
        impl #krate::Projection for #ident {
            type Entity = #of;

            const FIELDS: &'static [::core::primitive::usize] = &[#(#all),*];

            fn from_source(source: &#krate::Source<'_>) -> #krate::Result<Self> {
                ::core::result::Result::Ok(Self { #(#taken),* })
            }
        }
    }
}

/// The field's place in the entity's schema. Every token has the user's span, so that the message points at the field.
fn place(model: &Projection<'_>, field: &ProjectionField<'_>, constant: &Ident) -> TokenStream {
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
    let assertion = quote_spanned! {span=>
        const _: () = #krate::checks::projected(
            <#of as #krate::Entity>::SCHEMA, #name, #edm, #optional,
        );
    };
    quote! {
        const #constant: ::core::primitive::usize = #private::checks::place_of(
            <#of as #private::Entity>::SCHEMA, #name,
        );
        #assertion
    }
}

fn take(model: &Projection<'_>, field: &ProjectionField<'_>, place: &Ident) -> TokenStream {
    let (krate, ident, ty) = (&model.krate, field.ident, field.ty);
    if field.refers {
        let take = quote_spanned!(ty.span()=> <#ty as #krate::Group>::take);
        return quote!(#ident: #take(source, #place)?);
    }
    let from_property = quote_spanned!(ty.span()=> <#ty as #krate::Property>::from_property);
    let value = match (field.json, &field.default) {
        (true, None) => quote!(#krate::json::take(source.text(#place)?)?),
        (true, Some(DefaultWord::OfType)) => quote!(#krate::json::take_or_default(source.text(#place)?)?),
        (true, Some(DefaultWord::Is(value))) => {
            quote!(#krate::json::take_or(source.text(#place)?, || #value)?)
        }
        (false, None) => quote!(source.field(#place, #from_property)?),
        (false, Some(DefaultWord::OfType)) => quote!(source.field_or_default(#place, #from_property)?),
        (false, Some(DefaultWord::Is(value))) => {
            quote!(source.field_or(#place, #from_property, || #value)?)
        }
    };
    quote!(#ident: #value)
}
