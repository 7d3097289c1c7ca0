//! What stands for the module of fields with `json` where the feature is off: it says so.
//!
//! ```compile_fail,E0277
//! use table_core::Entity;
//!
//! #[derive(Entity)]
//! #[entity(table = "Blog", kind = "post")]
//! #[key(partition = "{author}", row = "post_{id:06}")]
//! struct Post {
//!     author: String,
//!     id: u32,
//!     #[property(json)] // needs the feature `json` of table-core
//!     tags: Vec<String>,
//! }
//! ```

use crate::error::Result;
use crate::schema::{PropertyValue, ValueError};
use crate::typed::entity::source::Text;

/// A type that a field with `json` can have: none without the feature.
#[diagnostic::on_unimplemented(
    message = "a field with `json` needs the feature `json` of table-core",
    label = "kept as JSON",
    note = "`cargo add table-core --features json`"
)]
pub trait Json {}

/// Returns how a field of the type would be written and read.
pub const fn of<T: Json>() -> Of<T> {
    Of { give: |_| Ok(PropertyValue::Absent), take: |text| Err(text.refused("it is JSON")) }
}

/// [`of`], of a type that is written with `Blob` or `SealedBlob`.
pub use of as of_blobs;

/// How a field of the type would be written and read.
#[allow(missing_debug_implementations, reason = "there is none")]
pub struct Of<T> {
    pub give: fn(&T) -> Result<PropertyValue<'static>, ValueError>,
    pub take: fn(Text<'_>) -> Result<T>,
}

impl<T> Of<T> {
    pub fn take_or(&self, text: Text<'_>, _: fn() -> T) -> Result<T> {
        (self.take)(text)
    }
}
