//! `impl Properties`: fields that entities have side by side with their own.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{exact, fields, series};
use crate::model::{Properties, Storage};

pub(crate) fn implementation(model: &Properties<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let declared = fields::declared(krate, &model.fields);
    let given = fields::given(krate, &model.fields, |_| false);
    let taken = fields::taken(krate, &model.fields);
    let exact = exact::exact(krate, &model.fields);
    let (name, columns, made) = columns(model);
    quote! {
        #[automatically_derived]
        impl #krate::Properties for #ident {
            const FIELDS: &'static [#krate::schema::Field] = #declared;

            #exact

            type Columns = #name;

            const COLUMNS: &'static #name = &#made;

            fn values<'entity>(&'entity self, values: &mut #krate::Values<'entity>) {
                #given
            }

            fn take(source: &mut #krate::Source<'_>) -> #krate::Result<Self> {
                ::core::result::Result::Ok(Self { #taken })
            }
        }

        #columns
    }
}

/// Returns an `impl` that does not claim that the fields' types are properties.
pub(crate) fn stub(model: &Properties<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let (name, columns, made) = columns(model);
    quote! {
        #[automatically_derived]
        impl #krate::Properties for #ident {
            const FIELDS: &'static [#krate::schema::Field] = &[];

            type Columns = #name;

            const COLUMNS: &'static #name = &#made;

            fn values<'entity>(&'entity self, _: &mut #krate::Values<'entity>) {}

            fn take(source: &mut #krate::Source<'_>) -> #krate::Result<Self> {
                source.nothing()
            }
        }

        #columns
    }
}

/// Returns the type of the columns, its declaration, and the one value of it.
fn columns(model: &Properties<'_>) -> (Ident, TokenStream, TokenStream) {
    let (krate, ident, vis) = (&model.krate, model.ident, model.vis);
    let name = format_ident!("{}Columns", ident.to_string().trim_start_matches("r#"));
    let compared = model.fields.iter().enumerate().filter(|(_, field)| fields::is_compared(field));
    let (mut declared, mut made) = (Vec::new(), Vec::new());
    for (at, field) in compared {
        let (vis, ident, ty, property) = (field.vis, field.ident, field.ty, &field.property.value);
        if field.storage == Storage::Flattened {
            let doc = field.documented(&format!("The fields of `{}`.", field.name));
            declared.push(quote!(#[doc = #doc] #vis #ident: #krate::FlatColumns<#ty>));
            made.push(quote!(#ident: #krate::FlatColumns::NEW));
        } else if field.storage == Storage::Series {
            let (doc, column) = (field.documented(&series::doc(field)), series::column(krate, field));
            let slots = series::slots(at);
            declared.push(quote!(#[doc = #doc] #vis #ident: #column));
            made.push(quote!(#ident: #krate::SeriesColumn::new(#slots)));
        } else if let Some((column, value)) = fields::reference_column(krate, field) {
            let doc = field.documented(&format!("The reference `{}`.", field.name));
            declared.push(quote!(#[doc = #doc] #vis #ident: #column));
            made.push(quote!(#ident: #value));
        } else {
            let ty = field.optional().unwrap_or(ty);
            let doc = field.documented(&format!("Property `{property}`."));
            let column = fields::column(krate, field, &quote!(#ty));
            declared.push(quote!(#[doc = #doc] #vis #ident: #column));
            made.push(quote!(#ident: #krate::Column::new(#property)));
        }
    }
    let doc = format!("What filters can speak of in a flattened `{ident}`.");
    let declaration = quote! {
        #[doc = #doc]
        #[non_exhaustive]
        #[derive(Debug)]
        #vis struct #name {
            #(#declared),*
        }
    };
    let made = quote!(#name { #(#made),* });
    (name, declaration, made)
}
