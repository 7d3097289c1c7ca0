//! The entity in place: a method for each field, which decodes that one.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type};

use super::debug;
use super::fields::{default_of, property_of, taken_from_json, trait_of};
use super::named_types::Beside;
use super::names::Names;
use super::schema::place;
use super::series;
use crate::attr::DefaultWord;
use crate::model::{Entity, Field, Storage};
use crate::symbol::VIEW;

/// Returns the struct. As a `stub` it does not claim that the fields' types are properties.
pub(crate) fn view(
    model: &Entity<'_>,
    names: &Names<'_>,
    beside: &mut Beside<'_>,
    stub: bool,
) -> TokenStream {
    let (krate, vis, view) = (&model.krate, model.vis, &names.view);
    let methods = model.fields.iter().enumerate().filter(|(_, field)| field.is_property());
    let methods = methods.map(|(at, field)| method(model, at, field, stub)).chain(flattened(model, stub));
    let doc = format!("A `{}` in place: each method decodes one field.", model.ident);
    let debug = debug::of(krate, view, &TokenStream::new(), &quote!(<'_>));
    let definition = quote! {
        #[doc = #doc]
        #vis struct #view<'view> {
            fields: #krate::FieldViews<'view>,
        }
    };
    let definition = beside.place(VIEW, view, definition);
    quote! {
        #definition

        impl #view<'_> {
            #(#methods)*
        }

        #[automatically_derived]
        impl<'view> #krate::EntityView<'view> for #view<'view> {
            fn new(fields: #krate::FieldViews<'view>) -> Self {
                Self { fields }
            }

            fn fields(&self) -> &#krate::FieldViews<'view> {
                &self.fields
            }
        }

        #debug
    }
}

/// How a field is lent where it need not be owned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Borrowed {
    Text,
    Bytes,
}

