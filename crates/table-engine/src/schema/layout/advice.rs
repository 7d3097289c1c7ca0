//! What a difference between a layout and a declaration takes, in words: for errors, and for tests that keep layouts.

use super::super::{Field, Schema};
use super::differences::{is_dispensable, is_renamed_again, renamed_to};
use super::key::{KeyPart, KeyValues, LayoutKey};
use super::property::LayoutProperty;
use super::same::{have_same_keys, holds_what, prints_anew, prints_as, same_index};
use super::{Layout, renamed, series};

/// Returns the lines that would mend a declaration by which stored rows can't be read, one for each difference that hinders.
pub(crate) fn advice(noted: &Layout, schema: &Schema) -> Vec<String> {
    let mut lines = Vec::new();
    let version = noted.version();
    if version > schema.version {
        lines.push(format!(
            "rows are of version {version}, which the struct does not know: declare what it became, `version = {version}`"
        ));
        return lines;
    }
    if version < schema.version {
        let kind = schema.kind;
        lines.push(format!(
            "rows are of version {version}: keep the struct that they were written by, with `#[entity(kind = \"{kind}\", \
             version = {version}, former)]`, and declare the next one with `version = {}, from = ..`",
            version + 1
        ));
        return lines;
    }
    if noted.is_signed() && !schema.signed {
        lines.push("each row is signed: keep `signed`".to_owned());
    } else if schema.signed && !noted.is_signed() {
        lines.push("rows that are there are not signed: leave `signed` out".to_owned());
    }
    let declared = Layout::of(schema);
    if let Some((property, was, is)) = prints_anew(noted, &declared) {
        lines.push(format!(
            "what keys have of `{property}`, rows have: `KeyPart::VERSION` is {is}, and they were written by {was}. Keep the struct \
             that they were written by, with `#[entity(version = {version}, former)]` and a type that prints as before, and declare \
             the next one with `version = {}, from = ..`",
            version + 1
        ));
        return lines;
    }
    let keys = [("partition", noted.partition(), declared.partition()), ("row", noted.row(), declared.row())];
    let compared = Compared { noted, schema, declared: &declared };
    for (what, old, new) in keys {
        lines.extend(compared.key(what, old, new));
    }
    for gone in noted.removed().filter(|gone| declared.property(gone).is_some()) {
        lines.push(format!(
            "`{gone}` is to go, by another program: leave it out, or give the property another name"
        ));
    }
    lines.extend(renamed::misspelt(noted, schema).iter().map(renamed::Misspelt::advice));
    compared.properties(&mut lines);
    if renamed::empties_copies(noted, schema) {
        lines.extend(renamed::unclear(noted, schema).iter().map(|unclear| unclear.advice(schema)));
    }
    lines
}

/// Returns what it takes to go on with a declaration where rows have a layout: the advice, the indexes that are to be made, and
/// the names that other programs have to know.
pub(crate) fn takes(noted: &Layout, schema: &Schema) -> Vec<String> {
    let mut lines = advice(noted, schema);
    if let Some(version) = Some(noted.version()).filter(|version| schema.previous_of(*version).is_some())
        && version < schema.version
    {
        return vec![format!(
            "version {version} becomes version {}: rows are converted when they are read, and `Store::migration` writes them \
             anew; programs of version {version} can write no more from then on",
            schema.version
        )];
    }
    if noted.version() != schema.version {
        return lines;
    }
    let declared = Layout::of(schema);
    let unclear = renamed::unclear(noted, schema);
    lines.extend(
        unclear
            .iter()
            .map(|unclear| unclear.advice(schema))
            .filter(|line| !lines.contains(line))
            .collect::<Vec<_>>(),
    );
    for field in schema.fields {
        if let Some(old) = field.was.and_then(|was| noted.property(was)) {
            lines.push(format!(
                "`{}` is called `{}`: both names are read; programs that don't know the new one can write no more",
                old.name, field.property
            ));
        }
    }
    for gone in schema.removed.iter().filter(|gone| noted.removed().all(|known| known != **gone)) {
        lines.push(format!(
            "`{gone}` goes: `Store::migration` removes its values; programs that declare it can write no more"
        ));
    }
    lines.extend(series::takes(noted, schema));
    for index in declared.indexes() {
        let name = &index.name;
        match noted.index(name) {
            None => lines.push(format!("the index `{name}` is new: `Table::rebuild` makes its copies")),
            Some(known) if !same_index(noted, known, &declared, index) => {
                lines.push(format!(
                    "the copies of the index `{name}` change: `Table::rebuild` makes them anew"
                ));
            }
            Some(_) => {}
        }
    }
    for index in noted.indexes().filter(|known| declared.index(&known.name).is_none()) {
        lines.push(format!(
            "the index `{0}` is gone: `Table::drop_index(\"{0}\")` removes its copies",
            index.name
        ));
    }
    if lines.is_empty() {
        lines.push("nothing: rows that are there are read as they are".to_owned());
    }
    lines
}

