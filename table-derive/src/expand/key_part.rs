//! `impl KeyPart`, and the property that goes with it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::{KeyPart, KeyPartShape, KeyVariant};

pub(crate) fn implementation(model: &KeyPart<'_>) -> TokenStream {
    match &model.shape {
        KeyPartShape::Newtype { member, ty } => newtype(model, member, ty),
        KeyPartShape::Enum(variants) => variants_of(model, variants),
    }
}

/// A struct around one value is printed and stored as that value is.
fn newtype(model: &KeyPart<'_>, member: &syn::Member, ty: &syn::Type) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let key = quote_spanned!(ty.span()=> <#ty as #krate::KeyPart>::KEY);
    quote! {
        #[automatically_derived]
        impl #krate::Property for #ident {
            const EDM: #krate::EdmType = <#ty as #krate::Property>::EDM;

            const EXACT: ::core::primitive::bool = <#ty as #krate::Property>::EXACT;

            const FEW: ::core::primitive::bool = <#ty as #krate::Property>::FEW;

            const READS: #krate::schema::Reads = <#ty as #krate::Property>::READS;

            fn to_property(
                &self,
            ) -> ::core::result::Result<#krate::PropertyValue<'_>, #krate::ValueError> {
                #krate::Property::to_property(&self.#member)
            }

            fn from_property(
                value: ::core::option::Option<#krate::ValueRef<'_>>,
            ) -> ::core::result::Result<Self, #krate::ValueError> {
                ::core::result::Result::Ok(Self {
                    #member: #krate::Property::from_property(value)?,
                })
            }
        }

        #[automatically_derived]
        impl #krate::KeyPart for #ident {
            const KEY: #krate::schema::KeyType = #key;

            const VERSION: ::core::primitive::u32 = <#ty as #krate::KeyPart>::VERSION;
        }
    }
}

/// An enum is printed and stored as its variant's text.
fn variants_of(model: &KeyPart<'_>, variants: &[KeyVariant<'_>]) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let names: Vec<_> = variants.iter().map(|variant| variant.ident).collect();
    let texts: Vec<_> = variants.iter().map(|variant| &variant.text.value).collect();
    quote! {
        #[automatically_derived]
        impl #krate::Property for #ident {
            const EDM: #krate::EdmType = #krate::EdmType::String;

            const EXACT: ::core::primitive::bool = true;

            const FEW: ::core::primitive::bool = true;

            const READS: #krate::schema::Reads = #krate::schema::Reads::Names(&[#(#texts),*]);

            fn to_property(
                &self,
            ) -> ::core::result::Result<#krate::PropertyValue<'_>, #krate::ValueError> {
                let text = match self {
                    #(Self::#names => #texts,)*
                };
                ::core::result::Result::Ok(#krate::PropertyValue::Borrowed(
                    #krate::ValueRef::String(text),
                ))
            }

            fn from_property(
                value: ::core::option::Option<#krate::ValueRef<'_>>,
            ) -> ::core::result::Result<Self, #krate::ValueError> {
                match value {
                    #(::core::option::Option::Some(#krate::ValueRef::String(#texts)) => {
                        ::core::result::Result::Ok(Self::#names)
                    })*
                    ::core::option::Option::Some(#krate::ValueRef::String(_)) => {
                        ::core::result::Result::Err(#krate::ValueError::invalid(
                            #krate::EdmType::String,
                            "the text is of none of the variants",
                        ))
                    }
                    found => ::core::result::Result::Err(#krate::ValueError::mistyped(
                        #krate::EdmType::String,
                        found,
                    )),
                }
            }
        }

        #[automatically_derived]
        impl #krate::KeyPart for #ident {
            const KEY: #krate::schema::KeyType = #krate::schema::KeyType::Names(&[#(#texts),*]);
        }
    }
}
