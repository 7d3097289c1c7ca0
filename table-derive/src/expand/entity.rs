//! `impl Entity`.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::Names;
use super::{fields, patch, schema};
use crate::model::Entity;

pub(crate) fn implementation(model: &Entity<'_>, names: &Names) -> TokenStream {
    let (krate, ident, indexes) = (&model.krate, model.ident, &names.indexes);
    let schema = schema::schema(model);
    let has_elements = |at| {
        let parts = model.indexes.iter().flat_map(|index| index.row.fields());
        parts.into_iter().any(|part| part.field == at && part.each)
    };
    let (given, taken) =
        (fields::given(krate, &model.fields, has_elements), fields::taken(krate, &model.fields));
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
                #given
            }

            fn from_source(source: &mut #krate::__private::Source<'_>) -> #krate::Result<Self> {
                ::core::result::Result::Ok(Self { #taken })
            }

            #exchange

            #has_row
        }
    }
}

/// An `impl` that says of no field's type that it is a property.
pub(crate) fn stub(model: &Entity<'_>, names: &Names) -> TokenStream {
    let (krate, ident, indexes) = (&model.krate, model.ident, &names.indexes);
    let exchange = patch::exchange(model, names);
    quote! {
        #[automatically_derived]
        impl #krate::__private::Entity for #ident {
            const SCHEMA: &'static #krate::schema::Schema = #krate::__private::NOTHING;

            type Indexes = #indexes;

            fn indexes(table: #krate::__private::DynamicTable) -> #indexes {
                #indexes { table }
            }

            fn values<'entity>(&'entity self, _: &mut #krate::__private::Values<'entity>) {}

            fn from_source(source: &mut #krate::__private::Source<'_>) -> #krate::Result<Self> {
                source.nothing()
            }

            #exchange
        }
    }
}

/// Whether a sparse index has a row.
fn has_row(model: &Entity<'_>) -> TokenStream {
    let arms = model.indexes.iter().enumerate().filter_map(|(number, index)| {
        let path = index.when.as_ref()?;
        // C26: a function of another signature is refused where it is named, since its type is expected there.
        Some(quote! {
            #number => {
                let when: fn(&Self) -> ::core::primitive::bool = #path;
                when(self)
            }
        })
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
