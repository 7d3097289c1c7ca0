//! What generated code asks of the type of a field that stands in a key.

use super::field::Field;
use super::format::key_type::{KeyPart, KeyType};
use super::value::{Content, Property, PropertyValue, Take, ValueError};
use crate::model::ValueRef;

/// A field that stands in a key, for generated code. Whatever that asks of the field's type it asks by this trait, on the type's
/// own token: then the compiler says once that a type can't be in a key, and not that it is no property besides.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    label = "not a key part",
    note = "`#[derive(KeyPart)]` makes a key part of an enum or a newtype of yours",
    note = "a key part is text, an integer of up to 64 bits, a `bool`, a time or a `Uuid`: what can be written so that its text sorts as its values do",
    note = "instead of `usize`, whose width differs between machines, use `u64`; instead of a float, an integer in a smaller unit; `{{field[]}}` in an index gives a row for each element of a `Vec`"
)]
pub trait KeyField: Sized {
    const KEY: KeyType;
    const VERSION: u32;
    const FIELD: Field;
    const NESTED: bool;
    const CONTENT: Content;
    const EXACT: bool;
    const TAKE: Take<Self>;

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError>;

    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError>;
}

#[diagnostic::do_not_recommend]
impl<T: KeyPart> KeyField for T {
    const KEY: KeyType = <T as KeyPart>::KEY;
    const VERSION: u32 = <T as KeyPart>::VERSION;
    const FIELD: Field = <T as Property>::FIELD;
    const NESTED: bool = <T as Property>::NESTED;
    const CONTENT: Content = <T as Property>::CONTENT;
    const EXACT: bool = <T as Property>::EXACT;
    const TAKE: Take<T> = <T as Property>::TAKE;

    #[inline]
    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        Property::to_property(self)
    }

    #[inline]
    fn from_property(value: Option<ValueRef<'_>>) -> Result<T, ValueError> {
        Property::from_property(value)
    }
}
