//! The bytes of a text, with the place where the next ones stand.

use std::io::{self, Read};
use std::path::Path;

use memchr::{memchr, memchr_iter};

use super::super::files::failed;
use super::super::reject::Reject;
use crate::failure::Failure;

/// So many bytes are read at once at least.
const READ: usize = 1 << 18;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of bytes before it.
    pub(crate) offset: u64,
    /// The line, from 1.
    pub(crate) line: u64,
}

impl Place {
    /// Returns whether it comes before another one. What comes from no file has places by the number of its line alone.
    pub(crate) fn is_before(self, other: Self) -> bool {
        (self.offset, self.line) < (other.offset, other.line)
    }

    /// Returns the later one of two places.
    pub(crate) fn later(self, other: Self) -> Self {
        if self.is_before(other) { other } else { self }
    }
}

impl Default for Place {
    fn default() -> Self {
        Self { offset: 0, line: 1 }
    }
}

/// What comes next in a text.
#[derive(Debug)]
pub(super) enum Step {
    /// An entity, or nothing.
    Read,
    /// What is no entity; behind it the text goes on.
    Rejected(Reject),
    /// What is no entity; where the next one begins can't be told.
    Broken(Reject),
    /// The end.
    End,
}

/// The bytes of a text that have been read and not yet taken.
pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    place: Place,
}

impl<R> Input<R> {
    /// Returns what the bytes come from.
    pub(super) fn reader(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Says that what the bytes come from was moved to another place.
    pub(super) fn moved_to(&mut self, place: Place) {
        (self.from, self.to, self.place) = (0, 0, place);
    }

    /// Returns the place of the next byte.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Returns the bytes that have been read.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.from..self.to).unwrap_or_default()
    }

    /// Takes so many of the bytes that have been read.
    pub(super) fn take(&mut self, count: usize) {
        let count = count.min(self.to - self.from);
        let taken = self.buffer.get(self.from..self.from + count).unwrap_or_default();
        self.place.line += u64::try_from(memchr_iter(b'\n', taken).count()).unwrap_or_default();
        self.place.offset += u64::try_from(count).unwrap_or_default();
        self.from += count;
    }
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), from: 0, to: 0, place: Place::default() }
    }

    /// Reads more bytes behind those that are there; returns whether there were any.
    pub(super) fn more(&mut self) -> Result<bool, Failure> {
        if self.from > 0 {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        if self.buffer.len() - self.to < READ {
            // Twice as much, so that a long text is looked at a few times, and not once for each piece.
            self.buffer.resize((2 * self.to).max(READ) + READ, 0);
        }
        loop {
            let room = self.buffer.get_mut(self.to..).unwrap_or_default();
            match self.reader.read(room) {
                Ok(read) => {
                    self.to += read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed("read", Path::new("the file"), error)),
            }
        }
    }

    /// Takes the bytes up to the next line, however many they are.
    pub(super) fn take_line(&mut self) -> Result<(), Failure> {
        loop {
            if let Some(at) = memchr(b'\n', self.bytes()) {
                self.take(at + 1);
                return Ok(());
            }
            self.take(self.bytes().len());
            if !self.more()? {
                return Ok(());
            }
        }
    }
}

/// Returns the number of the character, from 1, that a byte of a text belongs to.
pub(super) fn column(text: &[u8], at: usize) -> u64 {
    let before = text.get(..at).unwrap_or(text);
    let count = String::from_utf8_lossy(before).chars().count();
    u64::try_from(count).unwrap_or_default() + 1
}
