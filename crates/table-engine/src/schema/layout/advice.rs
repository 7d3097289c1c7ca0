//! What a difference between a layout and a declaration takes, in words: for errors, and for tests that keep layouts.

use super::super::format::key_type::KeyType;
use super::super::{Field, Index, Part, Schema, Template};
use super::differences::{
    Subject, holds_what, is_renamed_again, may_lack, of_property, prints_anew, prints_as, renamed_to,
    same_index,
};
use super::{read, renamed, series};

/// Returns the lines that would mend a declaration by which stored rows can't be read, one for each difference that hinders.
pub(crate) fn advice(noted: &str, schema: &Schema) -> Vec<String> {
    let Some(noted) = read(noted, schema.kind) else { return Vec::new() };
    let mut lines = Vec::new();
    if noted.version > schema.version {
        lines.push(format!(
            "rows are of version {}, which the struct does not know: declare what it became, `version = {}`",
            noted.version, noted.version
        ));
        return lines;
    }
    if noted.version < schema.version {
        let (version, kind) = (noted.version, schema.kind);
        lines.push(format!(
            "rows are of version {version}: keep the struct that they were written by, with `#[entity(kind = \"{kind}\", \
             version = {version}, former)]`, and declare the next one with `version = {}, from = ..`",
            version + 1
        ));
        return lines;
    }
    if noted.signed && !schema.signed {
        lines.push("each row is signed: keep `signed`".to_owned());
    } else if schema.signed && !noted.signed {
        lines.push("rows that are there are not signed: leave `signed` out".to_owned());
    }
    if let Some((property, was, is)) = prints_anew(&noted, schema) {
        let version = noted.version;
        lines.push(format!(
            "what keys have of `{property}`, rows have: `KeyPart::VERSION` is {is}, and they were written by {was}. Keep the struct \
             that they were written by, with `#[entity(version = {version}, former)]` and a type that prints as before, and declare \
             the next one with `version = {}, from = ..`",
            version + 1
        ));
        return lines;
    }
    let (old, new) = (noted.place(), schema.place());
    for (what, old, new) in [("partition", &old.partition, &new.partition), ("row", &old.row, &new.row)] {
        lines.extend(key(what, &noted, old, schema, new));
    }
    for gone in noted.removed.iter().filter(|gone| of_property(schema, gone).is_some()) {
        lines.push(format!(
            "`{gone}` is to go, by another program: leave it out, or give the property another name"
        ));
    }
    lines.extend(renamed::misspelt(&noted, schema).iter().map(renamed::Misspelt::advice));
    properties(&noted, schema, &mut lines);
    if renamed::empties_copies(&noted, schema) {
        lines.extend(renamed::unclear(&noted, schema).iter().map(|unclear| unclear.advice(schema)));
    }
    lines
}

