//! Headers that say what a request means.

use table_core::IfMatch;
use table_core::odata::Metadata;

use crate::exchange::Request;
use crate::fault::Fault;

/// Returns the method of a request: the one that `X-HTTP-Method` names, if it is a POST and has one.
#[must_use]
pub fn method(request: &Request) -> &str {
    tunnelled(request.head.method.as_str(), request.header("x-http-method"))
}

/// Returns the method that a header names in place of a POST.
#[must_use]
pub fn tunnelled<'r>(method: &'r str, header: Option<&'r str>) -> &'r str {
    match header {
        Some(named) if method == "POST" => named.trim(),
        _ => method,
    }
}

/// Reads `If-Match`.
pub fn if_match(header: Option<&str>) -> Result<Option<IfMatch>, Fault> {
    let parsed = header.map(|text| text.trim().parse::<IfMatch>());
    parsed.transpose().map_err(|_| {
        Fault::invalid_input(
            "The etag value specified in one of the request headers is not valid. Please make sure only one etag value is \
             specified and is valid.",
        )
    })
}

/// What a sender prefers as the answer to an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefer {
    /// No preference is said.
    Nothing,
    /// The entity is to be in the answer.
    Content,
    /// No entity is to be in it.
    NoContent,
}

impl Prefer {
    /// Reads `Prefer`.
    #[must_use]
    pub fn read(header: Option<&str>) -> Self {
        match header.map(str::trim) {
            Some("return-content") => Self::Content,
            Some("return-no-content") => Self::NoContent,
            _ => Self::Nothing,
        }
    }

    /// Returns what `Preference-Applied` says of it.
    #[must_use]
    pub fn applied(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Content => Some("return-content"),
            Self::NoContent => Some("return-no-content"),
        }
    }
}

/// Returns how much metadata an answer has: by `$format`, else by `Accept`, whose first type of JSON counts.
pub fn metadata(accept: Option<&str>, format: Option<&str>) -> Result<Metadata, Fault> {
    let Some(text) = format.or(accept) else { return Ok(Metadata::Minimal) };
    let mut types = text.split(',').filter_map(|media| {
        let mut parts = media.split(';').map(|part| part.trim().to_ascii_lowercase());
        let name = parts.next()?;
        if !matches!(name.as_str(), "application/json" | "json" | "*/*" | "application/*" | "") {
            return None;
        }
        let level = parts.find_map(|part| part.strip_prefix("odata=").map(str::to_owned));
        match level.as_deref() {
            None | Some("minimalmetadata") => Some(Metadata::Minimal),
            Some("nometadata") => Some(Metadata::None),
            Some("fullmetadata") => Some(Metadata::Full),
            Some(_) => None,
        }
    });
    match types.next() {
        Some(level) => Ok(level),
        // XML is what clients ask for who take the properties of the service; those have no levels.
        None if text.contains("xml") => Ok(Metadata::Minimal),
        None => Err(Fault::media_type_not_supported()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_metadata_are_read_by_format_and_accept() {
        let read = |accept, format| metadata(accept, format).map_err(|fault| fault.status);
        assert_eq!(read(None, None), Ok(Metadata::Minimal));
        assert_eq!(read(Some("*/*"), None), Ok(Metadata::Minimal));
        assert_eq!(read(Some("application/json;odata=nometadata"), None), Ok(Metadata::None));
        assert_eq!(read(Some("text/html, application/json; OData=FullMetadata"), None), Ok(Metadata::Full));
        assert_eq!(
            read(Some("application/json;odata=fullmetadata"), Some("application/json;odata=nometadata")),
            Ok(Metadata::None)
        );
        assert_eq!(read(Some("application/xml"), None), Ok(Metadata::Minimal));
        assert_eq!(read(Some("text/csv"), None), Err(415));
        assert_eq!(read(Some("application/json;odata=verbose"), None), Err(415));
    }

    #[test]
    fn conditions_and_preferences_are_read() {
        assert_eq!(if_match(None), Ok(None));
        assert_eq!(if_match(Some(" * ")), Ok(Some(IfMatch::Any)));
        assert_eq!(if_match(Some("W/\"x")).unwrap_err().code, "InvalidInput");
        assert_eq!(Prefer::read(Some("return-no-content")).applied(), Some("return-no-content"));
        assert_eq!(Prefer::read(Some("respond-async")).applied(), None);
        assert_eq!(tunnelled("POST", Some("MERGE")), "MERGE");
        assert_eq!(tunnelled("PUT", Some("DELETE")), "PUT");
    }
}
