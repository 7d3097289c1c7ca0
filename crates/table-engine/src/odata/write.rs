//! Entities to text.

use std::fmt;

use super::service::{Service, address_of};
use super::source::Source;
use super::{Metadata, text, times};
use crate::base64;
use crate::error::Result;
use crate::model::{EdmType, ValueRef};

/// Writes entities as OData JSON.
///
/// A writer is made once for a text, or for many of them, and appends to buffers of its caller's. Where a row can't be written,
/// the buffer is as it was before the row.
///
/// ```
/// use table_core::DynamicEntity;
/// use table_core::odata::{Metadata, Writer};
///
/// let jun = DynamicEntity::new("Marketing", "empid_000002").with("Age", 47);
/// let mut out = Vec::new();
///
/// // What a service answers to a request for one entity.
/// let writer = Writer::new(Metadata::Minimal).of_service("https://acme.table.core.windows.net", "acme", "Company");
/// writer.entity(&jun, &mut out)?;
/// assert_eq!(
///     str::from_utf8(&out)?,
///     r#"{"odata.metadata":"https://acme.table.core.windows.net/$metadata#Company/@Element","PartitionKey":"Marketing","RowKey":"empid_000002","Age":47}"#
/// );
///
/// // A selection: what the entity does not have is null.
/// out.clear();
/// Writer::new(Metadata::None).select(["RowKey", "Age", "Email"]).entity(&jun, &mut out)?;
/// assert_eq!(str::from_utf8(&out)?, r#"{"RowKey":"empid_000002","Age":47,"Email":null}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Writer {
    metadata: Metadata,
    exact_nans: bool,
    double_types: bool,
    service: Option<Service>,
    select: Option<Vec<String>>,
}

impl Writer {
    /// Makes a writer of texts with so much metadata. It knows no service.
    pub const fn new(metadata: Metadata) -> Self {
        Self { metadata, exact_nans: false, double_types: false, service: None, select: None }
    }

    /// Returns the writer as one of a table of a service, whose root has this address and whose account this name: it writes
    /// `odata.metadata`, and with [`Full`](Metadata::Full) metadata `odata.type`, `odata.id` and `odata.editLink`.
    #[must_use]
    pub fn of_service(self, root: &str, account: &str, table: &str) -> Self {
        Self { service: Some(Service::new(root, account, table)), ..self }
    }

