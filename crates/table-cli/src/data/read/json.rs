//! Objects of JSON: a line each, or one after another.

use std::io::Read;

use memchr::{memchr, memchr2};

use super::super::reject::Reject;
use super::MOST_BYTES;
use super::block::{Block, place_in};
use super::input::{Input, Step, column};
use crate::failure::Failure;

/// Reads the next line, which is an object or empty.
pub(super) fn line<R: Read>(input: &mut Input<R>, block: &mut Block) -> Result<Step, Failure> {
    let mut looked = 0;
    let length = loop {
        let bytes = input.bytes();
        if let Some(at) = memchr(b'\n', bytes.get(looked..).unwrap_or_default()) {
            break looked + at + 1;
        }
        looked = bytes.len();
        if looked > MOST_BYTES {
            break looked;
        }
        if !input.more()? {
            break looked;
        }
    };
    if length == 0 {
        return Ok(Step::End);
    }
    let line = input.place().line;
    if length > MOST_BYTES {
        input.take_line()?;
        return Ok(Step::Rejected(too_long(line, "the line")));
    }
    let text = input.bytes().get(..length).unwrap_or_default();
    let object = text.trim_ascii();
    let step = match object {
        [] => Step::Read,
        [b'{', .., b'}'] => {
            block.push(line, object);
            Step::Read
        }
        _ => Step::Rejected(mistake(line, text)),
    };
    input.take(length);
    Ok(step)
}

/// Returns what is wrong with a line that is no object.
fn mistake(line: u64, text: &[u8]) -> Reject {
    let start = text.len() - text.trim_ascii_start().len();
    let object = text.trim_ascii_start();
    match table_core::odata::Reader::new().entity(object) {
        Err(error) => {
            let at = start + error.position().unwrap_or_default().min(object.len());
            Reject { code: error.code(), ..Reject::text(line, Some(column(text, at)), error.reason()) }
        }
        Ok(_) => Reject::text(line, None, "the line is no object of JSON"),
    }
}

fn too_long(line: u64, what: &str) -> Reject {
    let mut reject = Reject::text(
        line,
        None,
        format!("{what} has more than {MOST_BYTES} bytes, which no entity of the largest size has"),
    );
    reject.code = "EntityTooLarge";
    reject
}

/// Objects one after another.
#[derive(Debug)]
pub(super) struct Objects {
    pub(super) within: Within,
}

/// What objects stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Nothing,
    /// An array.
    Array,
    /// The array of a page, which is an object.
    Page,
}

/// So many bytes may stand behind the array of a page.
const BEHIND: usize = 1 << 16;

impl Objects {
    /// Reads the next object.
    pub(super) fn next<R: Read>(&self, input: &mut Input<R>, block: &mut Block) -> Result<Step, Failure> {
        let first = loop {
            let bytes = input.bytes();
            let blank = bytes.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b',').count();
            let first = bytes.get(blank).copied();
            input.take(blank);
            if first.is_some() || !input.more()? {
                break first;
            }
        };
        let line = input.place().line;
        match first {
            None if self.within != Within::Nothing => {
                let text = "the text ends before the array of entities does: what stood behind is missing";
                Ok(Step::Broken(Reject::text(line, None, text)))
            }
            None => Ok(Step::End),
            Some(b']') if self.within != Within::Nothing => {
                input.take(1);
                self.end(input)
            }
            Some(b'{') => object(input, block, line),
            Some(_) => {
                let text = "expected an entity's object; nothing from here on was read";
                Ok(Step::Broken(Reject::text(line, None, text)))
            }
        }
    }
}

impl Objects {
    /// Looks at what stands behind the array, where there must be no entities.
    fn end<R: Read>(&self, input: &mut Input<R>) -> Result<Step, Failure> {
        while input.bytes().len() < BEHIND && input.more()? {}
        let is_end = match (self.within, input.bytes().trim_ascii()) {
            (Within::Array, []) | (Within::Page, [b'}']) => true,
            (Within::Page, behind @ [b',', .., b'}']) => {
                !behind.iter().any(|byte| matches!(byte, b'{' | b'['))
            }
            _ => false,
        };
        if is_end {
            input.take(input.bytes().len());
            return Ok(Step::End);
        }
        let text = "something stands behind the array of entities, and was not read";
        Ok(Step::Broken(Reject::text(input.place().line, None, text)))
    }
}

fn object<R: Read>(input: &mut Input<R>, block: &mut Block, line: u64) -> Result<Step, Failure> {
    let length = loop {
        match object_length(input.bytes()) {
            Some(length) => break Some(length),
            None if input.bytes().len() > MOST_BYTES => {
                return Ok(Step::Broken(too_long(line, "an object, or what stands in its place,")));
            }
            None if !input.more()? => break None,
            None => {}
        }
    };
    let Some(length) = length else {
        let bytes = input.bytes();
        let (line, column) = place_in(line, bytes, bytes.len());
        let text = "the text ends within an entity's object";
        let reject = Reject::text(line, Some(column), text);
        input.take(bytes.len());
        return Ok(Step::Broken(reject));
    };
    block.push(line, input.bytes().get(..length).unwrap_or_default());
    input.take(length);
    Ok(Step::Read)
}

/// Returns the length of the object that a text begins with; `None` if the text ends before it does.
pub(super) fn object_length(text: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        let rest = text.get(at..)?;
        at += rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))?;
        match text.get(at)? {
            b'"' => at = string_end(text, at + 1)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            _ => {
                depth = depth.saturating_sub(1);
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
    }
}

/// Returns the place behind the string whose first character stands here.
pub(super) fn string_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}
