//! What a command is about: a table, a kind of its entities, or one of their indexes.

use std::convert::Infallible;
use std::str::FromStr;

use table_core::introspect::KindInfo;

use crate::failure::Failure;
use crate::kinds::Kinds;

/// `TABLE`, `TABLE/KIND` or `TABLE/KIND.INDEX`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The table.
    pub(crate) table: String,
    /// What stands behind the stroke: a kind, and its index if there is one.
    path: Option<String>,
}

/// Any text is one: whether there is such a table the store says.
impl FromStr for Target {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.split_once('/') {
            Some((table, path)) => Self { table: table.to_owned(), path: Some(path.to_owned()) },
            None => Self { table: text.to_owned(), path: None },
        })
    }
}

impl Target {
    /// Returns whether it names a kind.
    pub(crate) fn has_kind(&self) -> bool {
        self.path.is_some()
    }

    /// Returns what stands behind the stroke.
    pub(crate) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns the kind that it names, and its index if it names one.
    pub(crate) fn find<'k>(&'k self, kinds: &'k Kinds) -> Result<(&'k KindInfo, Option<&'k str>), Failure> {
        let Some(path) = &self.path else {
            return Err(Failure::Usage(format!(
                "`{0}` names a table alone: write {0}/KIND, or {0}/KIND.INDEX",
                self.table
            )));
        };
        // The name of a kind may hold a full stop.
        let whole = kinds.find(&self.table, path);
        match (whole, path.rsplit_once('.')) {
            (Err(_), Some((kind, index))) => Ok((kinds.find(&self.table, kind)?, Some(index))),
            (whole, _) => Ok((whole?, None)),
        }
    }

    /// Returns the kind that it names, which must be no index.
    pub(crate) fn find_kind<'k>(&'k self, kinds: &'k Kinds) -> Result<&'k KindInfo, Failure> {
        match self.find(kinds)? {
            (kind, None) => Ok(kind),
            (kind, Some(index)) => Err(Failure::Usage(format!(
                "`{index}` is an index, whose rows follow their entities: write {}/{}",
                self.table,
                kind.kind()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stroke_parts_the_table_from_the_kind() {
        let target: Target = "Company/employee.by_email".parse().unwrap();
        assert_eq!((target.table.as_str(), target.has_kind()), ("Company", true));
        assert!(!"Company".parse::<Target>().unwrap().has_kind());
        let target: Target = "Company/employee".parse().unwrap();
        assert!(matches!(target.find(&Kinds::of(Vec::new())), Err(Failure::NotFound(_))));
    }
}
