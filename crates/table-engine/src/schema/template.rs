//! Key templates and their parts.

use table_words::Format;

use super::KeyTypeOf;
use super::format::form::Form;
use super::format::key_type;
use super::message::Message;

/// A key template: what its parts print, one after another, is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Template {
    /// The template as declared.
    pub source: &'static str,
    /// Its parts.
    pub parts: &'static [Part],
}

impl Template {
    /// Makes a template from its text as declared, and its parts.
    #[must_use]
    pub const fn new(source: &'static str, parts: &'static [Part]) -> Self {
        Self { source, parts }
    }
}

/// A part of a declared key template.
pub type Part = PartOf<'static>;

/// A field in a declared key template.
pub type FieldPart = FieldPartOf<'static>;

/// A part of a key template: of a declaration, or of a layout that a store has noted, which lends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartOf<'t> {
    /// Text that stands for itself.
    Literal(&'t str),
    /// A field.
    Field(FieldPartOf<'t>),
}

/// A field in a key template: of a declaration, or of a layout that a store has noted, which lends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldPartOf<'t> {
    /// Its place among [`Schema::fields`](super::Schema::fields).
    pub field: usize,
    /// Its type, as far as keys go: `<T as KeyPart>::KEY`.
    pub key: KeyTypeOf<'t>,
    /// How it is printed, as the template writes it behind the colon: `06`.
    pub source: &'t str,
    /// What `source` means.
    pub format: Format<'t>,
    /// Written `{v[]}`: a row for each element.
    pub each: bool,
    /// The version of what its type prints: `<T as KeyPart>::VERSION`.
    pub version: u32,
    /// The bytes that it prints, if their number doesn't vary.
    pub(super) width: Option<usize>,
    /// How it is read.
    pub(super) form: Form,
}

impl<'t> FieldPartOf<'t> {
    /// Returns a field that is printed once. Its format is what its template writes behind the colon, or empty without one.
    ///
    /// # Panics
    ///
    /// Panics if there is no such format, and says which field it is of; in a constant the compiler says so.
    #[must_use]
    #[track_caller]
    pub const fn new(field: usize, key: KeyTypeOf<'t>, source: &'t str) -> Self {
        match Format::parse(source) {
            Ok(format) => Self::printed(field, key, source, format),
            Err(mistake) => Message::new("the part of field ")
                .count(field)
                .text(" is printed as `")
                .text(source)
                .text("`: ")
                .mistake(mistake)
                .refuse(),
        }
    }

    /// Returns a field of which each element has a row.
    ///
    /// # Panics
    ///
    /// Panics if there is no such format, as [`new`](Self::new) does.
    #[must_use]
    #[track_caller]
    pub const fn each(field: usize, key: KeyTypeOf<'t>, source: &'t str) -> Self {
        Self { each: true, ..Self::new(field, key, source) }
    }

    /// Returns a field that is printed once, in a format that has been read.
    pub(super) const fn printed(
        field: usize,
        key: KeyTypeOf<'t>,
        source: &'t str,
        format: Format<'t>,
    ) -> Self {
        Self {
            field,
            key,
            source,
            format,
            each: false,
            version: 1,
            width: key_type::width(key, format),
            form: Form::of(key, format),
        }
    }

    /// Returns the field as one whose type prints in this version.
    #[must_use]
    pub const fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// Returns the part as its template writes it, where its field has this name: `{id:06}`.
    pub(crate) fn written(&self, name: &str) -> String {
        let each = if self.each { "[]" } else { "" };
        let colon = if self.source.is_empty() { "" } else { ":" };
        format!("{{{name}{each}{colon}{}}}", self.source)
    }

    /// Returns whether the key gives the value back.
    pub(crate) fn is_lossless(&self) -> bool {
        self.format.is_lossless() && !self.each
    }
}
