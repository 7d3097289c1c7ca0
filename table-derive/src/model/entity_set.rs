//! The kinds of a table.

use proc_macro2::Ident;
use syn::{Data, DeriveInput, Fields, Type, Variant, Visibility};

use super::{Krate, no_generics};
use crate::attr::{self, EntitySetWords, MemberWords};
use crate::ctxt::Ctxt;
use crate::symbol::ENTITY_SET;

/// `#[derive(EntitySet)]`.
pub(crate) struct EntitySet<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) vis: &'a Visibility,
    pub(crate) krate: Krate,
    /// The kinds, in order.
    pub(crate) members: Vec<Member<'a>>,
    /// The variant for rows of any other kind: they are an error if there is none.
    pub(crate) unknown: Option<Member<'a>>,
}

/// A variant that holds an entity.
pub(crate) struct Member<'a> {
    pub(crate) variant: &'a Ident,
    pub(crate) ty: &'a Type,
}

impl<'a> EntitySet<'a> {
    /// Reads the input. `None` if there is nothing to go on with.
    // C25: an enum whose every variant holds an entity.
    pub(crate) fn read(cx: &Ctxt, input: &'a DeriveInput) -> Option<Self> {
        no_generics(cx, &input.generics, "a set of entities");
        let Data::Enum(data) = &input.data else {
            cx.error(
                input.ident.span(),
                "a set of entities is an enum: a variant for each kind in the table",
            );
            return None;
        };
        let mut words = EntitySetWords::default();
        attr::read_named(cx, &input.attrs, ENTITY_SET, &mut words);
        let mut set = Self {
            ident: &input.ident,
            vis: &input.vis,
            krate: Krate::new(words.krate.into_value()),
            members: Vec::new(),
            unknown: None,
        };
        for variant in &data.variants {
            set.add(cx, variant);
        }
        if data.variants.is_empty() {
            cx.error(input.ident.span(), "a set of entities has a variant for each kind in the table");
        }
        Some(set)
    }

    fn add(&mut self, cx: &Ctxt, variant: &'a Variant) {
        let mut words = MemberWords::default();
        attr::read_named(cx, &variant.attrs, ENTITY_SET, &mut words);
        let ty = match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                fields.unnamed.first().map(|field| &field.ty)
            }
            _ => None,
        };
        let Some(ty) = ty else {
            let name = &variant.ident;
            cx.error(
                name.span(),
                format!("a variant of a set holds its entity and nothing else: `{name}(Entity)`"),
            );
            return;
        };
        let member = Member { variant: &variant.ident, ty };
        match (words.unknown.word(), &self.unknown) {
            (None, _) => self.members.push(member),
            (Some(_), None) => self.unknown = Some(member),
            (Some(word), Some(first)) => {
                cx.error(
                    word.span(),
                    format!("the variant for unknown kinds is already `{}`", first.variant),
                );
            }
        }
    }
}
