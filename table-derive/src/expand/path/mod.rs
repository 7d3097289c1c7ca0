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
mod order;
mod query;
mod steps;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::named_types::Beside;
use super::names::Names;
use crate::model::{Copies, Entity, Index, Template, arguments};
use crate::symbol::{COLUMNS, INDEXES};
use order::Order;

/// Returns what the table derefs to, and the types behind its methods.
pub(crate) fn indexes(model: &Entity<'_>, names: &Names<'_>, beside: &mut Beside<'_>) -> TokenStream {
    let (krate, vis, name) = (&model.krate, model.vis, &names.indexes);
    let paths = std::iter::once(None).chain(model.copying().map(Some));
    let paths: Vec<_> = paths.map(|index| Path::new(model, names, index)).collect();
    let methods = paths.iter().map(|path| query::start(path, &names.query));
    let query = query::query(model, names, beside);
    let columns =
        beside.place(COLUMNS, &names.columns, columns::columns(model, None, &names.columns, |_| true));
    let mut order = Order::default();
    let lists: Vec<_> = model
        .indexes
        .iter()
        .filter(|index| index.list.is_some())
        .map(|list| no_query(model, names, list, &mut order))
        .collect();
    let types: Vec<_> = paths.iter().map(|path| path.types(names, beside, &mut order)).collect();
    let order = order.into_items(names);
    let from = names.parameter("In");
    let doc = format!("The ways to query a table of `{}`.", model.ident);
    let definition = quote! {
        #[doc = #doc]
        #vis struct #name<#from = #krate::DynamicTable> {
            from: #from,
        }
    };
    let definition = beside.place(INDEXES, name, definition);
    quote! {
        #definition

        impl<#from: #krate::AnyOrigin> #name<#from> {
            #(#methods)*
            #(#lists)*
        }

        #query
        #columns
        #order
        #(#types)*
    }
}

/// Returns a method named as an index list is, for what the compiler says of it.
fn no_query(model: &Entity<'_>, names: &Names<'_>, list: &Index, order: &mut Order) -> TokenStream {
    let (krate, vis, entity, name) = (&model.krate, model.vis, model.ident, &list.ident);
    let listed = order.named(names, name);
    let [from, unknown] = ["In", "Unknown"].map(|name| names.parameter(name));
    quote! {
        #[doc(hidden)]
        #vis fn #name<#unknown>(&self) -> #unknown
        where
            #from: #krate::QueriedAsAList<#entity, #listed>,
        {
            match <#from as #krate::Never>::NEVER {}
        }
    }
}

/// Returns the columns of rows that have every field.
pub(crate) fn columns(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    columns::made(model, &names.columns, |_| true)
}

/// Returns the type that stands for the path by an index.
pub(crate) fn of_index(model: &Entity<'_>, names: &Names<'_>, number: usize, index: &Index) -> TokenStream {
    Path::new(model, names, Some((number, index))).ty
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
    step: Ident,
}

