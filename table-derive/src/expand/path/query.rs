//! The query: one struct for all paths, generic over the path and the step.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::super::bound;
use super::super::debug;
use super::super::key::argument_type;
use super::super::named_types::Beside;
use super::super::names::Names;
use super::super::respanned;
use super::super::schema::place;
use super::Path;
use super::order::Order;
use super::steps::{Kind, Next, Step, steps};
use crate::model::{Entity, Field, Krate};
use crate::symbol::QUERY;
use crate::template::Part;

/// Returns the struct, and what it can do on every path.
pub(super) fn query(model: &Entity<'_>, names: &Names<'_>, beside: &mut Beside<'_>) -> TokenStream {
    let (krate, vis, query) = (&model.krate, model.vis, &names.query);
    let doc = format!(
        "A query of `{ident}`, by a path, at one of its steps: `{query}<OwnRows<{ident}>, At<2>>` after two parts of its own key.",
        ident = model.ident,
    );
    let (narrowing, ends, iterated) = (narrowing(model, names), ends(model, names), iterated(model, names));
    let [path, step, from] = ["By", "Step", "In"].map(|name| names.parameter(name));
    let parameters = quote!(<#path, #step, #from>);
    let debug = debug::of(krate, query, &parameters, &parameters);
    let definition = quote! {
        #[doc = #doc]
        #[must_use = "a query does nothing until it is iterated"]
        #vis struct #query<#path, #step, #from = #krate::DynamicTable> {
            query: #krate::PathQuery<#path, #from, #krate::Whole, #step>,
        }
    };
    let definition = beside.place(QUERY, query, definition);
    quote! {
        #definition

        impl<#path, #step, #from: ::core::clone::Clone> ::core::clone::Clone for #query<#path, #step, #from> {
            fn clone(&self) -> Self {
                Self { query: ::core::clone::Clone::clone(&self.query) }
            }
        }

        // For what the compiler says of methods that it lacks.
        #[doc(hidden)]
        impl<#path: 'static, #step, #from> ::core::ops::Deref for #query<#path, #step, #from> {
            type Target = #krate::AnyQuery<#path>;

            fn deref(&self) -> &#krate::AnyQuery<#path> {
                #krate::AnyQuery::words()
            }
        }

        #debug

        #narrowing

        #ends

        #iterated
    }
}

/// Returns what a query can do besides taking parts.
fn narrowing(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (krate, vis, query) = (&model.krate, model.vis, &names.query);
    let [path, step, from, fields, condition] =
        ["By", "Step", "In", "Fields", "Test"].map(|name| names.parameter(name));
    let private = quote!(#krate);
    let ready = quote!(where #step: #private::Ready);
    quote! {
        impl<#path, #step, #from> #query<#path, #step, #from>
        where
            #path: #private::Path,
            #from: #private::AnyOrigin,
        {
            /// Reads every partition that fits the parts given so far: a scan of the table, or of a part of it.
            #vis fn across_partitions(self) -> #query<#path, #private::Ended, #from>
            where
                #step: #private::Open,
            {
                #query { query: self.query.at() }
            }

            /// Gives the entities from the last to the first; said twice, from the first again.
            #vis fn rev(self) -> Self
            where
                #step: #private::Ready + #private::Turns,
            {
                Self { query: self.query.rev() }
            }

            /// Lets a store without a descending order hold so many rows at the most to give them from the last.
            #vis fn buffered(self, rows: ::core::primitive::usize) -> Self #ready {
                Self { query: self.query.buffered(rows) }
            }

            /// The latest so many: the first in the order of the key, where its next part counts backwards.
            #vis fn latest(self, entities: ::core::primitive::usize) -> #query<#path, #private::Newest, #from>
            where
                #step: #private::InOne,
                #step::Of<Self>: #private::CountsBackwards,
            {
                #query { query: self.query.newest(entities) }
            }

            /// Gives so many at the most.
            #vis fn top(self, entities: ::core::primitive::usize) -> Self #ready {
                Self { query: self.query.top(entities) }
            }

            /// Gives so many at the most, as `top` does.
            #vis fn limit(self, entities: ::core::primitive::usize) -> Self #ready {
                Self { query: self.query.top(entities) }
            }

            /// Leaves out what does not pass the filter. Each row in the range is read for it.
            #vis fn filter<#condition: #private::Condition>(
                self,
                filter: impl ::core::ops::FnOnce(&#path::Columns) -> #condition,
            ) -> Self #ready {
                Self { query: self.query.filter(filter) }
            }

            /// Reads some of the fields alone: those of a struct with `#[derive(Projection)]`.
            #vis fn select<#fields>(self) -> #private::PathQuery<#path, #from, #private::Selected<#fields>>
            where
                #fields: #private::Fits<#path>,
                #step: #private::Ready,
            {
                self.query.select()
            }

            /// Reads the entity itself that each row is a copy of, in the same snapshot: a point read for each.
            #vis fn entities(self) -> #private::PathQuery<#path, #from, #private::Entities> #ready {
                self.query.entities()
            }

            /// How the query will be answered, and why.
            #vis fn explain(&self) -> #krate::Result<#krate::Explain> #ready {
                self.query.explain()
            }
        }
    }
}

