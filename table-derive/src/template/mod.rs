//! Key templates: literals to parts.
//!
//! A template reads like a `format!` string: literal text, and fields in braces with an optional format.
//! A message about it quotes the piece and its column: a literal is one token, and a stable compiler has no spans
//! inside of it.

#[cfg(test)]
mod tests;

use proc_macro2::Span;
use syn::LitStr;
pub(crate) use table_words::Format;
use table_words::format::{Mistake, WORDS};

use crate::ctxt::Ctxt;
use crate::suggest;

/// A key template with its parts.
pub(crate) struct Template {
    /// As written. Every message about a part stands here: there is no smaller token.
    pub(crate) literal: LitStr,
    /// Its parts. No two literals are neighbours.
    pub(crate) parts: Vec<Part>,
    /// Whether nothing is missing from the parts. Always true when the expansion sees it.
    pub(crate) sound: bool,
}

impl Template {
    /// Reads a template; `None` stands for one that has been found missing.
    pub(crate) fn read(cx: &Ctxt, literal: Option<LitStr>, entity: &syn::Ident, fields: &[&str]) -> Self {
        let Some(literal) = literal else {
            return Self { literal: LitStr::new("", entity.span()), parts: Vec::new(), sound: false };
        };
        let (parts, errors) = parse(&literal.value(), &entity.to_string(), fields);
        for error in &errors {
            cx.error(literal.span(), error);
        }
        Self { literal, parts, sound: errors.is_empty() }
    }

    /// Returns the template with a text behind it.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Self {
        let mut parts = self.parts.clone();
        match parts.last_mut() {
            Some(Part::Literal(text)) => text.push_str(suffix),
            _ => parts.push(Part::Literal(suffix.to_owned())),
        }
        let literal = LitStr::new(&format!("{}{suffix}", self.literal.value()), self.literal.span());
        Self { literal, parts, sound: self.sound }
    }

    /// Returns where it stands.
    pub(crate) fn span(&self) -> Span {
        self.literal.span()
    }

    /// Returns the template's text, as written.
    pub(crate) fn source(&self) -> String {
        self.literal.value()
    }

    /// Returns the parts that are fields, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &FieldPart> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field(field) => Some(field),
            Part::Literal(_) => None,
        })
    }

    /// Returns whether this field can be read back from the key, as far as formats tell.
    pub(crate) fn gives_back(&self, field: usize) -> bool {
        self.fields().any(|part| part.field == field && part.gives_back())
    }
}

/// Returns the distinct fields of these templates in order of first occurrence: the arguments of a key's constructor.
pub(crate) fn arguments(templates: &[&Template]) -> Vec<usize> {
    let mut fields = Vec::new();
    for part in templates.iter().copied().flat_map(Template::fields) {
        if !fields.contains(&part.field) {
            fields.push(part.field);
        }
    }
    fields
}

/// A part of a key template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// Text that stands for itself, braces unescaped. Never empty, and never next to another literal.
    Literal(String),
    /// A field.
    Field(FieldPart),
}

/// A field in a key template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldPart {
    /// Its place among the fields of the entity.
    pub(crate) field: usize,
    /// Written `{v[]}`: one row for each element.
    pub(crate) each: bool,
    /// Its format: what stands behind the colon, or nothing.
    pub(crate) source: String,
    /// The part as the user wrote it, braces included.
    pub(crate) piece: String,
    /// Where it begins in the template, counting characters from 1.
    pub(crate) column: usize,
}

impl FieldPart {
    /// Returns what its format means.
    pub(crate) fn format(&self) -> Format<'_> {
        // The text was read when the part was made.
        Format::parse(&self.source).unwrap_or(Format::Plain)
    }

    /// Returns whether the field can be read back from the key, as far as the format tells: its type may yet lose something.
    pub(crate) fn gives_back(&self) -> bool {
        !self.each && self.format().is_lossless()
    }

    /// Returns whether every row with the part has the field: the key gives it back, or has lost so much of it that it is
    /// stored beside.
    pub(crate) fn is_held(&self) -> bool {
        !self.each && self.format() != Format::Lower
    }

    /// Returns where the part stands and what it is, for the start of a message.
    pub(crate) fn place(&self) -> String {
        place(&self.piece, self.column)
    }
}

/// Returns every message about a piece starts with this.
fn place(piece: &str, column: usize) -> String {
    format!("`{piece}` at column {column}")
}

/// Reads what follows the colon in `{field:..}`, and returns it as declarations have it.
fn source(text: &str, field: &str) -> Result<String, String> {
    let format = if text.is_empty() { Err(Mistake::Missing) } else { Format::parse(text) };
    match format {
        // A layout has the number, however many zeros were written before it.
        Ok(Format::Shard(shards)) => Ok(format!("shard({shards})")),
        Ok(_) => Ok(text.to_owned()),
        Err(mistake) => Err(meant_format(mistake).unwrap_or_else(|| mistake.message(field))),
    }
}

