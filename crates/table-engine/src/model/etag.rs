//! Versions of an entity.

use std::fmt;
use std::str::FromStr;

use super::Ticks;

const PREFIX: &str = "W/\"datetime'";
const SUFFIX: &str = "'\"";

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ETag(Ticks);

impl ETag {
    /// Returns the ETag of an entity that was last written at this time.
    pub const fn from_timestamp(timestamp: Ticks) -> Self {
        Self(timestamp)
    }

    /// Returns when the version was written.
    pub const fn timestamp(self) -> Ticks {
        self.0
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = self.0.civil();
        write!(
            f,
            "{PREFIX}{:04}-{:02}-{:02}T{:02}%3A{:02}%3A{:02}.{:07}Z{SUFFIX}",
            t.year, t.month, t.day, t.hour, t.minute, t.second, t.fraction
        )
    }
}

/// The text is not an ETag of this store or of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseETagError(());

impl fmt::Display for ParseETagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an ETag such as `W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"`")
    }
}

impl std::error::Error for ParseETagError {}

impl FromStr for ETag {
    type Err = ParseETagError;

    fn from_str(text: &str) -> Result<Self, ParseETagError> {
        let time = text
            .strip_prefix(PREFIX)
            .and_then(|text| text.strip_suffix(SUFFIX))
            .and_then(|text| text.replace("%3A", ":").parse().ok())
            .ok_or(ParseETagError(()))?;
        let etag = Self(time);
        // One version has one text: a second spelling would compare unequal elsewhere.
        if etag.to_string() == text { Ok(etag) } else { Err(ParseETagError(())) }
    }
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
    fn other_texts_are_refused() {
        for text in [
            "",
            "*",
            "W/\"datetime''\"",
            "W/\"datetime'1970-01-01T00:00:00.0000000Z'\"",
            "W/\"datetime'1970-01-01T00%3A00%3A00Z'\"",
            "\"datetime'1970-01-01T00%3A00%3A00.0000000Z'\"",
            "W/\"0x8D101F7E4B662C4\"",
        ] {
            assert!(text.parse::<ETag>().is_err(), "{text}");
        }
    }
}
