//! A struct whose fields are flattened into entities.

use proc_macro2::Ident;
use syn::{DeriveInput, Visibility};

use super::{Field, Krate, named_fields, no_generics};
use crate::attr::{self, PropertiesWords};
use crate::ctxt::Ctxt;
use crate::symbol::PROPERTIES;

/// `#[derive(Properties)]`.
pub(crate) struct Properties<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) vis: &'a Visibility,
    pub(crate) krate: Krate,
    /// Every field in order, skipped and flattened ones too.
    pub(crate) fields: Vec<Field<'a>>,
}

impl<'a> Properties<'a> {
    /// Reads the input. `None` if there is nothing to go on with.
    pub(crate) fn read(cx: &Ctxt, input: &'a DeriveInput) -> Option<Self> {
        no_generics(cx, &input.generics, "a struct of properties");
        let fields = named_fields(cx, input, "what is flattened")?;
        let mut words = PropertiesWords::default();
        attr::read_named(cx, &input.attrs, PROPERTIES, &mut words);
        Some(Self {
            ident: &input.ident,
            vis: &input.vis,
            fields: Field::read_all(cx, fields, words.rename_all.get().copied(), false),
            krate: Krate::new(words.krate.into_value()),
        })
    }
}
