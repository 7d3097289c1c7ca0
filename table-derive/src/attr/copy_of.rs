//! `#[copy_of(..)]` on a field, and `#[copied_into(..)]` on the struct.

use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Path, Result, Token};

use super::{Fill, Slot, Words, value};
use crate::ctxt::Ctxt;
use crate::symbol::{ATOMIC, EVENTUAL, KEY};

/// `#[copy_of(Employee, key(department, id))]`.
pub(crate) struct CopyOfWords {
    /// The attribute's name.
    pub(crate) word: Ident,
    /// The source, which comes first.
    pub(crate) of: Option<Path>,
    pub(crate) key: Slot<Vec<Ident>>,
    pub(crate) atomic: Slot<()>,
    pub(crate) eventual: Slot<()>,
}

impl CopyOfWords {
    /// Reads them; the error about a missing source has been reported.
    pub(super) fn read(cx: &Ctxt, name: &Ident, attr: &Attribute) -> Self {
        let mut words = Self {
            word: name.clone(),
            of: None,
            key: Slot::new(value::names),
            atomic: Slot::new(value::flag),
            eventual: Slot::new(value::flag),
        };
        super::read_with(cx, attr, &mut words, |words, input| {
            words.of = Some(source(name, input)?);
            Ok(())
        });
        words
    }
}

/// Returns the source that a copy starts with, and the comma behind it.
fn source(name: &Ident, input: ParseStream<'_>) -> Result<Path> {
    let missing = || Error::new(name.span(), format!("a copy says of what: `{}`", CopyOfWords::EXAMPLE));
    let path = input.call(Path::parse_mod_style).map_err(|_| missing())?;
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    } else if !input.is_empty() {
        return Err(missing());
    }
    Ok(path)
}

impl Words for CopyOfWords {
    const KNOWN: &'static [&'static str] = &[KEY, ATOMIC, EVENTUAL];
    const EXAMPLE: &'static str = "#[copy_of(Entity, key(..))]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            KEY => &mut self.key,
            ATOMIC => &mut self.atomic,
            EVENTUAL => &mut self.eventual,
            _ => return None,
        })
    }
}

/// Returns the structs of `#[copied_into(Department, Project)]`.
pub(super) fn copied_into(cx: &Ctxt, attr: &Attribute) -> Vec<Path> {
    let wrong = "`#[copied_into]` names the structs that hold a copy: `#[copied_into(Department)]`";
    match attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) {
        Ok(paths) if !paths.is_empty() => return paths.into_iter().collect(),
        Ok(_) => cx.error_on(attr.path(), wrong),
        Err(error) => cx.error(error.span(), wrong),
    }
    Vec::new()
}