/// Returns the ends of a query: what it gives, or how much.
fn ends(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (krate, vis, ident, query) = (&model.krate, model.vis, model.ident, &names.query);
    let [path, step, from] = ["By", "Step", "In"].map(|name| names.parameter(name));
    let private = quote!(#krate);
    let ready = quote!(where #step: #private::Ready);
    quote! {
        impl<#path, #step, #from> #query<#path, #step, #from>
        where
            #path: #private::Path,
            #from: #private::Ends<#path>,
        {
            /// A page: at most so many, 1,000 at most, from the start or from where another page of the query ended.
            #vis fn page(
                &self,
                budget: impl ::core::convert::Into<#krate::PageBudget>,
                after: ::core::option::Option<&#krate::Continuation>,
            ) -> <#from as #private::Ends<#path>>::Page #ready {
                <#from as #private::Ends<#path>>::page(&self.query, ::core::convert::Into::into(budget), after)
            }

            /// The first that the query finds, if it finds any.
            #vis fn first(self) -> <#from as #private::Ends<#path>>::First #ready {
                <#from as #private::Ends<#path>>::first(self.query)
            }

            /// Whether the query finds any.
            #vis fn exists(self) -> <#from as #private::Ends<#path>>::Exists #ready {
                <#from as #private::Ends<#path>>::exists(self.query)
            }

            /// How many there are.
            #vis fn count(self) -> <#from as #private::Ends<#path>>::Count #ready {
                <#from as #private::Ends<#path>>::count(self.query)
            }
        }

        impl<#path, #step, #from> #query<#path, #step, #from>
        where
            #path: #private::Path,
            #from: #private::AnyOrigin,
        {
            /// What the query finds, in order. `for` takes a query at a known step as it is, and code for whatever step this.
            #vis fn into_iter(self) -> #private::TypedRows<#path, #from>
            where
                #step: #private::Ready,
                // Here, and not on the impl: so the compiler says what an awaited query has instead.
                #from: #private::Origin,
            {
                self.query.into_iter()
            }
        }

        #private::async_ends! { [#vis] #query #path #step }

        impl<'snapshot, #step: #private::Ready>
            #query<#private::OwnRows<#ident>, #step, #private::TableIn<'snapshot>>
        {
            /// The entities in place, each field decoded when it is asked for: the quickest way to read many.
            #vis fn views(self) -> #private::TypedViews<'snapshot, #ident> {
                self.query.views()
            }
        }
    }
}

