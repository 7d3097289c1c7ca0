//! Functions on the struct: its key, and one for each index.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::Names;
use super::{bound, patch, path};
use crate::model::{Entity, Field, Index, Krate, Template, arguments};
use crate::picture;
use crate::template::Format;

pub(crate) fn functions(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let ident = model.ident;
    let (key, partition, patch) = (key(model), partition(model), patch::function(model, names));
    let indexes = model.indexes.iter().enumerate().map(|(number, of)| index(model, names, number, of));
    let picture = picture::documentation(model);
    quote! {
        #picture
        impl #ident {
            #key
            #partition
            #patch
            #(#indexes)*
        }
    }
}

fn key(model: &Entity<'_>) -> TokenStream {
    let (krate, vis) = (&model.krate, model.vis);
    let name = model.key_name();
    let (partition, row) = (model.key.partition.source(), model.key.row.source());
    let doc =
        format!("The entity's key: PartitionKey `{partition}`, RowKey `{row}`. Reading it is a point query.");
    let (parameters, given) = parameters(model, &[&model.key.partition, &model.key.row]);
    quote! {
        #[doc = #doc]
        #[must_use]
        #vis fn #name(#(#parameters),*) -> #krate::Key<Self> {
            #krate::Key::of_parts(&[#(#given),*])
        }
    }
}

fn partition(model: &Entity<'_>) -> TokenStream {
    let (krate, vis, name) = (&model.krate, model.vis, model.partition_name());
    let doc = format!(
        "A partition of the table: PartitionKey `{}`. One transaction can change entities of one partition.",
        model.key.partition.source()
    );
    let (parameters, given) = parameters(model, &[&model.key.partition]);
    quote! {
        #[doc = #doc]
        #[must_use]
        #vis fn #name(#(#parameters),*) -> #krate::Partition<Self> {
            #krate::Partition::of_parts(&[#(#given),*])
        }
    }
}

fn index(model: &Entity<'_>, names: &Names<'_>, number: usize, index: &Index) -> TokenStream {
    if index.list.is_some() {
        return list(model, number, index);
    }
    // An element of a list says which row is meant: the list has no one key.
    let (krate, vis, name) = (&model.krate, model.vis, index.function());
    let path = path::of_index(model, names, number, index);
    let (partition, row) = (model.partition_of(index).source(), index.row.source());
    let cost = if index.row.fields().any(|part| part.format() == Format::Blind) {
        "Reading it is a point query for each of the store's keys that is alive."
    } else {
        "Reading it is a point query."
    };
    let doc = format!(
        "The key of the entity's copy in `{}`: PartitionKey `{partition}`, RowKey `{row}`. {cost}",
        index.name
    );
    let (parameters, given) = parameters(model, &[model.partition_of(index), &index.row]);
    quote! {
        #[doc = #doc]
        #[must_use]
        #vis fn #name(#(#parameters),*) -> #krate::IndexKey<#path> {
            #krate::IndexKey::of_parts(&[#(#given),*])
        }
    }
}

/// Returns the key of an index list.
fn list(model: &Entity<'_>, number: usize, index: &Index) -> TokenStream {
    let (krate, vis, name) = (&model.krate, model.vis, index.function());
    let (partition, row) = (model.partition_of(index).source(), index.row.source());
    let doc = format!(
        "The key of a list in `{}`: PartitionKey `{partition}`, RowKey `{row}`. `Table::list` reads it by a point query.",
        index.name
    );
    let (parameters, given) = parameters(model, &[model.partition_of(index), &index.row]);
    quote! {
        #[doc = #doc]
        #[must_use]
        #vis fn #name(#(#parameters),*) -> #krate::ListKey<Self> {
            #krate::ListKey::of_parts(#number, &[#(#given),*])
        }
    }
}

/// Returns the parameters of a key's constructor, one for each distinct field, and what is made of them.
fn parameters(model: &Entity<'_>, templates: &[&Template]) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let krate = &model.krate;
    let mut parameters = Vec::new();
    let mut given = Vec::new();
    for place in arguments(templates) {
        let Some(field) = model.fields.get(place) else { continue };
        let each = templates.iter().flat_map(|t| t.fields()).any(|part| part.field == place && part.each);
        let (ident, ty) = (bound(field.ident), argument_type(krate, field, each));
        let mut parts = templates.iter().flat_map(|t| t.fields());
        if parts.any(|part| part.field == place && part.format() == Format::Blind) {
            parameters.push(quote!(#ident: impl #krate::BlindArg<#ty>));
            given.push(quote!(#krate::BlindArg::<#ty>::to_value(&#ident)));
            continue;
        }
        parameters.push(quote!(#ident: impl #krate::KeyArg<#ty>));
        given.push(quote!(#krate::KeyArg::<#ty>::to_key(&#ident)));
    }
    (parameters, given)
}

/// Returns the type of one value of the field: what is in the `Option`, an element of the list.
pub(crate) fn argument_type(krate: &Krate, field: &Field<'_>, each: bool) -> TokenStream {
    let ty = field.ty;
    let written = if each { field.elements() } else { Some(field.optional().unwrap_or(ty)) };
    // A collection may be written otherwise than `Vec<T>`.
    let element = || quote!(<#ty as #krate::KeyElements>::Element);
    written.map_or_else(element, |written| quote!(#written))
}
