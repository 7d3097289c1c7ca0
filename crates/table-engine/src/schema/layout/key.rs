//! The key of a layout: a template whose parts name properties.

use std::fmt;

use table_words::Format;

use super::super::format::charset::CharSet;
use super::super::{FieldPartOf, KeyType, KeyTypeOf, PartOf, Template};
use super::Layout;

/// What stands between the property of a part of a key and the version of what its type prints.
pub(super) const PRINTS: char = '#';

/// A partition key or a row key.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutKey {
    pub(super) parts: Vec<KeyPart>,
}

/// A part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPart {
    /// Text that stands for itself.
    Literal(String),
    /// A property.
    Printed(Printed),
}

/// A property in a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) property: String,
    /// The version of what its type prints.
    pub(super) version: u32,
    /// Whether there is a row for each element.
    pub(super) each: bool,
    pub(super) values: KeyValues,
    /// The format, as a template writes it behind the colon.
    pub(super) source: String,
}

/// The kind of a key part's values, with the names that it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyValues {
    /// One that refers to nothing.
    Plain(KeyType),
    /// One of these names.
    Names(Vec<String>),
    /// Maybe nothing.
    Optional(Box<Self>),
    /// Any number of values.
    Each(Box<Self>),
}

impl LayoutKey {
    pub(super) const EMPTY: &'static Self = &Self { parts: Vec::new() };

    /// Returns the key that a declared template prints; `property` gives the names of its fields' properties.
    pub(super) fn of(template: &Template, property: &dyn Fn(usize) -> String) -> Self {
        let parts = template.parts.iter().map(|part| match part {
            PartOf::Literal(text) => KeyPart::Literal((*text).to_owned()),
            PartOf::Field(part) => KeyPart::Printed(Printed {
                property: property(part.field),
                version: part.version,
                each: part.each,
                values: KeyValues::of(part.key),
                source: part.source.to_owned(),
            }),
        });
        Self { parts: parts.collect() }
    }

    /// Returns the properties in the key.
    pub(super) fn printed(&self) -> impl Iterator<Item = &Printed> {
        self.parts.iter().filter_map(|part| match part {
            KeyPart::Printed(printed) => Some(printed),
            KeyPart::Literal(_) => None,
        })
    }

    /// Returns whether properties stand in it.
    #[doc(hidden)]
    pub fn prints_some(&self) -> bool {
        self.printed().next().is_some()
    }

    /// Returns whether it is known of the values of properties alone: no token stands in it, and no element of a list.
    #[doc(hidden)]
    pub fn prints_values(&self) -> bool {
        self.printed().all(|printed| printed.format() != Some(Format::Blind) && !printed.each)
    }

    /// Returns the key as a template writes it: `empid_{Id:06}`.
    pub(crate) fn source(&self) -> String {
        let mut source = String::new();
        for part in &self.parts {
            match part {
                KeyPart::Literal(text) => source.push_str(text),
                KeyPart::Printed(Printed { property, each, source: format, .. }) => {
                    let colon = if format.is_empty() { "" } else { ":" };
                    source.extend(["{", property, if *each { "[]" } else { "" }, colon, format, "}"]);
                }
            }
        }
        source
    }

    /// Returns, for each part, the names that may stand there: [`parts`](Self::parts) refers to them.
    #[doc(hidden)]
    pub fn names(&self) -> Vec<Vec<&str>> {
        self.parts.iter().map(KeyPart::names).collect()
    }

    /// Returns the parts as what parses, prints and compares keys takes them. Fields are the properties of the layout, by their
    /// places. Of an optional value or a list, they have the type of one value, by which alone keys are printed.
    #[doc(hidden)]
    pub fn parts<'l>(&'l self, layout: &Layout, names: &'l [Vec<&'l str>]) -> Vec<PartOf<'l>> {
        let part = |(part, names): (&'l KeyPart, &'l Vec<&'l str>)| match part {
            KeyPart::Literal(text) => Some(PartOf::Literal(text)),
            KeyPart::Printed(printed) => {
                let field = layout.place_of(&printed.property)?;
                let key = match printed.values.single() {
                    KeyValues::Plain(key) => *key,
                    _ => KeyTypeOf::Names(names),
                };
                let part = FieldPartOf::printed(field, key, &printed.source, printed.format()?);
                Some(PartOf::Field(FieldPartOf { each: printed.each, ..part.version(printed.version) }))
            }
        };
        self.parts.iter().zip(names).filter_map(part).collect()
    }
}

