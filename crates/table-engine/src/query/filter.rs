//! Filters, read from text or put together.

use std::collections::VecDeque;
use std::fmt;
use std::ops::{BitAnd, BitOr, Not};
use std::str::FromStr;

use super::compare::{Operator, Rule};
use super::eval::Predicate;
use super::node::{Comparison, Join, Node, Refusal};
use super::property::prop;
use super::sealed::SealedEq;
use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::model::Value;
use crate::model::names::{self, ENTITY_TYPE, Name};
use crate::schema::{Field, Schema, Series};

/// A condition on the keys and properties of an entity.
///
/// Built from [`prop`] and `&`, `|`, `!`, or read from the text that the service takes as `$filter`; its
/// `Display` is that text.
///
/// ```
/// use table_core::{Filter, prop};
///
/// let built = prop("Age").ge(40) & !(prop("LastName").eq("O'Hara") | prop("Retired").is_true());
/// let text = "Age ge 40 and not (LastName eq 'O''Hara' or Retired)";
/// assert_eq!(built.to_string(), text);
/// assert_eq!(Filter::parse(text)?, built);
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// # What a comparison means
///
/// A property that is missing compares false with everything: also with `ne`. So `Age ne 40` leaves out entities without
/// an age, and `not (Age eq 40)` has them.
///
/// A property of the constant's type compares by value:
///
/// | type | order |
/// | --- | --- |
/// | String, and the keys | by UTF-16 code unit, as .NET's ordinal comparison; no culture, no case folding |
/// | Int32, Int64, Double | by value, exactly; `0.0` equals `-0.0`; a NaN differs from every number, itself too, and all its other comparisons are false |
/// | `DateTime`, and `Timestamp` | earlier before later, to the tick |
/// | Guid | by its sixteen bytes in the order in which they are written |
/// | Binary | by byte; a beginning before its continuation |
/// | Boolean | false before true |
///
/// A given number widens to the type of the property, from Int32 to Int64 and from both to Double. It never narrows. So
/// an Int64 of 5 satisfies `A eq 5`, a Double of 5 satisfies `A eq 5` and `A eq 5L`, and an Int32 of 5 satisfies neither
/// `A eq 5L` nor `A eq 5.0`.
///
/// A property of any other type is *less* than the constant: `ne`, `lt` and `le` hold, `eq`, `gt` and `ge` do not,
/// whatever the values. So the text `"x"` satisfies `A lt 5`, and an Int32 of 9 satisfies `A lt 5L`. That is how the
/// service answers; to ask for one type alone, give a range: `A ge 0 and A lt 5`. The keys are text and compare so:
/// `RowKey lt 5` holds of every row, and `RowKey ge 5` of none.
///
/// | property | `eq` and `ge` may hold with a constant of type |
/// | --- | --- |
/// | Int32 | Int32 |
/// | Int64 | Int32, Int64 |
/// | Double | Int32, Int64, Double |
/// | any other | its own |
///
/// **Typed filters** have another rule here. An entity's [columns](crate::typed::Column) are compared with constants of the
/// declared type, and a row may have been written when the field was narrower. So numbers of all three types compare by
/// value, and a property of any other type compares false, as if it were missing. Each comparison keeps the rule of its
/// making: [`prop`] and text have the first rule, within a typed query too. The text of a typed filter, read again, is not
/// quite the same filter.
///
/// # The text
///
/// ```text
/// filter     = and-terms *( "or" and-terms )
/// and-terms  = term *( "and" term )
/// term       = *"not" ( "(" filter ")" | comparison | property )
/// comparison = property operator constant | constant operator property
/// operator   = "eq" | "ne" | "gt" | "ge" | "lt" | "le"
/// constant   = 'it''s' | 34 | 34L | 1.5 | 1e3 | NaN | INF | -INF | true | false
///            | datetime'2014-07-31T18:00:00Z' | datetime'2014-07-31T20:00:00+02:00'
///            | guid'c9da6455-213d-42c9-9a79-3e9149a57833'
///            | X'c0ffee' | binary'c0ffee'
/// ```
///
/// A property by itself is true if it is a Boolean that is true. `PartitionKey`, `RowKey` and `Timestamp` are
/// properties too. There are no functions, no arithmetic and no `null`, as in the service. Text starting with
/// `S` is `Name ge 'S' and Name lt 'T'`. Brackets may stand at most
/// [`FILTER_DEPTH`](crate::limits::FILTER_DEPTH) deep; chains of `and` and `or` may be of any length.
///
/// Typed filters can ask whether an encrypted property equals a value. Such a comparison has no text: it prints as
/// `Ssn eq <encrypted>`, and can't be read back.
#[derive(Clone, PartialEq, Eq)]
pub struct Filter {
    node: Node,
    /// How deep the brackets of its text are nested.
    depth: usize,
}