/// Returns what it takes to go on with a declaration where rows have a layout: the advice, the indexes that are to be made, and
/// the names that other programs have to know.
pub(crate) fn takes(noted: &str, schema: &'static Schema) -> Vec<String> {
    let mut lines = advice(noted, schema);
    let Some(noted) = read(noted, schema.kind) else {
        return vec!["the text is no layout: write it anew".to_owned()];
    };
    if let Some(version) = Some(noted.version).filter(|version| schema.previous_of(*version).is_some())
        && version < schema.version
    {
        return vec![format!(
            "version {version} becomes version {}: rows are converted when they are read, and `Store::migration` writes them \
             anew; programs of version {version} can write no more from then on",
            schema.version
        )];
    }
    if noted.version != schema.version {
        return lines;
    }
    let unclear = renamed::unclear(&noted, schema);
    lines.extend(
        unclear
            .iter()
            .map(|unclear| unclear.advice(schema))
            .filter(|line| !lines.contains(line))
            .collect::<Vec<_>>(),
    );
    for field in schema.fields {
        if let Some(old) = field.was.and_then(|was| of_property(&noted, was)) {
            lines.push(format!(
                "`{}` is called `{}`: both names are read; programs that don't know the new one can write no more",
                old.property, field.property
            ));
        }
    }
    for gone in schema.removed.iter().filter(|gone| !noted.removed.contains(gone)) {
        lines.push(format!(
            "`{gone}` goes: `Store::migration` removes its values; programs that declare it can write no more"
        ));
    }
    lines.extend(series::takes(&noted, schema));
    for index in schema.indexes {
        let name = index.name;
        match noted.indexes.iter().find(|known| known.name == name) {
            None => lines.push(format!("the index `{name}` is new: `Table::rebuild` makes its copies")),
            Some(known) if !same_index(&noted, known, schema, index) => {
                lines.push(format!(
                    "the copies of the index `{name}` change: `Table::rebuild` makes them anew"
                ));
            }
            Some(_) => {}
        }
    }
    let is_gone = |known: &&Index| schema.indexes.iter().all(|index| index.name != known.name);
    for index in noted.indexes.iter().filter(is_gone) {
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

/// Returns the words that make a declaration the next version of what is noted, or something else where there are no versions.
fn next_version(noted: &Schema, schema: &Schema) -> String {
    let (version, kind) = (noted.version, noted.kind);
    let copies = |schema: &Schema| !schema.copied.is_empty() || !schema.dependents.is_empty();
    if schema.periods().is_some() || [noted, schema].iter().any(|of| of.is_wide() || copies(of)) {
        return "or give the new declaration a table or a kind of its own".to_owned();
    }
    format!(
        "or make this the next version, `version = {}, from = ..`, and keep the struct as it was with `#[entity(kind = \"{kind}\", \
         version = {version}, former)]`",
        version + 1
    )
}

/// Returns what a template that prints other keys takes.
fn key(what: &str, noted: &Schema, old: &Template, schema: &Schema, new: &Template) -> Option<String> {
    if prints_as(noted, old, schema, new) {
        return None;
    }
    if let Some(line) = variant(old, new) {
        return Some(line);
    }
    // The property says what it was called, or the advice on it does.
    let names = |schema: &Schema, template: &Template| -> Vec<Option<&'static str>> {
        template.parts.iter().map(|part| property_of(schema, part)).collect()
    };
    let is_renamed = |name: Option<&str>| name.is_some_and(|name| of_property(schema, name).is_none());
    if names(noted, old).iter().any(|name| is_renamed(*name)) && old.parts.len() == new.parts.len() {
        return None;
    }
    Some(format!(
        "keep the template of the {what} key, `{}`, by which rows have theirs; {}",
        old.source,
        next_version(noted, schema)
    ))
}

fn property_of(schema: &Schema, part: &Part) -> Option<&'static str> {
    match part {
        Part::Field(part) => schema.fields.get(part.field).map(|field| field.property),
        Part::Literal(_) => None,
    }
}

/// Returns a name in keys that no variant has any more.
fn variant(old: &Template, new: &Template) -> Option<String> {
    let names = |part: &Part| match part {
        Part::Field(part) => match part.key {
            KeyType::Names(names) => Some(names),
            _ => None,
        },
        Part::Literal(_) => None,
    };
    old.parts.iter().zip(new.parts).find_map(|(was, is)| {
        let (was, is) = (names(was)?, names(is)?);
        let gone = was.iter().find(|name| !is.contains(name))?;
        Some(format!("give the variant `#[key_part(rename = \"{gone}\")]`, the name that keys of rows have"))
    })
}

