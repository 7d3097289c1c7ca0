//! `#[summary(..)]`, on the struct and on its fields, and `#[summarized_in(..)]`.

use proc_macro2::Ident;
use syn::punctuated::Punctuated;
use syn::{Attribute, Path, Token};

use super::{Fill, Slot, Words, value};
use crate::ctxt::Ctxt;
use crate::symbol::{ATOMIC, COUNT, OF, SUM, WHEN};

/// `#[summary(of = Employee)]`.
pub(crate) struct SummaryWords {
    pub(crate) of: Slot<Path>,
    pub(crate) atomic: Slot<()>,
}

/// `#[summary(count)]` and the like.
pub(crate) struct NumberWords {
    pub(crate) count: Slot<()>,
    pub(crate) when: Slot<Path>,
    pub(crate) sum: Slot<Ident>,
}

impl SummaryWords {
    pub(super) fn new() -> Self {
        Self { of: Slot::new(value::path), atomic: Slot::new(value::flag) }
    }
}

impl NumberWords {
    pub(super) fn new() -> Self {
        Self { count: Slot::new(value::flag), when: Slot::new(value::path), sum: Slot::new(value::name) }
    }
}

/// Returns the structs of `#[summarized_in(Payroll, Headcount)]`.
pub(super) fn summarized_in(cx: &Ctxt, attr: &Attribute) -> Vec<Path> {
    match attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) {
        Ok(paths) if !paths.is_empty() => paths.into_iter().collect(),
        Ok(_) => {
            cx.error_on(attr.path(), "`#[summarized_in]` names the summaries: `#[summarized_in(Payroll)]`");
            Vec::new()
        }
        Err(error) => {
            cx.error(error.span(), "`#[summarized_in]` names the summaries: `#[summarized_in(Payroll)]`");
            Vec::new()
        }
    }
}

impl Words for SummaryWords {
    const KNOWN: &'static [&'static str] = &[OF, ATOMIC];
    const EXAMPLE: &'static str = "#[summary(of = Entity)]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            OF => &mut self.of,
            ATOMIC => &mut self.atomic,
            _ => return None,
        })
    }
}

impl Words for NumberWords {
    const KNOWN: &'static [&'static str] = &[COUNT, WHEN, SUM];
    const EXAMPLE: &'static str = "#[summary(count)]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            COUNT => &mut self.count,
            WHEN => &mut self.when,
            SUM => &mut self.sum,
            _ => return None,
        })
    }
}