impl Filter {
    /// Reads the text of a filter.
    ///
    /// The error says what was found, what was expected, and [where](Error::position). The service takes an empty
    /// text for no filter; here it is an error, and a query without a filter is made by not giving one.
    ///
    /// ```
    /// use table_core::{ErrorKind, Filter};
    ///
    /// let error = Filter::parse("Age > 40").unwrap_err();
    /// assert_eq!((error.kind(), error.position()), (ErrorKind::InvalidFilter, Some(4)));
    /// assert_eq!(
    ///     error.to_string(),
    ///     "cannot parse the filter: found `>`, expected a comparison: `eq`, `ne`, `gt`, `ge`, `lt` or `le` \
    ///      (at byte 4)"
    /// );
    /// ```
    #[inline]
    pub fn parse(text: &str) -> Result<Self, Error> {
        super::parse::parse(text)
    }

    pub(super) fn compare(property: Name, operator: Operator, constant: Value, rule: Rule) -> Self {
        let constant = match constant {
            // A filter's text has one NaN.
            Value::Double(v) if v.is_nan() => Value::Double(f64::NAN),
            other => other,
        };
        let comparison = Comparison { property, operator, constant, rule, absent: false };
        Self { node: Node::Compare(comparison), depth: 0 }
    }

    pub(super) fn is_true(property: Name, rule: Rule) -> Self {
        let (operator, constant) = (Operator::Eq, Value::Boolean(true));
        let comparison = Comparison { property, operator, constant, rule, absent: false };
        Self { node: Node::IsTrue(comparison), depth: 0 }
    }

    pub(crate) fn sealed(sealed: SealedEq) -> Self {
        Self { node: Node::Sealed(sealed), depth: 0 }
    }

    /// Returns whether it compares a property that is stored sealed.
    pub(crate) fn has_sealed(&self) -> bool {
        self.node.has_sealed()
    }

    /// Returns the filter in which each comparison of a declared property compares what stands for it where a row lacks it.
    pub(crate) fn filled(mut self, default: &dyn Fn(&str) -> Option<Value>) -> Self {
        self.node.fill(default);
        self
    }

    /// Returns the filter in which each comparison holds too of the rows of a kind that lack the property, if it holds of
    /// what an entity of that kind reads there: what they have under the name that it had before, or the default.
    #[inline]
    pub(crate) fn for_kinds(self, kinds: &[&'static Schema]) -> Self {
        let is_read_otherwise = |field: &Field| field.absent.is_some() || field.was.is_some();
        if !kinds.iter().any(|schema| schema.fields.iter().any(is_read_otherwise)) {
            return self;
        }
        match self.node {
            Node::Compare(ref comparison) | Node::IsTrue(ref comparison) => {
                let of = |schema: &&'static Schema| {
                    [previous_of(schema, comparison), absent_of(schema, comparison)].into_iter().flatten()
                };
                let absent = kinds.iter().flat_map(of).reduce(Self::bitor);
                match absent {
                    Some(absent) => self | absent,
                    None => self,
                }
            }
            Node::Not(inner) => !Self::from_node(*inner).for_kinds(kinds),
            Node::Join(join, terms) => {
                let terms = terms.into_iter().map(|term| Self::from_node(term).for_kinds(kinds));
                let all = terms.reduce(|filter, term| filter.join(join, term));
                all.unwrap_or_else(|| Self::refused(Refusal::TooDeep))
            }
            Node::Sealed(_) | Node::Refused(_) => self,
        }
    }

    /// Returns the filter with what `known` makes of each comparison with a sealed property.
    pub(crate) fn resolved(
        mut self,
        known: &mut dyn FnMut(&SealedEq) -> Result<SealedEq, Error>,
    ) -> Result<Self, Error> {
        self.node.resolve(known)?;
        Ok(self)
    }

    pub(super) fn from_node(node: Node) -> Self {
        Self { depth: node.depth(), node }.within_limit()
    }

    pub(super) fn node(&self) -> &Node {
        &self.node
    }