fn properties(noted: &Schema, schema: &Schema, lines: &mut Vec<String>) {
    let wrong = renamed::misspelt(noted, schema);
    // A property that came where another one went may be the same.
    let mut came: Vec<&Field> = schema
        .fields
        .iter()
        .filter(|field| of_property(noted, field.property).is_none())
        .filter(|field| field.was.is_none_or(|was| of_property(noted, was).is_none()))
        .filter(|field| field.series.is_none() && !field.new)
        .filter(|field| !wrong.iter().any(|wrong| wrong.is_said_of(field)))
        // What a copy of another entity holds is called by its projection.
        .filter(|field| {
            schema.fields.iter().position(|of| of == *field).is_none_or(|at| !schema.is_copied(at))
        })
        .collect();
    let olds =
        noted.fields.iter().filter(|old| old.series.is_none() && !wrong.iter().any(|wrong| wrong.is_of(old)));
    for old in olds {
        let name = old.property;
        if let Some(new) = of_property(schema, name).or_else(|| renamed_to(schema, Subject::property(name))) {
            lines.extend(changed(noted, old, schema, new));
            continue;
        }
        if let Some(was) = old.was {
            came.retain(|field| field.property != was);
            lines.push(format!(
                "`{was}` is called `{name}`, and rows have either name: {}",
                renamed::both_names(schema, name, was)
            ));
            continue;
        }
        let same = |field: &&Field| field.edm == old.edm && field.encrypted == old.encrypted;
        match came.iter().position(same) {
            Some(at) if !old.encrypted => {
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
            None if may_lack(noted, Subject::property(name))
                || [schema.removed, noted.removed].iter().any(|gone| gone.contains(&name)) && !old.encrypted => {}
            None if old.encrypted => {
                lines.push(format!("keep the field of `{name}`: programs that don't know it could not move what it seals"));
            }
            None => lines.push(format!(
                "keep the field of `{name}` as an `Option` until no program declares it otherwise: those that do can't read \
                 rows without it"
            )),
        }
    }
    series::advice(noted, schema, lines);
    for new in came.into_iter().filter(|field| !field.optional) {
        lines.push(format!(
            "make the field `{}` an `Option`, or give it `#[property(default)]`: rows that are there have no `{}`",
            new.name, new.property
        ));
    }
}

/// Returns what a property that both have takes.
fn changed(noted: &Schema, old: &Field, schema: &Schema, new: &Field) -> Option<String> {
    let name = old.property;
    if let Some(was) = old.was.filter(|_| is_renamed_again(old, new)) {
        return Some(format!(
            "rows may still have `{name}` as `{was}`, and a property has one former name: keep the name that rows have, \
             `#[property(rename = \"{name}\", was = \"{was}\")]`, or make the struct another version"
        ));
    }
    if old.was.is_some() && old.was != new.was && of_one(old, new) {
        let was = old.was.unwrap_or_default();
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
            new.name,
            words_of(new.part)
        ));
    }
    if old.encrypted || new.encrypted {
        return Some(match (old.encrypted, new.encrypted) {
            (false, _) => format!(
                "say `#[encrypt(dual)]` of `{name}`, which is stored plain: that seals what is written from now on, and \
                 `Table::reencrypt` the rest"
            ),
            (_, false) => format!("keep `#[encrypt]` of `{name}`, which is stored sealed"),
            _ if new.dual && !old.dual && (old.scope, old.blind) == (new.scope, new.blind) => format!(
                "no row holds `{name}` plain any more: leave `dual` out; what is to be plain again is another property, which \
                 the program copies it to"
            ),
            _ => format!("keep the words of the `#[encrypt(..)]` of `{name}`, which is sealed otherwise"),
        });
    }
    if old.edm == new.edm {
        return Some(format!(
            "make the field `{}` an `Option`, or give it `#[property(default)]`: rows may lack `{name}`",
            new.name
        ));
    }
    Some(format!(
        "keep the type of `{name}`: rows hold {}, which is not read as {}; or call it otherwise, \
         `#[property(rename = \"..\", default)]`; {}",
        old.edm,
        new.edm,
        next_version(noted, schema)
    ))
}

/// Returns what a row of an entity is called: its head, or one of its parts.
fn words_of(part: usize) -> String {
    if part == 0 { "the head".to_owned() } else { format!("part {part}") }
}

fn of_one(old: &Field, new: &Field) -> bool {
    old.property == new.property
}
