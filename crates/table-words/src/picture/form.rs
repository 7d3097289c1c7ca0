//! The forms of pictures.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// How a design is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// A table of text, for terminals and tests.
    Text,
    /// A table of Markdown, for documents.
    Markdown,
    /// An entity relationship diagram of Mermaid, which many sites draw that show Markdown.
    Mermaid,
    /// JSON, with the access patterns, for programs.
    Json,
    /// An image that stands alone, light or dark as its viewer is.
    Svg,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 5] = [Self::Text, Self::Markdown, Self::Mermaid, Self::Json, Self::Svg];

    /// Returns the name of the form, which it is parsed from: `svg`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Mermaid => "mermaid",
            Self::Json => "json",
            Self::Svg => "svg",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Form {
    type Err = UnknownForm;

    fn from_str(text: &str) -> Result<Self, UnknownForm> {
        Self::ALL.into_iter().find(|form| form.name() == text).ok_or(UnknownForm)
    }
}

/// The text names no form of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownForm;

impl fmt::Display for UnknownForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a picture is `text`, `markdown`, `mermaid`, `json` or `svg`")
    }
}

impl Error for UnknownForm {}
