//! Structs whose fields entities have side by side with their own.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use super::source::Source;
use crate::error::Result;
use crate::plan::Values;
use crate::schema::Field;

/// A struct that can be flattened into entities: they share its fields, each of which is a property of theirs. Derived,
/// not written by hand.
///
/// ```
/// use table_core::{Entity, Properties, Store};
///
/// #[derive(Properties, Clone, Debug, PartialEq)]
/// struct Person {
///     first_name: String,
///     last_name: String,
/// }
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     #[flatten]
///     person: Person,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let staff = store.table::<Employee>()?;
/// let person = Person { first_name: "Jun".into(), last_name: "Cao".into() };
/// staff.insert(&Employee { department: "Sales".into(), id: 7, person })?;
/// let row = staff.dynamic().get("Sales", "empid_000007")?.unwrap();
/// assert_eq!(row.get("LastName").and_then(|name| name.as_str()), Some("Cao"));
/// assert_eq!(staff.get(Employee::key("Sales", 7))?.unwrap().person.first_name, "Jun");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the fields of `{Self}` can't be flattened into an entity",
    label = "not a struct of properties",
    note = "add `#[derive(Properties)]` to `{Self}`"
)]
pub trait Properties: Sized {
    /// The fields, in order: its own, then those that are flattened into it.
    const FIELDS: &'static [Field];

    /// The properties that filters can speak of.
    #[doc(hidden)]
    type Columns: 'static;

    #[doc(hidden)]
    const COLUMNS: &'static Self::Columns;

    /// Whether every field is read as it was written: none is floored, skipped or kept as other text.
    #[doc(hidden)]
    const EXACT: bool = Field::are_exact(Self::FIELDS);

    /// Gives the fields in order.
    #[doc(hidden)]
    fn values<'a>(&'a self, out: &mut Values<'a>);

    /// Takes the fields in order.
    #[doc(hidden)]
    fn take(source: &mut Source<'_>) -> Result<Self>;
}

/// The columns of a flattened struct, among those of the entity.
///
/// It asks nothing of the type until it is used, so that a type which is no [`Properties`] is refused where its
/// values are.
pub struct FlatColumns<P>(PhantomData<fn() -> P>);

impl<P> FlatColumns<P> {
    /// There is one.
    pub const NEW: Self = Self(PhantomData);
}

impl<P: Properties> Deref for FlatColumns<P> {
    type Target = P::Columns;

    fn deref(&self) -> &P::Columns {
        P::COLUMNS
    }
}

impl<P> fmt::Debug for FlatColumns<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatColumns").finish_non_exhaustive()
    }
}

/// Lists of fields as one, which has this many.
#[doc(hidden)]
#[must_use]
pub const fn side_by_side<const COUNT: usize>(lists: &[&[Field]]) -> [Field; COUNT] {
    let mut all = [Field::PLAIN; COUNT];
    let mut free: &mut [Field] = &mut all;
    let mut lists = lists;
    while let [list, later @ ..] = lists {
        let (into, rest) = free.split_at_mut(list.len());
        into.copy_from_slice(list);
        (free, lists) = (rest, later);
    }
    all
}
