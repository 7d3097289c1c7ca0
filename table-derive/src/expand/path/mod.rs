//! The ways to reach an entity, and the queries by each.
//!
//! | generated | |
//! | --- | --- |
//! | `EmployeeIndexes` | what the table derefs to: a method for each path, which begins a query |
//! | `EmployeeQuery` | a query, generic over the path and the step: a method for each key part |
//! | `EmployeeRowsPath`, `EmployeeByNamePath` | types that stand for the paths |
//! | `EmployeeByName` | a row of an index that holds some of the fields |
//! | `EmployeeColumns`, `EmployeeByNameColumns` | what filters can speak of |

mod columns;
mod item;
mod query;
mod steps;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

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
        #vis struct #name<#from = #krate::__private::DynamicTable> {
            from: #from,
        }

        impl<#from: ::core::fmt::Debug> ::core::fmt::Debug for #name<#from> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.from, f)
            }
        }

        #[allow(dead_code, reason = "which of them are called is the user's choice")]
        impl<#from: #krate::__private::Origin> #name<#from> {
            #(#methods)*
        }

        #query
        #columns
        #(#types)*
    }
}

/// A way to reach the entity.
struct Path<'m> {
    model: &'m Entity<'m>,
    index: Option<(usize, &'m Index)>,
    /// The type that stands for the path.
    marker: Ident,
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
        let mut path = Self {
            model,
            index,
            marker: names.path(found, "Path"),
            item: names.path(found, ""),
            columns: names.columns.clone(),
            from: names.parameter("From"),
            given: names.parameter("Given"),
        };
        if !path.is_whole() {
            path.columns = names.path(found, "Columns");
        }
        path
    }

    /// Whether its rows have every field.
    fn is_whole(&self) -> bool {
        self.index.is_none_or(|(_, index)| matches!(index.copies, Copies::All))
    }

    fn row(&self) -> &'m Template {
        self.index.map_or(&self.model.key.row, |(_, index)| &index.row)
    }

    fn types(&self, query: &Ident) -> TokenStream {
        let columns = if self.is_whole() {
            TokenStream::new()
        } else {
            let held = self.held();
            columns::columns(self.model, &self.columns, |field| held.contains(&field))
        };
        let parts = [self.marker(), item::item(self), columns, query::parts(self, query)];
        quote!(#(#parts)*)
    }

    /// The type that stands for the path.
    fn marker(&self) -> TokenStream {
        let (krate, vis, marker, ident) = (&self.model.krate, self.model.vis, &self.marker, self.model.ident);
        let (item, columns) = (self.item_type(), &self.columns);
        let (number, read) = match self.index {
            None => (quote!(::core::option::Option::None), quote!(#krate::__private::read_stored(view))),
            Some((number, _)) => {
                let item = &self.item;
                let read = if self.is_whole() {
                    quote!(#krate::__private::read_copied::<Self>(view))
                } else {
                    quote!(#item::from_view(view))
                };
                (quote!(::core::option::Option::Some(#number)), read)
            }
        };
        quote! {
            #[doc(hidden)]
            #[derive(Debug)]
            #vis enum #marker {}

            #[automatically_derived]
            impl #krate::__private::Path for #marker {
                type Entity = #ident;
                type Item = #item;
                type Columns = #columns;

                const INDEX: ::core::option::Option<::core::primitive::usize> = #number;
                const COLUMNS: &'static #columns = &#columns::ALL;

                fn read(view: &#krate::__private::RowView<'_>) -> #krate::Result<#item> {
                    #read
                }
            }
        }
    }

    fn item_type(&self) -> TokenStream {
        let (krate, ident, item) = (&self.model.krate, self.model.ident, &self.item);
        match self.index {
            None => quote!(#krate::Stored<#ident>),
            Some(_) if self.is_whole() => quote!(#krate::Copied<#ident>),
            Some(_) => quote!(#item),
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