/// What is noted of a kind, beside its declaration.
struct Compared<'c> {
    noted: &'c Layout,
    schema: &'c Schema,
    declared: &'c Layout,
}

impl Compared<'_> {
    /// Returns the words that make a declaration the next version of what is noted, or something else where there are no versions.
    fn next_version(&self) -> String {
        let Self { noted, schema, declared } = *self;
        let (version, kind) = (noted.version(), &noted.kind);
        let has_copies =
            |layout: &Layout| layout.copied().next().is_some() || layout.dependents().next().is_some();
        let is_wide = schema.is_wide() || noted.parts() > 0;
        if schema.periods().is_some() || is_wide || has_copies(noted) || has_copies(declared) {
            return "or give the new declaration a table or a kind of its own".to_owned();
        }
        format!(
            "or make this the next version, `version = {}, from = ..`, and keep the struct as it was with `#[entity(kind = \"{kind}\", \
             version = {version}, former)]`",
            version + 1
        )
    }

    /// Returns what a key takes that prints other texts than it did.
    fn key(&self, what: &str, old: &LayoutKey, new: &LayoutKey) -> Option<String> {
        let Self { noted, declared, .. } = *self;
        if prints_as(noted, old, declared, new) {
            return None;
        }
        if let Some(line) = variant(old, new) {
            return Some(line);
        }
        // The property says what it was called, or the advice on it does.
        let is_renamed =
            |name: &str| noted.named(name).is_some_and(|old| declared.property(&old.name).is_none());
        if old.printed().any(|printed| is_renamed(&printed.property)) && old.parts.len() == new.parts.len() {
            return None;
        }
        Some(format!(
            "keep the template of the {what} key, `{}`, by which rows have theirs; {}",
            old.source(),
            self.next_version()
        ))
    }

    /// Adds what the properties take.
    fn properties(&self, lines: &mut Vec<String>) {
        let Self { noted, schema, declared } = *self;
        let wrong = renamed::misspelt(noted, schema);
        let is_noted = |name: &str| noted.property(name).is_some();
        // A property that came where another one went may be the same.
        let mut came: Vec<&Field> = schema
            .fields
            .iter()
            .filter(|field| !is_noted(field.property))
            .filter(|field| field.was.is_none_or(|was| !is_noted(was)))
            .filter(|field| field.series.is_none() && !field.new)
            .filter(|field| !wrong.iter().any(|wrong| wrong.is_said_of(field)))
            // What a copy of another entity holds is called by its projection.
            .filter(|field| {
                schema.fields.iter().position(|of| of == *field).is_none_or(|at| !schema.is_copied(at))
            })
            .collect();
        for old in noted.single_properties().filter(|old| !wrong.iter().any(|wrong| wrong.is_of(old))) {
            let name = &*old.name;
            if let Some(new) = declared.property(name).or_else(|| renamed_to(declared, name)) {
                lines.extend(self.changed(old, new));
                continue;
            }
            if let Some(was) = old.was.as_deref() {
                came.retain(|field| field.property != was);
                lines.push(format!(
                    "`{was}` is called `{name}`, and rows have either name: {}",
                    renamed::both_names(schema, name, was)
                ));
                continue;
            }
            let same = |field: &&Field| field.edm == old.edm && field.encrypted == old.sealed.is_some();
            match came.iter().position(same) {
                Some(at) if old.sealed.is_none() => {
                    let new = came.remove(at);
                    lines.push(format!(
                        "if `{name}` is what `{}` holds now: `#[property(was = \"{name}\")]` reads rows under both names, and \
                         `#[property(rename = \"{name}\")]` keeps the name",
                        new.name
                    ));
                }
                Some(at) => {
                    let new = came.remove(at);
                    lines.push(format!(
                        "if `{name}` is what `{}` holds now: `#[property(rename = \"{name}\")]` keeps the name, under which alone \
                         sealed values open",
                        new.name
                    ));
                }
                None if is_dispensable(old)
                    || old.sealed.is_none()
                        && declared.removed().chain(noted.removed()).any(|gone| gone == name) => {}
                None if old.sealed.is_some() => {
                    lines.push(format!("keep the field of `{name}`: programs that don't know it could not move what it seals"));
                }
                None => lines.push(format!(
                    "keep the field of `{name}` as an `Option` until no program declares it otherwise: those that do can't read \
                     rows without it"
                )),
            }
        }
        series::advice(noted, schema, declared, lines);
        for new in came.into_iter().filter(|field| !field.optional) {
            lines.push(format!(
                "make the field `{}` an `Option`, or give it `#[property(default)]`: rows that are there have no `{}`",
                new.name, new.property
            ));
        }
    }

    /// Returns what a property that both have takes.
    fn changed(&self, old: &LayoutProperty, new: &LayoutProperty) -> Option<String> {
        let name = &old.name;
        let mut fields = self.schema.fields.iter();
        let field = fields.find(|field| field.property == new.name).map_or("", |field| field.name);
        if let Some(was) = old.was.as_ref().filter(|_| is_renamed_again(old, new)) {
            return Some(format!(
                "rows may still have `{name}` as `{was}`, and a property has one former name: keep the name that rows have, \
                 `#[property(rename = \"{name}\", was = \"{was}\")]`, or make the struct another version"
            ));
        }
        if let Some(was) = &old.was
            && old.was != new.was
            && old.name == new.name
        {
            return Some(format!("rows may still have `{name}` as `{was}`: `#[property(was = \"{was}\")]`"));
        }
        if holds_what(old, new) {
            return None;
        }
        if old.part != new.part {
            return Some(format!(
                "rows hold `{name}` in {}, and the field `{}` lies in {}: fields stay in the row that they were written in; move the \
                 `#[part]`s back, so that it does, and put new fields into the last part",
                words_of(old.part),
                field,
                words_of(new.part)
            ));
        }
        if old.sealed.is_some() || new.sealed.is_some() {
            return Some(match (old.sealed, new.sealed) {
                (None, _) => format!(
                    "say `#[encrypt(dual)]` of `{name}`, which is stored plain: that seals what is written from now on, and \
                     `Table::reencrypt` the rest"
                ),
                (_, None) => format!("keep `#[encrypt]` of `{name}`, which is stored sealed"),
                (Some(was), Some(is)) if is.dual && !was.dual && have_same_keys(old, new) => format!(
                    "no row holds `{name}` plain any more: leave `dual` out; what is to be plain again is another property, which \
                     the program copies it to"
                ),
                _ => format!("keep the words of the `#[encrypt(..)]` of `{name}`, which is sealed otherwise"),
            });
        }
        if old.edm == new.edm {
            return Some(format!(
                "make the field `{field}` an `Option`, or give it `#[property(default)]`: rows may lack `{name}`"
            ));
        }
        Some(format!(
            "keep the type of `{name}`: rows hold {}, which is not read as {}; or call it otherwise, \
             `#[property(rename = \"..\", default)]`; {}",
            old.edm,
            new.edm,
            self.next_version()
        ))
    }
}

/// Returns a name in keys that no variant has any more.
fn variant(old: &LayoutKey, new: &LayoutKey) -> Option<String> {
    let names = |part: &KeyPart| match part {
        KeyPart::Printed(printed) => match &printed.values {
            KeyValues::Names(names) => Some(names.clone()),
            _ => None,
        },
        KeyPart::Literal(_) => None,
    };
    old.parts.iter().zip(&new.parts).find_map(|(was, is)| {
        let (was, is) = (names(was)?, names(is)?);
        let gone = was.iter().find(|name| !is.contains(name))?;
        Some(format!("give the variant `#[key_part(rename = \"{gone}\")]`, the name that keys of rows have"))
    })
}

/// Returns what a row of an entity is called: its head, or one of its parts.
fn words_of(part: usize) -> String {
    if part == 0 { "the head".to_owned() } else { format!("part {part}") }
}