    /// Returns the writer as one of these properties alone, keys and `Timestamp` among them. A property that an entity does not
    /// have is written as null, as the service does.
    #[must_use]
    pub fn select<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        let mut select: Vec<String> = Vec::new();
        for name in names {
            let name = name.into();
            if !select.contains(&name) {
                select.push(name);
            }
        }
        Self { select: Some(select), ..self }
    }

    /// Returns the writer as one that keeps the bits of every NaN: one whose bits are not those of [`f64::NAN`] is written as
    /// `"NaN(fff8000000000000)"`. A [`Reader`](super::Reader) takes it; the service and its clients don't. Without this every NaN
    /// is written as `"NaN"`.
    ///
    /// ```
    /// use table_core::DynamicEntity;
    /// use table_core::odata::{Metadata, Reader, Writer};
    ///
    /// let odd = DynamicEntity::new("p", "r").with("X", -f64::NAN);
    /// let mut out = Vec::new();
    /// Writer::new(Metadata::Minimal).exact_nans().entity(&odd, &mut out)?;
    /// assert_eq!(Reader::new().entity(&out)?, odd);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub const fn exact_nans(mut self) -> Self {
        self.exact_nans = true;
        self
    }

    /// Returns the writer as one that says the type of every Double, and not of those alone that JSON has no number for: an
    /// emulator that reads `34.0` as a number without a point gives it back as an Int32.
    ///
    /// ```
    /// use table_core::DynamicEntity;
    /// use table_core::odata::{Metadata, Writer};
    ///
    /// let mut out = Vec::new();
    /// let jun = DynamicEntity::new("p", "r").with("Rate", 34.0);
    /// Writer::new(Metadata::Minimal).double_types().entity(&jun, &mut out)?;
    /// assert_eq!(
    ///     str::from_utf8(&out)?,
    ///     r#"{"PartitionKey":"p","RowKey":"r","Rate@odata.type":"Edm.Double","Rate":34.0}"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn double_types(mut self) -> Self {
        self.double_types = true;
        self
    }

    /// Appends one entity, as a text of its own.
    pub fn entity(&self, row: impl Source, out: &mut Vec<u8>) -> Result<()> {
        self.object(&row, true, out)
    }

    /// Begins a page of entities: what a service answers to a query.
    ///
    /// ```
    /// use table_core::DynamicEntity;
    /// use table_core::odata::{Metadata, Writer};
    ///
    /// let mut out = Vec::new();
    /// let writer = Writer::new(Metadata::None);
    /// let mut page = writer.page(&mut out);
    /// for id in 1..=2 {
    ///     page.entity(DynamicEntity::new("Sales", format!("empid_{id:06}")))?;
    /// }
    /// page.finish();
    /// assert_eq!(
    ///     str::from_utf8(&out)?,
    ///     r#"{"value":[{"PartitionKey":"Sales","RowKey":"empid_000001"},{"PartitionKey":"Sales","RowKey":"empid_000002"}]}"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn page<'a>(&'a self, out: &'a mut Vec<u8>) -> PageWriter<'a> {
        out.push(b'{');
        if let (Some(service), true) = (&self.service, self.metadata != Metadata::None) {
            member(out, b"odata.metadata", &[&service.metadata]);
        }
        out.extend_from_slice(b"\"value\":[");
        PageWriter { writer: self, out, is_empty: true }
    }

    /// Appends an entity's object, by itself or as one of a page.
    #[inline]
    fn object<S: Source>(&self, row: &S, is_alone: bool, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let written = self.members(row, is_alone, out);
        if written.is_ok() {
            // Each member ends with a comma.
            if out.last() == Some(&b',') {
                out.pop();
            }
            out.push(b'}');
        } else {
            out.truncate(start);
        }
        written
    }

    #[inline]
    fn members<S: Source>(&self, row: &S, is_alone: bool, out: &mut Vec<u8>) -> Result<()> {
        out.push(b'{');
        let (partition, row_key) = row.keys()?;
        let time = row.etag().map(|etag| times::text_of(etag.timestamp()));
        self.head(is_alone, [&partition, &row_key], time.as_ref(), out);
        let Some(select) = &self.select else {
            key(super::PARTITION_KEY, &partition, out);
            key(super::ROW_KEY, &row_key, out);
            if let Some(time) = &time {
                self.timestamp(time, out);
            }
            return row.for_each_property(|name, value| self.property(name, value, out));
        };
        for name in select {
            match (&**name, &time) {
                (super::PARTITION_KEY, _) => key(name, &partition, out),
                (super::ROW_KEY, _) => key(name, &row_key, out),
                (super::TIMESTAMP, Some(time)) => self.timestamp(time, out),
                (super::TIMESTAMP, None) => null(name, out),
                _ => {
                    if let Some(value) = row.property(name)? {
                        self.property(name, value, out)?;
                    } else {
                        text::check_name(name)?;
                        null(name, out);
                    }
                }
            }
        }
        Ok(())
    }

    /// Appends the annotations of the object.
    fn head(&self, is_alone: bool, keys: [&str; 2], time: Option<&times::TimeText>, out: &mut Vec<u8>) {
        if self.metadata == Metadata::None {
            return;
        }
        let addresses = self.service.as_ref().filter(|_| self.metadata == Metadata::Full);
        if let (Some(service), true) = (&self.service, is_alone) {
            member(out, b"odata.metadata", &[&service.metadata, b"/@Element"]);
        }
        let mut key_text = Vec::new();
        if let Some(service) = addresses {
            address_of(keys, &mut key_text);
            member(out, b"odata.type", &[&service.entity_type]);
            member(out, b"odata.id", &[&service.id, &key_text]);
        }
        if let Some(time) = time {
            out.extend_from_slice(b"\"odata.etag\":");
            times::etag(time, out);
            out.push(b',');
        }
        if let Some(service) = addresses {
            member(out, b"odata.editLink", &[&service.table, &key_text]);
        }
    }

    fn timestamp(&self, time: &times::TimeText, out: &mut Vec<u8>) {
        if self.metadata == Metadata::Full {
            typed(super::TIMESTAMP, EdmType::DateTime, out);
        }
        name_of(super::TIMESTAMP, out);
        time_text(time, out);
        out.push(b',');
    }

    /// Appends a property, with the type that JSON does not say.
    fn property(&self, name: &str, value: ValueRef<'_>, out: &mut Vec<u8>) -> Result<()> {
        text::check_name(name)?;
        if self.metadata != Metadata::None
            && let Some(edm) = unsaid(value, self.double_types)
        {
            typed(name, edm, out);
        }
        name_of(name, out);
        match value {
            ValueRef::String(value) => text::string(value, out),
            ValueRef::Binary(value) => {
                out.push(b'"');
                for piece in base64::STANDARD.encode(value) {
                    out.extend_from_slice(piece.as_str().as_bytes());
                }
                out.push(b'"');
            }
            ValueRef::Boolean(true) => out.extend_from_slice(b"true"),
            ValueRef::Boolean(false) => out.extend_from_slice(b"false"),
            ValueRef::Int32(value) => text::integer(value.into(), out),
            ValueRef::Int64(value) => {
                out.push(b'"');
                text::integer(value, out);
                out.push(b'"');
            }
            ValueRef::Double(value) => self.double(value, out),
            ValueRef::DateTime(value) => time_text(&times::text_of(value), out),
            ValueRef::Guid(value) => {
                out.push(b'"');
                out.extend_from_slice(value.hyphenated().encode_lower(&mut [0; 36]).as_bytes());
                out.push(b'"');
            }
        }
        out.push(b',');
        Ok(())
    }

    fn double(&self, value: f64, out: &mut Vec<u8>) {
        if value.is_finite() {
            text::double(value, out);
        } else if value.is_infinite() {
            out.extend_from_slice(if value > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" });
        } else if self.exact_nans && value.to_bits() != f64::NAN.to_bits() {
            out.extend_from_slice(format!("\"NaN({:016x})\"", value.to_bits()).as_bytes());
        } else {
            out.extend_from_slice(b"\"NaN\"");
        }
    }
}

