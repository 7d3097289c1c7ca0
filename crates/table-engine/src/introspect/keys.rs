//! Keys by fields, and fields by keys, as a layout says them.

use table_words::Format;
use uuid::Uuid;

use super::KindInfo;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EdmType, Value, ValueRef};
use crate::schema::{
    FieldPartOf, KeyTypeOf, LayoutIndex, LayoutKey, PartOf, edm, parse_parts, try_print_parts,
};

/// The keys of a kind's entities, or those of an index. Made by [`KindInfo::keys`].
///
/// Properties are named as rows have them, `LastName`. Where no property is called so, letters are compared without regard to
/// case and `_`, so that the field's name in the struct, `last_name`, will do mostly.
#[derive(Clone, Debug)]
pub struct KindKeys<'k> {
    kind: &'k KindInfo,
    index: Option<&'k LayoutIndex>,
    /// The names to which the parts of both keys refer.
    names: [Vec<Vec<&'k str>>; 2],
}

/// A property that stands in a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyFieldInfo {
    /// Its name.
    pub name: String,
    /// The type of what is given for it. Of a list it is that of an element.
    pub edm: EdmType,
    /// How it is printed, as a template writes it behind the colon: `06`.
    pub format: String,
    /// Whether it stands in the partition key.
    pub in_partition: bool,
    /// Whether there is a row for each element of it.
    pub each: bool,
    /// Whether the key gives the value back.
    pub is_whole: bool,
}

/// A property in a key, with what its part says.
struct Field<'k> {
    name: &'k str,
    part: FieldPartOf<'k>,
}

impl<'k> KindKeys<'k> {
    #[inline]
    pub(super) fn new(kind: &'k KindInfo, index: Option<&'k LayoutIndex>) -> Self {
        Self { kind, index, names: kind.layout.keys_of(index).map(LayoutKey::names) }
    }

    /// Returns the properties in the keys, each once, the partition key's first.
    #[inline]
    pub fn fields(&self) -> Vec<KeyFieldInfo> {
        let [partition, row] = self.parts();
        let in_partition = self.fields_of(&partition).len();
        let mut fields: Vec<KeyFieldInfo> = Vec::new();
        let all = self.fields_of(&partition).into_iter().chain(self.fields_of(&row));
        for (at, Field { name, part }) in all.enumerate() {
            let is_whole = part.format.is_lossless() && !part.each;
            match fields.iter_mut().find(|known| known.name == name) {
                // `{at:%Y}` in one key, and `{at:ticks}` in the other.
                Some(known) => known.is_whole |= is_whole,
                None => fields.push(KeyFieldInfo {
                    name: name.to_owned(),
                    edm: edm(part.key),
                    format: part.source.to_owned(),
                    in_partition: at < in_partition,
                    each: part.each,
                    is_whole,
                }),
            }
        }
        fields
    }

    /// Returns the partition key and the row key that these values of properties print.
    ///
    /// A property that is missing, that stands in no key, or that is given twice is [`InvalidKey`](ErrorKind::InvalidKey), and
    /// a value that its part can't print is what a write of it would be. Of a list an element is given. A token takes the keys
    /// of the store, so that such a key is [`Unsupported`](ErrorKind::Unsupported).
    #[inline]
    pub fn print(&self, values: &[(&str, Value)]) -> Result<(String, String)> {
        let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
        self.with_fields(&names, &|at, part, name| {
            let value = values.get(at).map(|(_, value)| value);
            let value = value.ok_or_else(|| Error::new(ErrorKind::InvalidKey))?;
            let (wanted, found) = (edm(part.key), value.edm_type());
            // An integer of either width will do, as in a struct.
            let are_integers = [wanted, found].iter().all(|of| matches!(of, EdmType::Int32 | EdmType::Int64));
            if wanted == found || are_integers {
                return Ok(value.clone());
            }
            let because = format!("`{name}` is of the type {wanted:?}, and was given as {found:?}");
            Err(Error::new(ErrorKind::ValueOutOfRange).because(because))
        })
    }

