//! Comparisons of a column that stand for several; and what the compiler says of those that are no comparisons.

use std::cmp::Ordering;
use std::ops::{BitAnd, BitOr, Not, RangeInclusive};

use super::column::{Column, ColumnArg, Comparable, Equatable, MayLack, OneForm, Plain};
use crate::model::{EdmType, Ticks, Value};
use crate::query::{Filter, declared, prop};
use crate::schema::Property;

/// What the closure of a query's `filter` gives: a [`Filter`], or the column of a `bool` that is to be true.
///
/// Said of a trait, since the compiler's own words for another type don't say what to write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no filter",
    label = "join comparisons by `&` and `|`, in the place of `&&` and `||`; compare by a method, as in `e.age.eq(40)`",
    note = "methods compare a field: `eq`, `ne`, `gt`, `ge`, `lt`, `le`, `between`, `is_in`, `is_some`, `is_none`, `is_true`, `starts_with`",
    note = "a query without `.filter(..)` gives every row"
)]
pub trait Condition: sealed::Condition {
    #[doc(hidden)]
    fn into_filter(self) -> Filter;
}

#[diagnostic::do_not_recommend]
impl Condition for Filter {
    fn into_filter(self) -> Filter {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<A> Condition for Column<bool, Plain, A> {
    fn into_filter(self) -> Filter {
        self.is_true()
    }
}

impl<A> Not for Column<bool, Plain, A> {
    type Output = Filter;

    fn not(self) -> Filter {
        !self.is_true()
    }
}

/// With a filter, or with another column of a `bool`.
impl<C: Condition, A> BitAnd<C> for Column<bool, Plain, A> {
    type Output = Filter;

    fn bitand(self, other: C) -> Filter {
        self.is_true() & other.into_filter()
    }
}

impl<C: Condition, A> BitOr<C> for Column<bool, Plain, A> {
    type Output = Filter;

    fn bitor(self, other: C) -> Filter {
        self.is_true() | other.into_filter()
    }
}

impl<A> BitAnd<Column<bool, Plain, A>> for Filter {
    type Output = Self;

    fn bitand(self, other: Column<bool, Plain, A>) -> Self {
        self & other.is_true()
    }
}

impl<A> BitOr<Column<bool, Plain, A>> for Filter {
    type Output = Self;

    fn bitor(self, other: Column<bool, Plain, A>) -> Self {
        self | other.is_true()
    }
}

mod sealed {
    /// Seals [`Condition`](super::Condition): only types of this crate implement it.
    pub trait Condition {}

    impl Condition for crate::query::Filter {}
    impl<A> Condition for super::Column<bool, super::Plain, A> {}

    /// What `==` could compare a column with: nothing, so that the compiler says what to write instead.
    #[diagnostic::on_unimplemented(
        message = "a field is compared by a method in a filter, and by no operator",
        label = "write `.eq(..)` for `==`, and `.ne(..)` for `!=`"
    )]
    pub trait Operand {}

    /// What `<` and its like could: nothing.
    #[diagnostic::on_unimplemented(
        message = "a field is compared by a method in a filter, and by no operator",
        label = "write `.gt(..)` for `>`, `.ge(..)` for `>=`, `.lt(..)` for `<`, and `.le(..)` for `<=`"
    )]
    pub trait OrderedOperand: Operand {}
}

impl<T, K, A, V: sealed::Operand> PartialEq<V> for Column<T, K, A> {
    fn eq(&self, _: &V) -> bool {
        false
    }
}

impl<T, K, A, V: sealed::OrderedOperand> PartialOrd<V> for Column<T, K, A> {
    fn partial_cmp(&self, _: &V) -> Option<Ordering> {
        None
    }
}

impl<T: Property, K: OneForm + Comparable, A> Column<T, K, A> {
    /// Filters by whether the row has the property.
    ///
    /// A filter's text has no `null`, as the service's has none; what is there equals a value or differs from it.
    pub fn is_some(&self) -> Filter {
        let value = any_of(T::EDM);
        self.filter(|name| declared(name).eq(value.clone()) | declared(name).ne(value))
    }

    /// Filters by whether the row lacks the property, as that of an `Option` that is `None` does. For fields that may be
    /// absent, an `Option` or one with `#[property(default)]`; of any other it does not compile.
    pub fn is_none(&self) -> Filter
    where
        A: MayLack<T>,
    {
        !self.is_some()
    }
}

