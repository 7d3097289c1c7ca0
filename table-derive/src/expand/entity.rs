//! `impl Entity`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::names::Names;
use super::{copied, exact, fields, former, patch, path, respanned, schema, summary};
use crate::model::Entity;

pub(crate) fn implementation(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (krate, ident, ways) = (&model.krate, model.ident, ways(model, names));
    let schema = schema::schema(model);
    let (given, taken) = (
        fields::given(krate, &model.fields, |at| has_elements(model, at)),
        fields::taken(krate, &model.fields),
    );
    let exact = exact::exact(krate, &model.fields);
    let (exchange, has_row) = (patch::exchange(model, names), has_row(model));
    let (elements, former) = (elements(model), former::from_previous(model));
    let (summarizes, counted) = (summary::summarizes(model), summary::counted(model));
    let copied = copied::constants(model);
    let lies = lies(model);
    quote! {
        #lies

        #[automatically_derived]
        impl #krate::Entity for #ident {
            const SCHEMA: &'static #krate::schema::Schema = #schema;

            #summarizes

            #copied

            #exact

            #ways

            fn values<'entity>(&'entity self, values: &mut #krate::Values<'entity>) {
                #given
            }

            fn from_source(source: &mut #krate::Source<'_>) -> #krate::Result<Self> {
                ::core::result::Result::Ok(Self { #taken })
            }

            #former

            #elements

            #exchange

            #has_row

            #counted
        }
    }
}

/// Returns whether the entity has one table, or one for each period: what the store is asked for. The other one it has under a
/// condition that is never met, whose words say so. Of a declaration whose table is wrong both are said, so that no call of
/// either is a second mistake.
fn lies(model: &Entity<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let is_wrong = model.periods.is_none() && model.table.value.contains('{');
    // At the table's name: as the derive's own code the compiler would advise to write the `impl` by hand.
    let span = model.table.span;
    let (at, here) = (krate.at(span), respanned(ident, span));
    let one = if model.periods.is_none() {
        quote!(#[automatically_derived] impl #krate::InOneTable for #ident {})
    } else {
        quote_spanned! {span=>
            #[automatically_derived]
            #[doc(hidden)]
            impl #at::InOneTable for #here where for<'never> &'never (): #at::OneTable<#here> {}
        }
    };
    let many = if is_wrong || model.periods.is_some() {
        quote!(#[automatically_derived] impl #krate::InPeriods for #ident {})
    } else {
        quote_spanned! {span=>
            #[automatically_derived]
            #[doc(hidden)]
            impl #at::InPeriods for #here where for<'never> &'never (): #at::TableForEachPeriod<#here> {}
        }
    };
    quote!(#one #many)
}

/// Returns the types around the entity.
fn ways(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (krate, indexes, view, columns) = (&model.krate, &names.indexes, &names.view, &names.columns);
    let (from, made) = (names.parameter("In"), path::columns(model, names));
    quote! {
        type Indexes<#from: #krate::AnyOrigin> = #indexes<#from>;
        type Columns = #columns;
        type View<'view> = #view<'view>;

        const COLUMNS: &'static #columns = &#made;

        fn indexes<#from: #krate::AnyOrigin>(from: #from) -> #indexes<#from> {
            #indexes { from }
        }
    }
}

/// Returns an `impl` that does not claim that the fields' types are properties.
pub(crate) fn stub(model: &Entity<'_>, names: &Names<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let (ways, exchange) = (ways(model, names), patch::exchange(model, names));
    let lies = lies(model);
    quote! {
        #lies

        #[automatically_derived]
        impl #krate::Entity for #ident {
            const SCHEMA: &'static #krate::schema::Schema = #krate::NOTHING;

            #ways

            fn values<'entity>(&'entity self, _: &mut #krate::Values<'entity>) {}

            fn from_source(source: &mut #krate::Source<'_>) -> #krate::Result<Self> {
                source.nothing()
            }

            #exchange
        }
    }
}

/// Returns the elements of the fields that have a row for each element. They are given even for an entity that can't be made,
/// since its sealed fields can't be opened.
fn elements(model: &Entity<'_>) -> TokenStream {
    let krate = &model.krate;
    let arms =
        model.fields.iter().enumerate().filter(|(at, _)| has_elements(model, *at)).map(|(at, field)| {
            let place = schema::place(model, at);
            let value = fields::single(krate, field, place);
            quote!(#place => #krate::elements(&#value),)
        });
    let arms: Vec<_> = arms.collect();
    if arms.is_empty() {
        return TokenStream::new();
    }
    quote! {
        fn elements(
            source: &#krate::Source<'_>,
            field: ::core::primitive::usize,
        ) -> #krate::Result<#krate::Elements> {
            ::core::result::Result::Ok(match field {
                #(#arms)*
                _ => ::core::default::Default::default(),
            })
        }
    }
}

/// Returns whether each element of a field has a row in some index.
fn has_elements(model: &Entity<'_>, at: usize) -> bool {
    let parts = model.indexes.iter().flat_map(|index| index.row.fields());
    parts.into_iter().any(|part| part.field == at && part.each)
}

/// Returns whether a sparse index has a row.
fn has_row(model: &Entity<'_>) -> TokenStream {
    let krate = &model.krate;
    let arms = model.indexes.iter().enumerate().filter_map(|(number, index)| {
        let path = index.when.as_ref()?;
        // C26: a function of another signature is refused where it is named.
        Some(quote!(#number => #krate::decides::<Self, _>(#path, self),))
    });
    let arms: Vec<_> = arms.collect();
    if arms.is_empty() {
        return TokenStream::new();
    }
    quote! {
        fn has_row(&self, index: ::core::primitive::usize) -> ::core::primitive::bool {
            match index {
                #(#arms)*
                _ => true,
            }
        }
    }
}
