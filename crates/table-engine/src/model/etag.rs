//! Versions of an entity.

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use super::text;
use super::ticks::{Text, Ticks};
use crate::hash::xxh3_64;

const PREFIX: &[u8; 12] = b"W/\"datetime'";
/// What a foreign one prints, which is read as the same again.
const FOREIGN_PREFIX: &str = "foreign'";

/// The version of a stored entity: it changes with every write, even one that changes nothing.
///
/// The store derives it from the entity's timestamp, as the service does, and writes it as the service does.
///
/// ```
/// use table_core::{ETag, Ticks};
///
/// let time: Ticks = "2026-11-20T20:37:52.6107149Z".parse()?;
/// let etag = ETag::from_timestamp(time);
/// assert_eq!(etag.to_string(), "W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"");
/// assert_eq!(etag.to_string().parse(), Ok(etag));
/// # Ok::<(), table_core::model::ParseTicksError>(())
/// ```
///
/// # ETags of others
///
/// A client may send whatever another store has given it, and means a version by it that is not stored here. So any text in
/// the form of an ETag is read, weak (`W/"..."`) or strong (`"..."`), and one that this store never gives is
/// [foreign](Self::is_foreign): it is the version of no entity. A change on that condition fails with
/// [`ConditionNotMet`](crate::ErrorKind::ConditionNotMet), or [`EntityNotFound`](crate::ErrorKind::EntityNotFound).
///
/// ```
/// use table_core::{DynamicEntity, ETag, ErrorKind, Store};
///
/// # let store = Store::temporary()?;
/// let company = store.create_table("Company")?;
/// let jones = DynamicEntity::new("Sales", "1");
/// company.insert(&jones)?;
///
/// let foreign: ETag = "W/\"0x8D101F7E4B662C4\"".parse()?;
/// assert!(foreign.is_foreign());
/// assert_eq!(company.replace(&jones, foreign).unwrap_err().kind(), ErrorKind::ConditionNotMet);
/// assert!("0x8D101F7E4B662C4".parse::<ETag>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A foreign ETag keeps a hash of its text, and not the text. It prints as another one, which is read as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ETag(u64);

/// What no number of ticks has: the other bits are the hash of a foreign text.
const FOREIGN: u64 = 1 << 63;

impl ETag {
    /// Bytes of the longest text of an ETag.
    pub const TEXT_BYTES: usize = 46;

    /// Returns the ETag of an entity that was last written at this time.
    pub const fn from_timestamp(timestamp: Ticks) -> Self {
        Self(timestamp.get())
    }

    /// Returns when the version was written. Of a [foreign](Self::is_foreign) one that is not known, and this is [`Ticks::MIN`].
    pub const fn timestamp(self) -> Ticks {
        match Ticks::new(self.0) {
            Some(timestamp) => timestamp,
            None => Ticks::MIN,
        }
    }

    /// Returns whether it is the version of no entity of this store or any other of this kind: it was read from a text that
    /// another kind of store has given.
    pub const fn is_foreign(self) -> bool {
        self.0 & FOREIGN != 0
    }

    /// Writes the text into a buffer, and returns it: what `Display` writes, without a formatter or an allocation.
    ///
    /// ```
    /// use table_core::{ETag, Ticks};
    ///
    /// let mut buffer = [0; ETag::TEXT_BYTES];
    /// let text = ETag::from_timestamp(Ticks::UNIX_EPOCH).encode(&mut buffer);
    /// assert_eq!(text, "W/\"datetime'1970-01-01T00%3A00%3A00.0000000Z'\"");
    /// ```
    #[inline]
    pub fn encode(self, buffer: &mut [u8; Self::TEXT_BYTES]) -> &str {
        if self.is_foreign() {
            return self.encode_foreign(buffer);
        }
        let Text { year, month, day, hour, minute, second, fraction } = self.timestamp().text();
        let ([y0, y1, y2, y3], [m0, m1], [d0, d1]) = (year, month, day);
        let ([h0, h1], [i0, i1], [s0, s1]) = (hour, minute, second);
        let [f0, f1, f2, f3, f4, f5, f6] = fraction;
        let [p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11] = *PREFIX;
        *buffer = [
            p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1,
            b'T', h0, h1, b'%', b'3', b'A', i0, i1, b'%', b'3', b'A', s0, s1, b'.', f0, f1, f2, f3, f4, f5,
            f6, b'Z', b'\'', b'"',
        ];
        text::of(buffer).unwrap_or_default()
    }