fn method(model: &Entity<'_>, at: usize, field: &Field<'_>, stub: bool) -> TokenStream {
    let (krate, ident, ty, vis) = (&model.krate, field.ident, field.ty, field.vis);
    let place = place(model, at);
    let in_key = model.gives_back(&model.key.row, at);
    let property = property_of(field);
    let from_property = quote_spanned!(ty.span()=> <#ty as #krate::#property>::from_property);
    let take = quote_spanned!(ty.span()=> <#ty as #krate::#property>::TAKE);
    let bytes = quote!([::core::primitive::u8]);
    let is_made = matches!(field.default, Some(DefaultWord::Is(_)));
    let (seen, taken) = match (field.storage, borrowed(ty), field.optional().and_then(borrowed)) {
        (Storage::Json, ..) => {
            // On the type's own token, as where the whole entity is taken: rustc then says once that a type doesn't fit.
            let taken = taken_from_json(krate, ty, field.default.as_ref(), &quote!(text));
            (quote!(#ty), quote!(self.fields.json(#place, |text| #taken)))
        }
        (_, Some(Borrowed::Text), _) if in_key => {
            (quote!(#krate::Cow<'_, ::core::primitive::str>), quote!(self.fields.key_text(#place)))
        }
        // An opened value can't be lent.
        _ if field.encrypted.is_some() => {
            let taken = match &field.default {
                None => quote!(sealed(#place, #take)),
                Some(DefaultWord::OfType) => {
                    let default = default_of(krate, ty);
                    quote!(sealed_or(#place, #take, #default))
                }
                Some(DefaultWord::Is(value)) => quote!(sealed_or(#place, #take, || #value)),
            };
            (quote!(#ty), quote!(self.fields.#taken))
        }
        _ if in_key => (quote!(#ty), quote!(self.fields.key(#place, #from_property))),
        // A value that is made for the purpose can't be lent.
        _ if is_made => {
            let taken = if let Some(DefaultWord::Is(value)) = &field.default {
                quote!(stored_or(#place, #from_property, || #value))
            } else {
                quote!(stored(#place, #from_property))
            };
            (quote!(#ty), quote!(self.fields.#taken))
        }
        (_, Some(Borrowed::Text), _) if field.default.is_none() => {
            (quote!(&::core::primitive::str), quote!(self.fields.text(#place)))
        }
        (_, Some(kind), _) => {
            let (seen, from) = match kind {
                Borrowed::Text => (quote!(&::core::primitive::str), quote!(as_text)),
                Borrowed::Bytes => (quote!(&#bytes), quote!(as_bytes)),
            };
            let stored = stored(field);
            (seen, quote!(self.fields.#stored(#place, #krate::#from)))
        }
        (_, None, Some(kind)) => {
            let (seen, from) = match kind {
                Borrowed::Text => (quote!(&::core::primitive::str), quote!(as_text_option)),
                Borrowed::Bytes => (quote!(&#bytes), quote!(as_bytes_option)),
            };
            (quote!(::core::option::Option<#seen>), quote!(self.fields.stored(#place, #krate::#from)))
        }
        (_, None, None) => {
            let taken = if field.default.is_some() {
                let default = default_of(krate, ty);
                quote!(stored_or(#place, #from_property, #default))
            } else {
                quote!(made(#place, #take))
            };
            (quote!(#ty), quote!(self.fields.#taken))
        }
    };
    let taken = if stub { quote!(self.fields.nothing()) } else { taken };
    let doc = if in_key {
        format!("The field `{}`, parsed from the key.", field.name)
    } else {
        format!("The field `{}`, decoded from the property `{}`.", field.name, field.property.value)
    };
    let doc = field.done_with(&doc);
    quote! {
        #[doc = #doc]
        #[inline]
        #vis fn #ident(&self) -> #krate::Result<#seen> {
            #taken
        }
    }
}

/// Methods for the fields that are several properties, each owned but for series.
fn flattened<'m>(model: &'m Entity<'_>, stub: bool) -> impl Iterator<Item = TokenStream> + use<'m> {
    let krate = &model.krate;
    // They stand behind those that are properties themselves.
    let own = model.fields.iter().filter(|field| field.is_property()).count();
    let mut before = quote!(#own);
    let behind = model.fields.iter().enumerate().filter(|(_, field)| field.is_behind());
    behind.map(move |(at, field)| {
        let (ident, ty, vis) = (field.ident, field.ty, field.vis);
        if field.storage == Storage::Series {
            let method = series::view(krate, at, field, &before);
            let slots = series::slots(at);
            before = quote!(#before + #slots.len());
            return method;
        }
        let of = trait_of(field);
        let flat = quote_spanned!(ty.span()=> <#ty as #krate::#of>);
        let start = before.clone();
        before = quote!(#start + #flat::FIELDS.len());
        let taken = if stub {
            quote!(self.fields.nothing())
        } else if field.storage == Storage::Grouped {
            quote!(self.fields.group(#start, #flat::take))
        } else {
            quote!(self.fields.flattened(#start, #flat::take))
        };
        let doc = field.done_with(&format!("The field `{}`, of its properties.", field.name));
        quote! {
            #[doc = #doc]
            #vis fn #ident(&self) -> #krate::Result<#ty> {
                #taken
            }
        }
    })
}

fn stored(field: &Field<'_>) -> TokenStream {
    if field.default.is_some() { quote!(stored_or_default) } else { quote!(stored) }
}

/// Returns how a value of the type can be lent, as far as the way it is written tells.
fn borrowed(ty: &Type) -> Option<Borrowed> {
    let path = match ty {
        Type::Group(group) => return borrowed(&group.elem),
        Type::Paren(paren) => return borrowed(&paren.elem),
        Type::Path(path) if path.qself.is_none() => &path.path,
        _ => return None,
    };
    let last = path.segments.last()?;
    let argument = match &last.arguments {
        PathArguments::None => return (last.ident == "String").then_some(Borrowed::Text),
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(Type::Path(path)) => path.path.segments.last()?.ident.to_string(),
            _ => return None,
        },
        PathArguments::Parenthesized(_) => return None,
    };
    match (last.ident.to_string().as_str(), argument.as_str()) {
        ("Box", "str") => Some(Borrowed::Text),
        ("Vec", "u8") => Some(Borrowed::Bytes),
        _ => None,
    }
}
