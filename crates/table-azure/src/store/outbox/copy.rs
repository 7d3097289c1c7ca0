//! What propagation does to a row where a copy is, was, or will be: a rule without I/O.

use table_engine::DynamicEntity;

use super::super::marks;

/// Whose copy a row is, and as of which version of the entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyMark {
    /// The entity.
    pub(super) source: String,
    /// Its version.
    pub(super) version: i64,
    /// Whether the copy is there; if not, the row is a tombstone.
    pub(super) lives: bool,
}

/// What is at the key of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// No row.
    Empty,
    /// A copy or a tombstone.
    Marked(CopyMark),
    /// A row that is none.
    Other,
}

impl Place {
    /// Reads what a row is.
    pub(super) fn of(row: Option<&DynamicEntity>) -> Self {
        let Some(row) = row else { return Self::Empty };
        let source = row.get(marks::SOURCE).and_then(table_engine::Value::as_str);
        match (source, marks::number(row, marks::VERSION)) {
            (Some(source), Some(version)) => Self::Marked(CopyMark {
                source: source.to_owned(),
                version,
                lives: marks::row_of(row) != Some(marks::TOMBSTONE),
            }),
            _ => Self::Other,
        }
    }

    /// Returns whether what is there gives way to this: unless it is of a later version of the entity, or says as much already.
    /// A tombstone leaves alone what is of something else, which has come since.
    pub(super) fn gives_way(&self, to: &CopyMark) -> bool {
        match self {
            Self::Empty => true,
            Self::Other => to.lives,
            Self::Marked(there) if there.source != to.source => to.lives,
            Self::Marked(there) => {
                there.version < to.version || there.version == to.version && there.lives != to.lives
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(source: &str, version: i64, lives: bool) -> CopyMark {
        CopyMark { source: source.into(), version, lives }
    }

    #[test]
    fn what_is_of_a_later_version_stays() {
        for (there, to, gives_way) in [
            (Place::Empty, mark("a", 1, true), true),
            // So that a copy which comes late finds it.
            (Place::Empty, mark("a", 1, false), true),
            (Place::Other, mark("a", 1, true), true),
            (Place::Other, mark("a", 1, false), false),
            (Place::Marked(mark("a", 2, true)), mark("a", 3, false), true),
            (Place::Marked(mark("a", 2, false)), mark("a", 1, true), false),
            (Place::Marked(mark("a", 2, false)), mark("a", 2, false), false),
            (Place::Marked(mark("a", 2, false)), mark("a", 2, true), true),
            (Place::Marked(mark("b", 9, true)), mark("a", 1, true), true),
            (Place::Marked(mark("b", 1, true)), mark("a", 9, false), false),
        ] {
            assert_eq!(there.gives_way(&to), gives_way, "{there:?} to {to:?}");
        }
    }

    #[test]
    fn a_row_is_read_by_its_marks() {
        let row = DynamicEntity::new("p", "r").with(marks::VERSION, 7_i64).with(marks::SOURCE, "a");
        assert_eq!(Place::of(Some(&row)), Place::Marked(mark("a", 7, true)));
        let gone = row.with(marks::ROW, marks::TOMBSTONE);
        assert_eq!(Place::of(Some(&gone)), Place::Marked(mark("a", 7, false)));
        assert_eq!(Place::of(Some(&DynamicEntity::new("p", "r").with(marks::VERSION, 7_i64))), Place::Other);
        assert_eq!(Place::of(None), Place::Empty);
    }
}
