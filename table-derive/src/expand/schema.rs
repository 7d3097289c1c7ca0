//! The declaration as a constant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::{copied, fields, summary};
use crate::model::{Copies, Entity, Index, List, Template};
use crate::template::{FieldPart, Format, Part};

/// Returns the schema of the entity, made by the functions of `table_core::schema` alone. A capability that is not declared
/// here is as it was before there was a word for it.
pub(crate) fn schema(model: &Entity<'_>) -> TokenStream {
    let krate = &model.krate;
    let (entity, table, kind) = (model.ident.to_string(), &model.table.value, &model.kind.value);
    let version = Some(model.version).filter(|version| *version != 1).map(|version| {
        let entity_type = model.entity_type();
        quote!(.version(#version).entity_type(#entity_type))
    });
    let former = model.from.as_ref().map(|from| {
        let ident = model.ident;
        let former = quote_spanned!(from.span()=> <#ident as #krate::FromPreviousVersion<_>>::FROM);
        quote!(.from_previous(#former))
    });
    let gone = (!model.gone.is_empty()).then(|| {
        let names = model.gone.iter().map(|name| &name.value);
        quote!(.removed(&[#(#names),*]))
    });
    // A previous version is of the table of the one that it has become.
    let table = if model.former.is_some() { "" } else { table.as_str() };
    let periods = periods(model);
    let signed = model.signed.is_some().then(|| quote!(.signed()));
    let fields = fields::declared(krate, &model.fields);
    // The partition keys of the indexes that lie elsewhere come behind all others.
    let own = [&model.key.partition, &model.key.row].into_iter();
    let elsewhere = model.indexes.iter().filter(|index| model.lies_elsewhere(index));
    let templates: Vec<_> = own
        .chain(model.indexes.iter().map(|index| &index.row))
        .chain(elsewhere.map(|index| model.partition_of(index)))
        .collect();
    // Behind them come those of the parts of a wide entity, and of the ids of lists.
    let of_parts: Vec<_> = (1..=model.parts()).map(|part| model.key.row.with_suffix(&suffix(part))).collect();
    let first_of_parts = templates.len();
    let mut next_ids = first_of_parts + of_parts.len();
    let ids = model.indexes.iter().filter_map(|index| index.list.as_ref());
    let parts: Vec<_> = templates
        .iter()
        .copied()
        .chain(&of_parts)
        .map(|template| parts(model, template))
        .chain(ids.map(|list| ids_of(model, list)))
        .collect();
    let count = parts.len();
    let mut partitions = 2 + model.indexes.len();
    let mut templates = templates.iter().take(partitions).enumerate().map(|(at, template)| {
        let source = template.source();
        quote!(#krate::schema::Template::new(#source, PARTS[#at]))
    });
    let (partition, row) = (templates.next(), templates.next());
    let indexes: Vec<_> = model
        .indexes
        .iter()
        .zip(templates)
        .map(|(index, row)| {
            let place = if model.lies_elsewhere(index) {
                let (source, table) = (model.partition_of(index).source(), index.table.as_ref());
                let table = table.map_or(&model.table.value, |table| &table.value);
                let partition = quote!(#krate::schema::Template::new(#source, PARTS[#partitions]));
                partitions += 1;
                quote!(#krate::schema::Place::new(#table, #partition, #row))
            } else {
                quote!(ROW.beside(#row))
            };
            let list = index.list.as_ref().map(|list| {
                let source = list.source(model);
                let ids = next_ids;
                next_ids += 1;
                quote!(.list(#krate::schema::List::new(#krate::schema::Template::new(#source, PARTS[#ids]))))
            });
            self::index(model, index, &place, list.as_ref())
        })
        .collect();
    let summaries = summary::constants(model).into_iter().map(|summary| quote!(#summary.index));
    let indexes: Vec<_> = indexes.into_iter().chain(summaries).collect();
    let summary_of = model.summary.as_ref().map(|summary| {
        let name = summary.of.segments.last().map(|segment| segment.ident.to_string());
        quote!(.summary_of(#name))
    });
    let with_indexes = (!indexes.is_empty()).then(|| quote!(.indexes(INDEXES)));
    let indexes =
        (!indexes.is_empty()).then(|| quote!(const INDEXES: &[#krate::schema::Index] = &[#(#indexes),*];));
    let copied = copied::declared(model);
    let places = of_parts.iter().enumerate().map(|(at, template)| {
        let (source, at) = (template.source(), first_of_parts + at);
        quote!(, ROW.beside(#krate::schema::Template::new(#source, PARTS[#at])))
    });
    let kinds = (1..=model.parts()).map(|part| format!("{}.{part:02}", model.entity_type()));
    let with_parts = (!of_parts.is_empty()).then(|| quote!(.parts(&[#(#kinds),*])));
    // A constant is put into each unit of the compiler that uses it, and a static once: a declaration is known by its address.
    // The lists are constants of their own: inside of others the compiler would look again and again into each part of
    // them to see whether it could be promoted.
    quote! {{
        const FIELDS: &[#krate::schema::Field] = #fields;
        const PARTS: [&[#krate::schema::Part]; #count] = [#(#parts),*];
        const ROW: #krate::schema::Place = #krate::schema::Place::new(#table, #partition, #row) #periods;
        #indexes
        static DECLARED: #krate::schema::Schema =
            #krate::schema::Schema::new([#entity, #kind], FIELDS, &[ROW #(#places)*])
                #with_parts
                #with_indexes
                #version
                #former
                #gone
                #signed
                #summary_of
                #copied;
        &DECLARED
    }}
}

/// Returns what stands behind the row key of an entity in that of its part.
fn suffix(part: usize) -> String {
    format!("_{part:02}")
}

/// Returns what makes a place one in the tables of periods.
fn periods(model: &Entity<'_>) -> Option<TokenStream> {
    let (krate, source) = (&model.krate, &model.table.value);
    let periods = model.periods.as_ref()?;
    let (stem, field) = (&periods.stem, place(model, periods.field));
    let period = Ident::new(periods.period, Span::mixed_site());
    let keep = periods.keep.map(|seconds| quote!(.keep(#seconds)));
    Some(quote! {
        .in_periods(
            #krate::schema::PeriodTables::new(#source, #stem, #field, #krate::schema::Period::#period) #keep
        )
    })
}

/// Returns the place of a field among those that are stored, which is what the schema counts by.
pub(crate) fn place(model: &Entity<'_>, field: usize) -> usize {
    model.fields.iter().take(field).filter(|field| field.is_property()).count()
}

fn index(
    model: &Entity<'_>,
    index: &Index,
    place_of_rows: &TokenStream,
    list: Option<&TokenStream>,
) -> TokenStream {
    let krate = &model.krate;
    let (name, kind) = (&index.name, format!("{}.{}", model.entity_type(), index.name));
    let unique = index.unique.is_some().then(|| quote!(.unique()));
    let sparse = index.when.is_some().then(|| quote!(.sparse()));
    let version = index.when_version.as_ref().map(|version| version.value).filter(|version| *version != 1);
    let version = version.map(|version| quote!(.when_version(#version)));
    let arrival = model
        .lies_elsewhere(index)
        .then(|| if index.eventual.is_some() { quote!(.eventual()) } else { quote!(.atomic()) });
    let copies = match &index.copies {
        Copies::All => None,
        Copies::Keys if list.is_some() => None,
        Copies::Keys => Some(quote!(Keys)),
        Copies::Some(fields) => {
            let places = fields.iter().map(|field| place(model, field.value));
            Some(quote!(Some(&[#(#places),*])))
        }
    };
    let copies = copies.map(|copies| quote!(.copies(#krate::schema::Copies::#copies)));
    quote!(#krate::schema::Index::new(#name, #kind, #place_of_rows) #unique #copies #sparse #version #arrival #list)
}

/// Returns the parts of a template.
fn parts(model: &Entity<'_>, template: &Template) -> TokenStream {
    parts_at(model, template, &|field| {
        let place = place(model, field);
        quote!(#place)
    })
}

/// Returns the parts of a template whose fields are at these places.
pub(super) fn parts_at(
    model: &Entity<'_>,
    template: &Template,
    place: &dyn Fn(usize) -> TokenStream,
) -> TokenStream {
    let krate = &model.krate;
    let parts = template.parts.iter().map(|part| match part {
        Part::Literal(text) => quote!(#krate::schema::Part::Literal(#text)),
        Part::Field(part) => field_part(model, part, place),
    });
    quote!(&[#(#parts),*])
}

/// Returns the parts of a list's ids.
fn ids_of(model: &Entity<'_>, list: &List) -> TokenStream {
    let place = |field| {
        let place = place(model, field);
        quote!(#place)
    };
    let parts = model.id_parts(list).map(|part| field_part(model, part, &place));
    quote!(&[#(#parts),*])
}

fn field_part(model: &Entity<'_>, part: &FieldPart, place: &dyn Fn(usize) -> TokenStream) -> TokenStream {
    let krate = &model.krate;
    let (place, each, source) = (place(part.field), part.each, &part.source);
    let ty = model.fields.get(part.field).map(|field| {
        let ty = field.ty;
        if part.format() == Format::Blind {
            let optional = quote_spanned!(ty.span()=> <#ty as #krate::Property>::OPTIONAL);
            quote!(#krate::token_key(#optional))
        } else if each {
            quote_spanned!(ty.span()=> <#ty as #krate::KeyElements>::KEY)
        } else {
            quote_spanned!(ty.span()=> <#ty as #krate::KeyField>::KEY)
        }
    });
    let new = if each { quote!(each) } else { quote!(new) };
    // Of a token it is the library's, and never changes.
    let version = model.fields.get(part.field).filter(|_| part.format() != Format::Blind).map(|field| {
        let ty = field.ty;
        if each {
            quote_spanned!(ty.span()=> .version(<#ty as #krate::KeyElements>::VERSION))
        } else {
            quote_spanned!(ty.span()=> .version(<#ty as #krate::KeyField>::VERSION))
        }
    });
    quote! {
        #krate::schema::Part::Field(#krate::schema::FieldPart::#new(#place, #ty, #source) #version)
    }
}
