//! What a part of a key does with values, by its type and its format: how it prints and reads them, how wide it is, which
//! queries are ranges of it, and which other keys it could be taken for.
//!
//! What a format is called and what its text means is in [`table_words::format`].

pub(crate) mod bounds;
pub(crate) mod charset;
pub(crate) mod digits;
pub(crate) mod escape;
pub(crate) mod fold;
pub(crate) mod form;
pub(crate) mod key_type;
pub(crate) mod overlap;
pub(crate) mod parse;
pub(crate) mod print;
