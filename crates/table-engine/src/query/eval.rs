//! Filters as they run on rows.

use std::borrow::Cow;

use super::filter::Filter;
use super::node::{Comparison, Join, Node};
use super::sealed::SealedEq;
use crate::error::{Error, ErrorKind};
use crate::model::names::Name;
use crate::model::{Ticks, ValueRef};

/// A row as a predicate reads it. Properties are asked for by their slot: the position of their name in
/// [`Predicate::names`], which the executor resolves once for a query.
#[doc(hidden)]
pub trait Fields {
    fn partition_key(&self) -> Cow<'_, str>;
    fn row_key(&self) -> Cow<'_, str>;
    fn timestamp(&self) -> Ticks;
    fn property(&self, slot: usize) -> Result<Option<ValueRef<'_>>, Error>;

    /// Returns whether the property, or its absence, passes the test.
    fn property_holds(
        &self,
        slot: usize,
        test: impl FnOnce(Option<ValueRef<'_>>) -> bool,
    ) -> Result<bool, Error> {
        self.property(slot).map(test)
    }

    /// Returns whether a sealed property is that value once it is open.
    fn opens_as(&self, sealed: &SealedEq) -> Result<bool, Error> {
        Err(sealed.stranger())
    }
}

/// A filter made ready to run on any number of rows.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Predicate {
    test: Test,
    names: Vec<Name>,
}

#[derive(Clone, Debug)]
enum Test {
    Compare { column: Column, comparison: Comparison },
    Sealed(SealedEq),
    Not(Box<Test>),
    All(Box<[Test]>),
    Any(Box<[Test]>),
}

impl Test {
    fn speaks_of_rows(&self) -> Option<&str> {
        match self {
            Self::Compare { column: Column::Slot(_), .. } => None,
            Self::Compare { comparison, .. } => Some(&comparison.property),
            Self::Sealed(sealed) => Some(sealed.property()),
            Self::Not(inner) => inner.speaks_of_rows(),
            Self::All(tests) | Self::Any(tests) => tests.iter().find_map(Self::speaks_of_rows),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Column {
    PartitionKey,
    RowKey,
    Timestamp,
    Slot(usize),
}

impl Predicate {
    pub(super) fn new(filter: &Filter) -> Result<Self, Error> {
        let mut names = Vec::new();
        let test = compile(filter.node(), &mut names)?;
        Ok(Self { test, names })
    }

    /// Returns the distinct properties that the filter reads, keys and timestamp aside.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// Returns a property that only rows have, if the filter compares one: a key, the time, or one that is sealed.
    pub(crate) fn speaks_of_rows(&self) -> Option<&str> {
        self.test.speaks_of_rows()
    }

    /// Returns whether the row satisfies the filter.
    pub(crate) fn matches<F: Fields>(&self, fields: &F) -> Result<bool, Error> {
        run(&self.test, fields)
    }
}

/// The filter's depth is limited, and so is this recursion and that of `run`.
fn compile(node: &Node, names: &mut Vec<Name>) -> Result<Test, Error> {
    Ok(match node {
        Node::Compare(comparison) | Node::IsTrue(comparison) => {
            Test::Compare { column: column(&comparison.property, names), comparison: comparison.clone() }
        }
        Node::Sealed(sealed) => Test::Sealed(sealed.clone()),
        Node::Not(inner) => Test::Not(Box::new(compile(inner, names)?)),
        Node::Join(join, terms) => {
            let tests = terms.iter().map(|term| compile(term, names)).collect::<Result<_, _>>()?;
            match join {
                Join::And => Test::All(tests),
                Join::Or => Test::Any(tests),
            }
        }
        Node::Refused(why) => return Err(Error::new(ErrorKind::InvalidFilter).because(why.describe())),
    })
}

fn column(name: &Name, names: &mut Vec<Name>) -> Column {
    match &**name {
        "PartitionKey" => Column::PartitionKey,
        "RowKey" => Column::RowKey,
        "Timestamp" => Column::Timestamp,
        _ => {
            let known = names.iter().position(|known| known == name);
            Column::Slot(known.unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            }))
        }
    }
}

fn run<F: Fields>(test: &Test, fields: &F) -> Result<bool, Error> {
    match test {
        Test::Compare { column, comparison } => {
            let holds = |stored: ValueRef<'_>| comparison.holds(stored);
            Ok(match column {
                Column::PartitionKey => holds(ValueRef::String(&fields.partition_key())),
                Column::RowKey => holds(ValueRef::String(&fields.row_key())),
                Column::Timestamp => holds(ValueRef::DateTime(fields.timestamp())),
                Column::Slot(slot) => {
                    fields.property_holds(*slot, |stored| stored.map_or(comparison.absent, holds))?
                }
            })
        }
        Test::Sealed(sealed) => fields.opens_as(sealed),
        Test::Not(inner) => run(inner, fields).map(|holds| !holds),
        Test::All(tests) => {
            for test in tests {
                if !run(test, fields)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Test::Any(tests) => {
            for test in tests {
                if run(test, fields)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}
