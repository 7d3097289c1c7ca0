//! The fields of a struct: declared, given to the planner, and taken from a row.
//!
//! Fields that are properties themselves come first everywhere, each at a place that the derive knows. The fields of
//! flattened structs, those of references and the slots of series follow: the derive doesn't know how many there are.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::series;
use crate::attr::{DefaultWord, KeyScope, TokenScope};
use crate::model::{Encrypted, Field, Krate, Stands, Storage, in_option};

/// Returns the fields that are several properties.
pub(crate) fn behind<'m, 'a>(fields: &'m [Field<'a>]) -> impl Iterator<Item = (usize, &'m Field<'a>)> {
    fields.iter().enumerate().filter(|(_, field)| field.is_behind())
}

/// Returns the properties of a field that is several of them, as a slice of a constant.
fn several(krate: &Krate, at: usize, field: &Field<'_>) -> TokenStream {
    if field.storage == Storage::Series {
        let slots = series::slots(at);
        return quote!(#slots);
    }
    let (name, property, ty) = (&field.name, &field.property.value, field.ty);
    if field.storage == Storage::Flattened {
        return quote_spanned!(ty.span()=> <#ty as #krate::Properties>::FIELDS);
    }
    let group = quote_spanned!(ty.span()=> <#ty as #krate::Group>);
    quote! {{
        const OF: &[#krate::schema::Field] = #group::FIELDS;
        const NAMES: [::core::primitive::u8; #krate::group_names_len(OF, #name, #property)] =
            #krate::group_names(OF, #name, #property);
        const NAMED: [#krate::schema::Field; OF.len()] =
            #krate::group_fields(OF, &NAMES, [#name, #property], #group::OPTIONAL);
        &NAMED
    }}
}

/// Returns the constants that describe the fields, as a slice.
pub(crate) fn declared(krate: &Krate, fields: &[Field<'_>]) -> TokenStream {
    let own = fields.iter().filter(|field| field.is_property()).map(|field| {
        let (name, property, ty) = (&field.name, &field.property.value, field.ty);
        let of_type = if field.storage == Storage::Json {
            // The property is text, and nothing is known of it.
            quote!(#krate::schema::Field::PLAIN.json())
        } else {
            let property = property_of(field);
            quote_spanned!(ty.span()=> <#ty as #krate::#property>::FIELD)
        };
        let or_default = or_default(krate, field);
        let sealing = sealing(krate, field);
        let was = field.was.as_ref().map(|was| &was.value).map(|was| quote!(.was(#was)));
        let new = field.is_new.then(|| quote!(.is_new()));
        let part = (field.part > 0).then(|| {
            let part = field.part;
            quote!(.in_part(#part))
        });
        quote!(#of_type.named(#name, #property) #or_default #was #new #sealing #part)
    });
    let own = quote!(&[#(#own),*]);
    let others: Vec<_> = behind(fields)
        .map(|(at, field)| {
            let (several, part) = (several(krate, at, field), field.part);
            if part == 0 {
                return several;
            }
            quote! {{
                const OF: &[#krate::schema::Field] = #several;
                const HELD: [#krate::schema::Field; OF.len()] = #krate::schema::fields_in_part(OF, #part);
                &HELD
            }}
        })
        .collect();
    if others.is_empty() {
        return own;
    }
    let names: Vec<_> = (0..others.len()).map(|at| format_ident!("GROUP_{at}")).collect();
    quote! {{
        const OWN: &'static [#krate::schema::Field] = #own;
        #(const #names: &'static [#krate::schema::Field] = #others;)*
        const COUNT: ::core::primitive::usize = OWN.len() #(+ #names.len())*;
        const ALL: [#krate::schema::Field; COUNT] = #krate::side_by_side(&[OWN, #(#names),*]);
        &ALL
    }}
}

/// Returns what stands for the field where a row lacks it, if something does.
fn or_default(krate: &Krate, field: &Field<'_>) -> Option<TokenStream> {
    let ty = field.ty;
    // Filters can't speak of JSON, so nothing asks for its default.
    Some(match (field.default.as_ref()?, field.storage) {
        (_, Storage::Json) => quote!(.or_default()),
        (DefaultWord::OfType, _) => {
            let default = default_of(krate, ty);
            quote!(.or(|| #krate::schema::absent_value::<#ty>(#default())))
        }
        (DefaultWord::Is(value), _) => {
            quote_spanned!(ty.span()=> .or(|| #krate::schema::absent_value::<#ty>(#value)))
        }
    })
}

/// Returns the function that gives the default of the type, on the type's own token.
pub(crate) fn default_of(krate: &Krate, ty: &impl ToTokens) -> TokenStream {
    let span = ty.span();
    let krate = krate.at(span);
    quote_spanned!(span=> #krate::default_of::<#ty>)
}

/// Returns what writes and reads the type as JSON, on the type's own token.
pub(crate) fn json_of(krate: &Krate, ty: &impl ToTokens) -> TokenStream {
    let span = ty.span();
    let krate = krate.at(span);
    let names_a_blob = ty
        .to_token_stream()
        .into_iter()
        .any(|token| matches!(token, TokenTree::Ident(ident) if ident == "Blob" || ident == "SealedBlob"));
    if names_a_blob {
        return quote_spanned!(span=> #krate::json::of_blobs::<#ty>);
    }
    quote_spanned!(span=> #krate::json::of::<#ty>)
}

/// Returns a field that is kept as JSON, taken from the text.
pub(crate) fn taken_from_json(
    krate: &Krate,
    ty: &impl ToTokens,
    default: Option<&DefaultWord>,
    text: &TokenStream,
) -> TokenStream {
    let json = json_of(krate, ty);
    match default {
        None => quote!((#json().take)(#text)),
        Some(DefaultWord::OfType) => {
            let default = default_of(krate, ty);
            quote!(#json().take_or(#text, #default))
        }
        Some(DefaultWord::Is(value)) => quote!(#json().take_or(#text, || #value)),
    }
}

/// Returns how the field is sealed, if it is.
fn sealing(krate: &Krate, field: &Field<'_>) -> Option<TokenStream> {
    let encrypted = field.encrypted?;
    let scope = match encrypted.scope {
        KeyScope::Store => None,
        KeyScope::Table => Some(quote!(Table)),
        KeyScope::Partition => Some(quote!(Partition)),
    };
    let scope = scope.map(|scope| quote!(.scoped(#krate::schema::KeyScope::#scope)));
    let dual = encrypted.dual.then(|| quote!(.dual()));
    let blind = encrypted.blind.map(|blind| {
        let property = field.token_property();
        let tokens = match blind.tokens {
            TokenScope::Partition => quote!(Partition),
            TokenScope::Table => quote!(Table),
        };
        quote!(.blind(#property, #krate::schema::TokenScope::#tokens))
    });
    Some(quote!(.sealed() #dual #scope #blind))
}

/// Returns the type of the column by which filters speak of a field of this type.
pub(crate) fn column(krate: &Krate, field: &Field<'_>, ty: &TokenStream) -> TokenStream {
    let storage = match field.encrypted {
        None if may_lack(field) => "Plain",
        None => return quote!(#krate::Column<#ty>),
        Some(Encrypted { blind: None, dual: true, .. }) => "Dual",
        Some(Encrypted { blind: None, .. }) => "Encrypted",
        Some(Encrypted { blind: Some(_), .. }) => "Blind",
    };
    let storage = Ident::new(storage, Span::call_site());
    let absence = may_lack(field).then(|| quote!(, #krate::Maybe));
    quote!(#krate::Column<#ty, #krate::#storage #absence>)
}

/// Returns whether a row may lack the field's properties, as far as its declaration tells.
pub(crate) fn may_lack(field: &Field<'_>) -> bool {
    let slot = field.slots().filter(|_| field.storage == Storage::Series);
    field.default.is_some() || field.optional().is_some() || slot.and_then(in_option).is_some()
}

/// Returns whether filters can speak of the field.
pub(crate) fn is_compared(field: &Field<'_>) -> bool {
    match field.storage {
        Storage::Value | Storage::Flattened | Storage::Series => true,
        Storage::Grouped => field.referred().is_some(),
        Storage::Json | Storage::Skipped => false,
    }
}

/// Returns the type and the value of the column by which filters speak of a reference.
pub(crate) fn reference_column(krate: &Krate, field: &Field<'_>) -> Option<(TokenStream, TokenStream)> {
    let to = field.referred().filter(|_| field.storage == Storage::Grouped)?;
    let [partition, row] = ["Partition", "Row"].map(|of| format!("{}{of}", field.property.value));
    let absence = may_lack(field).then(|| quote!(, #krate::Maybe));
    Some((quote!(#krate::RefColumn<#to #absence>), quote!(#krate::RefColumn::new(#partition, #row))))
}

/// Returns the trait of the type of a field that is several properties.
pub(crate) fn trait_of(field: &Field<'_>) -> Ident {
    let name = match field.storage {
        Storage::Grouped => "Group",
        Storage::Series => "SeriesOf",
        _ => "Properties",
    };
    Ident::new(name, field.ty.span())
}

/// Returns the trait of the type of a field that is one property. What stands in a key says it by a trait of its own: a type
/// that is neither is one mistake, and is reported once.
pub(crate) fn property_of(field: &Field<'_>) -> Ident {
    Ident::new(if field.stands == Stands::InAKey { "KeyField" } else { "Property" }, field.ty.span())
}

/// Returns the value that a field of `self` gives its property.
pub(crate) fn property(krate: &Krate, field: &Field<'_>) -> TokenStream {
    let (ident, ty) = (field.ident, field.ty);
    if field.storage == Storage::Json {
        let json = json_of(krate, ty);
        return quote!((#json().give)(&self.#ident));
    }
    // The type is named through its trait, on its own token. Rustc then says once, and there, that a type is no
    // property, however often it is used.
    let of = property_of(field);
    let to_property = quote_spanned!(ty.span()=> <#ty as #krate::#of>::to_property);
    quote!(#to_property(&self.#ident))
}

/// Statements that give `values` each field of `self`; `has_elements` tells those whose elements stand in keys.
pub(crate) fn given(
    krate: &Krate,
    fields: &[Field<'_>],
    has_elements: impl Fn(usize) -> bool,
) -> TokenStream {
    let own = fields.iter().enumerate().filter(|(_, field)| field.is_property()).map(|(at, field)| {
        let (ident, property) = (field.ident, property(krate, field));
        if has_elements(at) {
            quote!(values.push_elements(&self.#ident, #property);)
        } else {
            quote!(values.push(#property);)
        }
    });
    let others = behind(fields).map(|(_, field)| {
        let (ident, ty) = (field.ident, field.ty);
        let of = trait_of(field);
        let give = quote_spanned!(ty.span()=> <#ty as #krate::#of>::values);
        quote!(#give(&self.#ident, values);)
    });
    quote!(#(#own)* #(#others)*)
}

/// One field alone, taken from `source` by its place.
pub(crate) fn single(krate: &Krate, field: &Field<'_>, place: usize) -> TokenStream {
    single_at(krate, field, &quote!(#place))
}

/// Takes one field alone from `source`, by a place that is an expression.
pub(crate) fn single_at(krate: &Krate, field: &Field<'_>, place: &TokenStream) -> TokenStream {
    let (ty, property) = (field.ty, property_of(field));
    let take = quote_spanned!(ty.span()=> <#ty as #krate::#property>::TAKE);
    match (field.storage, &field.default) {
        (Storage::Json, default) => {
            let taken = taken_from_json(krate, ty, default.as_ref(), &quote!(source.text(#place)?));
            quote!(#taken?)
        }
        (_, None) => quote!(source.field(#place, #take)?),
        (_, Some(DefaultWord::OfType)) => {
            let default = default_of(krate, ty);
            quote!(source.field_or(#place, #take, #default)?)
        }
        (_, Some(DefaultWord::Is(value))) => quote!(source.field_or(#place, #take, || #value)?),
    }
}

/// Returns the fields of a struct literal, each taken from `source`.
pub(crate) fn taken(krate: &Krate, fields: &[Field<'_>]) -> TokenStream {
    let own = fields.iter().filter(|field| !field.is_behind()).map(|field| {
        let (ident, ty, property) = (field.ident, field.ty, property_of(field));
        let take = quote_spanned!(ty.span()=> <#ty as #krate::#property>::TAKE);
        let value = match (field.storage, &field.default) {
            (Storage::Json, default) => {
                let taken = taken_from_json(krate, ty, default.as_ref(), &quote!(source.next_text()?));
                quote!(#taken?)
            }
            (Storage::Value, None) => quote!(source.next(#take)?),
            (Storage::Value, Some(DefaultWord::OfType)) => {
                let default = default_of(krate, ty);
                quote!(source.next_or(#take, #default)?)
            }
            (Storage::Value, Some(DefaultWord::Is(value))) => {
                quote!(source.next_or(#take, || #value)?)
            }
            (Storage::Skipped | Storage::Flattened | Storage::Grouped | Storage::Series, _) => {
                let default = default_of(krate, ty);
                quote!(#default())
            }
        };
        quote!(#ident: #value,)
    });
    let others = behind(fields).map(|(_, field)| {
        let (ident, ty) = (field.ident, field.ty);
        if field.storage == Storage::Series {
            let take = series::take(krate, field);
            return quote!(#ident: #take?,);
        }
        if field.storage == Storage::Grouped {
            let group = quote_spanned!(ty.span()=> <#ty as #krate::Group>);
            return quote!(#ident: source.next_group(#group::FIELDS, #group::take)?,);
        }
        let take = quote_spanned!(ty.span()=> <#ty as #krate::Properties>::take);
        quote!(#ident: #take(source)?,)
    });
    quote!(#(#own)* #(#others)*)
}
