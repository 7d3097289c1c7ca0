//! Stubs after an error, so that one mistake gives one message.
//!
//! Without them every use of the type would add an error of its own: that it is no entity, that it has no function
//! `key`. A stub is the expansion of what is right in a declaration, without the assertions, which would tell of the
//! mistake again in words of their own. Its code is never run, since the crate doesn't compile.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::DeriveInput;
use table_words::taken::{QUERY_METHODS, TABLE_METHODS, TABLE_RESERVED};

use crate::expand;
use crate::model::{Copies, Entity, EntitySet, Field, KeyPart, Projection, Properties, Template};
use crate::template::Part;

pub(crate) fn entity(input: &DeriveInput, model: Option<Entity<'_>>) -> TokenStream {
    let Some(mut model) = model.filter(|_| has_no_parameters(input)) else { return TokenStream::new() };
    let stored: Vec<bool> = model.fields.iter().map(Field::is_property).collect();
    let is_stored = |field: usize| stored.get(field).copied().unwrap_or_default();
    // A step of a query can't have the name of a query's own method.
    let hides: Vec<bool> =
        model.fields.iter().map(|field| QUERY_METHODS.contains(&field.name.as_str())).collect();
    let hides_a_method = |field: usize| hides.get(field).copied().unwrap_or_default();
    let keep = |template: &mut Template| {
        template.parts.retain(|part| match part {
            Part::Literal(_) => true,
            Part::Field(part) => is_stored(part.field) && !hides_a_method(part.field),
        });
    };
    keep(&mut model.key.partition);
    keep(&mut model.key.row);
    // A second function or method of one name would be an error of the compiler's, after one of ours.
    let mut functions: BTreeSet<String> =
        [model.key_name(), model.partition_name(), model.patch_name()].map(|name| name.to_string()).into();
    if functions.len() < 3 {
        return TokenStream::new();
    }
    let in_key = model.key_arguments();
    let mut methods: BTreeSet<String> =
        TABLE_METHODS.iter().chain(&TABLE_RESERVED).copied().map(str::to_owned).collect();
    model.indexes.retain_mut(|index| {
        keep(&mut index.row);
        if let Some(partition) = &mut index.partition {
            keep(partition);
            partition.parts.retain(|part| {
                matches!(part, Part::Literal(_)) || matches!(part, Part::Field(part) if !part.each)
            });
        }
        index.row.parts.retain(|part| match part {
            Part::Literal(_) => true,
            Part::Field(part) => !part.each || !index.aliases.is_empty(),
        });
        let (row, partition) = (&index.row, index.partition.as_ref());
        if let Copies::Some(fields) = &mut index.copies {
            let mut seen = BTreeSet::new();
            let is_in_key = |field| {
                let in_partition = partition.is_some_and(|partition| partition.gives_back(field));
                in_key.contains(&field) || row.gives_back(field) || in_partition
            };
            fields.retain(|field| {
                is_stored(field.value) && !is_in_key(field.value) && seen.insert(field.value)
            });
        }
        let is_hiding = |name: &Ident| QUERY_METHODS.contains(&name.to_string().as_str());
        !index.aliases.iter().any(is_hiding)
            && functions.insert(index.function().to_string())
            && methods.insert(index.ident.to_string())
    });
    expand::entity_stub(&model)
}

pub(crate) fn key_part(input: &DeriveInput, model: Option<KeyPart<'_>>) -> TokenStream {
    let Some(model) = model.filter(|_| has_no_parameters(input)) else { return TokenStream::new() };
    let (krate, ident) = (&model.krate, model.ident);
    let stub = quote! {
        #[automatically_derived]
        impl #krate::Property for #ident {
            const EDM: #krate::EdmType = #krate::EdmType::String;

            fn to_property(
                &self,
            ) -> ::core::result::Result<#krate::PropertyValue<'_>, #krate::ValueError> {
                ::core::result::Result::Ok(#krate::PropertyValue::Absent)
            }

            fn from_property(
                value: ::core::option::Option<#krate::ValueRef<'_>>,
            ) -> ::core::result::Result<Self, #krate::ValueError> {
                ::core::result::Result::Err(#krate::ValueError::mistyped(Self::EDM, value))
            }
        }

        #[automatically_derived]
        impl #krate::KeyPart for #ident {
            const KEY: #krate::schema::KeyType = #krate::schema::KeyType::Bool;
        }
    };
    expand::in_a_block(krate, &stub)
}

pub(crate) fn properties(input: &DeriveInput, model: Option<Properties<'_>>) -> TokenStream {
    model
        .filter(|_| has_no_parameters(input))
        .map(|model| expand::properties_stub(&model))
        .unwrap_or_default()
}

pub(crate) fn projection(input: &DeriveInput, model: Option<Projection<'_>>) -> TokenStream {
    let Some(model) = model.filter(|_| has_no_parameters(input)) else { return TokenStream::new() };
    let (krate, ident, of) = (&model.krate, model.ident, &model.of);
    let stub = quote! {
        #[automatically_derived]
        impl #krate::Projection for #ident {
            type Entity = #of;
            type Taken = Self;

            const FIELDS: &'static [::core::primitive::usize] = &[];

            fn from_source(source: &#krate::Source<'_>) -> #krate::Result<Self> {
                source.nothing()
            }
        }

        #[automatically_derived]
        impl<__Path> #krate::HeldBy<__Path> for #ident {}
    };
    expand::in_a_block(krate, &stub)
}

pub(crate) fn entity_set(input: &DeriveInput, model: Option<EntitySet<'_>>) -> TokenStream {
    let Some(mut model) = model.filter(|_| has_no_parameters(input)) else { return TokenStream::new() };
    let mut seen = BTreeSet::new();
    model.members.retain(|member| seen.insert(member.ty.to_token_stream().to_string()));
    expand::entity_set_stub(&model)
}

/// Returns whether an `impl` for the name alone is one for the type.
fn has_no_parameters(input: &DeriveInput) -> bool {
    input.generics.params.is_empty() && input.generics.where_clause.is_none()
}
