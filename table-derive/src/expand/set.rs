//! `impl EntitySet`, and the rules that need two entities.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::EntitySet;

pub(crate) fn implementation(model: &EntitySet<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let schemas = model.members.iter().map(|member| {
        let ty = member.ty;
        quote_spanned!(ty.span()=> #krate::declared::<#ty>())
    });
    let visits = model.members.iter().map(|member| {
        let (ty, variant) = (member.ty, member.variant);
        // On the type's own token: a type that is no entity is refused there, once.
        let schema = quote_spanned!(ty.span()=> #krate::declared::<#ty>());
        let visit = quote_spanned!(ty.span()=> #krate::Visitor::visit::<#ty>);
        quote! {
            if kind == #schema.entity_type {
                return ::core::option::Option::Some(#visit(visitor, Self::#variant));
            }
        }
    });
    let unknown = model.unknown.as_ref().map(|member| {
        let (ty, variant) = (member.ty, member.variant);
        let given = quote_spanned!(ty.span()=> <#ty as #krate::OfAnyKind>::of_any_kind(entity));
        quote! {
            fn unknown(entity: #krate::DynamicEntity) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self::#variant(#given))
            }
        }
    });
    let memberships = memberships(model);
    quote! {
            #[automatically_derived]
            impl #krate::EntitySet for #ident {
                const KINDS: &'static [&'static #krate::schema::Schema] = &[#(#schemas),*];

                fn visit<Member: #krate::Visitor<Self>>(
                    kind: &::core::primitive::str,
                    visitor: Member,
                ) -> ::core::option::Option<<Member as #krate::Visitor<Self>>::Output> {
                    #(#visits)*
                    ::core::option::Option::None
                }

                #unknown
            }

            #memberships
    }
}

/// Returns an `impl` that does not claim that the members are entities.
pub(crate) fn stub(model: &EntitySet<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let memberships = memberships(model);
    quote! {
        #[automatically_derived]
        impl #krate::EntitySet for #ident {
            const KINDS: &'static [&'static #krate::schema::Schema] = &[];

            fn visit<Member: #krate::Visitor<Self>>(
                _: &::core::primitive::str,
                _: Member,
            ) -> ::core::option::Option<<Member as #krate::Visitor<Self>>::Output> {
                ::core::option::Option::None
            }
        }

        #memberships
    }
}

/// Returns what lets a transaction over the set take each member.
fn memberships(model: &EntitySet<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let types = model.members.iter().map(|member| member.ty);
    quote! {
        #(
            #[automatically_derived]
            impl #krate::MemberOf<#ident> for #types {}
        )*
    }
}

/// One assertion for each pair of kinds, on the later of the two.
pub(crate) fn assertions(model: &EntitySet<'_>) -> TokenStream {
    let pairs = model
        .members
        .iter()
        .enumerate()
        .flat_map(|(at, later)| model.members.iter().take(at).map(move |earlier| (earlier.ty, later.ty)));
    let assertions = pairs.map(|(earlier, later)| {
        let span = later.span();
        let krate = model.krate.at(span);
        let (earlier, later) = (super::respanned(earlier, span), super::respanned(later, span));
        quote_spanned! {span=>
            const _: () = #krate::checks::kinds(
                #krate::declared::<#earlier>(),
                #krate::declared::<#later>(),
            );
        }
    });
    quote!(#(#assertions)*)
}
