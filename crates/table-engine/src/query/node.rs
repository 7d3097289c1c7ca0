//! A filter as a tree.

use std::collections::VecDeque;

use super::compare::{self, Operator, Rule};
use super::sealed::SealedEq;
use crate::error::Error;
use crate::limits;
use crate::model::names::Name;
use crate::model::{Value, ValueRef};
use crate::schema::Series;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Compare(Comparison),
    /// A property by itself: a comparison with `true`.
    IsTrue(Comparison),
    /// A comparison with a property that is stored sealed.
    Sealed(SealedEq),
    /// A negation, never of another negation.
    Not(Box<Node>),
    /// A join of two or more, none of them a join of the same kind: however long a chain, the tree is flat.
    Join(Join, VecDeque<Node>),
    /// A filter that can't be, which a builder can't refuse; planning does. Nothing of it is kept, so that no operation on a
    /// filter can run off the end of the stack.
    Refused(Refusal),
}

/// Why a filter can't be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Its brackets are nested too deep.
    TooDeep,
    /// It is of a slot that the series has not.
    NoSlot(&'static Series, usize),
    /// It is of several slots, and there are none between these bounds.
    NoSlots(&'static Series, usize, usize),
}

impl Refusal {
    /// Returns what is said of it.
    pub(super) fn describe(self) -> String {
        match self {
            Self::TooDeep => format!("the brackets are nested more than {} deep", limits::FILTER_DEPTH),
            Self::NoSlot(series, slot) => series.refuse_slot(slot).unwrap_or_default(),
            Self::NoSlots(series, start, end) => {
                format!("the slots {start}..{end} of the series `{}` are none", series.name)
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) property: Name,
    pub(super) operator: Operator,
    pub(super) constant: Value,
    /// A comparison from text has [`Rule::Named`].
    pub(super) rule: Rule,
    /// Whether it holds of a row that lacks the property, since its entity reads a default there.
    pub(super) absent: bool,
}

impl Comparison {
    /// Returns whether it holds of this value.
    pub(super) fn holds(&self, value: ValueRef<'_>) -> bool {
        compare::holds(value, self.operator, self.constant.as_value_ref(), self.rule)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
}

impl Join {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

impl Node {
    /// Returns how deep the brackets of the node's text are nested.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Compare(_) | Self::IsTrue(_) | Self::Sealed(_) => 0,
            Self::Not(inner) => inner.depth() + usize::from(inner.is_bracketed_after_not()),
            Self::Join(join, terms) => {
                let depths = terms.iter().map(|term| term.depth() + usize::from(term.is_bracketed_in(*join)));
                depths.max().unwrap_or(0)
            }
            Self::Refused(_) => limits::FILTER_DEPTH + 1,
        }
    }

    pub(super) fn has_sealed(&self) -> bool {
        match self {
            Self::Sealed(_) => true,
            Self::Not(inner) => inner.has_sealed(),
            Self::Join(_, terms) => terms.iter().any(Self::has_sealed),
            Self::Compare(_) | Self::IsTrue(_) | Self::Refused(_) => false,
        }
    }

    pub(super) fn resolve(
        &mut self,
        known: &mut dyn FnMut(&SealedEq) -> Result<SealedEq, Error>,
    ) -> Result<(), Error> {
        match self {
            Self::Sealed(sealed) => {
                *sealed = known(sealed)?;
                Ok(())
            }
            Self::Not(inner) => inner.resolve(known),
            Self::Join(_, terms) => terms.iter_mut().try_for_each(|term| term.resolve(known)),
            Self::Compare(_) | Self::IsTrue(_) | Self::Refused(_) => Ok(()),
        }
    }

    /// Has each comparison of a declared property compare what stands for the property where a row lacks it.
    pub(super) fn fill(&mut self, default: &dyn Fn(&str) -> Option<Value>) {
        match self {
            Self::Compare(comparison) | Self::IsTrue(comparison) => {
                if comparison.rule == Rule::Declared
                    && let Some(value) = default(&comparison.property)
                {
                    comparison.absent = comparison.holds(value.as_value_ref());
                }
            }
            Self::Sealed(sealed) => {
                if let Some(value) = default(&sealed.property) {
                    sealed.fill(value.as_value_ref());
                }
            }
            Self::Not(inner) => inner.fill(default),
            Self::Join(_, terms) => terms.iter_mut().for_each(|term| term.fill(default)),
            Self::Refused(_) => {}
        }
    }

    /// Returns whether it stands in brackets within this join: `and` binds tighter than `or`.
    pub(super) fn is_bracketed_in(&self, join: Join) -> bool {
        join == Join::And && matches!(self, Self::Join(Join::Or, _))
    }

    /// Returns whether it stands in brackets after `not`. In `OData` `not` binds tighter than a comparison, in this grammar it
    /// does not: with brackets both read the same.
    pub(super) fn is_bracketed_after_not(&self) -> bool {
        !matches!(self, Self::IsTrue(_))
    }

    /// Calls `visit` with the name of every property in the node.
    pub(super) fn each_name<'a>(&'a self, visit: &mut impl FnMut(&'a Name)) {
        match self {
            Self::Compare(comparison) | Self::IsTrue(comparison) => visit(&comparison.property),
            Self::Sealed(sealed) => visit(&sealed.property),
            Self::Not(inner) => inner.each_name(visit),
            Self::Join(_, terms) => terms.iter().for_each(|term| term.each_name(visit)),
            Self::Refused(_) => {}
        }
    }
}
