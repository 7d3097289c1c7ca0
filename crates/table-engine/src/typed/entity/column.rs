//! Properties in typed filters.

use std::fmt;
use std::marker::PhantomData;

use crate::model::Value;
use crate::query::{Filter, SealedEq, declared};
use crate::schema::{Property, PropertyValue, Series};

/// Seals the traits below: only types of this crate implement them.
pub(crate) mod sealed {
    /// What can be given for a value of type `T`: one, a reference to one, and `&str` for text.
    pub trait Given<T> {}

    impl<T> Given<T> for T {}
    impl<T> Given<T> for &T {}
    impl Given<Box<str>> for &str {}
    impl Given<String> for &str {}
    #[cfg(feature = "encrypt")]
    impl Given<crate::crypt::Secret<String>> for &str {}
    #[cfg(feature = "encrypt")]
    impl Given<crate::crypt::Secret<Box<str>>> for &str {}

    /// How a property is stored.
    pub trait Storage {}

    impl Storage for super::Plain {}
    impl Storage for super::Encrypted {}
    impl Storage for super::Dual {}
    impl Storage for super::Blind {}

    /// Whether a property may be absent.
    pub trait Absence {}

    impl Absence for super::Always {}
    impl Absence for super::Maybe {}
}

#[diagnostic::on_unimplemented(
    message = "a field of type `{T}` cannot be compared with `{Self}`",
    label = "expected `{T}`"
)]
/// What a column can be compared with: a value of its type, a reference to one, and `&str` for text.
pub trait ColumnArg<T>: sealed::Given<T> {
    #[doc(hidden)]
    fn to_constant(&self) -> Value;
}

/// Returns the value to compare with; one beyond what a property can hold is beyond all that are stored.
fn constant<T: Property>(value: &T) -> Value {
    match value.to_property().map(PropertyValue::into_value) {
        Ok(Some(value)) => value,
        Err(error) if error.is_below() => Value::Double(f64::NEG_INFINITY),
        Ok(None) | Err(_) => Value::Double(f64::INFINITY),
    }
}

#[diagnostic::do_not_recommend]
impl<T: Property> ColumnArg<T> for T {
    fn to_constant(&self) -> Value {
        constant(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Property> ColumnArg<T> for &T {
    fn to_constant(&self) -> Value {
        constant(*self)
    }
}

#[diagnostic::do_not_recommend]
impl ColumnArg<Box<str>> for &str {
    fn to_constant(&self) -> Value {
        Value::from(*self)
    }
}

#[diagnostic::do_not_recommend]
impl ColumnArg<String> for &str {
    fn to_constant(&self) -> Value {
        Value::from(*self)
    }
}

#[cfg(feature = "encrypt")]
#[diagnostic::do_not_recommend]
impl ColumnArg<crate::crypt::Secret<String>> for &str {
    fn to_constant(&self) -> Value {
        Value::from(*self)
    }
}

#[cfg(feature = "encrypt")]
#[diagnostic::do_not_recommend]
impl ColumnArg<crate::crypt::Secret<Box<str>>> for &str {
    fn to_constant(&self) -> Value {
        Value::from(*self)
    }
}

/// A property of an entity, to be compared in a filter: `|e| e.age.ge(40) & !e.last_name.eq("Smith")`.
///
/// A row without the property compares false, whatever the comparison, unless the field is `#[property(default)]`: then the
/// default is compared, which is what is read there. A row that has it of a type that is none of the field's compares false
/// too. Numbers compare by value whatever their types, since a field may have grown since a row was written. That
/// is not the service's rule, which filters of names and of text have: see [`Filter`].
///
/// Shorthands stand for several comparisons: [`between`](Self::between), [`is_in`](Self::is_in),
/// [`starts_with`](Column::<String>::starts_with), [`is_some`](Self::is_some), [`is_none`](Self::is_none).
///
/// ```
/// # use table_core::{Entity, Store};
/// #[derive(Entity)]
/// #[entity(table = "PlanScratch", kind = "ticket")]
/// #[key(partition = "{customer}", row = "ticket_{number:06}")]
/// struct Ticket {
///     customer: String,
///     number: u32,
///     state: String,
///     agent: Option<String>,
/// }
///
/// # let store = Store::temporary()?;
/// let tickets = store.table::<Ticket>()?;
/// for (number, state) in [(1, "open"), (2, "waiting"), (3, "closed")] {
///     tickets.insert(&Ticket { customer: "acme".into(), number, state: state.into(), agent: None })?;
/// }
/// let left = tickets.rows().customer("acme").filter(|t| t.state.is_in(["open", "waiting"]) & t.agent.is_none());
/// assert_eq!(left.count()?, 2);
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// `K` says whether it can be: an encrypted property can't, but for equality if it has `#[encrypt(blind)]`. `A` says whether a
/// row may lack the property.
pub struct Column<T, K = Plain, A = Always> {
    name: &'static str,
    /// The slot that it was to be, of a series that has none of this number.
    no_slot: Option<(&'static Series, usize)>,
    value: PhantomData<fn() -> T>,
    how: PhantomData<fn() -> (K, A)>,
}

/// A property that is stored as it is.
#[derive(Debug)]
pub enum Plain {}

/// A property that is stored sealed.
#[derive(Debug)]
pub enum Encrypted {}

/// A property that some rows hold plain and others sealed.
#[derive(Debug)]
pub enum Dual {}

/// A property that is stored sealed, and a token of it beside.
#[derive(Debug)]
pub enum Blind {}

/// A property that every row has.
#[derive(Debug)]
pub enum Always {}

/// A property that a row may lack: of an `Option`, or of a field with `default`.
#[derive(Debug)]
pub enum Maybe {}

/// Whether rows may lack a property of type `T`.
#[diagnostic::on_unimplemented(
    message = "every row has this property, so `is_none` would find none",
    label = "leave this out: what is neither an `Option` nor `#[property(default)]` is never absent"
)]
pub trait MayLack<T>: sealed::Absence {}

#[diagnostic::do_not_recommend]
impl<T> MayLack<T> for Maybe {}

/// A type by another name than `Option` may be one, which a derive does not see.
#[diagnostic::do_not_recommend]
impl<T> MayLack<Option<T>> for Always {}

/// How a property is stored of which filters can ask whether it equals a value.
#[diagnostic::on_unimplemented(
    message = "an encrypted property can't be compared in a filter",
    label = "it is stored sealed, and each time otherwise",
    note = "compare the field of the entities that are read, or declare it `#[encrypt(blind)]`, which can be asked for equality"
)]
pub trait Equatable: sealed::Storage {
    #[doc(hidden)]
    fn equals(property: &str, value: Value) -> Filter;
}

