//! A type of the user's that may stand in a key.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Data, DataEnum, DeriveInput, Fields, Member, Type, Visibility};

use super::{Krate, Spanned, no_generics};
use crate::attr::{self, KeyPartWords, KeyVariantWords};
use crate::case::Case;
use crate::ctxt::Ctxt;
use crate::symbol::KEY_PART;

/// `#[derive(KeyPart)]`.
pub(crate) struct KeyPart<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) vis: &'a Visibility,
    pub(crate) krate: Krate,
    pub(crate) shape: KeyPartShape<'a>,
}

/// What it is made of.
pub(crate) enum KeyPartShape<'a> {
    /// A struct around one value: printed as that value is.
    Newtype {
        /// `0`, or the field's name.
        member: Member,
        ty: &'a Type,
    },
    /// An enum without data: printed as its variant's text.
    Enum(Vec<KeyVariant<'a>>),
}

/// A variant.
pub(crate) struct KeyVariant<'a> {
    pub(crate) ident: &'a Ident,
    /// Its text in a key, at the token that gives it.
    pub(crate) text: Spanned<String>,
}

impl<'a> KeyPart<'a> {
    /// Reads the input. `None` if there is nothing to go on with.
    pub(crate) fn read(cx: &Ctxt, input: &'a DeriveInput) -> Option<Self> {
        no_generics(cx, &input.generics, "a part of a key");
        let mut words = KeyPartWords::default();
        attr::read_named(cx, &input.attrs, KEY_PART, &mut words);
        let shape = match &input.data {
            Data::Enum(data) => Some(variants(cx, input, data, words.rename_all.get().copied())),
            Data::Struct(data) => newtype(cx, input, &data.fields, &words),
            Data::Union(_) => {
                cx.error(input.ident.span(), "a union can't be part of a key");
                None
            }
        }?;
        Some(Self {
            ident: &input.ident,
            vis: &input.vis,
            krate: Krate::new(words.krate.into_value()),
            shape,
        })
    }
}

/// Returns the shape of a struct.
fn newtype<'a>(
    cx: &Ctxt,
    input: &DeriveInput,
    fields: &'a Fields,
    words: &KeyPartWords,
) -> Option<KeyPartShape<'a>> {
    if let Some(word) = words.rename_all.word() {
        cx.error(word.span(), "`rename_all` says nothing here: a struct is printed as what it holds");
    }
    let (Some(field), 1) = (fields.iter().next(), fields.len()) else {
        let name = &input.ident;
        cx.error(name.span(), format!("a struct in a key holds one value: `struct {name}(u32);`"));
        return None;
    };
    let member = field.ident.clone().map_or_else(|| Member::from(0), Member::from);
    Some(KeyPartShape::Newtype { member, ty: &field.ty })
}

/// Returns the shape of an enum.
fn variants<'a>(cx: &Ctxt, input: &DeriveInput, data: &'a DataEnum, case: Option<Case>) -> KeyPartShape<'a> {
    if data.variants.is_empty() {
        cx.error(input.ident.span(), "an enum without variants can't be part of a key");
    }
    let mut variants = Vec::new();
    for variant in &data.variants {
        let mut words = KeyVariantWords::default();
        attr::read_named(cx, &variant.attrs, KEY_PART, &mut words);
        if !matches!(variant.fields, Fields::Unit) {
            cx.error(
                variant.ident.span(),
                "a variant in a key has no fields: its name is what the key holds",
            );
        }
        let text = match words.rename.get() {
            Some(literal) => Spanned { value: literal.value(), span: literal.span() },
            None => Spanned {
                value: case.unwrap_or(Case::Pascal).of_variant(&variant.ident.unraw().to_string()),
                span: variant.ident.span(),
            },
        };
        variants.push(KeyVariant { ident: &variant.ident, text });
    }
    KeyPartShape::Enum(variants)
}
