//! The declaration as a constant.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::fields;
use crate::model::{Copies, Entity, Index, Template};
use crate::template::{Format, Part, TimeItem};

/// The schema of the entity.
pub(crate) fn schema(model: &Entity<'_>) -> TokenStream {
    let krate = &model.krate;
    let (entity, kind, version) = (model.ident.to_string(), &model.kind.value, model.version);
    let signed = model.signed.is_some();
    let (fields, count) = (fields::declared(krate, &model.fields), model.indexes.len());
    let partition = template(model, &model.key.partition);
    let place = row_place(model, &model.key.row);
    let indexes = model.indexes.iter().map(|found| index(model, found));
    // The lists are constants of their own: inside of others the compiler would look again and again into each part of
    // them to see whether it could be promoted.
    quote! {{
        const FIELDS: &[#krate::schema::Field] = #fields;
        const PARTITION: #krate::schema::Template = #partition;
        const INDEXES: [#krate::schema::Index; #count] = [#(#indexes),*];
        &#krate::schema::Schema {
            entity: #entity,
            kind: #kind,
            version: #version,
            signed: #signed,
            fields: FIELDS,
            places: &[#place],
            indexes: &INDEXES,
        }
    }}
}

/// The place of a row: every row of an entity lies in its table and its partition.
fn row_place(model: &Entity<'_>, row: &Template) -> TokenStream {
    let (krate, table, row) = (&model.krate, &model.table.value, template(model, row));
    quote!(#krate::schema::Place::new(#table, PARTITION, #row))
}

/// The place of a field among those that are stored, which is what the schema counts by.
pub(crate) fn place(model: &Entity<'_>, field: usize) -> usize {
    model.fields.iter().take(field).filter(|field| field.is_property()).count()
}

fn index(model: &Entity<'_>, index: &Index) -> TokenStream {
    let krate = &model.krate;
    let (name, kind) = (&index.name, format!("{}.{}", model.kind.value, index.name));
    let at = row_place(model, &index.row);
    let (unique, sparse) = (index.unique.is_some(), index.when.is_some());
    let copies = match &index.copies {
        Copies::All => quote!(All),
        Copies::Keys => quote!(Keys),
        Copies::Some(fields) => {
            let places = fields.iter().map(|field| place(model, field.value));
            quote!(Some(&[#(#places),*]))
        }
    };
    quote! {
        #krate::schema::Index {
            name: #name,
            kind: #kind,
            place: #at,
            unique: #unique,
            copies: #krate::schema::Copies::#copies,
            sparse: #sparse,
        }
    }
}

fn template(model: &Entity<'_>, template: &Template) -> TokenStream {
    let krate = &model.krate;
    let source = template.source();
    let parts = template.parts.iter().map(|part| match part {
        Part::Literal(text) => quote!(#krate::schema::Part::Literal(#text)),
        Part::Field(part) => {
            let (place, each) = (place(model, part.field), part.each);
            let format = format(model, &part.format);
            let ty = model.fields.get(part.field).map(|field| {
                let ty = field.ty;
                if part.format == Format::Blind {
                    let optional = quote_spanned!(ty.span()=> <#ty as #krate::Property>::OPTIONAL);
                    quote!(#krate::token_key(#optional))
                } else if each {
                    quote_spanned!(ty.span()=> <#ty as #krate::KeyElements>::KEY)
                } else {
                    quote_spanned!(ty.span()=> <#ty as #krate::KeyPart>::KEY)
                }
            });
            let new = if each { quote!(each) } else { quote!(new) };
            quote! {
                #krate::schema::Part::Field(
                    #krate::schema::FieldPart::#new(#place, #ty, #krate::schema::Format::#format),
                )
            }
        }
    });
    quote!(#krate::schema::Template { source: #source, parts: &[#(#parts),*] })
}

fn format(model: &Entity<'_>, format: &Format) -> TokenStream {
    match format {
        Format::Plain => quote!(Plain),
        Format::Pad(width) => quote!(Pad(#width)),
        Format::Offset => quote!(Offset),
        Format::Inverted => quote!(Inverted),
        Format::PadInverted(width) => quote!(PadInverted(#width)),
        Format::Ticks => quote!(Ticks),
        Format::Time(pattern) => {
            let krate = &model.krate;
            let items = pattern.items.iter().map(item);
            quote!(Time(&[#(#krate::schema::TimeItem::#items),*]))
        }
        Format::Escaped => quote!(Escaped),
        Format::Lower => quote!(Lower),
        Format::Shard(shards) => quote!(Shard(#shards)),
        Format::Blind => quote!(Blind),
    }
}

fn item(item: &TimeItem) -> TokenStream {
    match item {
        TimeItem::Year => quote!(Year),
        TimeItem::Month => quote!(Month),
        TimeItem::Day => quote!(Day),
        TimeItem::Hour => quote!(Hour),
        TimeItem::Minute => quote!(Minute),
        TimeItem::Second => quote!(Second),
        TimeItem::DayOfYear => quote!(DayOfYear),
        TimeItem::Char(c) => quote!(Char(#c)),
    }
}