#[diagnostic::do_not_recommend]
impl Equatable for Plain {
    fn equals(property: &str, value: Value) -> Filter {
        declared(property).eq(value)
    }
}

// Of a dual one `OneForm` is refused, and nothing else.
#[diagnostic::do_not_recommend]
impl Equatable for Dual {
    fn equals(property: &str, value: Value) -> Filter {
        declared(property).eq(value)
    }
}

#[diagnostic::do_not_recommend]
impl Equatable for Blind {
    fn equals(property: &str, value: Value) -> Filter {
        Filter::sealed(SealedEq::new(property, value))
    }
}

/// How a property is stored that filters can compare.
#[diagnostic::on_unimplemented(
    message = "an encrypted property has no order that a filter could see",
    label = "it is stored sealed, and each time otherwise",
    note = "compare the field of the entities that are read; a field with `#[encrypt(blind)]` can be asked for equality: `.eq(..)`"
)]
pub trait Comparable: sealed::Storage {}

#[diagnostic::do_not_recommend]
impl Comparable for Plain {}

#[diagnostic::do_not_recommend]
impl Comparable for Dual {}

/// How a property is stored of which filters can ask whether it differs from a value.
#[diagnostic::on_unimplemented(
    message = "of an encrypted property a filter can ask for equality alone",
    label = "write `.eq(..)`, or compare the field of the entities that are read",
    note = "`.eq(..)` asks for the token of the value, which rows have of a field with `#[encrypt(blind)]`"
)]
pub trait Unequal: sealed::Storage {}

#[diagnostic::do_not_recommend]
impl Unequal for Plain {}

#[diagnostic::do_not_recommend]
impl Unequal for Dual {}

/// How a property is stored of which all rows hold one form.
#[diagnostic::on_unimplemented(
    message = "a property that is `dual` can't be compared in a filter",
    label = "rows may hold it plain or sealed",
    note = "compare the field of the entities that are read; of one that was declared `#[encrypt(dual, blind)]` a filter finds both by `.eq(..)`"
)]
pub trait OneForm: sealed::Storage {}

#[diagnostic::do_not_recommend]
impl OneForm for Plain {}
#[diagnostic::do_not_recommend]
impl OneForm for Encrypted {}
#[diagnostic::do_not_recommend]
impl OneForm for Blind {}

