//! Sealed properties as filters compare them: opened, row by row.

use crate::error::Result;
use crate::model::ValueRef;
use crate::query::{KeyProperties, SealedEq, Tokens};
use crate::row::view::RowView;
use crate::sealing;

/// Returns whether a sealed property of a row is that value once it is open; `keys` say where the row's entity lies.
///
/// The value is opened and compared, also if its token is right: a person who can write the row can put a token anywhere.
pub fn opens_as(
    view: &RowView<'_>,
    keys: Option<&'static dyn KeyProperties>,
    sealed: &SealedEq,
) -> Result<bool> {
    let (Some(keys), false) = (keys, *sealed.tokens() == Tokens::Unknown) else {
        return Err(sealed.stranger());
    };
    if sealed.holds_of_absent() && view.get(sealed.property())?.is_none() {
        return Ok(true);
    }
    if sealed.may_be_plain()
        && let Some(plain) = view.get(sealed.property())?
        && !sealing::looks_sealed(plain)
    {
        return Ok(sealed.is(plain));
    }
    if let Tokens::These(property, tokens) = sealed.tokens() {
        let stored = view.get(property)?.and_then(ValueRef::as_bytes);
        if !stored.is_some_and(|stored| tokens.iter().any(|token| token == stored)) {
            return Ok(false);
        }
    }
    let Some(ValueRef::Binary(bytes)) = view.get(sealed.property())? else { return Ok(false) };
    match sealing::open(view, &keys.own_row_key(view)?, sealed.property(), bytes) {
        Ok(opened) => Ok(sealed.is(opened.expose().as_value_ref())),
        // A value whose key was destroyed equals nothing. If keys have changed since the query began, the value may have been
        // sealed anew, and its row would be missed.
        Err(error) if error.kind().is_destroyed() => {
            if sealing::generation_of(view)? == sealed.generation() {
                Ok(false)
            } else {
                Err(error.and("; keys have changed since the query began: begin it again"))
            }
        }
        Err(error) => Err(error),
    }
}