/// Returns what to say of a word that is no format, if one is near enough.
fn meant_format(mistake: Mistake<'_>) -> Option<String> {
    let Mistake::Unknown(word) = mistake else { return None };
    let meant = match word {
        // What other libraries call it.
        "reverse" | "reversed" | "rev" | "desc" | "descending" => "inverted",
        "lowercase" => "lower",
        "escape" | "encoded" => "escaped",
        _ => suggest::nearest(word, WORDS)?,
    };
    Some(format!("unknown format `{word}`; did you mean `{meant}`?"))
}

/// Returns the parts that could be understood, and what is wrong with the others.
pub(crate) fn parse(text: &str, entity: &str, fields: &[&str]) -> (Vec<Part>, Vec<String>) {
    let mut parser = Parser {
        entity,
        fields,
        rest: text,
        column: 1,
        literal: String::new(),
        parts: Vec::new(),
        errors: Vec::new(),
    };
    parser.run();
    (parser.parts, parser.errors)
}

struct Parser<'a> {
    entity: &'a str,
    fields: &'a [&'a str],
    rest: &'a str,
    column: usize,
    /// The literal text since the last field.
    literal: String,
    parts: Vec<Part>,
    errors: Vec<String>,
}

impl<'a> Parser<'a> {
    fn run(&mut self) {
        while let Some(at) = self.rest.find(['{', '}']) {
            let text = self.take(at);
            self.literal.push_str(text);
            if self.rest.starts_with("{{") {
                self.take(2);
                self.literal.push('{');
            } else if self.rest.starts_with("}}") {
                self.take(2);
                self.literal.push('}');
            } else if self.rest.starts_with('}') {
                let place = place("}", self.column);
                self.errors.push(format!(
                    "{place} was never opened; a brace that stands for itself is written `}}}}`"
                ));
                self.take(1);
            } else {
                self.field();
            }
        }
        let text = self.take(self.rest.len());
        self.literal.push_str(text);
        self.flush();
    }

    /// The field that the rest starts with.
    fn field(&mut self) {
        let column = self.column;
        let Some((end, '}')) = self.rest.char_indices().skip(1).find(|(_, c)| matches!(c, '{' | '}')) else {
            let place = place("{", column);
            self.errors
                .push(format!("{place} is never closed; a brace that stands for itself is written `{{{{`"));
            self.take(1);
            return;
        };
        let piece = self.take(end + 1);
        let inner = piece.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or_default();
        let part = self.part(inner).or_else(|what| {
            self.errors.push(format!("{}: {what}", place(piece, column)));
            self.meant(inner).ok_or(())
        });
        if let Ok((field, each, source)) = part {
            self.flush();
            self.parts.push(Part::Field(FieldPart { field, each, source, piece: piece.to_owned(), column }));
        }
    }

    /// Returns the part that a wrong one was most likely meant to be: a stub with as many parts fits the calls that are right.
    fn meant(&self, inner: &str) -> Option<(usize, bool, String)> {
        let name = inner.split([':', '[']).next().unwrap_or_default().trim();
        let name = suggest::nearest(name, self.fields.iter().copied())?;
        let field = self.fields.iter().position(|field| *field == name)?;
        Some((field, inner.contains('['), String::new()))
    }

    /// Returns what stands between two braces.
    fn part(&self, inner: &str) -> Result<(usize, bool, String), String> {
        let (field, format) = match inner.split_once(':') {
            Some((field, format)) => (field, Some(format)),
            None => (inner, None),
        };
        let (name, each) = match field.split_once('[') {
            Some((name, "]")) => (name, true),
            Some((name, _)) => return Err(format!("a row for each element is written `{{{name}[]}}`")),
            None => (field, false),
        };
        let found = self.find(name)?;
        let source = format.map_or(Ok(String::new()), |format| source(format, name))?;
        Ok((found, each, source))
    }

    /// The place of the field of this name.
    // C1: a template names fields of the struct.
    fn find(&self, name: &str) -> Result<usize, String> {
        if let Some(found) = self.fields.iter().position(|field| *field == name) {
            return Ok(found);
        }
        if name.is_empty() {
            return Err("a part names a field of the struct".to_owned());
        }
        if name.starts_with(char::is_whitespace) || name.ends_with(char::is_whitespace) {
            return Err("a part has no spaces".to_owned());
        }
        if let Some(meant) = name.strip_prefix("self.") {
            return Err(format!("a part names a field without `self`: write `{{{meant}}}`"));
        }
        if name.contains('.') {
            return Err("a part names a field of the struct itself, not one inside a field".to_owned());
        }
        let hint = suggest::hint(name, self.fields.iter().copied());
        Err(format!("`{}` has no field `{name}`{hint}", self.entity))
    }

    /// Takes so many bytes off the rest.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.column += taken.chars().count();
        taken
    }

    /// Ends the literal text, if there is any.
    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(Part::Literal(std::mem::take(&mut self.literal)));
        }
    }
}