impl<T, K: OneForm + Comparable, A> Column<T, K, A> {
    /// Filters by whether it lies in the range, both ends included: `e.age.between(40..=49)`.
    pub fn between<V: ColumnArg<T>>(&self, range: RangeInclusive<V>) -> Filter {
        let (from, to) = range.into_inner();
        self.ge(from) & self.le(to)
    }
}

impl<T, K: OneForm + Equatable, A> Column<T, K, A> {
    /// Filters by whether it is one of the values: `e.state.is_in(["open", "waiting"])`. No row passes if there are none.
    pub fn is_in<V: ColumnArg<T>>(&self, values: impl IntoIterator<Item = V>) -> Filter {
        let equal = values.into_iter().map(|value| self.eq(value));
        // Nothing comes before the empty text.
        equal.reduce(|filter, other| filter | other).unwrap_or_else(|| prop("PartitionKey").lt(""))
    }
}

impl<K: OneForm + Comparable, A> Column<String, K, A> {
    /// Filters by whether the text starts with `prefix`.
    pub fn starts_with(&self, prefix: &str) -> Filter {
        self.filter(|name| starting(name, prefix))
    }
}

impl<K: OneForm + Comparable, A> Column<Box<str>, K, A> {
    /// Filters by whether the text starts with `prefix`.
    pub fn starts_with(&self, prefix: &str) -> Filter {
        self.filter(|name| starting(name, prefix))
    }
}

/// Returns the texts from the prefix on, and before the first one behind all that start with it.
fn starting(property: &'static str, prefix: &str) -> Filter {
    let from = declared(property).ge(prefix);
    match after(prefix) {
        Some(end) => from & declared(property).lt(end),
        None => from,
    }
}

/// Returns the first text behind those that start with `prefix`, in the order of UTF-16 code units; `None` if none is.
fn after(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // Supplementary characters are pairs of surrogates, 0xD800 to 0xDFFF, and stand before U+E000.
        let next = match last {
            '\u{d7ff}' => Some('\u{10000}'),
            '\u{10ffff}' => Some('\u{e000}'),
            '\u{ffff}' => None,
            other => char::from_u32(u32::from(other) + 1),
        };
        if let Some(next) = next {
            text.push(next);
            return Some(text);
        }
    }
    None
}

/// Returns some value of the type.
fn any_of(edm: EdmType) -> Value {
    match edm {
        EdmType::Binary => Value::Binary(Vec::new()),
        EdmType::Boolean => Value::Boolean(false),
        EdmType::DateTime => Value::DateTime(Ticks::MIN_PROPERTY),
        EdmType::Double => Value::Double(0.0),
        EdmType::Guid => Value::Guid(uuid::Uuid::nil()),
        EdmType::Int32 => Value::Int32(0),
        EdmType::Int64 => Value::Int64(0),
        EdmType::String => Value::String(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(a: &str, b: &str) -> Ordering {
        a.encode_utf16().cmp(b.encode_utf16())
    }

    #[test]
    fn the_end_of_a_prefix_is_the_first_text_behind_it() {
        let edges =
            ['\0', 'a', '\u{7f}', '\u{d7ff}', '\u{e000}', '\u{fffe}', '\u{ffff}', '\u{10000}', '\u{10ffff}'];
        for a in edges {
            for b in edges {
                let prefix: String = [a, b].into_iter().collect();
                let Some(end) = after(&prefix) else {
                    assert_eq!(prefix, "\u{ffff}\u{ffff}");
                    continue;
                };
                assert_eq!(utf16(&prefix, &end), Ordering::Less);
                for c in edges {
                    // What starts with it is before the end, and what is before the end and behind it starts with it.
                    let more = format!("{prefix}{c}\u{ffff}\u{ffff}");
                    assert_eq!(utf16(&more, &end), Ordering::Less, "{prefix:?} {end:?} {more:?}");
                    for d in edges {
                        let other: String = [c, d].into_iter().collect();
                        let within = utf16(&prefix, &other).is_le() && utf16(&other, &end).is_lt();
                        assert_eq!(within, other.starts_with(&prefix), "{prefix:?} {end:?} {other:?}");
                    }
                }
            }
        }
        assert_eq!(after(""), None);
    }
}
