//! One line of a layout.

use std::fmt;

use super::index::LayoutIndex;
use super::key::LayoutKey;
use super::property::LayoutProperty;
use super::reads::{READS, ReadsLine};
use super::series::{SERIES, SeriesLine};

pub(super) const VERSION: &str = "version";
/// The line that says that every row carries a keyed digest.
pub(super) const SIGNED: &str = "signed";
/// The line that says of which table the entities are, where that is another.
pub(super) const OF: &str = "of";
pub(super) const PARTITION: &str = "partition";
pub(super) const ROW: &str = "row";
pub(super) const PROPERTY: &str = "property";
/// The lines that say what an entity holds of others, and who holds copies of it.
pub(super) const COPIED: &str = "copied";
pub(super) const BY: &str = " by";
pub(super) const HOLDER: &str = "holder";
/// The word before a property that is to go.
pub(super) const GONE: &str = "gone";
/// The word before the tables of a kind that has one for each period.
pub(super) const PERIODS: &str = "periods";
pub(super) const INDEX: &str = "index";
/// The word before the place of an index, or the key of a copied entity: its copies follow the entities.
pub(super) const EVENTUAL: &str = " eventual";

/// A line of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The version of the struct.
    Version(u32),
    /// Every row carries a keyed digest.
    Signed,
    /// The table of the entities, where the layout is noted in another one.
    Of(String),
    Partition(LayoutKey),
    Row(LayoutKey),
    Property(LayoutProperty),
    Series(SeriesLine),
    Copied(CopiedLine),
    /// The kind of entities that hold copies of these.
    Dependent(String),
    /// A property that is to go.
    Removed(String),
    /// The name of the tables of a kind that has one for each period, as it is declared.
    Periods(String),
    /// What is read of a property.
    Reads(ReadsLine),
    Index(LayoutIndex),
}

/// What an entity holds of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopiedLine {
    /// With what the names of its properties begin.
    pub(super) property: String,
    /// Whether it follows changes of its source.
    pub(super) is_eventual: bool,
    /// The properties that the key of the source is made of.
    pub(super) key: Vec<String>,
}

/// What a line is about: its first word, and its second one where several lines begin with that word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Subject<'l> {
    pub(super) word: &'static str,
    /// Empty where one line alone begins with the word.
    pub(super) name: &'l str,
}

impl Line {
    pub(super) fn subject(&self) -> Subject<'_> {
        let (word, name) = match self {
            Self::Version(_) => (VERSION, ""),
            Self::Signed => (SIGNED, ""),
            Self::Of(_) => (OF, ""),
            Self::Partition(_) => (PARTITION, ""),
            Self::Row(_) => (ROW, ""),
            Self::Property(property) => (PROPERTY, &*property.name),
            Self::Series(series) => (SERIES, &*series.stem),
            Self::Copied(copy) => (COPIED, &*copy.property),
            Self::Dependent(kind) => (HOLDER, &**kind),
            Self::Removed(name) => (GONE, &**name),
            Self::Periods(_) => (PERIODS, ""),
            Self::Reads(line) => (READS, &*line.property),
            Self::Index(index) => (INDEX, &*index.name),
        };
        Subject { word, name }
    }

    /// Returns whether it says which entities hold copies of which. Rows are read without these lines;
    /// [`outdated`](super::outdated) says which programs can't write.
    pub(super) fn is_of_copies(&self) -> bool {
        matches!(self, Self::Copied(_) | Self::Dependent(_))
    }
}

impl Line {
    /// Returns whether it says what a struct writes, and nothing of what rows hold.
    pub(super) fn is_of_writers(&self) -> bool {
        matches!(self, Self::Periods(_) | Self::Reads(_))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "{VERSION} {version}"),
            Self::Signed => f.write_str(SIGNED),
            Self::Of(table) => write!(f, "{OF} {table}"),
            Self::Partition(key) => write!(f, "{PARTITION}{key}"),
            Self::Row(key) => write!(f, "{ROW}{key}"),
            Self::Property(property) => write!(f, "{PROPERTY} {property}"),
            Self::Series(series) => series.fmt(f),
            Self::Copied(copy) => copy.fmt(f),
            Self::Dependent(kind) => write!(f, "{HOLDER} {kind}"),
            Self::Removed(name) => write!(f, "{GONE} {name}"),
            Self::Periods(tables) => write!(f, "{PERIODS} {tables}"),
            Self::Reads(line) => line.fmt(f),
            Self::Index(index) => write!(f, "{INDEX} {index}"),
        }
    }
}

impl fmt::Display for CopiedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let follows = if self.is_eventual { EVENTUAL } else { "" };
        write!(f, "{COPIED} {}{follows}{BY}", self.property)?;
        self.key.iter().try_for_each(|property| write!(f, " {property}"))
    }
}
