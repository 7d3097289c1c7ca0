//! The forms of files with entities.

use clap::ValueEnum;

/// How entities stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A line of OData JSON for each entity; keeps every value exactly.
    Odata,
    /// CSV of Storage Explorer, with a column `X@type` beside each `X`; keeps every value exactly.
    AzureCsv,
    #[value(help = "One JSON text, as AzCopy 7.3 reads and writes it; keeps every value exactly")]
    Azcopy,
    /// CSV without types, for spreadsheets.
    Csv,
    /// A table of Markdown, for people.
    Md,
    /// Columns of Parquet, for what analyses them; of one kind, and with what its keys say.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Form {
    /// Returns how names of such files end.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Odata => "jsonl",
            Self::AzureCsv | Self::Csv => "csv",
            Self::Azcopy => "json",
            Self::Md => "md",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }

    /// Returns whether its columns are named before the first entity.
    pub(crate) fn has_columns(self) -> bool {
        matches!(self, Self::AzureCsv | Self::Csv | Self::Md)
    }

    /// Returns whether a file has the entities of one kind alone.
    pub(crate) fn is_of_one_kind(self) -> bool {
        self.extension() == "parquet"
    }
}
