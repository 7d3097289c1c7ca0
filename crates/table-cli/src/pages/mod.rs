//! Pages for a browser: a store's designs in one file, and a store to walk about in.
//!
//! What both show of a kind is in [`parts`]. All text is escaped by the templates that it is put into.

mod design;
mod frame;
mod parts;
#[cfg(feature = "studio")]
mod studio;

pub(crate) use self::design::DesignOf;
#[cfg(feature = "studio")]
pub(crate) use self::studio::Listening;