impl<'m> Path<'m> {
    fn new(model: &'m Entity<'m>, names: &Names<'_>, index: Option<(usize, &'m Index)>) -> Self {
        let found = index.map(|(_, index)| index);
        let (krate, ident) = (&model.krate, model.ident);
        let ty = match index {
            None => quote!(#krate::OwnRows<#ident>),
            Some((number, index)) if is_whole(index) && is_eventual(model, index) => {
                quote!(#krate::EventualCopies<#ident, #number>)
            }
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
            from: names.parameter("In"),
            given: names.parameter("Given"),
            step: names.parameter("Step"),
        }
    }

    fn partition(&self) -> &'m Template {
        self.index.map_or(&self.model.key.partition, |(_, index)| self.model.partition_of(index))
    }

    fn row(&self) -> &'m Template {
        self.index.map_or(&self.model.key.row, |(_, index)| &index.row)
    }

    fn types(&self, names: &Names<'_>, beside: &mut Beside<'_>, order: &mut Order) -> TokenStream {
        let parts = query::parts(self, names, order);
        match self.index {
            Some((number, index)) if !is_whole(index) => {
                let held = self.held();
                let columns =
                    columns::columns(self.model, Some(index), &self.columns, |field| held.contains(&field));
                let marker = self.marker(number, index, &held, beside);
                let item = item::item(self, index, &held, beside);
                let columns = beside.place(&index.name, &self.columns, columns);
                quote!(#marker #item #columns #parts)
            }
            Some((_, index)) => {
                self.aliases(names, index, beside);
                parts
            }
            None => parts,
        }
    }

    /// Names for the types of an index whose rows have every field: the types lie in the core.
    fn aliases(&self, names: &Names<'_>, index: &Index, beside: &mut Beside<'_>) {
        let (krate, vis, ident) = (&self.model.krate, self.model.vis, self.model.ident);
        let (item, ty, path) = (&self.item, &self.ty, names.path(Some(index), "Path"));
        if !beside.takes(&index.name) {
            beside.leave_out(item);
            beside.leave_out(&path);
            return;
        }
        let of_row = format!("A row of the index `{}` of `{ident}`, which has every field.", index.name);
        let of_path = self.of_path(index);
        let row = if is_eventual(self.model, index) { quote!(Eventual) } else { quote!(Copied) };
        beside.add(&quote!(#[doc = #of_row] #vis type #item = #krate::#row<#ident>;));
        beside.add(&quote!(#[doc = #of_path] #vis type #path = #ty;));
    }

    fn of_path(&self, index: &Index) -> String {
        format!("The way to `{}` by the index `{}`, in the type of a query.", self.model.ident, index.name)
    }

    /// Returns the type that stands for the path, where its rows hold some of the fields.
    fn marker(&self, number: usize, index: &Index, held: &[usize], beside: &mut Beside<'_>) -> TokenStream {
        let (krate, vis, marker, ident) = (&self.model.krate, self.model.vis, &self.ty, self.model.ident);
        let (item, columns) = (&self.item, &self.columns);
        let made = columns::made(self.model, columns, |field| held.contains(&field));
        let of_path = self.of_path(index);
        let (row, read) = if is_eventual(self.model, index) {
            let row = quote!(#krate::Eventual<#item>);
            (row, quote!(::core::result::Result::Ok(#krate::Eventual::of(view, #item::from_view(view)?))))
        } else {
            (quote!(#item), quote!(#item::from_view(view)))
        };
        let definition = beside.place(
            &index.name,
            marker,
            quote! {
                #[doc = #of_path]
                #[non_exhaustive]
                #vis enum #marker {}
            },
        );
        // What the path's rows hold, by the numbers that a projection asks with.
        let holds = held.iter().filter_map(|at| self.model.fields.get(*at)).map(|field| {
            let number = number_of(&field.name);
            quote!(impl #krate::Holds<#krate::FieldNumber<#number>> for #marker {})
        });
        quote! {
            #definition

            #(#holds)*

            #[automatically_derived]
            impl #krate::Path for #marker {
                type Entity = #ident;
                type Item = #row;
                type Columns = #columns;

                const INDEX: ::core::option::Option<::core::primitive::usize> =
                    ::core::option::Option::Some(#number);
                const COLUMNS: &'static #columns = &#made;

                fn read(view: &#krate::RowView<'_>) -> #krate::Result<#row> {
                    #read
                }
            }
        }
    }

    /// Returns the fields that every row of the path has, by their places in the struct.
    fn held(&self) -> Vec<usize> {
        let key = &self.model.key;
        let mut held = arguments(&[&key.partition, &key.row]);
        if let Some((_, index)) = self.index {
            let partition = index.partition.iter().flat_map(Template::fields);
            for part in partition.chain(index.row.fields()).filter(|part| part.is_held()) {
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

/// Returns the number of a field's name: FNV-1a. Two names of one number would let a projection through that a later check of the
/// compiler's refuses, when the code is made.
pub(crate) fn number_of(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Returns whether the index's rows follow their entities.
fn is_eventual(model: &Entity<'_>, index: &Index) -> bool {
    index.eventual.is_some() && model.lies_elsewhere(index)
}

/// Returns whether the index's rows have every field.
fn is_whole(index: &Index) -> bool {
    matches!(index.copies, Copies::All)
}
