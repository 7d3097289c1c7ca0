//! The ways to reach an entity, and the queries by each.
//!
//! | generated | |
//! | --- | --- |
//! | `EmployeeIndexes` | what the table derefs to: a method for each path, which begins a query |
//! | `EmployeeQuery` | a query, generic over the path and the step: a method for each key part |
//! | `EmployeeByName` | a row of an index that holds some of the fields |
//! | `EmployeeByNamePath` | the type that stands for the path to such rows; other paths have types in the core |
//! | `EmployeeColumns`, `EmployeeByNameColumns` | what filters can speak of |

mod columns;
mod item;
mod query;
mod steps;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::names::Names;
use crate::model::{Copies, Entity, Index, Template, arguments};

/// What the table derefs to, and the types behind its methods.
pub(crate) fn indexes(model: &Entity<'_>, names: &Names) -> TokenStream {
    let (krate, vis, name) = (&model.krate, model.vis, &names.indexes);
    let paths = std::iter::once(None).chain(model.indexes.iter().enumerate().map(Some));
    let paths: Vec<_> = paths.map(|index| Path::new(model, names, index)).collect();
    let methods = paths.iter().map(|path| query::start(path, &names.query));
    let types = paths.iter().map(|path| path.types(&names.query));
    let query = query::query(model, names);
    let columns = columns::columns(model, &names.columns, |_| true);
    let from = names.parameter("From");
    let doc = format!("The ways to query a table of `{}`.", model.ident);
    quote! {
        #[doc = #doc]
        #vis struct #name<#from = #krate::DynamicTable> {
            from: #from,
        }

        impl<#from: #krate::Origin> #name<#from> {
            #(#methods)*
        }

        #query
        #columns
        #(#types)*
    }
}

/// The columns of rows that have every field.
pub(crate) fn columns(model: &Entity<'_>, names: &Names) -> TokenStream {
    columns::made(model, &names.columns, |_| true)
}

/// The type that stands for the path by an index.
pub(crate) fn of_index(model: &Entity<'_>, names: &Names, index: (usize, &Index)) -> TokenStream {
    Path::new(model, names, Some(index)).ty
}

/// A way to reach the entity.
struct Path<'m> {
    model: &'m Entity<'m>,
    index: Option<(usize, &'m Index)>,
    /// The type that stands for the path.
    ty: TokenStream,
    /// The row that a query gives, where it isn't the entity.
    item: Ident,
    columns: Ident,
    /// Type parameters: where a query looks, and what is given for a part.
    from: Ident,
    given: Ident,
}

impl<'m> Path<'m> {
    fn new(model: &'m Entity<'m>, names: &Names, index: Option<(usize, &'m Index)>) -> Self {
        let found = index.map(|(_, index)| index);
        let (krate, ident) = (&model.krate, model.ident);
        let ty = match index {
            None => quote!(#krate::OwnRows<#ident>),
            Some((number, index)) if is_whole(index) => {
                quote!(#krate::WholeCopies<#ident, #number>)
            }
            Some(_) => names.path(found, "Path").into_token_stream(),
        };
        Self {
            model,
            index,
            ty,
            item: names.path(found, ""),
            columns: names.path(found, "Columns"),
            from: names.parameter("From"),
            given: names.parameter("Given"),
        }
    }

    fn row(&self) -> &'m Template {
        self.index.map_or(&self.model.key.row, |(_, index)| &index.row)
    }

    fn types(&self, query: &Ident) -> TokenStream {
        let parts = query::parts(self, query);
        match self.index {
            Some((number, index)) if !is_whole(index) => {
                let held = self.held();
                let columns = columns::columns(self.model, &self.columns, |field| held.contains(&field));
                let (marker, item) = (self.marker(number, &held), item::item(self, index, &held));
                quote!(#marker #item #columns #parts)
            }
            _ => parts,
        }
    }

    /// The type that stands for the path, where its rows hold some of the fields.
    fn marker(&self, number: usize, held: &[usize]) -> TokenStream {
        let (krate, vis, marker, ident) = (&self.model.krate, self.model.vis, &self.ty, self.model.ident);
        let (item, columns) = (&self.item, &self.columns);
        let made = columns::made(self.model, columns, |field| held.contains(&field));
        quote! {
            #[doc(hidden)]
            #vis enum #marker {}

            #[automatically_derived]
            impl #krate::Path for #marker {
                type Entity = #ident;
                type Item = #item;
                type Columns = #columns;

                const INDEX: ::core::option::Option<::core::primitive::usize> =
                    ::core::option::Option::Some(#number);
                const COLUMNS: &'static #columns = &#made;

                fn read(view: &#krate::RowView<'_>) -> #krate::Result<#item> {
                    #item::from_view(view)
                }
            }
        }
    }

    /// The fields that every row of the path has, by their places in the struct.
    fn held(&self) -> Vec<usize> {
        let key = &self.model.key;
        let mut held = arguments(&[&key.partition, &key.row]);
        if let Some((_, index)) = self.index {
            for part in index.row.fields().filter(|part| part.is_held()) {
                if !held.contains(&part.field) {
                    held.push(part.field);
                }
            }
            if let Copies::Some(fields) = &index.copies {
                for field in fields {
                    if !held.contains(&field.value) {
                        held.push(field.value);
                    }
                }
            }
        }
        held
    }
}

/// Whether the index's rows have every field.
fn is_whole(index: &Index) -> bool {
    matches!(index.copies, Copies::All)
}