    /// Returns how deep the brackets of the filter's text are nested.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Refuses what the builder could not: a filter that is too deep, and names that no property can have.
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Node::Refused(why) = self.node {
            return Err(Error::new(ErrorKind::InvalidFilter).because(why.describe()));
        }
        let mut checked = Ok(());
        self.node.each_name(&mut |name| {
            if checked.is_ok() {
                checked = check_name(name);
            }
        });
        checked
    }

    /// Returns the filter, ready to be asked; an error if it is none.
    pub(crate) fn predicate(&self) -> Result<Predicate, Error> {
        self.check()?;
        Predicate::new(self)
    }

    fn within_limit(self) -> Self {
        match self.node {
            Node::Refused(_) => self,
            _ if self.depth > limits::FILTER_DEPTH => Self::refused(Refusal::TooDeep),
            _ => self,
        }
    }

    /// Makes a filter that can't be.
    pub(super) fn refused(why: Refusal) -> Self {
        Self { node: Node::Refused(why), depth: limits::FILTER_DEPTH + 1 }
    }

    /// Makes a filter of a slot that the series has not.
    pub(crate) fn of_no_slot(series: &'static Series, slot: usize) -> Self {
        Self::refused(Refusal::NoSlot(series, slot))
    }

    /// Makes a filter of several slots of the series, where there are none between the bounds.
    pub(crate) fn of_no_slots(series: &'static Series, start: usize, end: usize) -> Self {
        Self::refused(Refusal::NoSlots(series, start, end))
    }

    fn join(self, join: Join, other: Self) -> Self {
        // What can't be stays what it is, whatever is joined to it.
        if let Node::Refused(why) = self.node {
            return Self::refused(why);
        }
        if let Node::Refused(why) = other.node {
            return Self::refused(why);
        }
        let bracketed = |filter: &Self| filter.depth + usize::from(filter.node.is_bracketed_in(join));
        let depth = bracketed(&self).max(bracketed(&other));
        if depth > limits::FILTER_DEPTH {
            return Self::refused(Refusal::TooDeep);
        }
        let node = match (self.node, other.node) {
            (Node::Join(a, mut terms), Node::Join(b, mut more)) if a == join && b == join => {
                // The shorter goes into the longer, so that a chain costs its length whichever way it is built.
                if terms.len() < more.len() {
                    while let Some(term) = terms.pop_back() {
                        more.push_front(term);
                    }
                    terms = more;
                } else {
                    terms.append(&mut more);
                }
                Node::Join(join, terms)
            }
            (Node::Join(a, mut terms), node) if a == join => {
                terms.push_back(node);
                Node::Join(join, terms)
            }
            (node, Node::Join(b, mut terms)) if b == join => {
                terms.push_front(node);
                Node::Join(join, terms)
            }
            (a, b) => Node::Join(join, VecDeque::from([a, b])),
        };
        Self { node, depth }
    }
}

/// Returns the filter that a row is of the kind and lacks the property, if the comparison holds of what stands for it there.
#[inline]
fn absent_of(schema: &'static Schema, comparison: &Comparison) -> Option<Filter> {
    let default = schema.stored_default_of(&comparison.property)?;
    if !comparison.holds(default.as_value_ref()) {
        return None;
    }
    let is_there = is_there(comparison.property.clone(), &default);
    let is_there = match previous_name(schema, comparison) {
        Some(was) => is_there | self::is_there(was, &default),
        None => is_there,
    };
    Some(prop(ENTITY_TYPE).eq(schema.entity_type) & !is_there)
}

/// Returns the filter that a row is of the kind and has the property under the name that it had before, if it had one, and that
/// the comparison holds of it.
#[inline]
fn previous_of(schema: &'static Schema, comparison: &Comparison) -> Option<Filter> {
    let was = previous_name(schema, comparison)?;
    let Comparison { property, operator, constant, rule, .. } = comparison;
    let holds = Filter::compare(was, *operator, constant.clone(), *rule);
    Some(prop(ENTITY_TYPE).eq(schema.entity_type) & !is_there(property.clone(), constant) & holds)
}

/// Returns the name that the property of a comparison had before, in entities' own rows.
#[inline]
fn previous_name(schema: &'static Schema, comparison: &Comparison) -> Option<Name> {
    let at = schema.fields.iter().position(|field| field.property == &*comparison.property)?;
    let was = schema.fields.get(at)?.was.filter(|_| !schema.place().gives_back(at))?;
    Some(was.into())
}

