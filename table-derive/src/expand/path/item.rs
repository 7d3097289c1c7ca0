//! The row that a query of an index with some of the fields gives.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::fields::{property, single};
use super::super::named_types::Beside;
use super::super::schema::place;
use super::Path;
use crate::model::{Field, Index, arguments};

/// Returns the row as a struct.
pub(super) fn item(path: &Path<'_>, index: &Index, held: &[usize], beside: &mut Beside<'_>) -> TokenStream {
    let (krate, vis, item) = (&path.model.krate, path.model.vis, &path.item);
    let fields: Vec<_> = held.iter().filter_map(|at| Some((*at, path.model.fields.get(*at)?))).collect();
    let declared = fields.iter().map(|(_, field)| {
        let (vis, ident, ty) = (field.vis, field.ident, field.ty);
        let doc = field.documented(&format!("As in the entity: property `{}`.", field.property.value));
        quote!(#[doc = #doc] #vis #ident: #ty)
    });
    let taken = fields.iter().map(|(at, field)| {
        let (ident, place) = (field.ident, place(path.model, *at));
        let value = single(krate, field, place);
        quote!(#ident: #value)
    });
    let doc = format!("A row of the index `{}` of `{}`.", index.name, path.model.ident);
    let key = own_key(path, &fields);
    let marker = &path.ty;
    // A sealed value is not even lent to what shows the row.
    let shown = fields.iter().map(|(at, field)| {
        let place = place(path.model, *at);
        let value = if field.encrypted.is_some() {
            quote!(::core::result::Result::Ok(#krate::PropertyValue::Absent))
        } else {
            property(krate, field)
        };
        quote!(#place, #value)
    });
    let (name, entity) = (item.to_string(), path.model.ident);
    let definition = quote! {
        #[doc = #doc]
        #[non_exhaustive]
        #vis struct #item {
            #(#declared),*
        }
    };
    let definition = beside.place(&index.name, item, definition);
    quote! {
        #definition

        impl #item {
            fn from_view(view: &#krate::RowView<'_>) -> #krate::Result<Self> {
                let source = #krate::Source::of::<#marker>(view)?;
                ::core::result::Result::Ok(Self { #(#taken),* })
            }

            #key
        }

        impl ::core::fmt::Debug for #item {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #krate::ShownRow::new(f, #name, <#entity as #krate::Entity>::SCHEMA)
                    #(.field(#shown))*
                    .finish()
            }
        }
    }
}

/// Returns the key of the entity that the row is a copy of.
fn own_key(path: &Path<'_>, fields: &[(usize, &Field<'_>)]) -> TokenStream {
    let (krate, vis, ident) = (&path.model.krate, path.model.vis, path.model.ident);
    let key = &path.model.key;
    let given = arguments(&[&key.partition, &key.row]).into_iter().filter_map(|place| {
        let (_, field) = fields.iter().find(|(at, _)| *at == place)?;
        let (ident, ty) = (field.ident, field.ty);
        Some(quote!(#krate::KeyArg::<#ty>::to_key(&self.#ident)))
    });
    quote! {
        /// The key of the entity itself.
        #[must_use]
        #vis fn key(&self) -> #krate::Key<#ident> {
            #krate::Key::of_parts(&[#(#given),*])
        }
    }
}
