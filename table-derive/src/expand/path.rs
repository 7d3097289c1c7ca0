//! Queries: for each path a struct that is generic over its step, with one method for each key part.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::key::argument_type;
use super::names::Names;
use super::schema::place;
use crate::model::{Copies, Entity, Field, Index, Storage, Template, arguments};

/// What the table derefs to, and the types behind its methods.
pub(crate) fn indexes(model: &Entity<'_>, names: &Names) -> TokenStream {
    let (krate, vis, name) = (&model.krate, model.vis, &names.indexes);
    let paths = std::iter::once(None).chain(model.indexes.iter().enumerate().map(Some));
    let mut methods = Vec::new();
    let mut types = Vec::new();
    for index in paths {
        let path = Path::new(model, names, index);
        methods.push(path.method());
        types.push(path.types());
    }
    let doc = format!("The ways to query a table of `{}`.", model.ident);
    quote! {
        #[doc = #doc]
        #vis struct #name {
            table: #krate::__private::DynamicTable,
        }

        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.table, f)
            }
        }

        impl #name {
            #(#methods)*
        }

        #(#types)*
    }
}

/// A way to reach the entity.
struct Path<'m> {
    model: &'m Entity<'m>,
    index: Option<(usize, &'m Index)>,
    /// The query.
    query: Ident,
    /// The type that stands for the path.
    marker: Ident,
    /// The row that a query gives, where it isn't the entity.
    item: Ident,
    columns: Ident,
}

impl<'m> Path<'m> {
    fn new(model: &'m Entity<'m>, names: &Names, index: Option<(usize, &'m Index)>) -> Self {
        let found = index.map(|(_, index)| index);
        Self {
            model,
            index,
            query: names.path(found, "Query"),
            marker: names.path(found, "Path"),
            item: names.path(found, ""),
            columns: names.path(found, "Columns"),
        }
    }

    fn row(&self) -> &'m Template {
        self.index.map_or(&self.model.key.row, |(_, index)| &index.row)
    }

