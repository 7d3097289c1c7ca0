//! Bodies of many parts, as batches and their answers are.

use std::fmt;

/// The most headers of a part: clients write six.
const HEADERS: usize = 64;

/// Why a body can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It does not end with its boundary.
    Unended,
    /// It has more parts than are taken.
    TooManyParts,
    /// A header is no name with a value.
    Header,
    /// A part has more headers than are taken.
    TooManyHeaders,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unended => "it does not end with its boundary",
            Self::TooManyParts => "it has too many parts",
            Self::Header => "a header can't be read",
            Self::TooManyHeaders => "a part has too many headers",
        })
    }
}

impl std::error::Error for Malformed {}

/// Returns the boundary that a type of many parts names.
#[must_use]
pub fn boundary_of(content_type: &str) -> Option<&str> {
    let (media_type, parameters) = content_type.split_once(';')?;
    if !media_type.trim().eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
    let boundary = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then_some(value.trim())
    })?;
    let boundary = boundary.strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"')).unwrap_or(boundary);
    (!boundary.is_empty() && boundary.len() <= 70 && boundary.is_ascii()).then_some(boundary)
}

/// Returns what stands between the lines of a boundary, without the end of the line before each: so many parts at most.
pub fn sections<'r>(body: &'r [u8], boundary: &str, most: usize) -> Result<Vec<&'r [u8]>, Malformed> {
    let mut sections = Vec::new();
    // Where the section begins that is being read, once the first boundary was met.
    let mut start: Option<usize> = None;
    let mut position = 0;
    while let Some(rest) = body.get(position..).filter(|rest| !rest.is_empty()) {
        let length = with_line_end(rest);
        let line = rest.get(..length).unwrap_or(rest);
        let next = position + length;
        if let Some(is_last) = is_boundary(line, boundary) {
            if let Some(start) = start {
                if sections.len() == most {
                    return Err(Malformed::TooManyParts);
                }
                sections.push(without_line_end(body.get(start..position).unwrap_or_default()));
            }
            if is_last {
                return Ok(sections);
            }
            start = Some(next);
        }
        position = next;
    }
    Err(Malformed::Unended)
}

/// Returns whether a line is the last of a boundary; `None` if it is none of it.
fn is_boundary(line: &[u8], boundary: &str) -> Option<bool> {
    let rest = line.strip_prefix(b"--")?.strip_prefix(boundary.as_bytes())?.trim_ascii_end();
    match rest {
        b"" => Some(false),
        b"--" => Some(true),
        _ => None,
    }
}

fn without_line_end(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// Returns how many bytes the next line has with its end.
fn with_line_end(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end.saturating_add(1))
}

/// Returns the next line, without its end, and what follows.
#[must_use]
pub fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (line, rest) = bytes.split_at_checked(with_line_end(bytes)).unwrap_or((bytes, b""));
    match line.strip_suffix(b"\n") {
        Some(line) => (line.strip_suffix(b"\r").unwrap_or(line), rest),
        None => (line, rest),
    }
}

/// Reads headers up to an empty line, or to the end. Returns them, and what follows.
#[allow(clippy::type_complexity, reason = "names and values, and the rest")]
pub fn head(mut bytes: &[u8]) -> Result<(Vec<(&str, &str)>, &[u8]), Malformed> {
    let mut headers = Vec::new();
    while !bytes.is_empty() {
        let (one, rest) = line(bytes);
        bytes = rest;
        if one.is_empty() {
            break;
        }
        let header = str::from_utf8(one).ok().and_then(|one| one.split_once(':'));
        let (name, value) = header.ok_or(Malformed::Header)?;
        if headers.len() == HEADERS {
            return Err(Malformed::TooManyHeaders);
        }
        headers.push((name.trim(), value.trim()));
    }
    Ok((headers, bytes))
}

/// Returns the value of the first header of this name.
#[must_use]
pub fn value_of<'r>(headers: &[(&'r str, &'r str)], name: &str) -> Option<&'r str> {
    headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_between_the_lines_of_the_boundary() {
        let body = b"before\r\n--b\r\nA: 1\r\n\r\none\r\n--b \r\n\r\n--bx\r\n--b--\r\nafter";
        assert_eq!(sections(body, "b", 2).unwrap(), [&b"A: 1\r\n\r\none"[..], b"\r\n--bx"]);
        assert_eq!(sections(body, "b", 1), Err(Malformed::TooManyParts));
        assert_eq!(sections(b"--b\r\n", "b", 1), Err(Malformed::Unended));
        assert_eq!(sections(b"--b--", "b", 0), Ok(Vec::new()));
    }

    #[test]
    fn headers_are_read_up_to_an_empty_line() {
        let (headers, rest) = head(b"ETag: W/\"a:b\"\nX:\r\n\r\nbody").unwrap();
        assert_eq!((value_of(&headers, "etag"), value_of(&headers, "x")), (Some("W/\"a:b\""), Some("")));
        assert_eq!((value_of(&headers, "y"), rest), (None, &b"body"[..]));
        assert_eq!(head(b"no header\n"), Err(Malformed::Header));
        assert_eq!(head(&b"a: b\n".repeat(65)), Err(Malformed::TooManyHeaders));
    }
}
