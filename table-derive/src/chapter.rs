//! A chapter of table-core's guide as rustdoc shows it: a page for each chapter, where the book has a file.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Ident};

/// Reads a chapter of the crate that is documented. It is read here, and not by `include_str!`, since an attribute can't
/// change what that gives.
pub(crate) fn read(name: &Ident) -> TokenStream {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let file = Path::new(&package).join("guide").join(format!("{name}.md"));
    match std::fs::read_to_string(&file) {
        Ok(text) => {
            let text = with_pages(&text);
            quote!(#text)
        }
        Err(error) => {
            Error::new(name.span(), format_args!("{}: {error}", file.display())).into_compile_error()
        }
    }
}

/// Makes links to other chapters' files links to their pages.
fn with_pages(text: &str) -> String {
    let mut parts = text.split("](");
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        linked.push_str("](");
        let destination = part.split([')', '#']).next().unwrap_or_default();
        match destination.strip_suffix(".md").filter(|name| !name.contains('/')) {
            Some(name) => {
                linked.extend(["../", name, "/index.html"]);
                linked.push_str(part.strip_prefix(destination).unwrap_or_default());
            }
            None => linked.push_str(part),
        }
    }
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_chapters_alone_become_links_to_pages() {
        for (written, shown) in [
            (
                "[a](keys.md) and [b](keys.md#text)",
                "[a](../keys/index.html) and [b](../keys/index.html#text)",
            ),
            ("no link", "no link"),
            ("[here](#below), [x](https://docs.rs/x.md)", "[here](#below), [x](https://docs.rs/x.md)"),
            ("[cut](keys.md", "[cut](../keys/index.html"),
        ] {
            assert_eq!(with_pages(written), shown);
        }
    }
}
