//! Collects errors, so that the user sees all of them at once.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::thread;

use proc_macro2::Span;
use quote::ToTokens;

/// The errors of one derive.
///
/// It must be consumed by [`Ctxt::check`]: errors that are not looked at would let a wrong design compile. A debug
/// build panics if one is dropped unchecked.
#[derive(Default)]
pub(crate) struct Ctxt {
    errors: RefCell<Vec<syn::Error>>,
    checked: Cell<bool>,
}

impl Ctxt {
    /// An error on one token.
    pub(crate) fn error(&self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    /// An error on several tokens. A span alone can't say this: spans don't join on a stable compiler.
    pub(crate) fn error_on(&self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// An error of syn's.
    pub(crate) fn push(&self, error: syn::Error) {
        self.errors.borrow_mut().push(error);
    }

    /// Returns how many errors there are.
    pub(crate) fn count(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Returns all errors in one.
    pub(crate) fn check(self) -> syn::Result<()> {
        self.checked.set(true);
        let mut errors = self.errors.take().into_iter();
        let Some(mut all) = errors.next() else { return Ok(()) };
        for error in errors {
            all.combine(error);
        }
        Err(all)
    }
}

impl Drop for Ctxt {
    fn drop(&mut self) {
        debug_assert!(self.checked.get() || thread::panicking(), "the errors of a derive were not looked at");
    }
}
