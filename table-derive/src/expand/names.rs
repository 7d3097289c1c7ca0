//! Names of the types that the expansion makes.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};

use crate::case::Case;
use crate::model::{Entity, Index};

/// The generated types of one entity. They are named after it, since users meet them in messages; and not as any type
/// that the fields name, which they would hide.
pub(crate) struct Names {
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

impl Names {
    pub(crate) fn of(model: &Entity<'_>) -> Self {
        let mut taken = BTreeSet::new();
        for field in &model.fields {
            collect(field.ty.to_token_stream(), &mut taken);
        }
        let entity = model.ident.to_string();
        let entity = entity.trim_start_matches("r#").to_owned();
        taken.insert(entity.clone());
        let named = |ending: &str| free(&taken, &format!("{entity}{ending}"));
        let (indexes, patch) = (named("Indexes"), named("Patch"));
        let (query, view, columns) = (named("Query"), named("View"), named("Columns"));
        Self { taken, entity, indexes, patch, query, view, columns }
    }

    /// A type for a path: `EmployeeByEmail` and the like with another ending.
    pub(crate) fn path(&self, index: Option<&Index>, ending: &str) -> Ident {
        let path = index.map_or_else(|| "Rows".to_owned(), |index| Case::Pascal.of_field(&index.name));
        free(&self.taken, &format!("{}{path}{ending}", self.entity))
    }

    /// A type parameter of generated code that the user's types stand in.
    pub(crate) fn parameter(&self, name: &str) -> Ident {
        free(&self.taken, name)
    }
}

fn free(taken: &BTreeSet<String>, name: &str) -> Ident {
    let mut name = name.to_owned();
    while taken.contains(&name) {
        name.push('_');
    }
    format_ident!("{name}")
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
