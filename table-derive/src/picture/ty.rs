//! Types as they are written, and what properties are of them.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, ExprLit, GenericArgument, Lit, PathArguments, Type};

use crate::model::in_option;

/// Returns the type of the property of a field, and whether rows may lack it. A type whose name says nothing to the macro is as
/// it is written.
pub(super) fn property(ty: &Type) -> (String, bool) {
    if let Some(inner) = in_option(ty) {
        return (property(inner).0, true);
    }
    let Type::Path(path) = ungrouped(ty) else { return (written(ty), false) };
    let Some(last) = path.path.segments.last().filter(|_| path.qself.is_none()) else {
        return (written(ty), false);
    };
    let argument = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner),
            _ => None,
        },
        _ => None,
    };
    let name = last.ident.to_string();
    let known = match (name.as_str(), argument) {
        ("String", None) => "String",
        ("bool", None) => "Boolean",
        ("i8" | "u8" | "i16" | "u16" | "i32", None) => "Int32",
        ("u32" | "i64" | "u64" | "Duration", None) => "Int64",
        ("f32" | "f64", None) => "Double",
        ("Ticks" | "SystemTime", None) => "DateTime",
        ("Uuid", None) => "Guid",
        ("Blob" | "SealedBlob", None) => "Blob",
        ("Box", Some(inner)) if written(inner) == "str" => "String",
        ("Vec", Some(inner)) if written(inner) == "u8" => "Binary",
        ("Secret", Some(inner)) => return property(inner),
        _ => return (written(ty), false),
    };
    (known.to_owned(), false)
}

/// Returns the number of elements of an array, if it is written as one.
pub(super) fn length(ty: &Type) -> Option<usize> {
    let Type::Array(array) = ungrouped(ty) else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = &array.len else { return None };
    number.base10_parse().ok()
}

/// Returns a type as people write it.
pub(super) fn written(ty: &Type) -> String {
    let mut out = String::new();
    push(ty.to_token_stream(), &mut out);
    out
}

fn push(tokens: TokenStream, out: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                out.push_str(open);
                push(group.stream(), out);
                out.push_str(close);
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                ',' | ';' => out.extend([punct.as_char(), ' ']),
                sign @ ('+' | '=') => out.extend([' ', sign, ' ']),
                sign => out.push(sign),
            },
            word => {
                if out.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
                    out.push(' ');
                }
                out.push_str(&word.to_string());
            }
        }
    }
}

/// Returns the type without what a `macro_rules` macro or parentheses put around it.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}