    #[cold]
    fn encode_foreign(self, buffer: &mut [u8; Self::TEXT_BYTES]) -> &str {
        let mut rest = &mut buffer[..];
        let whole = rest.len();
        let written = write!(rest, "W/\"{FOREIGN_PREFIX}{:016x}'\"", self.0);
        let left = if written.is_ok() { rest.len() } else { whole };
        buffer.get(..whole - left).and_then(text::of).unwrap_or_default()
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.encode(&mut [0; Self::TEXT_BYTES]))
    }
}

/// The text is not in the form of an ETag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseETagError(());

impl fmt::Display for ParseETagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not an ETag such as `W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"`: text in quotation marks, with `W/` before them or \
             without",
        )
    }
}

impl std::error::Error for ParseETagError {}

impl FromStr for ETag {
    type Err = ParseETagError;

    fn from_str(text: &str) -> Result<Self, ParseETagError> {
        // Versions are compared as the service does, to which all are weak.
        let quoted = text.strip_prefix("W/").unwrap_or(text);
        let opaque = quoted.strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"'));
        let opaque = opaque.ok_or(ParseETagError(()))?;
        if opaque.is_empty() || opaque.contains(|c: char| c == '"' || c.is_control()) {
            return Err(ParseETagError(()));
        }
        let known = own(opaque).or_else(|| printed_foreign(opaque));
        Ok(known.unwrap_or_else(|| Self(xxh3_64(opaque.as_bytes()) | FOREIGN)))
    }
}

/// Returns the version that this text is of, if it is what a version of a store prints: one version has one text.
fn own(opaque: &str) -> Option<ETag> {
    let time = opaque.strip_prefix("datetime'")?.strip_suffix('\'')?;
    let etag = ETag::from_timestamp(time.replace("%3A", ":").parse().ok()?);
    let mut buffer = [0; ETag::TEXT_BYTES];
    (etag.encode(&mut buffer).get(3..)?.strip_suffix('"')? == opaque).then_some(etag)
}

/// Returns the foreign version that prints as this text.
fn printed_foreign(opaque: &str) -> Option<ETag> {
    let hash = opaque.strip_prefix(FOREIGN_PREFIX)?.strip_suffix('\'')?;
    let is_printed = hash.len() == 16 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let number = u64::from_str_radix(hash, 16).ok().filter(|_| is_printed)?;
    (number & FOREIGN != 0).then_some(ETag(number))
}

/// What an operation on an existing entity demands of the version it finds.
///
/// ```
/// # use table_core::{ETag, IfMatch, Ticks};
/// # let etag = ETag::from_timestamp(Ticks::UNIX_EPOCH);
/// assert_eq!(IfMatch::from(etag), IfMatch::ETag(etag));
/// assert_eq!(IfMatch::from(&etag), IfMatch::ETag(etag));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// Whatever version is there: the service's `If-Match: *`. The last writer wins.
    Any,
    /// This version alone; any other fails with
    /// [`ConditionNotMet`](crate::ErrorKind::ConditionNotMet).
    ETag(ETag),
}

/// Reads the header `If-Match` as the service does: `*`, or an [ETag](ETag#etags-of-others).
///
/// ```
/// use table_core::IfMatch;
///
/// assert_eq!("*".parse(), Ok(IfMatch::Any));
/// assert!(matches!("\"1\"".parse(), Ok(IfMatch::ETag(etag)) if etag.is_foreign()));
/// assert!("yesterday".parse::<IfMatch>().is_err());
/// ```
impl FromStr for IfMatch {
    type Err = ParseETagError;

    fn from_str(text: &str) -> Result<Self, ParseETagError> {
        if text == "*" { Ok(Self::Any) } else { text.parse().map(Self::ETag) }
    }
}

/// What a change takes as its condition: an [`IfMatch`], or an [`ETag`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no condition of a change",
    label = "expected an `ETag`, or `IfMatch::Any`",
    note = "`Stored::etag(&found)` is the version of what was read; one that was kept as text is read by `text.parse::<ETag>()?`"
)]
pub trait IntoIfMatch: Into<IfMatch> {}