/// Writes a page, one entity after another. A page that is not [finished](Self::finish) has no end.
#[must_use = "a page ends when it is finished"]
pub struct PageWriter<'a> {
    writer: &'a Writer,
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl PageWriter<'_> {
    /// Appends an entity.
    pub fn entity(&mut self, row: impl Source) -> Result<()> {
        let start = self.out.len();
        if !self.is_empty {
            self.out.push(b',');
        }
        let written = self.writer.object(&row, false, self.out);
        match written {
            Ok(()) => self.is_empty = false,
            Err(_) => self.out.truncate(start),
        }
        written
    }

    /// Returns how many bytes the buffer has by now: a server ends a page that grows too large.
    pub fn bytes(&self) -> usize {
        self.out.len()
    }

    /// Appends the end of the page.
    pub fn finish(self) {
        self.out.extend_from_slice(b"]}");
    }
}

/// Without the text, which has values in it.
impl fmt::Debug for PageWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageWriter").field("writer", &self.writer).finish_non_exhaustive()
    }
}

/// Returns the type of a value, if its text does not say it, or it is a Double whose type is always said.
#[inline]
fn unsaid(value: ValueRef<'_>, says_doubles: bool) -> Option<EdmType> {
    match value {
        ValueRef::String(_) | ValueRef::Boolean(_) | ValueRef::Int32(_) => None,
        ValueRef::Double(value) if value.is_finite() && !says_doubles => None,
        other => Some(other.edm_type()),
    }
}

#[inline]
fn name_of(name: &str, out: &mut Vec<u8>) {
    out.reserve(name.len() + 32);
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

#[inline]
fn typed(name: &str, edm: EdmType, out: &mut Vec<u8>) {
    out.reserve(2 * name.len() + 96);
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"@odata.type\":\"");
    out.extend_from_slice(edm.name().as_bytes());
    out.extend_from_slice(b"\",");
}

#[inline]
fn key(name: &str, value: &str, out: &mut Vec<u8>) {
    name_of(name, out);
    text::string(value, out);
    out.push(b',');
}

fn null(name: &str, out: &mut Vec<u8>) {
    name_of(name, out);
    out.extend_from_slice(b"null,");
}

#[inline]
fn time_text(time: &times::TimeText, out: &mut Vec<u8>) {
    let (whole, rest) = times::shortened(time);
    out.push(b'"');
    out.extend_from_slice(whole);
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends a member whose value is a string that needs no escapes.
fn member(out: &mut Vec<u8>, name: &[u8], value: &[&[u8]]) {
    out.push(b'"');
    out.extend_from_slice(name);
    out.extend_from_slice(b"\":\"");
    for piece in value {
        out.extend_from_slice(piece);
    }
    out.extend_from_slice(b"\",");
}