    /// Returns the partition key and the row key that these values print, which are given as text: numbers in decimal digits,
    /// times as `2014-07-31T18:00:00Z`, UUIDs with hyphens or without, truth values as `true` and `false`.
    ///
    /// Errors are those of [`print`](Self::print); text that is no value of its property's type is
    /// [`ValueOutOfRange`](ErrorKind::ValueOutOfRange).
    #[inline]
    pub fn print_text(&self, values: &[(&str, &str)]) -> Result<(String, String)> {
        let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
        self.with_fields(&names, &|at, part, name| {
            let text = values.get(at).map_or("", |(_, text)| *text);
            read_text(part, text).ok_or_else(|| {
                let because = format!("`{name}` is {}, which {text:?} is not", described(part));
                Error::new(ErrorKind::ValueOutOfRange).because(because)
            })
        })
    }

    /// Returns the properties that these keys say whole, and their values; `None` if they are not of this form.
    ///
    /// What is printed in part, as the day of a time, or folded, is not among them. Of a row for an element of a list it is the
    /// element.
    #[inline]
    pub fn read(&self, partition: &str, row: &str) -> Option<Vec<(String, Value)>> {
        let mut values: Vec<(String, Value)> = Vec::new();
        let mut agree = true;
        for (mut parts, key) in self.parts().into_iter().zip([partition, row]) {
            for part in &mut parts {
                if let PartOf::Field(part) = part {
                    part.each = false;
                }
            }
            let is_read = parse_parts(&parts, key, |place, value| {
                let name = self.kind.layout.properties.get(place).map_or("", |property| &*property.name);
                let Some(value) = value.as_value_ref().map(ValueRef::to_value) else { return };
                match values.iter().find(|(known, _)| known == name) {
                    Some((_, known)) => agree &= *known == value,
                    None => values.push((name.to_owned(), value)),
                }
            });
            is_read.then_some(())?;
        }
        agree.then_some(values)
    }

    fn parts(&self) -> [Vec<PartOf<'_>>; 2] {
        let [partition, row] = self.kind.layout.keys_of(self.index);
        let [of_partition, of_row] = &self.names;
        [partition.parts(&self.kind.layout, of_partition), row.parts(&self.kind.layout, of_row)]
    }

    fn fields_of<'p>(&'p self, parts: &[PartOf<'p>]) -> Vec<Field<'p>> {
        let properties = &self.kind.layout.properties;
        let field = |part: &PartOf<'p>| match part {
            PartOf::Field(part) => {
                let name = properties.get(part.field).map_or("", |property| &*property.name);
                Some(Field { name, part: *part })
            }
            PartOf::Literal(_) => None,
        };
        parts.iter().filter_map(field).collect()
    }