/// Returns what `for` takes: a query at a step at which it can run.
fn iterated(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (krate, query) = (&model.krate, &names.query);
    let [path, from, parts, order] = ["By", "In", "PARTS", "Order"].map(|name| names.parameter(name));
    let steps = [
        (quote!(const #parts: ::core::primitive::usize), quote!(#krate::At<#parts>)),
        (quote!(#order), quote!(#krate::Ended<#order>)),
    ];
    // For each place where a query blocks, and not for all by a parameter: of one that is awaited the compiler would say here
    // that it is none of these, and not what it has instead.
    let mut origins = vec![
        (quote!(), quote!(#krate::DynamicTable)),
        (quote!('snapshot,), quote!(#krate::TableIn<'snapshot>)),
    ];
    if model.periods.is_some() {
        origins.push((quote!(), quote!(#krate::InPeriodRange)));
        origins.push((quote!('snapshot,), quote!(#krate::InPeriodRangeAt<'snapshot>)));
    }
    let steps = steps.iter().flat_map(|(parameter, step)| {
        let (path, krate) = (&path, &krate);
        origins.iter().map(move |(lifetime, origin)| {
            quote! {
                impl<#lifetime #path, #parameter> ::core::iter::IntoIterator for #query<#path, #step, #origin>
                where
                    #path: #krate::Path,
                {
                    type Item = #krate::Result<#path::Item>;
                    type IntoIter = #krate::TypedRows<#path, #origin>;

                    fn into_iter(self) -> Self::IntoIter {
                        self.query.into_iter()
                    }
                }
            }
        })
    });
    // As the user's own impl: of a derived one the compiler says that its bounds may be undesired.
    let span = model.ident.span();
    let iterator = respanned(&quote!(::core::iter::Iterator), span);
    let not_ready = respanned(&quote!(#query<#path, #krate::InPartition<#parts>, #from>), span);
    quote! {
        #(#steps)*

        // `for` over a query that is not complete: the compiler looks for this impl, and says what is missing. With an
        // `IntoIterator` for it, it would say that it is none.
        #[allow(unused_qualifications)]
        impl<#path, const #parts: ::core::primitive::usize, #from> #iterator for #not_ready
        where
            #path: #krate::Path,
            #krate::InPartition<#parts>: #krate::Ready,
        {
            // As that of a query which is complete: what the loop does with it is no mistake.
            type Item = #krate::Result<#path::Item>;

            fn next(&mut self) -> ::core::option::Option<Self::Item> {
                ::core::option::Option::None
            }
        }
    }
}

/// Returns the methods that take the parts of one path's keys, and what can be done at which step.
pub(super) fn parts(path: &Path<'_>, names: &Names<'_>, order: &mut Order) -> TokenStream {
    let (krate, this, from, query) = (&path.model.krate, &path.ty, &path.from, &names.query);
    let steps = steps(path.partition(), path.row());
    let generic = &path.step;
    let methods = steps.iter().enumerate().filter_map(|(at, step)| {
        let next = step.next.as_ref()?;
        let step = step_type(krate, &steps, at);
        // Where no other of the path has its name, the method stands on every step, and the compiler says why it can't be
        // called on one. Steps without a value have methods whose names come again.
        let name = name(path, next);
        let alike = steps
            .iter()
            .filter_map(|step| self::name(path, step.next.as_ref()?))
            .filter(|other| Some(*other) == name);
        let is_alone = next.kind.takes_a_part_alone() && alike.count() == 1;
        let backwards = (next.kind == Kind::Any { latest: true }).then(|| {
            quote! {
                impl<#from: #krate::AnyOrigin> #krate::CountsBackwards for #query<#this, #step, #from> {}
            }
        });
        if is_alone {
            // Steps are numbered by the fields that lead to them.
            let before =
                steps.iter().take(at).filter_map(|step| self::name(path, step.next.as_ref()?)).next_back();
            let turn = order.after(krate, names, before, &step);
            let comes = quote!(#generic: #krate::GoesOn + #turn);
            let method = method(path, query, &steps, next, &comes)?;
            return Some(quote! {
                impl<#generic, #from: #krate::AnyOrigin> #query<#this, #generic, #from> {
                    #method
                }

                #backwards
            });
        }
        let method = method(path, query, &steps, next, &TokenStream::new())?;
        Some(quote! {
            impl<#from: #krate::AnyOrigin> #query<#this, #step, #from> {
                #method
            }

            #backwards
        })
    });
    quote!(#(#methods)*)
}

/// Returns the type of a step.
fn step_type(krate: &Krate, steps: &[Step], at: usize) -> TokenStream {
    let ready = steps.get(at).is_none_or(|step| step.ready);
    if ready { quote!(#krate::At<#at>) } else { quote!(#krate::InPartition<#at>) }
}

/// Returns what the method for a part is called.
fn name<'p>(path: &'p Path<'_>, next: &Next) -> Option<&'p Ident> {
    let alias = next.each.and_then(|each| path.index.and_then(|(_, index)| index.aliases.get(each)));
    alias.or_else(|| path.model.fields.get(next.field).map(|field| field.ident))
}

/// Returns what a step takes.
fn method(
    path: &Path<'_>,
    query: &Ident,
    steps: &[Step],
    next: &Next,
    comes: &TokenStream,
) -> Option<TokenStream> {
    let (krate, vis, this, from) = (&path.model.krate, path.model.vis, &path.ty, &path.from);
    let field: &Field<'_> = path.model.fields.get(next.field)?;
    let (name, ty) = (name(path, next)?, argument_type(krate, field, next.each.is_some()));
    let (place, step, part, given) = (place(path.model, next.field), next.step, next.place, bound(name));
    let at = |step: usize| {
        let step = step_type(krate, steps, step);
        quote!(#query<#this, #step, #from>)
    };
    let (to, step) = (at(step), step_type(krate, steps, step));
    let bound = (!comes.is_empty()).then(|| quote!(where #comes));
    let value = |doc: String| {
        quote! {
            #[doc = #doc]
            #vis fn #name(self, #given: impl #krate::KeyArg<#ty>) -> #to #bound {
                #query { query: self.query.fixed::<#ty, _>(#place, &#given) }
            }
        }
    };
    Some(match next.kind {
        Kind::Value => value(format!("Fixes `{}`, which stands in the partition key.", field.name)),
        Kind::Blind => {
            let doc = format!(
                "Fixes `{}`, whose token stands in the row key: it is looked up by one value, and opened.",
                field.name
            );
            quote! {
                #[doc = #doc]
                #vis fn #name(self, #given: impl #krate::BlindArg<#ty>) -> #to #bound {
                    #query { query: self.query.blind::<#ty, _>(#place, &#given) }
                }
            }
        }
        Kind::Shard { step, shards } => {
            let by_value = value(format!("Fixes `{}`, from which the shard is computed.", field.name));
            let to = at(step);
            let one = format!("Reads one shard of the {shards}, which are numbered from 0.");
            let all = format!(
                "Reads all {shards} shards, merged in the order of what follows the shard in the key."
            );
            quote! {
                #by_value

                #[doc = #one]
                #vis fn shard(self, shard: ::core::primitive::u32) -> #to {
                    #query { query: self.query.shard(#part, ::core::option::Option::Some(shard)) }
                }

                #[doc = #all]
                #vis fn all_shards(self) -> #to {
                    #query { query: self.query.shard(#part, ::core::option::Option::None) }
                }
            }
        }
        Kind::Any { .. } => {
            let doc = format!(
                "Narrows by `{}`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text.",
                field.name
            );
            let (offers, of) = (offers(path, next), &path.given);
            // Through its trait: where the core is not found, a short path to the type would be a second mistake.
            let part = quote!(#krate::PartArg<#ty, #step, #offers>);
            quote! {
                #[doc = #doc]
                #vis fn #name<#of>(self, #given: #of) -> #query<#this, <#of as #part>::Step, #from>
                where
                    #of: #part,
                    #comes
                {
                    #query { query: self.query.part(#place, #given) }
                }
            }
        }
    })
}

/// Returns what the part takes besides values. Its format tells, or a field that is written `String`, which costs the compiler
/// nothing; else the schema does. If such a `String` is another type, the query is refused when it runs.
fn offers(path: &Path<'_>, next: &Next) -> TokenStream {
    let (krate, ident) = (&path.model.krate, path.model.ident);
    if next.is_number {
        return quote!(#krate::Offers<true, false>);
    }
    let part = next.place - path.partition().fields().count();
    if next.is_plain && path.model.fields.get(next.field).is_some_and(Field::is_string) {
        let is_last = part + 1 == path.row().fields().count()
            && matches!(path.row().parts.last(), Some(Part::Field(_)));
        return quote!(#krate::Offers<#is_last, true>);
    }
    let schema = quote!(<#ident as #krate::Entity>::SCHEMA);
    let place = match path.index {
        None => quote!(Row),
        Some((number, _)) => quote!(Index(#number)),
    };
    let place = quote!(#krate::checks::KeyOf::#place);
    quote! {
        #krate::Offers<
            { #krate::checks::offers_range(#schema, #place, #part) },
            { #krate::checks::offers_prefix(#schema, #place, #part) },
        >
    }
}

/// Returns the method of the table that begins a query of the path.
pub(super) fn start(path: &Path<'_>, query: &Ident) -> TokenStream {
    let (krate, vis, this, from) = (&path.model.krate, path.model.vis, &path.ty, &path.from);
    let first = steps(path.partition(), path.row());
    let first = step_type(krate, &first, 0);
    let name = path.index.map_or_else(|| format_ident!("rows"), |(_, index)| index.ident.clone());
    let (partition, row) = (path.partition().source(), path.row().source());
    let doc = format!(
        "Queries by PartitionKey `{partition}`, RowKey `{row}`: the parts are given from left to right. `#[entity(types)]` puts \
         `{query}` beside the struct."
    );
    quote! {
        #[doc = #doc]
        #vis fn #name(&self) -> #query<#this, #first, #from> {
            #query { query: #krate::PathQuery::new(&self.from) }
        }
    }
}