impl KeyPart {
    /// Returns the names that may stand in it.
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Printed(printed) => match printed.values.single() {
                KeyValues::Names(names) => names.iter().map(String::as_str).collect(),
                _ => Vec::new(),
            },
            Self::Literal(_) => Vec::new(),
        }
    }
}

impl Printed {
    /// Returns what the source of the format means; `None` if there is no such format.
    pub(super) fn format(&self) -> Option<Format<'_>> {
        Format::parse(&self.source).ok()
    }
}

impl KeyValues {
    fn of(key: KeyType) -> Self {
        match key {
            KeyTypeOf::Names(names) => Self::Names(names.iter().map(|name| (*name).to_owned()).collect()),
            KeyTypeOf::Optional(inner) => Self::Optional(Box::new(Self::of(*inner))),
            KeyTypeOf::Each(inner) => Self::Each(Box::new(Self::of(*inner))),
            plain => Self::Plain(plain),
        }
    }

    /// Returns the kind of one value.
    fn single(&self) -> &Self {
        let mut one = self;
        while let Self::Optional(inner) | Self::Each(inner) = one {
            one = inner;
        }
        one
    }
}

impl fmt::Display for LayoutKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                KeyPart::Literal(text) => write!(f, " {}", Quoted(text))?,
                KeyPart::Printed(printed) => write!(f, " {printed}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.property)?;
        if self.version != 1 {
            write!(f, "{PRINTS}{}", self.version)?;
        }
        write!(f, "{}{}", if self.each { "[]:" } else { ":" }, self.values)?;
        if self.source.is_empty() { Ok(()) } else { write!(f, ":{}", Quoted(&self.source)) }
    }
}

/// Text in quotes, in which `\` stands before a quote and before itself.
pub(super) struct Quoted<'t>(pub(super) &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            if matches!(c, '"' | '\\') {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        f.write_str("\"")
    }
}

impl fmt::Display for KeyValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(key) => plain(f, *key),
            Self::Names(names) => {
                f.write_str("names(")?;
                for (at, name) in names.iter().enumerate() {
                    write!(f, "{}{}", if at == 0 { "" } else { " " }, Quoted(name))?;
                }
                f.write_str(")")
            }
            Self::Optional(inner) => write!(f, "option({inner})"),
            Self::Each(inner) => write!(f, "each({inner})"),
        }
    }
}

/// Writes a type that refers to nothing.
fn plain(f: &mut fmt::Formatter<'_>, key: KeyType) -> fmt::Result {
    match key {
        KeyTypeOf::Unsigned { digits, .. } => f.write_str(match digits {
            3 => "u8",
            5 => "u16",
            10 => "u32",
            _ => "u64",
        }),
        KeyTypeOf::Signed { bits } => write!(f, "i{bits}"),
        KeyTypeOf::Text(set) if set == CharSet::ALL => f.write_str("text"),
        KeyTypeOf::Text(set) => {
            let ascii: String = (' '..='~').filter(|c| set.contains(*c)).collect();
            let beyond = if set.contains('\u{80}') { " and beyond" } else { "" };
            write!(f, "text({}{beyond})", Quoted(&ascii))
        }
        KeyTypeOf::Uuid => f.write_str("uuid"),
        KeyTypeOf::Bool => f.write_str("bool"),
        KeyTypeOf::Time => f.write_str("time"),
        // `KeyValues::of` makes none of these plain.
        KeyTypeOf::Names(_) | KeyTypeOf::Optional(_) | KeyTypeOf::Each(_) => Ok(()),
    }
}