    /// The method on the table.
    fn method(&self) -> TokenStream {
        let (krate, vis, query) = (&self.model.krate, self.model.vis, &self.query);
        let name = self.index.map_or_else(|| format_ident!("rows"), |(_, index)| index.ident.clone());
        let (partition, row) = (self.model.key.partition.source(), self.row().source());
        let doc = format!(
            "Queries by PartitionKey `{partition}`, RowKey `{row}`: the parts are given from left to right."
        );
        quote! {
            #[doc = #doc]
            #[must_use]
            #vis fn #name(&self) -> #query<#krate::__private::At<0>> {
                #query {
                    query: #krate::__private::PathQuery::new(::core::clone::Clone::clone(&self.table)),
                    step: ::core::marker::PhantomData,
                }
            }
        }
    }

    fn types(&self) -> TokenStream {
        let parts =
            [self.marker(), self.item(), self.columns(), self.query(), self.steps(), self.narrowing()];
        quote!(#(#parts)*)
    }

    /// The type that stands for the path.
    fn marker(&self) -> TokenStream {
        let (krate, vis, marker, ident) = (&self.model.krate, self.model.vis, &self.marker, self.model.ident);
        let item = self.item_type();
        let (number, read) = match self.index {
            None => (quote!(::core::option::Option::None), quote!(#krate::__private::read_stored(view))),
            Some((number, index)) => (
                quote!(::core::option::Option::Some(#number)),
                match index.copies {
                    Copies::All => quote!(#krate::__private::read_copied::<Self>(view)),
                    Copies::Keys | Copies::Some(_) => {
                        let item = &self.item;
                        quote!(#item::from_view(view))
                    }
                },
            ),
        };
        quote! {
            #[doc(hidden)]
            #[derive(Debug)]
            #vis enum #marker {}

            #[automatically_derived]
            impl #krate::__private::Path for #marker {
                type Entity = #ident;
                type Item = #item;

                const INDEX: ::core::option::Option<::core::primitive::usize> = #number;

                fn read(view: &#krate::__private::RowView<'_>) -> #krate::Result<#item> {
                    #read
                }
            }
        }
    }

    fn item_type(&self) -> TokenStream {
        let (krate, ident, item) = (&self.model.krate, self.model.ident, &self.item);
        match self.index.map(|(_, index)| &index.copies) {
            None => quote!(#krate::Stored<#ident>),
            Some(Copies::All) => quote!(#krate::Copied<#ident>),
            Some(Copies::Keys | Copies::Some(_)) => quote!(#item),
        }
    }

    /// The fields that every row of the path has, by their places in the struct.
    fn held(&self) -> Vec<usize> {
        let key = &self.model.key;
        let mut held = arguments(&[&key.partition, &key.row]);
        if let Some((_, index)) = self.index {
            for part in index.row.fields().filter(|part| part.gives_back()) {
                if !held.contains(&part.field) {
                    held.push(part.field);
                }
            }
            if let Copies::Some(fields) = &index.copies {
                held.extend(fields.iter().map(|field| field.value));
            }
        }
        held
    }

    /// The row that a query of an index with some of the fields gives.
    fn item(&self) -> TokenStream {
        let (krate, vis, item) = (&self.model.krate, self.model.vis, &self.item);
        let Some((_, index)) = self.index else { return TokenStream::new() };
        if matches!(index.copies, Copies::All) {
            return TokenStream::new();
        }
        let held = self.held();
        let fields: Vec<_> = held.iter().filter_map(|at| Some((*at, self.model.fields.get(*at)?))).collect();
        let declared = fields.iter().map(|(_, field)| {
            let (vis, ident, ty) = (field.vis, field.ident, field.ty);
            let doc = format!("As in the entity: property `{}`.", field.property.value);
            quote!(#[doc = #doc] #vis #ident: #ty)
        });
        let taken = fields.iter().map(|(at, field)| {
            let (ident, place) = (field.ident, place(self.model, *at));
            if field.storage == Storage::Json {
                quote!(#ident: #krate::__private::json::take(source.text(#place)?)?)
            } else {
                let ty = field.ty;
                let from_property =
                    quote_spanned!(ty.span()=> <#ty as #krate::__private::Property>::from_property);
                quote!(#ident: source.field(#place, #from_property)?)
            }
        });
        let doc = format!("A row of the index `{}` of `{}`.", index.name, self.model.ident);
        let key = self.own_key(&fields);
        let marker = &self.marker;
        let shown = item.to_string();
        quote! {
            #[doc = #doc]
            #[non_exhaustive]
            #[allow(dead_code, reason = "which fields are read is the user's choice")]
            #vis struct #item {
                #(#declared),*
            }

            impl #item {
                fn from_view(view: &#krate::__private::RowView<'_>) -> #krate::Result<Self> {
                    let source = #krate::__private::Source::of::<#marker>(view)?;
                    ::core::result::Result::Ok(Self { #(#taken),* })
                }

                #key
            }

            impl ::core::fmt::Debug for #item {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Formatter::debug_struct(f, #shown).finish_non_exhaustive()
                }
            }
        }
    }

    /// The key of the entity that the row is a copy of.
    fn own_key(&self, fields: &[(usize, &Field<'_>)]) -> TokenStream {
        let (krate, vis, ident) = (&self.model.krate, self.model.vis, self.model.ident);
        let key = &self.model.key;
        let given = arguments(&[&key.partition, &key.row]).into_iter().filter_map(|place| {
            let (_, field) = fields.iter().find(|(at, _)| *at == place)?;
            let (ident, ty) = (field.ident, field.ty);
            Some(quote!(#krate::__private::KeyArg::<#ty>::to_key(&self.#ident)))
        });
        quote! {
            /// The key of the entity itself.
            #[must_use]
            #vis fn key(&self) -> #krate::__private::Key<#ident> {
                #krate::__private::Key::new(&[#(#given),*])
            }
        }
    }

    /// The properties that the path's rows hold, for filters. What a key gives back is not among them: it is asked for
    /// by the query's parts.
    fn columns(&self) -> TokenStream {
        let (krate, vis, columns) = (&self.model.krate, self.model.vis, &self.columns);
        let wanted = |at: usize| match self.index.map(|(_, index)| &index.copies) {
            None | Some(Copies::All) => true,
            Some(Copies::Keys | Copies::Some(_)) => self.held().contains(&at),
        };
        let (partition, row) = (&self.model.key.partition, self.row());
        let fields: Vec<_> = self
            .model
            .fields
            .iter()
            .enumerate()
            .filter(|(at, field)| {
                field.storage == Storage::Value
                    && wanted(*at)
                    && !partition.gives_back(*at)
                    && !row.gives_back(*at)
            })
            .map(|(_, field)| field)
            .collect();
        let declared = fields.iter().map(|field| {
            let (vis, ident, ty) = (field.vis, field.ident, argument_type(krate, field, false));
            let doc = format!("Property `{}`.", field.property.value);
            quote!(#[doc = #doc] #vis #ident: #krate::__private::Column<#ty>)
        });
        let made = fields.iter().map(|field| {
            let (ident, property) = (field.ident, &field.property.value);
            quote!(#ident: #krate::__private::Column::new(#property))
        });
        let doc =
            format!("What filters of `{}` can speak of: the properties that its rows hold.", self.query);
        quote! {
            #[doc = #doc]
            #[non_exhaustive]
            #[derive(Debug)]
            #[allow(dead_code, reason = "which columns are compared is the user's choice")]
            #vis struct #columns {
                #(#declared),*
            }

            impl #columns {
                const ALL: Self = Self { #(#made),* };
            }
        }
    }

    fn query(&self) -> TokenStream {
        let (krate, vis, query, marker) = (&self.model.krate, self.model.vis, &self.query, &self.marker);
        let doc = format!("A query by RowKey `{}`, at one of its steps.", self.row().source());
        let shown = query.to_string();
        quote! {
            #[doc = #doc]
            #[must_use = "a query does nothing until it is iterated"]
            #vis struct #query<Step> {
                query: #krate::__private::PathQuery<#marker>,
                step: ::core::marker::PhantomData<Step>,
            }

            impl<Step> ::core::fmt::Debug for #query<Step> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Formatter::debug_struct(f, #shown).finish_non_exhaustive()
                }
            }
        }
    }

    /// One method for each key part.
    fn steps(&self) -> TokenStream {
        let (krate, vis, query, marker) = (&self.model.krate, self.model.vis, &self.query, &self.marker);
        let in_partition = arguments(&[&self.model.key.partition]);
        let all = arguments(&[&self.model.key.partition, self.row()]);
        let mut aliases = self.index.map(|(_, index)| index.aliases.iter()).into_iter().flatten();
        let mut steps = Vec::new();
        for (step, at) in all.iter().enumerate() {
            let Some(field) = self.model.fields.get(*at) else { continue };
            let next = step + 1;
            let each = self.row().fields().any(|part| part.field == *at && part.each);
            let alias = if each { aliases.next() } else { None };
            let (name, ty, place) =
                (alias.unwrap_or(field.ident), argument_type(krate, field, each), place(self.model, *at));
            let body = if in_partition.contains(at) {
                let doc = format!("Fixes `{}`, which stands in the partition key.", field.name);
                quote! {
                    #[doc = #doc]
                    #vis fn #name(
                        self,
                        #name: impl #krate::__private::KeyArg<#ty>,
                    ) -> #query<#krate::__private::At<#next>> {
                        #query {
                            query: self.query.fixed::<#ty>(#place, &#name),
                            step: ::core::marker::PhantomData,
                        }
                    }
                }
            } else {
                let doc = format!(
                    "Narrows by `{}`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text.",
                    field.name
                );
                quote! {
                    #[doc = #doc]
                    #vis fn #name<Given>(self, #name: Given) -> #query<Given::Step>
                    where
                        Given: #krate::__private::PartArg<#ty, #krate::__private::At<#next>>,
                    {
                        #query {
                            query: self.query.part::<#ty, #krate::__private::At<#next>>(#place, #name),
                            step: ::core::marker::PhantomData,
                        }
                    }
                }
            };
            steps.push(quote! {
                impl #query<#krate::__private::At<#step>> {
                    #body
                }
            });
        }
        let ready = (in_partition.len()..=all.len())
            .map(|step| quote!(impl #krate::__private::Ready<#marker> for #krate::__private::At<#step> {}));
        quote!(#(#steps)* #(#ready)*)
    }

    /// What a query can do once its partition is known.
    fn narrowing(&self) -> TokenStream {
        let (krate, vis, query, marker, columns) =
            (&self.model.krate, self.model.vis, &self.query, &self.marker, &self.columns);
        let item = self.item_type();
        quote! {
            impl<Step: #krate::__private::Ready<#marker>> #query<Step> {
                /// Gives the entities from the last to the first.
                #vis fn rev(mut self) -> Self {
                    self.query = self.query.rev();
                    self
                }

                /// Gives so many at the most.
                #vis fn top(mut self, entities: ::core::primitive::usize) -> Self {
                    self.query = self.query.top(entities);
                    self
                }

                /// Leaves out what does not pass the filter. Each row in the range is read for it.
                #vis fn filter(
                    mut self,
                    filter: impl ::core::ops::FnOnce(&#columns) -> #krate::Filter,
                ) -> Self {
                    self.query = self.query.filter(filter(&#columns::ALL));
                    self
                }

                /// How the query will be answered, and why.
                #vis fn explain(&self) -> #krate::Result<#krate::Explain> {
                    self.query.explain()
                }

                /// How many there are.
                #vis fn count(self) -> #krate::Result<::core::primitive::u64> {
                    self.query.count()
                }
            }

            impl<Step: #krate::__private::Ready<#marker>> ::core::iter::IntoIterator for #query<Step> {
                type Item = #krate::Result<#item>;
                type IntoIter = #krate::__private::TypedRows<#marker>;

                fn into_iter(self) -> Self::IntoIter {
                    self.query.rows()
                }
            }
        }
    }
}
