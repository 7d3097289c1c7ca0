//! The index of a layout: which rows an entity has under other keys, and what they hold.

use std::fmt;

use super::super::Arrival;
use super::key::LayoutKey;
use super::line::EVENTUAL;

/// The words before the table and the partition key of an index that lies elsewhere than its entities.
pub(super) const IN: &str = " in ";
pub(super) const PARTITION: &str = " partition";
pub(super) const ROW: &str = " row";
pub(super) const UNIQUE: &str = " unique";
pub(super) const WHEN: &str = " when";
pub(super) const COPY: &str = " copy";
/// The word before the numbers of a summary.
pub(super) const SUMS: &str = " sums";
/// The word before what makes up the ids of a list.
pub(super) const LIST: &str = " list";

/// An index.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutIndex {
    #[doc(hidden)]
    pub name: String,
    /// Where its rows lie, if that is not their entities' partition.
    pub(crate) elsewhere: Option<Elsewhere>,
    pub(crate) row: LayoutKey,
    /// Whether a second entity with the same key is refused.
    pub(crate) unique: bool,
    /// Whether a function of the entity says if it has a row at all, and its version.
    #[doc(hidden)]
    pub sparse: bool,
    pub(crate) when_version: u32,
    #[doc(hidden)]
    pub rows: LayoutRows,
}

/// Where the rows of an index lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// The table, if it is another than the entities'.
    pub(crate) table: Option<String>,
    pub(crate) partition: LayoutKey,
    pub(crate) arrival: Arrival,
}

/// What the rows of an index are.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutRows {
    /// Whole copies.
    All,
    /// What leads back to the entity.
    Keys,
    /// That, and these properties.
    Some(Vec<String>),
    /// A summary with these numbers.
    Sums(Vec<SumOf>),
    /// Lists of ids that are printed so.
    Ids(LayoutKey),
}

/// A number of a summary.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumOf {
    /// The property that holds it.
    pub(super) property: String,
    pub(super) of: Summed,
}

/// What a number of a summary is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Summed {
    Count,
    CountWhen,
    Property(String),
}

impl LayoutIndex {
    /// Returns whether its rows lie in another partition than their entities, or in another table.
    #[doc(hidden)]
    pub fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Returns whether its rows follow the change of their entities.
    #[doc(hidden)]
    pub fn is_eventual(&self) -> bool {
        self.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.arrival == Arrival::Eventual)
    }

    /// Returns whether its rows are those of a summary.
    #[doc(hidden)]
    pub fn is_summary(&self) -> bool {
        matches!(self.rows, LayoutRows::Sums(_))
    }

    /// Returns whether its rows are no copies, but what many entities give together.
    #[doc(hidden)]
    pub fn is_shared(&self) -> bool {
        matches!(self.rows, LayoutRows::Sums(_) | LayoutRows::Ids(_))
    }
}

impl fmt::Display for LayoutIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(Elsewhere { table, partition, arrival }) = &self.elsewhere {
            f.write_str(if *arrival == Arrival::Eventual { EVENTUAL } else { "" })?;
            if let Some(table) = table {
                write!(f, "{IN}{table}")?;
            }
            write!(f, "{PARTITION}{partition}")?;
        }
        write!(f, "{ROW}{}", self.row)?;
        f.write_str(if self.unique { UNIQUE } else { "" })?;
        f.write_str(if self.sparse { WHEN } else { "" })?;
        if self.when_version != 1 {
            write!(f, "({})", self.when_version)?;
        }
        match &self.rows {
            LayoutRows::All => write!(f, "{COPY} all"),
            LayoutRows::Keys => write!(f, "{COPY} keys"),
            LayoutRows::Some(properties) => {
                f.write_str(COPY)?;
                properties.iter().try_for_each(|property| write!(f, " {property}"))
            }
            LayoutRows::Sums(sums) => {
                f.write_str(SUMS)?;
                sums.iter().try_for_each(|sum| write!(f, " {sum}"))
            }
            LayoutRows::Ids(ids) => write!(f, "{LIST}{ids}"),
        }
    }
}

impl fmt::Display for SumOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let property = &self.property;
        match &self.of {
            Summed::Count => write!(f, "{property}:count"),
            Summed::CountWhen => write!(f, "{property}:count(when)"),
            Summed::Property(of) => write!(f, "{property}:sum({of})"),
        }
    }
}