/// Texts that a filter could look into: none.
#[diagnostic::on_unimplemented(
    message = "a filter does not look inside a text",
    label = "write `.starts_with(..)`, or look at the field of the rows that are read"
)]
pub trait LooksInside {}

#[allow(clippy::needless_pass_by_value, reason = "a comparison is written with the value itself")]
impl<T, K, A> Column<T, K, A> {
    #[doc(hidden)]
    pub const fn new(name: &'static str) -> Self {
        Self { name, no_slot: None, value: PhantomData, how: PhantomData }
    }

    pub(crate) const fn of_no_slot(series: &'static Series, slot: usize) -> Self {
        Self { name: series.stem, no_slot: Some((series, slot)), value: PhantomData, how: PhantomData }
    }

    /// Returns a filter of the column.
    pub(super) fn filter(&self, of: impl FnOnce(&'static str) -> Filter) -> Filter {
        match self.no_slot {
            None => of(self.name),
            Some((series, slot)) => Filter::of_no_slot(series, slot),
        }
    }

    /// Filters by whether it is equal.
    #[allow(clippy::should_implement_trait, reason = "it makes a filter, not a truth value")]
    pub fn eq(&self, value: impl ColumnArg<T>) -> Filter
    where
        K: OneForm + Equatable,
    {
        self.filter(|name| K::equals(name, value.to_constant()))
    }

    /// Filters by whether it is there and not equal.
    #[allow(clippy::should_implement_trait, reason = "it makes a filter, not a truth value")]
    pub fn ne(&self, value: impl ColumnArg<T>) -> Filter
    where
        K: OneForm + Unequal,
    {
        self.filter(|name| declared(name).ne(value.to_constant()))
    }

    /// Filters by whether it is greater.
    pub fn gt(&self, value: impl ColumnArg<T>) -> Filter
    where
        K: OneForm + Comparable,
    {
        self.filter(|name| declared(name).gt(value.to_constant()))
    }

    /// Filters by whether it is greater or equal.
    pub fn ge(&self, value: impl ColumnArg<T>) -> Filter
    where
        K: OneForm + Comparable,
    {
        self.filter(|name| declared(name).ge(value.to_constant()))
    }

    /// Filters by whether it is less.
    pub fn lt(&self, value: impl ColumnArg<T>) -> Filter
    where
        K: OneForm + Comparable,
    {
        self.filter(|name| declared(name).lt(value.to_constant()))
    }

    /// Filters by whether it is less or equal.
    pub fn le(&self, value: impl ColumnArg<T>) -> Filter
    where
        K: OneForm + Comparable,
    {
        self.filter(|name| declared(name).le(value.to_constant()))
    }

    /// Has the compiler say that a text has a `contains`, and a column has none.
    #[doc(hidden)]
    pub fn contains<V>(&self, _: V) -> Filter
    where
        K: LooksInside,
    {
        self.filter(|name| declared(name).is_true())
    }

    /// Has the compiler say that a text has an `ends_with`, and a column has none.
    #[doc(hidden)]
    pub fn ends_with<V>(&self, _: V) -> Filter
    where
        K: LooksInside,
    {
        self.filter(|name| declared(name).is_true())
    }
}

impl<T, K, A> Clone for Column<T, K, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, K, A> Copy for Column<T, K, A> {}

impl<A> Column<bool, Plain, A> {
    /// Filters by whether it is true. The column says so by itself, too:
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32, age: u8, retired: bool, away: bool }
    /// # let store = Store::temporary()?;
    /// # let staff = store.table::<Employee>()?;
    /// # for (id, age, retired, away) in [(1, 70, true, false), (2, 64, true, true), (3, 40, false, false)] {
    /// #     staff.insert(&Employee { department: "Sales".into(), id, age, retired, away })?;
    /// # }
    /// let sales = staff.rows().department("Sales");
    /// assert_eq!(sales.clone().filter(|e| e.retired).count()?, 2);
    /// assert_eq!(sales.clone().filter(|e| e.retired & e.age.ge(65)).count()?, 1);
    /// assert_eq!(sales.clone().filter(|e| e.age.lt(50) | e.away).count()?, 2);
    /// assert_eq!(sales.filter(|e| !e.retired & !e.away).count()?, 1);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn is_true(&self) -> Filter {
        self.filter(|name| declared(name).is_true())
    }
}

impl<T, K, A> fmt::Debug for Column<T, K, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.name).finish()
    }
}
