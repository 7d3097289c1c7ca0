//! What stands on a field.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Attribute, LitStr, Meta};

use super::{Fill, Slot, Words, value};
use crate::ctxt::Ctxt;
use crate::symbol::{
    BLIND, BLOB, COPIED_INTO, COPY_OF, DEFAULT, ENCRYPT, ENTITY, FLATTEN, INDEX, INDEX_LIST, JSON, KEY,
    PROPERTY, RENAME, SERIES, SKIP,
};

/// The attributes on a field.
pub(crate) struct FieldAttrs {
    pub(crate) property: PropertyWords,
    /// `#[flatten]`.
    pub(crate) flatten: Option<Ident>,
    /// `#[encrypt]`.
    pub(crate) encrypt: Option<Ident>,
}

/// `#[property(..)]`.
pub(crate) struct PropertyWords {
    pub(crate) rename: Slot<LitStr>,
    pub(crate) json: Slot<()>,
    pub(crate) skip: Slot<()>,
    pub(crate) default: Slot<()>,
}

impl FieldAttrs {
    /// Reads them. `of_entity`: whether the struct's attributes are ours too, so that one on a field is misplaced.
    pub(crate) fn read(cx: &Ctxt, attrs: &[Attribute], of_entity: bool) -> Self {
        let property = PropertyWords {
            rename: Slot::new(value::text),
            json: Slot::new(value::flag),
            skip: Slot::new(value::flag),
            default: Slot::new(value::flag),
        };
        let mut all = Self { property, flatten: None, encrypt: None };
        for attr in attrs {
            let Some((name, text)) = super::name(attr) else { continue };
            match text.as_str() {
                PROPERTY => super::read(cx, attr, &mut all.property),
                FLATTEN => {
                    if !matches!(attr.meta, Meta::Path(_)) {
                        cx.error(name.span(), "`#[flatten]` stands alone");
                    } else if all.flatten.is_some() {
                        cx.error(name.span(), "`flatten` is given twice");
                    }
                    all.flatten = Some(name.clone());
                }
                ENCRYPT => {
                    encrypt(cx, name, &attr.meta);
                    if all.encrypt.is_some() {
                        cx.error(name.span(), "`encrypt` is given twice");
                    }
                    all.encrypt = Some(name.clone());
                }
                SERIES | BLOB => super::unsupported(cx, name, &format!("`#[{name}]`")),
                COPY_OF if of_entity => super::unsupported(cx, name, "`#[copy_of]`"),
                ENTITY | KEY | INDEX | INDEX_LIST | COPIED_INTO if of_entity => {
                    cx.error(name.span(), format!("`#[{name}]` belongs on the struct"));
                }
                _ => {}
            }
        }
        all
    }
}

/// What stands beside `encrypt`: nothing yet.
fn encrypt(cx: &Ctxt, name: &Ident, meta: &Meta) {
    match meta {
        Meta::Path(_) => {}
        Meta::List(list) => match list.parse_args_with(Ident::parse_any) {
            Ok(word) if word == BLIND => super::unsupported(cx, &word, "`#[encrypt(blind)]`"),
            _ => cx.error(name.span(), "write `#[encrypt]`"),
        },
        Meta::NameValue(_) => cx.error(name.span(), "write `#[encrypt]`"),
    }
}

impl Words for PropertyWords {
    const KNOWN: &'static [&'static str] = &[RENAME, JSON, SKIP, DEFAULT];
    const EXAMPLE: &'static str = "#[property(rename = \"..\")]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            RENAME => &mut self.rename,
            JSON => &mut self.json,
            SKIP => &mut self.skip,
            DEFAULT => &mut self.default,
            _ => return None,
        })
    }
}