/// Returns the filter that a row has a property of the type of this value.
#[inline]
fn is_there(property: Name, value: &Value) -> Filter {
    // What is there either equals a value or differs from it.
    let compare = |property, operator| Filter::compare(property, operator, value.clone(), Rule::Named);
    compare(property.clone(), Operator::Eq) | compare(property, Operator::Ne)
}

/// Refuses a name that no property of an entity can have.
pub(super) fn check_name(name: &str) -> Result<(), Error> {
    if names::SYSTEM.contains(&name) {
        return Ok(());
    }
    names::check_property(name)
        .map_err(|error| Error::new(ErrorKind::InvalidFilter).because(error.to_string()))
}

impl BitAnd for Filter {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.join(Join::And, other)
    }
}

impl BitOr for Filter {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.join(Join::Or, other)
    }
}

/// A double negation is none.
impl Not for Filter {
    type Output = Self;

    fn not(self) -> Self {
        match self.node {
            Node::Refused(_) => self,
            Node::Not(inner) => {
                Self { depth: self.depth - usize::from(inner.is_bracketed_after_not()), node: *inner }
            }
            node => {
                let depth = self.depth + usize::from(node.is_bracketed_after_not());
                Self { node: Node::Not(Box::new(node)), depth }.within_limit()
            }
        }
    }
}

impl FromStr for Filter {
    type Err = Error;

    #[inline]
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Debug for Filter {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filter({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::super::property::prop;
    use super::*;

    #[test]
    fn a_chain_is_flat_however_it_is_built() {
        let term = |i: i32| prop("A").eq(i);
        let left = (1..5).fold(term(0), |filter, i| filter & term(i));
        let right = (0..4).rev().fold(term(4), |filter, i| term(i) & filter);
        let pairs = (term(0) & term(1)) & ((term(2) & term(3)) & term(4));
        assert_eq!(left, right);
        assert_eq!(left, pairs);
        assert!(matches!(left.node(), Node::Join(Join::And, terms) if terms.len() == 5));
        assert_eq!(left.depth, 0);
    }

    #[test]
    fn depth_is_that_of_the_texts_brackets() {
        let a = || prop("A").eq(1);
        let flag = || prop("B").is_true();
        for (filter, depth) in [
            (a(), 0),
            (!flag(), 0),
            (!a(), 1),
            (!!a(), 0),
            (a() & a() | a(), 0),
            ((a() | a()) & a(), 1),
            (!(a() & a()), 1),
            (!(a() & !(a() | !flag())), 2),
            ((!(a() | a()) | a()) & a(), 2),
        ] {
            assert_eq!(filter.depth, depth, "{filter}");
            assert_eq!(filter.node.depth(), depth, "{filter}");
        }
    }

    #[test]
    fn a_filter_that_is_too_deep_is_refused_when_planned() {
        let nested =
            |levels: usize| (0..levels).fold(prop("A").eq(1), |f, _| (f | prop("B").eq(2)) & prop("C").eq(3));
        assert!(nested(64).check().is_ok());
        let error = nested(65).check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidFilter);
        assert_eq!(error.to_string(), "the brackets are nested more than 64 deep");
        assert_eq!((!nested(65) | prop("A").eq(1)).node, Node::Refused(Refusal::TooDeep));
    }

    #[test]
    fn a_million_operators_run_off_no_stack() {
        let survives = |filter: Filter| {
            let copy = filter.clone();
            assert!(filter == copy);
            assert!(!filter.to_string().is_empty() && !format!("{filter:?}").is_empty());
            assert_eq!(filter.check().is_err(), filter.node == Node::Refused(Refusal::TooDeep));
        };
        let a = || prop("A").eq(1);
        survives((0..1_000_000).fold(a(), |f, _| !f));
        survives((0..1_000_000).fold(a(), |f, _| !(f & a())));
        survives((0..1_000_000).fold(a(), |f, _| f & a()));
        survives((0..1_000_000).fold(a(), |f, _| a() & f));
        survives((0..1_000_000).fold(a(), |f, i| if i % 2 == 0 { f & a() } else { f | a() }));
    }

    #[test]
    fn names_are_checked_when_planned() {
        for name in ["", "a b", "1", "a'"] {
            let error = (prop("A").eq(1) & !prop(name).eq(1)).check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidFilter, "{name}");
        }
        for name in ["PartitionKey", "RowKey", "Timestamp", "A", "größe", "not"] {
            assert!(prop(name).is_true().check().is_ok(), "{name}");
        }
    }
}
