//! Summaries: rows that count the entities of another kind, and add up what they hold.
//!
//! The entities of a summary file themselves in it as they do in an index, which says where its rows lie, in which state
//! it is, and whether a program knows it. Its rows are no copies: all entities that print one key have one row together.

use super::{Field, Index, Place, Schema};

/// What a row of a summary holds of the entities that print its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The declaration of its rows.
    pub schema: &'static Schema,
    /// Its numbers.
    pub sums: &'static [Sum],
}

/// A number of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sum {
    /// The property that holds it.
    pub property: &'static str,
    /// What it is.
    pub of: SumOf,
}

/// What a number of a summary is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SumOf {
    /// How many entities there are.
    Count,
    /// How many of them a function of the user's picks.
    CountWhen,
    /// What this field of theirs comes to. One that has no value counts as 0.
    Field(usize),
}

impl Summary {
    /// Makes a summary whose rows are declared so, with these numbers.
    #[must_use]
    pub const fn new(schema: &'static Schema, sums: &'static [Sum]) -> Self {
        Self { schema, sums }
    }
}

impl Sum {
    /// Makes a number in this property.
    #[must_use]
    pub const fn new(property: &'static str, of: SumOf) -> Self {
        Self { property, of }
    }
}

/// A summary as the entities see it that it is of.
#[derive(Debug)]
pub struct Summarizing<S> {
    /// Where its rows lie, and what they hold.
    pub index: Index,
    /// A bit for each of its numbers that a function of the user's lets the entity count in.
    pub counted: fn(&S) -> u64,
}

impl<S> Summarizing<S> {
    /// One whose declaration has mistakes.
    pub const NOTHING: Self = Self { index: Index::new("", "", Place::NOWHERE), counted: |_| 0 };
}

/// A struct that is a summary of the entities of a type. Derived, not written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no summary of `{S}`",
    label = "`{S}` says that it is summarized here",
    note = "add `#[summary(of = {S})]` to `{Self}`, or leave out `#[summarized_in({Self})]`"
)]
pub trait SummaryOf<S: 'static> {
    /// The summary as they see it.
    const SUMMARY: &'static Summarizing<S>;
}

/// An entity whose changes keep a summary. Derived, not written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say that it is summarized in `{H}`",
    label = "a change of it would leave the summary as it was",
    note = "add `#[summarized_in({H})]` to `{Self}`"
)]
pub trait SummarizedIn<H> {
    /// The fields of the summary, apart from the declaration, which names the summary.
    const FIELDS: &'static [Field];
    /// The declaration of the summary.
    const SCHEMA: &'static Schema;
}

/// Returns the place of the field of this name; the first, if there is none: a check says so.
#[must_use]
pub const fn source_field(fields: &[Field], name: &str) -> usize {
    match position(fields, name) {
        Some(at) => at,
        None => 0,
    }
}

/// Returns the place of the field of this name.
pub(super) const fn position(mut fields: &[Field], name: &str) -> Option<usize> {
    let mut at = 0;
    while let [field, rest @ ..] = fields {
        if super::checks::same(field.name, name) {
            return Some(at);
        }
        fields = rest;
        at += 1;
    }
    None
}

impl Schema {
    /// Returns whether a function of the user's says for any of its summaries whether an entity counts.
    pub(crate) const fn counts_some(&self) -> bool {
        let mut indexes = self.indexes;
        while let [index, rest @ ..] = indexes {
            if let Some(summary) = index.summary
                && summary.counts_some()
            {
                return true;
            }
            indexes = rest;
        }
        false
    }
}

impl Summary {
    const fn counts_some(&self) -> bool {
        let mut sums = self.sums;
        while let [sum, rest @ ..] = sums {
            if matches!(sum.of, SumOf::CountWhen) {
                return true;
            }
            sums = rest;
        }
        false
    }
}
