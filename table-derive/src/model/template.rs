//! A key template of an entity.

use proc_macro2::Span;
use syn::LitStr;

use super::Field;
use crate::ctxt::Ctxt;
use crate::template::{self, FieldPart, Part};

/// A key template with its parts.
pub(crate) struct Template {
    /// As written. Every message about a part stands here: there is no smaller token.
    pub(crate) literal: LitStr,
    /// Its parts. No two literals are neighbours.
    pub(crate) parts: Vec<Part>,
    /// Whether nothing is missing from the parts. Always true when the expansion sees it.
    pub(crate) sound: bool,
}

impl Template {
    /// Reads a template; `None` stands for one that has been found missing.
    pub(crate) fn read(
        cx: &Ctxt,
        literal: Option<LitStr>,
        entity: &syn::Ident,
        fields: &[Field<'_>],
    ) -> Self {
        let Some(literal) = literal else {
            return Self { literal: LitStr::new("", entity.span()), parts: Vec::new(), sound: false };
        };
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let (parts, errors) = template::parse(&literal.value(), &entity.to_string(), &names);
        for error in &errors {
            cx.error(literal.span(), error);
        }
        Self { literal, parts, sound: errors.is_empty() }
    }

    /// Returns the template with a text behind it.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Self {
        let mut parts = self.parts.clone();
        match parts.last_mut() {
            Some(Part::Literal(text)) => text.push_str(suffix),
            _ => parts.push(Part::Literal(suffix.to_owned())),
        }
        let literal = LitStr::new(&format!("{}{suffix}", self.literal.value()), self.literal.span());
        Self { literal, parts, sound: self.sound }
    }

    /// Returns where it stands.
    pub(crate) fn span(&self) -> Span {
        self.literal.span()
    }

    /// Returns the template's text, as written.
    pub(crate) fn source(&self) -> String {
        self.literal.value()
    }

    /// Returns the parts that are fields, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &FieldPart> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field(field) => Some(field),
            Part::Literal(_) => None,
        })
    }

    /// Returns whether this field can be read back from the key, as far as formats tell.
    pub(crate) fn gives_back(&self, field: usize) -> bool {
        self.fields().any(|part| part.field == field && part.gives_back())
    }
}

/// Returns the distinct fields of these templates in order of first occurrence: the arguments of a key's constructor.
pub(crate) fn arguments(templates: &[&Template]) -> Vec<usize> {
    let mut fields = Vec::new();
    for part in templates.iter().copied().flat_map(Template::fields) {
        if !fields.contains(&part.field) {
            fields.push(part.field);
        }
    }
    fields
}