    /// Returns the keys that values print. They are given by these names; `value` makes the one of a name, by its number.
    fn with_fields(
        &self,
        names: &[&str],
        value: &dyn Fn(usize, &FieldPartOf<'_>, &str) -> Result<Value>,
    ) -> Result<(String, String)> {
        let refused = |e: Error| e.attempted("make a key for").table(self.kind.table());
        let parts = self.parts();
        let fields = parts.each_ref().map(|parts| self.fields_of(parts));
        let all: Vec<_> = fields.iter().flatten().collect();
        let given = self.given(names, &all).map_err(refused)?;
        let mut printed = parts.iter().zip(&fields).map(|(parts, fields)| {
            let mut values = Vec::with_capacity(fields.len());
            for field in fields {
                let at = given.iter().find(|(name, _)| *name == field.name).map_or(usize::MAX, |(_, at)| *at);
                values.push(value(at, &field.part, field.name)?);
            }
            let refs: Vec<_> = values.iter().map(Value::as_value_ref).collect();
            try_print_parts(parts, &refs).map_err(|(at, reason)| {
                let before =
                    parts.iter().take(at + 1).filter(|part| matches!(part, PartOf::Field(_))).count();
                let field = fields.get(before.saturating_sub(1));
                let name = field.map_or("the key", |field| field.name);
                let written = field.map_or_else(String::new, |field| field.part.written(name));
                reason.of_part(name, &written, &source(parts, fields))
            })
        });
        let (partition, row) = (printed.next(), printed.next());
        match (partition, row) {
            (Some(partition), Some(row)) => Ok((partition.map_err(refused)?, row.map_err(refused)?)),
            _ => Err(Error::new(ErrorKind::InvalidKey)),
        }
    }

    /// Returns the property that each name means, and the number of the name.
    fn given<'p>(&self, names: &[&str], all: &[&Field<'p>]) -> Result<Vec<(&'p str, usize)>> {
        let refuse = |because: String| Err(Error::new(ErrorKind::InvalidKey).because(because));
        let mut known: Vec<&str> = Vec::new();
        for field in all {
            if !known.contains(&field.name) {
                known.push(field.name);
            }
        }
        let listed = || match &known[..] {
            [] => "no property".to_owned(),
            known => known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and "),
        };
        let of = self.described();
        let mut given: Vec<(&str, usize)> = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            let alike = || {
                let mut alike = known.iter().filter(|known| folded(known).eq(folded(name)));
                alike.next().filter(|_| alike.next().is_none())
            };
            let Some(meant) = known.iter().find(|known| *known == name).or_else(alike) else {
                return refuse(format!("`{name}` stands in no key of {of}, which is made of {}", listed()));
            };
            if given.iter().any(|(known, _)| known == meant) {
                return refuse(format!("`{meant}` is given twice for a key of {of}"));
            }
            given.push((meant, at));
        }
        let is_missing = |name: &&&str| given.iter().all(|(known, _)| known != *name);
        let missing: Vec<_> = known.iter().filter(is_missing).map(|name| format!("`{name}`")).collect();
        if !missing.is_empty() {
            let (missing, is) = (missing.join(" and "), if missing.len() == 1 { "is" } else { "are" });
            return refuse(format!("a key of {of} is made of {}: {missing} {is} missing", listed()));
        }
        if let Some(token) = all.iter().find(|field| field.part.format == Format::Blind) {
            let because = format!(
                "`{}` stands in a key of {of} as a token, which takes the keys of the store: look it up by the struct",
                token.name
            );
            return Err(Error::new(ErrorKind::Unsupported).because(because));
        }
        Ok(given)
    }

    fn described(&self) -> String {
        let kind = self.kind.kind();
        self.index.map_or_else(|| format!("`{kind}`"), |index| format!("`{kind}.{}`", index.name))
    }
}

/// Returns the letters of a name by which names are alike.
fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase)
}

/// Returns the template of these parts.
fn source(parts: &[PartOf<'_>], fields: &[Field<'_>]) -> String {
    let mut fields = fields.iter();
    let piece = |part: &PartOf<'_>| match part {
        PartOf::Literal(text) => (*text).to_owned(),
        PartOf::Field(_) => fields.next().map_or_else(String::new, |field| field.part.written(field.name)),
    };
    parts.iter().map(piece).collect()
}

/// Returns the value that a text says, of the type of a part.
fn read_text(part: &FieldPartOf<'_>, text: &str) -> Option<Value> {
    Some(match part.key.single() {
        KeyTypeOf::Unsigned { .. } | KeyTypeOf::Signed { .. } => {
            let number: i64 = text.parse().ok()?;
            if edm(part.key) == EdmType::Int32 {
                Value::Int32(number.try_into().ok()?)
            } else {
                Value::Int64(number)
            }
        }
        KeyTypeOf::Uuid => Value::Guid(Uuid::parse_str(text).ok()?),
        KeyTypeOf::Bool => Value::Boolean(text.parse().ok()?),
        KeyTypeOf::Time => Value::DateTime(text.parse().ok()?),
        KeyTypeOf::Names(names) => {
            names.contains(&text).then_some(())?;
            Value::String(text.to_owned())
        }
        KeyTypeOf::Text(_) | KeyTypeOf::Optional(_) | KeyTypeOf::Each(_) => Value::String(text.to_owned()),
    })
}

/// Returns what a part takes, in words.
fn described(part: &FieldPartOf<'_>) -> String {
    match part.key.single() {
        KeyTypeOf::Unsigned { .. } => "a number from zero".to_owned(),
        KeyTypeOf::Signed { bits } => format!("a number of {bits} bits"),
        KeyTypeOf::Uuid => "a UUID".to_owned(),
        KeyTypeOf::Bool => "`true` or `false`".to_owned(),
        KeyTypeOf::Time => "a time such as `2014-07-31T18:00:00Z`".to_owned(),
        KeyTypeOf::Names(names) => {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("one of {}", names.join(", "))
        }
        KeyTypeOf::Text(_) | KeyTypeOf::Optional(_) | KeyTypeOf::Each(_) => "text".to_owned(),
    }
}
