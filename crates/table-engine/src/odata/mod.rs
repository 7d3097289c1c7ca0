//! Entities as OData JSON, the text of the Table service, in its three levels of metadata, and back.
//!
//! A [`Writer`] appends an entity, or a page of them, to a buffer. A [`Reader`] makes entities of bytes, one after another.
//! Neither builds a tree in between.
//!
//! ```
//! use table_core::odata::{Metadata, Reader, Writer};
//! use table_core::{DynamicEntity, ErrorKind};
//!
//! let jun = DynamicEntity::new("Marketing", "empid_000002").with("Name", "Jun").with("Salary", 52_000_i64);
//!
//! let mut text = Vec::new();
//! Writer::new(Metadata::Minimal).entity(&jun, &mut text)?;
//! assert_eq!(
//!     str::from_utf8(&text)?,
//!     r#"{"PartitionKey":"Marketing","RowKey":"empid_000002","Name":"Jun","Salary@odata.type":"Edm.Int64","Salary":"52000"}"#
//! );
//! assert_eq!(Reader::new().entity(&text)?, jun);
//!
//! // An error names the property and the byte, and never the value.
//! let error = Reader::new().entity(br#"{"PartitionKey":"p","RowKey":"r","Age@odata.type":"Edm.Int32","Age":"old"}"#).unwrap_err();
//! assert_eq!((error.kind(), error.position()), (ErrorKind::InvalidOData, Some(68)));
//! assert_eq!(
//!     error.to_string(),
//!     "cannot read OData JSON: property `Age` is no Edm.Int32, a whole number from -2147483648 to 2147483647 (at byte 68)"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What each level says
//!
//! | value | text | type said by `Minimal` and `Full` |
//! | --- | --- | --- |
//! | String | `"Jun"` | |
//! | Boolean | `true` | |
//! | Int32 | `34` | |
//! | Double | `34.0`, always with a decimal point | |
//! | Double that is not finite | `"NaN"`, `"Infinity"`, `"-Infinity"` | `Edm.Double` |
//! | Int64 | `"34"` | `Edm.Int64` |
//! | `DateTime` | `"2014-07-31T18:00:00.1234567Z"`, without the fraction where it is zero | `Edm.DateTime` |
//! | Guid | `"c9da6455-213d-42c9-9a79-3e9149a57833"` | `Edm.Guid` |
//! | Binary | base64 with padding | `Edm.Binary` |
//!
//! `Minimal` and `Full` also say `odata.etag`, and `Full` the type of `Timestamp`. What names a service, `odata.metadata`, and
//! with `Full` `odata.type`, `odata.id` and `odata.editLink`, is there where the writer [knows the service](Writer::of_service).
//!
//! Both are lossless: what is read is what was written, each value by its type and its bits, its times to 100 ns, its doubles
//! exactly, `-0.0` among them. JSON has one NaN: the bits of any other than [`f64::NAN`] are kept by
//! [`exact_nans`](Writer::exact_nans), which other readers don't know, and lost without it. The version of an entity is kept where
//! it has one.
//!
//! `None` is for people and for programs that know the types. What it is read as, [`Reader`] says.

mod cursor;
mod object;
mod page;
mod read;
mod service;
mod source;
#[cfg(test)]
mod tests;
mod text;
mod times;
mod value;
mod write;

pub use page::Entities;
pub use read::{Member, Reader};
pub use source::Source;
pub use write::{PageWriter, Writer};

/// How much a text says of its entities, beside their names and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metadata {
    /// Nothing: no types, no versions.
    None,
    /// The types that JSON does not say by itself, and versions.
    Minimal,
    /// Addresses and the type of `Timestamp`, too.
    Full,
}

impl Metadata {
    /// Returns the media type of a text of this level, as requests and answers name it.
    ///
    /// ```
    /// # use table_core::odata::Metadata;
    /// assert_eq!(Metadata::Minimal.media_type(), "application/json;odata=minimalmetadata");
    /// ```
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::None => "application/json;odata=nometadata",
            Self::Minimal => "application/json;odata=minimalmetadata",
            Self::Full => "application/json;odata=fullmetadata",
        }
    }
}

/// The names that every row has, as texts have them.
const PARTITION_KEY: &str = "PartitionKey";
const ROW_KEY: &str = "RowKey";
const TIMESTAMP: &str = "Timestamp";
/// What the name of an annotation is that says a property's type, behind the property's name.
const TYPE: &str = "@odata.type";
/// How the names of annotations of an object begin.
const ODATA: &str = "odata.";
