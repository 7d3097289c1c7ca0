//! What is generated for series: two constants, and a call wherever their slots are given or taken.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::debug;
use super::fields::{default_of, may_lack};
use crate::attr::DefaultWord;
use crate::model::{Entity, Field, Krate, Storage, in_option};

/// Returns the constant that declares the series at this place among the fields.
pub(super) fn of(at: usize) -> Ident {
    format_ident!("SERIES_{at}")
}

/// Returns the constant of its fields, one for each slot.
pub(super) fn slots(at: usize) -> Ident {
    format_ident!("SLOTS_{at}")
}

/// Returns the place of a field among the entity's.
pub(super) fn place(model: &Entity<'_>, field: &Field<'_>) -> usize {
    model.fields.iter().position(|other| other.name == field.name).unwrap_or_default()
}

/// Declares both constants of each series among the fields. As `stub`s they have no slots.
pub(super) fn constants(krate: &Krate, fields: &[Field<'_>], stub: bool) -> TokenStream {
    let series = fields.iter().enumerate().filter(|(_, field)| field.storage == Storage::Series);
    series.map(|(at, field)| declared(krate, at, field, stub)).collect()
}

fn declared(krate: &Krate, at: usize, field: &Field<'_>, stub: bool) -> TokenStream {
    let (of, slots, name, stem, ty) = (of(at), slots(at), &field.name, &field.property.value, field.ty);
    if stub {
        return quote! {
            const #of: #krate::Series = #krate::Series::new(#name, #stem, 0);
            const #slots: &[#krate::schema::Field] = &[];
        };
    }
    let width = field.width.as_ref().map(|width| {
        let width = usize::try_from(width.value).unwrap_or(usize::MAX);
        quote!(.width(#width))
    });
    let count = quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::SLOTS);
    let slot = quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::Slot);
    let plain = quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::FIELD);
    let or_default = match &field.default {
        None => None,
        Some(DefaultWord::OfType) => {
            let default = default_of(krate, &slot);
            Some(quote!(.or(|| #krate::schema::absent_value::<#slot>(#default()))))
        }
        Some(DefaultWord::Is(value)) => Some(quote!(.or(|| #krate::schema::absent_value::<#slot>(#value)))),
    };
    quote! {
        const #of: #krate::Series = #krate::Series::new(#name, #stem, #count) #width;
        const #slots: &[#krate::schema::Field] = {
            const LENGTHS: (::core::primitive::usize, ::core::primitive::usize) = #of.lengths();
            const FIELD: #krate::schema::Field = #plain #or_default;
            &#krate::slot_fields::<{ LENGTHS.1 }, { LENGTHS.0 }, { #count }>(
                &#of,
                FIELD,
                &#krate::slot_names(&#of),
                &#krate::slot_properties(&#of),
            )
        };
    }
}

/// Returns what must be true of a series: its slots are properties, and it has some.
pub(super) fn assertion(krate: &Krate, at: usize, field: &Field<'_>) -> TokenStream {
    let (name, ty, of) = (&field.name, field.ty, of(at));
    let span = field.width.as_ref().map_or_else(|| field.ident.span(), |width| width.span);
    let in_core = krate.at(span);
    let of = Ident::new(&of.to_string(), span);
    let nested = quote_spanned!(ty.span()=> <#ty as #in_core::SeriesOf>::NESTED);
    let content = quote_spanned!(ty.span()=> <#ty as #in_core::SeriesOf>::CONTENT);
    let rule = Ident::new(if field.plain { "plain_property" } else { "property" }, span);
    quote_spanned! {span=>
        const _: () = {
            #in_core::checks::series(&#of);
            #in_core::checks::#rule(#name, #nested, #content);
        };
    }
}

/// Returns the type of a slot, as the user wrote it where that shows.
pub(super) fn slot(krate: &Krate, field: &Field<'_>) -> TokenStream {
    if let Some(slot) = field.slots() {
        return quote!(#slot);
    }
    let ty = field.ty;
    quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::Slot)
}

/// Returns what a column of it is documented with.
pub(super) fn doc(field: &Field<'_>) -> String {
    format!("The slots of the series `{}`.", field.property.value)
}

/// Returns the type of its column.
pub(super) fn column(krate: &Krate, field: &Field<'_>) -> TokenStream {
    let compared = match field.slots().and_then(in_option) {
        Some(inner) => quote!(#inner),
        None => slot(krate, field),
    };
    let absence = may_lack(field).then(|| quote!(, #krate::Maybe));
    quote!(#krate::SeriesColumn<#compared #absence>)
}

/// Returns the whole series, taken from `source`.
pub(super) fn take(krate: &Krate, field: &Field<'_>) -> TokenStream {
    let ty = field.ty;
    let of = |function: TokenStream| quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::#function);
    match &field.default {
        None => {
            let take = of(quote!(take));
            quote!(#take(source))
        }
        Some(DefaultWord::OfType) => {
            let (take, slot) = (of(quote!(take_or)), slot(krate, field));
            let default = default_of(krate, &slot);
            quote!(#take(source, #default))
        }
        Some(DefaultWord::Is(value)) => {
            let take = of(quote!(take_or));
            quote!(#take(source, || #value))
        }
    }
}

/// Returns the method of a patch that sets slots.
pub(super) fn setter(krate: &Krate, field: &Field<'_>) -> TokenStream {
    let (vis, ident, slot) = (field.vis, field.ident, slot(krate, field));
    // Through the trait: where the core is not found, a short path to the type would be a second mistake.
    let doc = field.done_with(&format!(
        "Sets slots of `{}`: one by its number, `13`, or several by a range, `9..17`, with a value for each.",
        field.name
    ));
    quote! {
        #[doc = #doc]
        #[inline]
        #vis fn #ident<Which: #krate::Slots<#slot>>(mut self, slots: Which, given: <Which as #krate::Slots<#slot>>::Given) -> Self {
            self.#ident.set(slots, given);
            self
        }
    }
}

/// Returns the part of `impl Entity` that refuses what a patch sets wrongly.
pub(super) fn check_patch(krate: &Krate, patch: &Ident, fields: &[&Field<'_>]) -> Option<TokenStream> {
    let series: Vec<_> = fields.iter().filter(|field| field.storage == Storage::Series).collect();
    if series.is_empty() {
        return None;
    }
    let idents = series.iter().map(|field| field.ident);
    Some(quote! {
        fn check_patch(patch: &#patch) -> #krate::Result<()> {
            #(patch.#idents.check()?;)*
            ::core::result::Result::Ok(())
        }
    })
}

/// Returns the method of a view that gives the series in place; `first` is the place of its first slot.
pub(super) fn view(krate: &Krate, at: usize, field: &Field<'_>, first: &TokenStream) -> TokenStream {
    let (vis, ident, of, slot) = (field.vis, field.ident, of(at), slot(krate, field));
    let default = match &field.default {
        None => quote!(::core::option::Option::None),
        Some(DefaultWord::OfType) => {
            let default = default_of(krate, &slot);
            quote!(::core::option::Option::Some(#default))
        }
        Some(DefaultWord::Is(value)) => quote!(::core::option::Option::Some(|| #value)),
    };
    let doc = field.done_with(&format!(
        "The series `{}` in place: each slot is decoded when it is asked for.",
        field.name
    ));
    quote! {
        #[doc = #doc]
        #vis fn #ident(&self) -> #krate::SeriesView<'_, #slot> {
            #krate::SeriesView::new(&self.fields, #first, &#of, #default)
        }
    }
}

/// Returns the function on the struct that adds to slots, and what it makes; nothing of a struct without series.
pub(super) fn add(model: &Entity<'_>) -> TokenStream {
    let fields = model.fields.iter().enumerate();
    let series: Vec<_> = fields.filter(|(_, field)| field.storage == Storage::Series).collect();
    if series.is_empty() {
        return TokenStream::new();
    }
    let (krate, vis, entity) = (&model.krate, model.vis, model.ident);
    let name = format_ident!("{}Add", entity.to_string().trim_start_matches("r#"));
    let methods = series.into_iter().map(|(at, field)| {
        let (vis, ident, ty, of, series) = (field.vis, field.ident, field.ty, of(at), &field.name);
        let is_series = quote_spanned!(ty.span()=> #krate::SeriesOf<Slot = Value>);
        let add = quote_spanned!(ty.span()=> #krate::add_to_slot::<#ty>);
        let doc = field.done_with(&format!("Adds to a slot of `{series}`."));
        quote! {
            #[doc = #doc]
            #[inline]
            #vis fn #ident<Value: #krate::Countable>(
                mut self,
                slot: ::core::primitive::usize,
                by: ::core::primitive::i64,
            ) -> Self
            where
                #ty: #is_series,
            {
                const FIRST: ::core::primitive::usize = #krate::checks::place_of_slot(
                    <#entity as #krate::Entity>::SCHEMA, #series, 0,
                );
                self.add.to_slot::<Value>(&#of, FIRST, slot, by, |entity, slot, by| {
                    #add(&mut entity.#ident, slot, by)
                });
                self
            }
        }
    });
    let doc = format!("What is added to slots of the `{entity}` there: nothing at first.");
    let debug = debug::named(krate, &name);
    quote! {
        #[doc = #doc]
        #[must_use = "it adds nothing until a table does"]
        #vis struct #name {
            add: #krate::Additions<#entity>,
        }

        impl #entity {
            /// Numbers to add to slots: none yet.
            #[inline]
            #vis fn add() -> #name {
                #name { add: #krate::Additions::new() }
            }
        }

        impl #name {
            #(#methods)*
        }

        impl ::core::convert::From<#name> for #krate::Additions<#entity> {
            fn from(add: #name) -> Self {
                add.add
            }
        }

        #debug
    }
}