#[diagnostic::do_not_recommend]
impl<T: Into<IfMatch>> IntoIfMatch for T {}

impl From<ETag> for IfMatch {
    fn from(etag: ETag) -> Self {
        Self::ETag(etag)
    }
}

impl From<&ETag> for IfMatch {
    fn from(etag: &ETag) -> Self {
        Self::ETag(*etag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_second_keeps_its_seven_decimals() {
        let etag = ETag::from_timestamp(Ticks::UNIX_EPOCH);
        assert_eq!(etag.to_string(), "W/\"datetime'1970-01-01T00%3A00%3A00.0000000Z'\"");
        assert_eq!(etag.to_string().parse(), Ok(etag));
    }

    #[test]
    fn every_time_prints_as_the_parts_of_it() {
        let mut ticks = 0;
        while let Some(time) = Ticks::new(ticks) {
            let t = time.civil();
            let text = format!(
                "{:04}-{:02}-{:02}T{:02}%3A{:02}%3A{:02}.{:07}Z",
                t.year, t.month, t.day, t.hour, t.minute, t.second, t.fraction
            );
            let etag = ETag::from_timestamp(time);
            assert_eq!(etag.to_string(), format!("W/\"datetime'{text}'\""));
            assert_eq!(etag.to_string().parse(), Ok(etag));
            // Some 100,000 times, with digits of every kind.
            ticks += 31_234_567_890_123;
        }
        let last = ETag::from_timestamp(Ticks::MAX);
        assert_eq!(last.to_string(), "W/\"datetime'9999-12-31T23%3A59%3A59.9999999Z'\"");
        assert_eq!((last.to_string().parse(), last.timestamp()), (Ok(last), Ticks::MAX));
    }

    #[test]
    fn a_strong_etag_of_ours_is_the_version() {
        let etag = ETag::from_timestamp(Ticks::UNIX_EPOCH);
        assert_eq!("\"datetime'1970-01-01T00%3A00%3A00.0000000Z'\"".parse(), Ok(etag));
    }

    #[test]
    fn what_others_give_is_the_version_of_nothing() {
        let mut seen = Vec::new();
        for text in [
            "W/\"datetime''\"",
            "W/\"datetime'1970-01-01T00:00:00.0000000Z'\"",
            "W/\"datetime'1970-01-01T00%3A00%3A00Z'\"",
            "W/\"datetime'1970-01-01T00%3a00%3a00.0000000Z'\"",
            "W/\"datetime'yesterday, or so'\"",
            "W/\"0x8D101F7E4B662C4\"",
            "\"0x8D101F7E4B662C5\"",
            "\"1\"",
            "\"é\"",
            "W/\"foreign'8000000000000000'\"",
            "W/\"foreign'0000000000000000'\"",
            "W/\"foreign'800000000000000F'\"",
        ] {
            let etag: ETag = text.parse().unwrap();
            assert!(etag.is_foreign() && etag.timestamp() == Ticks::MIN, "{text}");
            assert_ne!(etag, ETag::from_timestamp(Ticks::MIN));
            assert_eq!(etag.to_string().parse(), Ok(etag), "{text}");
            assert!(!seen.contains(&etag), "{text}");
            seen.push(etag);
        }
        // Weak or strong, one text is one version.
        assert_eq!("W/\"1\"".parse::<ETag>(), "\"1\"".parse());
    }

    #[test]
    fn what_has_not_the_form_is_refused() {
        for text in [
            "",
            "*",
            "1",
            "W/",
            "\"",
            "\"\"",
            "W/\"\"",
            "W/1",
            "w/\"1\"",
            " \"1\"",
            "\"1\" ",
            "\"1",
            "1\"",
            "\"1\", \"2\"",
            "\"a\"b\"",
            "\"a\nb\"",
            "\"\u{7f}\"",
            "W/W/\"1\"",
            "W/\"datetime'1970-01-01T00%3A00%3A00.0000000Z'",
        ] {
            assert!(text.parse::<ETag>().is_err(), "{text}");
            assert_eq!(text.parse::<IfMatch>().is_err(), text != "*", "{text}");
        }
    }
}
