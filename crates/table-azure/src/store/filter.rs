//! Ranges of keys and kinds, as the text of `$filter`.

use std::ops::Bound;

use table_engine::__executor::{RowBound, RowBounds};
use table_engine::schema::RowKinds;

/// Which side of its rows an end is on, by the words of comparisons.
#[derive(Clone, Copy)]
struct Side {
    including: &'static str,
    excluding: &'static str,
}

const LOWER: Side = Side { including: "ge", excluding: "gt" };
const UPPER: Side = Side { including: "le", excluding: "lt" };

/// Returns the text by which the service gives the rows between these ends, of these kinds; empty for all.
pub(super) fn text(bounds: &RowBounds, kinds: Option<&RowKinds>) -> String {
    let mut terms = Vec::new();
    if let Some(partition) = bounds.partition() {
        terms.push(comparison("PartitionKey", "eq", partition));
        match (&bounds.lower.row, &bounds.upper.row) {
            (Bound::Included(first), Bound::Included(last)) if first == last => {
                terms.push(comparison("RowKey", "eq", first));
            }
            (lower, upper) => {
                terms.extend(end("RowKey", lower, LOWER));
                terms.extend(end("RowKey", upper, UPPER));
            }
        }
    } else {
        terms.extend(pair(&bounds.lower, LOWER));
        terms.extend(pair(&bounds.upper, UPPER));
    }
    if let Some(RowKinds { first, later }) = kinds {
        let first = comparison("EntityType", "eq", first);
        let (from, to) =
            (comparison("EntityType", "ge", later), comparison("EntityType", "lt", &behind(later)));
        terms.push(format!("({first} or ({from} and {to}))"));
    }
    terms.join(" and ")
}

/// Returns what an end in a pair of keys demands.
fn pair(bound: &RowBound, side: Side) -> Option<String> {
    match (&bound.partition, &bound.row) {
        (Bound::Included(partition), Bound::Included(_) | Bound::Excluded(_)) => {
            let (beyond, at) = (
                comparison("PartitionKey", side.excluding, partition),
                comparison("PartitionKey", "eq", partition),
            );
            let row = end("RowKey", &bound.row, side)?;
            Some(format!("({beyond} or ({at} and {row}))"))
        }
        (partition, _) => end("PartitionKey", partition, side),
    }
}

fn end(name: &str, bound: &Bound<String>, side: Side) -> Option<String> {
    match bound {
        Bound::Unbounded => None,
        Bound::Included(text) => Some(comparison(name, side.including, text)),
        Bound::Excluded(text) => Some(comparison(name, side.excluding, text)),
    }
}

fn comparison(name: &str, operator: &str, text: &str) -> String {
    format!("{name} {operator} '{}'", text.replace('\'', "''"))
}

/// Returns the first text behind all that begin so. What texts of later versions begin with ends in an `@`.
fn behind(start: &str) -> String {
    match start.strip_suffix('@') {
        Some(head) => format!("{head}A"),
        None => format!("{start}\u{ffff}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Bound::{Excluded, Included, Unbounded};

    fn bound(partition: Bound<&str>, row: Bound<&str>) -> RowBound {
        RowBound { partition: partition.map(str::to_owned), row: row.map(str::to_owned) }
    }

    fn of(lower: RowBound, upper: RowBound) -> String {
        text(&RowBounds { lower, upper }, None)
    }

    #[test]
    fn ends_of_one_partition_are_of_its_rows() {
        let p = |row| bound(Included("it's"), row);
        assert_eq!(of(p(Unbounded), p(Unbounded)), "PartitionKey eq 'it''s'");
        assert_eq!(of(p(Included("a")), p(Included("a"))), "PartitionKey eq 'it''s' and RowKey eq 'a'");
        assert_eq!(
            of(p(Included("a")), p(Excluded("b"))),
            "PartitionKey eq 'it''s' and RowKey ge 'a' and RowKey lt 'b'"
        );
    }

    #[test]
    fn ends_of_two_partitions_are_pairs() {
        let all = || bound(Unbounded, Unbounded);
        assert_eq!(of(all(), all()), "");
        assert_eq!(
            of(bound(Excluded("a"), Unbounded), bound(Included("b"), Unbounded)),
            "PartitionKey gt 'a' and PartitionKey le 'b'"
        );
        assert_eq!(
            of(bound(Included("a"), Excluded("1")), bound(Included("b"), Included("2"))),
            "(PartitionKey gt 'a' or (PartitionKey eq 'a' and RowKey gt '1')) and \
             (PartitionKey lt 'b' or (PartitionKey eq 'b' and RowKey le '2'))"
        );
        assert_eq!(of(all(), bound(Excluded("b"), Unbounded)), "PartitionKey lt 'b'");
    }

    #[test]
    fn kinds_are_those_of_every_version() {
        let all = || bound(Unbounded, Unbounded);
        let kinds = RowKinds { first: "login".into(), later: "login@".into() };
        assert_eq!(
            text(&RowBounds { lower: all(), upper: all() }, Some(&kinds)),
            "(EntityType eq 'login' or (EntityType ge 'login@' and EntityType lt 'loginA'))"
        );
    }
}
