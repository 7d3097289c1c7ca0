//! Names of the types that the expansion makes.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;

use crate::case::Case;
use crate::model::{Entity, Index, Types};
use crate::symbol::{COLUMNS, INDEXES, PATCH, QUERY, VIEW};

/// The generated types of one entity. They are named after it, since users meet them in messages. None has the name of
/// a type in the fields, which it would hide.
pub(crate) struct Names<'m> {
    types: &'m Types,
    taken: BTreeSet<String>,
    entity: String,
    /// What the table derefs to.
    pub(crate) indexes: Ident,
    /// The patch.
    pub(crate) patch: Ident,
    /// The query, by whatever path.
    pub(crate) query: Ident,
    /// The entity in place.
    pub(crate) view: Ident,
    /// What filters of whole rows can speak of.
    pub(crate) columns: Ident,
}

impl<'m> Names<'m> {
    pub(crate) fn of(model: &'m Entity<'_>) -> Self {
        let mut taken = BTreeSet::new();
        for field in &model.fields {
            collect(field.ty.to_token_stream(), &mut taken);
        }
        let entity = model.ident.to_string();
        let entity = entity.trim_start_matches("r#").to_owned();
        taken.insert(entity.clone());
        taken.extend(model.types.all_given().map(ToString::to_string));
        let types = &model.types;
        let named = |word: &str, ending: &str| match types.given(word) {
            Some(given) => given.clone(),
            None => free(&taken, &format!("{entity}{ending}"), types.asked(word)),
        };
        let (indexes, patch) = (named(INDEXES, "Indexes"), named(PATCH, "Patch"));
        let (query, view) = (named(QUERY, "Query"), named(VIEW, "View"));
        let columns = named(COLUMNS, "Columns");
        Self { types, taken, entity, indexes, patch, query, view, columns }
    }

    /// Returns a type for a path: `EmployeeByEmail` and the like with another ending.
    pub(crate) fn path(&self, index: Option<&Index>, ending: &str) -> Ident {
        let name = index.map_or("rows", |index| index.name.as_str());
        match self.types.given(name) {
            Some(given) if ending.is_empty() => given.clone(),
            Some(given) => free(&self.taken, &format!("{given}{ending}"), Some(given.span())),
            None => {
                let path = Case::Pascal.of_field(name);
                free(&self.taken, &format!("{}{path}{ending}", self.entity), self.types.asked(name))
            }
        }
    }

    /// Returns the module of the types that stand for parts of keys.
    pub(crate) fn parts(&self) -> Ident {
        free(&self.taken, &format!("of_{}", self.entity), None)
    }

    /// Returns a type parameter of generated code in which the user's types stand.
    pub(crate) fn parameter(&self, name: &str) -> Ident {
        free(&self.taken, name, None)
    }
}

/// Returns the name, or one like it that is not taken; where the user asked for it, if at all.
fn free(taken: &BTreeSet<String>, name: &str, asked: Option<Span>) -> Ident {
    let mut name = name.to_owned();
    while taken.contains(&name) {
        name.push('_');
    }
    Ident::new(&name, asked.unwrap_or_else(Span::call_site))
}

/// Every identifier among the tokens.
fn collect(tokens: TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                into.insert(ident.to_string());
            }
            TokenTree::Group(group) => collect(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
