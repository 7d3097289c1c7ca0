//! The form of a text, by what it begins with.

use std::io::Read;

use super::header::Header;
use super::infer::Types;
use super::input::Input;
use super::json::{Objects, Within, string_end};
use super::{Csv, MOST_BYTES};
use crate::failure::Failure;

/// How the entities stand in a text.
#[derive(Debug)]
pub(super) enum Shape {
    /// An object of JSON a line.
    Lines,
    /// Objects of JSON in an array, or one after another.
    Objects(Objects),
    /// Records of CSV.
    Csv(Csv),
}

/// So much of a text is looked at: more than what stands before the entities of a page.
const LOOKED: usize = 1 << 16;

/// Finds out the form, and takes what stands before the first entity.
pub(super) fn shape<R: Read>(input: &mut Input<R>, types: Types) -> Result<Shape, Failure> {
    while input.bytes().len() < LOOKED && input.more()? {}
    match input.bytes() {
        [0xef, 0xbb, 0xbf, ..] => input.take(3),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            return Err(unreadable("the text is UTF-16: save it as UTF-8"));
        }
        [0x1f, 0x8b, ..] => return Err(unreadable("the file is compressed: unpack it first")),
        _ => {}
    }
    let blank = input.bytes().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    input.take(blank);
    match input.bytes() {
        [] => Ok(Shape::Lines),
        [b'[', ..] => {
            input.take(1);
            Ok(Shape::Objects(Objects { within: Within::Array }))
        }
        [b'{', ..] => Ok(of_objects(input)),
        [b'|', ..] => Err(unreadable("a table of Markdown does not keep its values: export another form")),
        bytes if bytes.contains(&0) => Err(unreadable("the file is no text")),
        _ => of_csv(input, types),
    }
}

fn of_objects<R: Read>(input: &mut Input<R>) -> Shape {
    if let Some(start) = page_start(input.bytes()) {
        input.take(start);
        return Shape::Objects(Objects { within: Within::Page });
    }
    let first = input.bytes().split(|byte| *byte == b'\n').next().unwrap_or_default();
    match first.trim_ascii_end() {
        // An object that goes on in the next line.
        [.., b'{' | b','] => Shape::Objects(Objects { within: Within::Nothing }),
        _ => Shape::Lines,
    }
}

/// Returns where the entities of a page begin, if the text is one: an object with an array `value`. An entity has no arrays.
fn page_start(text: &[u8]) -> Option<usize> {
    let skip_blank = |at: usize| {
        let rest = text.get(at..)?;
        Some(at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count())
    };
    let mut at = 1;
    loop {
        at = skip_blank(at)?;
        if text.get(at) != Some(&b'"') {
            return None;
        }
        let end = string_end(text, at + 1)?;
        let name = text.get(at + 1..end - 1)?;
        at = skip_blank(end)?;
        if text.get(at) != Some(&b':') {
            return None;
        }
        at = skip_blank(at + 1)?;
        match text.get(at)? {
            b'[' if name == b"value" => return Some(at + 1),
            b'"' => at = string_end(text, at + 1)?,
            b'[' | b'{' => return None,
            _ => at += text.get(at..)?.iter().position(|byte| matches!(byte, b',' | b'}'))?,
        }
        at = skip_blank(at)?;
        if text.get(at) != Some(&b',') {
            return None;
        }
        at += 1;
    }
}

fn of_csv<R: Read>(input: &mut Input<R>, types: Types) -> Result<Shape, Failure> {
    let length = loop {
        match memchr::memchr(b'\n', input.bytes()) {
            Some(at) => break at + 1,
            None if input.bytes().len() > MOST_BYTES => {
                return Err(unreadable(
                    "its first line is no object of JSON, and too long for the names of CSV",
                ));
            }
            None if !input.more()? => break input.bytes().len(),
            None => {}
        }
    };
    let header = Header::read(input.bytes().get(..length).unwrap_or_default()).map_err(unreadable)?;
    input.take(length);
    Ok(Shape::Csv(Csv::new(header, types)))
}

fn unreadable(why: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("cannot read the entities of the file: {why}"))
}
