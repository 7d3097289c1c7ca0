//! What a summary and its entities say of each other. Each asserts the other's trait on the token by which it names it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use super::{fields, respanned, schema};
use crate::model::{Counts, Entity, Number};

/// Returns the declaration of the entities that this one is a summary of, as a constant of the trait.
pub(super) fn summarizes(model: &Entity<'_>) -> Option<TokenStream> {
    let krate = &model.krate;
    model.summary.as_ref()?;
    Some(quote! {
        const SUMMARIZES: ::core::option::Option<&'static #krate::schema::Schema> =
            ::core::option::Option::Some(SOURCE_SCHEMA);
    })
}

/// Returns the names of the constants that are the summaries in which the entity counts.
pub(super) fn constants(model: &Entity<'_>) -> Vec<Ident> {
    (0..model.summarized_in.len())
        .map(|at| Ident::new(&format!("SUMMARY_{at}"), Span::mixed_site()))
        .collect()
}

/// In which numbers of each summary the entity counts.
pub(super) fn counted(model: &Entity<'_>) -> Option<TokenStream> {
    let first = model.indexes.len();
    let arms = constants(model).into_iter().enumerate().map(|(at, summary)| {
        let number = first + at;
        quote!(#number => (#summary.counted)(self),)
    });
    let arms: Vec<_> = arms.collect();
    (!arms.is_empty()).then(|| {
        quote! {
            fn counted(&self, index: ::core::primitive::usize) -> ::core::primitive::u64 {
                match index {
                    #(#arms)*
                    _ => 0,
                }
            }
        }
    })
}

/// Returns what stands beside the `impl` of an entity that is a summary, or is summarized.
pub(super) fn items(model: &Entity<'_>) -> TokenStream {
    let (own, sides) = (of_summary(model), of_source(model));
    quote!(#own #sides)
}

/// Implements the traits alone, after a mistake: the compiler must not report it at the other side, too.
pub(super) fn stubs(model: &Entity<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let summary = model.summary.as_ref().map(|summary| {
        let of = &summary.of;
        quote! {
            #[automatically_derived]
            impl #krate::SummaryOf<#of> for #ident {
                const SUMMARY: &'static #krate::Summarizing<#of> = &#krate::Summarizing::NOTHING;
            }
        }
    });
    let sources = model.summarized_in.iter().map(|summary| {
        quote! {
            #[automatically_derived]
            impl #krate::SummarizedIn<#summary> for #ident {
                const FIELDS: &'static [#krate::schema::Field] = &[];
                const SCHEMA: &'static #krate::schema::Schema = #krate::NOTHING;
            }
        }
    });
    quote!(#summary #(#sources)*)
}

/// That the entity counts in summaries.
fn of_source(model: &Entity<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let first = model.indexes.len();
    let all = model.summarized_in.iter().zip(constants(model)).enumerate().map(|(at, (summary, name))| {
        let (span, number) = (summary.span(), first + at);
        let fields = fields::declared(krate, &model.fields);
        let in_core = krate.at(span);
        let here = respanned(ident, span);
        let other = quote_spanned!(span=> <#summary as #in_core::SummaryOf<#here>>::SUMMARY);
        let rule = respanned(&quote!(summarized), span);
        quote! {
            const #name: &#krate::Summarizing<#ident> = #other;
            #[automatically_derived]
            impl #krate::SummarizedIn<#summary> for #ident {
                const FIELDS: &'static [#krate::schema::Field] = #fields;
                const SCHEMA: &'static #krate::schema::Schema = <Self as #krate::Entity>::SCHEMA;
            }
        }
        .into_iter()
        .chain(quote_spanned! {span=>
            const _: () = #in_core::checks::#rule(<#here as #in_core::Entity>::SCHEMA, #number);
        })
        .collect::<TokenStream>()
    });
    all.collect()
}

/// That the struct is a summary.
fn of_summary(model: &Entity<'_>) -> TokenStream {
    let Some(summary) = &model.summary else { return TokenStream::new() };
    let (krate, ident, of) = (&model.krate, model.ident, &summary.of);
    let (table, kind) = (&model.table.value, &model.kind.value);
    let span = of.span();
    let in_core = krate.at(span);
    let here = respanned(ident, span);
    let side = |constant| quote_spanned!(span=> <#of as #in_core::SummarizedIn<#here>>::#constant);
    let (source, source_schema) = (side(quote!(FIELDS)), side(quote!(SCHEMA)));
    let place = |field: usize| {
        let name = model.fields.get(field).map_or("", |field| field.name.as_str());
        quote!(#krate::source_field(SOURCE, #name))
    };
    let templates = [&model.key.partition, &model.key.row];
    let parts = templates.map(|template| schema::parts_at(model, template, &place));
    let sources = templates.map(crate::model::Template::source);
    let [partition, row] = [0_usize, 1].map(|at| {
        let source = sources.get(at);
        quote!(#krate::schema::Template::new(#source, PARTS[#at]))
    });
    let numbers: Vec<_> =
        model.fields.iter().filter_map(|field| Some((field, field.number.as_ref()?))).collect();
    let sums = numbers.iter().map(|(field, number)| {
        let property = &field.property.value;
        let of = match &number.is {
            Counts::All => quote!(Count),
            Counts::When(_) => quote!(CountWhen),
            Counts::Sum(name) => {
                let name = &name.value;
                quote!(Field(#krate::source_field(SOURCE, #name)))
            }
        };
        quote!(#krate::schema::Sum::new(#property, #krate::schema::SumOf::#of))
    });
    let atomic = summary.atomic.then(|| quote!(.atomic()));
    let counted = counting(model, numbers.iter().map(|(_, number)| *number));
    let assertions = assertions(model);
    quote! {
        const SOURCE: &[#krate::schema::Field] = #source;
        const SOURCE_SCHEMA: &#krate::schema::Schema = #source_schema;

        #[automatically_derived]
        impl #krate::SummaryOf<#of> for #ident {
            const SUMMARY: &'static #krate::Summarizing<#of> = {
                const PARTS: [&[#krate::schema::Part]; 2] = [#(#parts),*];
                const PLACE: #krate::schema::Place = #krate::schema::Place::new(#table, #partition, #row);
                const SUMS: &[#krate::schema::Sum] = &[#(#sums),*];
                &#krate::Summarizing {
                    index: #krate::schema::Index::new(#kind, #kind, PLACE)
                        .summary(#krate::schema::Summary::new(<#ident as #krate::Entity>::SCHEMA, SUMS))
                        #atomic,
                    counted: #counted,
                }
            };
        }

        #assertions
    }
}

/// Returns the function that says in which numbers an entity counts.
fn counting<'m>(model: &'m Entity<'_>, numbers: impl Iterator<Item = &'m Number>) -> TokenStream {
    let Some(summary) = &model.summary else { return TokenStream::new() };
    let (krate, of) = (&model.krate, &summary.of);
    let whens = numbers.enumerate().filter_map(|(at, number)| match &number.is {
        Counts::When(path) => Some((at, path)),
        _ => None,
    });
    // C26: a function of another signature is refused where it is named.
    let whens: Vec<_> = whens
        .map(|(at, path)| {
            quote! {
                if #krate::decides::<#of, _>(#path, source) {
                    counted |= 1 << #at;
                }
            }
        })
        .collect();
    if whens.is_empty() {
        return quote!(|_| 0);
    }
    quote! {
        |source| {
            let mut counted = 0;
            #(#whens)*
            counted
        }
    }
}

/// Returns the rules that need both sides' constants.
fn assertions(model: &Entity<'_>) -> TokenStream {
    let Some(summary) = &model.summary else { return TokenStream::new() };
    let of = &summary.of;
    let at = |span: Span,
              rule: &str,
              arguments: &dyn Fn(&TokenStream, &TokenStream, &TokenStream) -> TokenStream| {
        let krate = model.krate.at(span);
        let (here, there) = (respanned(model.ident, span), respanned(of, span));
        let rule = Ident::new(rule, span);
        let own = quote_spanned!(span=> <#here as #krate::Entity>::SCHEMA);
        let source = Ident::new("SOURCE_SCHEMA", span).into_token_stream();
        let index = quote_spanned!(span=> &<#here as #krate::SummaryOf<#there>>::SUMMARY.index);
        let arguments = respanned(&arguments(&source, &own, &index), span);
        quote_spanned!(span=> const _: () = #krate::checks::#rule(#arguments);)
    };
    let whole = at(of.span(), "summary", &|source, own, index| quote!(#source, #own, #index));
    let in_key = model.key_arguments();
    let fields = model.fields.iter().enumerate().map(|(number, field)| {
        let place = schema::place(model, number);
        let span = field.ident.span();
        if in_key.contains(&number) {
            return at(span, "summary_key", &|source, own, _| quote!(#source, #own, #place));
        }
        let own = at(span, "summary_number", &|_, own, _| quote!(#own, #place));
        let sum = field.number.as_ref().and_then(|number| match &number.is {
            Counts::Sum(name) => {
                let text = &name.value;
                Some(at(name.span, "summed", &|source, _, _| quote!(#source, #text)))
            }
            _ => None,
        });
        quote!(#own #sum)
    });
    quote!(#whole #(#fields)*)
}
