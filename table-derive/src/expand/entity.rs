//! `impl Entity`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::names::Names;
use super::{patch, schema};
use crate::model::{Entity, Field, Storage};

pub(crate) fn implementation(model: &Entity<'_>, names: &Names) -> TokenStream {
    let (krate, ident, indexes) = (&model.krate, model.ident, &names.indexes);
    let schema = schema::schema(model);
    let given = model.fields.iter().enumerate().filter(|(_, field)| field.is_property());
    let given = given.map(|(at, field)| give(model, at, field));
    let taken = model.fields.iter().map(|field| take(model, field));
    let (exchange, has_row) = (patch::exchange(model, names), has_row(model));
    quote! {
        #[automatically_derived]
        impl #krate::__private::Entity for #ident {
            const SCHEMA: &'static #krate::schema::Schema = &#schema;

            type Indexes = #indexes;

            fn indexes(table: #krate::__private::DynamicTable) -> #indexes {
                #indexes { table }
            }

            fn values<'entity>(&'entity self, values: &mut #krate::__private::Values<'entity>) {
                #(#given)*
            }

            fn from_source(source: &mut #krate::__private::Source<'_>) -> #krate::Result<Self> {
                ::core::result::Result::Ok(Self { #(#taken),* })
            }

            #exchange

            #has_row
        }
    }
}

/// Gives a field's value.
fn give(model: &Entity<'_>, at: usize, field: &Field<'_>) -> TokenStream {
    let (krate, ident, ty) = (&model.krate, field.ident, field.ty);
    // Named through its trait on the type's own token: however often a type is used that is no property, rustc then
    // says so once, and there.
    let to_property = quote_spanned!(ty.span()=> <#ty as #krate::__private::Property>::to_property);
    let indexes = model.indexes.iter().flat_map(|index| index.row.fields());
    let has_elements = indexes.into_iter().any(|part| part.field == at && part.each);
    match (field.storage, has_elements) {
        (Storage::Json, false) => {
            quote!(values.push(#krate::__private::json::give(&self.#ident));)
        }
        (Storage::Json, true) => {
            quote!(values.push_elements(&self.#ident, #krate::__private::json::give(&self.#ident));)
        }
        (_, true) => quote!(values.push_elements(&self.#ident, #to_property(&self.#ident));),
        (_, false) => quote!(values.push(#to_property(&self.#ident));),
    }
}

/// Takes a field's value back.
fn take(model: &Entity<'_>, field: &Field<'_>) -> TokenStream {
    let (krate, ident, ty) = (&model.krate, field.ident, field.ty);
    let from_property = quote_spanned!(ty.span()=> <#ty as #krate::__private::Property>::from_property);
    let value = match (field.storage, field.default) {
        (Storage::Skipped | Storage::Flattened, _) => quote!(::core::default::Default::default()),
        (Storage::Json, false) => quote!(#krate::__private::json::take(source.next_text()?)?),
        (Storage::Json, true) => quote!(#krate::__private::json::take_or_default(source.next_text()?)?),
        (Storage::Value, false) => quote!(source.next(#from_property)?),
        (Storage::Value, true) => quote!(source.next_or_default(#from_property)?),
    };
    quote!(#ident: #value)
}

/// Whether a sparse index has a row.
fn has_row(model: &Entity<'_>) -> TokenStream {
    let arms = model.indexes.iter().enumerate().filter_map(|(number, index)| {
        let path = index.when.as_ref()?;
        Some(quote!(#number => #path(self),))
    });
    let arms: Vec<_> = arms.collect();
    if arms.is_empty() {
        return TokenStream::new();
    }
    quote! {
        fn has_row(&self, index: ::core::primitive::usize) -> ::core::primitive::bool {
            match index {
                #(#arms)*
                _ => true,
            }
        }
    }
}
