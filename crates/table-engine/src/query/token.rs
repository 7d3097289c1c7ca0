//! The start of a query's next page, as a text that a client can hold.

use std::fmt;
use std::ops::Bound;
use std::str::FromStr;

use crate::base64;
use crate::hash::{xxh3_64, xxh3_64_with_seed};

use super::bounds::{KeyRange, Lower, Upper};
use super::compare::Rule;
use super::filter::Filter;
use super::node::{Join, Node};
use super::pairs::{KeyPair, PairRange};
use super::plan::QueryPlan;
use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::model::key::{self, Part};
use crate::model::{Value, ValueRef};

/// The version of the token's bytes and of the fingerprint's.
const VERSION: u8 = 1;
/// Bytes of the checksum.
const CHECKSUM: usize = 8;
/// What the bytes of any token fit into: two keys of the longest characters, and what stands around them.
const TYPICAL: usize = 2 * 3 * limits::KEY_UNITS + 27;
/// Sets the checksum apart from that of anything else.
const SEED: u64 = u64::from_be_bytes(*b"continue");

/// The place at which a query whose answer comes in pages goes on.
///
/// Its text is safe in URLs. It holds the keys of the last entity of the page and how much of
/// [`top`](crate::Query::top) is left, and none of it is encrypted. It is good for the same query against the same
/// table alone: a damaged token and a token of another query are refused. It is not signed: a forged token can start
/// elsewhere within the bounds of the query, no more.
///
/// It can be held for any time. Pages are not one snapshot: an entity written meanwhile is seen if it lies ahead.
///
/// ```
/// use table_core::{Continuation, ErrorKind};
///
/// let error = "bm90IGEgdG9rZW4".parse::<Continuation>().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
/// assert_eq!(error.to_string(), "cannot read the continuation token: the token is damaged");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Continuation {
    partition: Box<str>,
    row: Box<str>,
    remaining: Option<u64>,
    fingerprint: u64,
}

/// The last row that was returned: the next page starts strictly after it in the query's direction.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    pub partition: &'a str,
    pub row: &'a str,
    /// How many entities may still come, if the query limits them.
    pub remaining: Option<u64>,
}

impl Continuation {
    /// Returns the place after a row, in a query of this [fingerprint].
    #[doc(hidden)]
    pub fn new(position: Position<'_>, fingerprint: u64) -> Self {
        Self {
            partition: position.partition.into(),
            row: position.row.into(),
            remaining: position.remaining,
            fingerprint,
        }
    }

    /// Returns another place in the query: behind a row, with so many that may still come.
    #[cfg(feature = "async")]
    pub(crate) fn moved_to(&self, partition: &str, row: &str, remaining: Option<u64>) -> Self {
        Self { partition: partition.into(), row: row.into(), remaining, fingerprint: self.fingerprint }
    }

    /// Returns the place to go on from, if the token is of this query.
    #[doc(hidden)]
    pub fn resume(&self, fingerprint: u64) -> Result<Position<'_>, Error> {
        if self.fingerprint != fingerprint {
            return Err(error("the token belongs to another query, another table or another store"));
        }
        Ok(Position { partition: &self.partition, row: &self.row, remaining: self.remaining })
    }

    /// Gives version, fingerprint, remaining, partition key, 0x00 and row key, one after another.
    fn pieces(&self, mut put: impl FnMut(&[u8])) {
        put(&[VERSION]);
        put(&self.fingerprint.to_le_bytes());
        match self.remaining {
            None => put(&[0]),
            Some(remaining) => {
                put(&[1]);
                put(&remaining.to_le_bytes());
            }
        }
        put(self.partition.as_bytes());
        put(&[0]);
        put(self.row.as_bytes());
    }

    /// Gives `take` those pieces in one, and their checksum behind them.
    fn with_encoded<T>(&self, take: impl FnOnce(&[u8]) -> T) -> T {
        let mut length = 0;
        self.pieces(|piece| length += piece.len());
        let length = length + CHECKSUM;
        let (mut few, mut many) = ([0; TYPICAL], Vec::new());
        let bytes = if let Some(bytes) = few.get_mut(..length) {
            bytes
        } else {
            // No pair of keys is so long.
            many.resize(length, 0);
            &mut *many
        };
        let mut rest = &mut *bytes;
        self.pieces(|piece| {
            if let Some((to, behind)) = std::mem::take(&mut rest).split_at_mut_checked(piece.len()) {
                to.copy_from_slice(piece);
                rest = behind;
            }
        });
        if let Some((body, checksum)) = bytes.split_last_chunk_mut::<CHECKSUM>() {
            *checksum = xxh3_64_with_seed(body, SEED).to_le_bytes();
        }
        take(bytes)
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = || error("the token is damaged");
        let (body, checksum) = bytes.split_last_chunk().ok_or_else(damaged)?;
        // Only a version whose checksum fits is believed.
        if xxh3_64_with_seed(body, SEED).to_le_bytes() != *checksum {
            return Err(damaged());
        }
        match body {
            [VERSION, body @ ..] => Self::decode_body(body).ok_or_else(damaged),
            [version, ..] => Err(error(format!(
                "the token has version {version}; this library reads version {VERSION}: start the query again"
            ))),
            [] => Err(damaged()),
        }
    }

    fn decode_body(body: &[u8]) -> Option<Self> {
        let (fingerprint, body) = body.split_first_chunk()?;
        let (limited, body) = body.split_first()?;
        let (remaining, body) = match limited {
            0 => (None, body),
            1 => {
                let (remaining, body) = body.split_first_chunk()?;
                (Some(u64::from_le_bytes(*remaining)), body)
            }
            _ => return None,
        };
        let (partition, row) = std::str::from_utf8(body).ok()?.split_once('\0')?;
        key::check(Part::Partition, partition).ok()?;
        key::check(Part::Row, row).ok()?;
        let fingerprint = u64::from_le_bytes(*fingerprint);
        Some(Self { partition: partition.into(), row: row.into(), remaining, fingerprint })
    }
}

fn error(because: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidContinuation).attempted("read the continuation token").because(because)
}

/// The text, of letters, digits, `-` and `_`. Nothing is allocated to write it.
impl fmt::Display for Continuation {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_encoded(|bytes| base64::URL.encode(bytes).try_for_each(|piece| f.write_str(piece.as_str())))
    }
}

impl FromStr for Continuation {
    type Err = Error;

    #[inline]
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let read = base64::URL.decode(text.as_bytes(), &mut bytes);
        read.ok_or_else(|| error("the token is damaged"))?;
        Self::decode(&bytes)
    }
}

#[cfg(feature = "serde")]
crate::model::as_text::as_text!(Continuation, "a continuation token");

impl fmt::Debug for Continuation {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Continuation({self})")
    }
}

/// Returns a number that tells queries apart, so that no token goes on with another query.
///
/// It covers the table, the bounds, what is left to filter, the select, the direction and whether there is a
/// limit. The limit itself is left out: what remains of it travels in the token.
#[doc(hidden)]
pub fn fingerprint(plan: &QueryPlan, table_id: u32) -> u64 {
    let mut canonical = Canonical(vec![VERSION]);
    canonical.0.extend(table_id.to_le_bytes());
    let (partition, row) = plan.within.ranges();
    canonical.range(&partition);
    canonical.range(&row);
    if let Some(pairs) = &plan.pairs {
        canonical.pairs(pairs);
    }
    match &plan.residual {
        None => canonical.0.push(0),
        Some(filter) => canonical.filter(filter),
    }
    match &plan.select {
        None => canonical.0.push(0),
        Some(names) => {
            canonical.0.push(1);
            canonical.length(names.len());
            for name in names {
                canonical.bytes(name.as_bytes());
            }
        }
    }
    canonical.0.extend([u8::from(plan.reverse), u8::from(plan.top.is_some())]);
    if let Some(kind) = plan.kind {
        canonical.bytes(kind.name.as_bytes());
    }
    xxh3_64(&canonical.0)
}

/// Bytes that no two queries share: every choice has a tag, every text its length before it.
struct Canonical(Vec<u8>);

impl Canonical {
    fn length(&mut self, length: usize) {
        self.0.extend(u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.0.push(tag);
        self.bytes(bytes);
    }

    fn range(&mut self, range: &KeyRange) {
        match range.lower() {
            Lower::Unbounded => self.0.push(0),
            Lower::Included(text) => self.tagged(1, text.as_bytes()),
            Lower::Excluded(text) => self.tagged(2, text.as_bytes()),
        }
        match range.upper() {
            Upper::Unbounded => self.0.push(0),
            Upper::Included(text) => self.tagged(1, text.as_bytes()),
            Upper::Excluded(text) => self.tagged(2, text.as_bytes()),
            Upper::Prefix(text) => self.tagged(3, text.as_bytes()),
        }
    }

    /// The tag is none that the filter behind it has.
    fn pairs(&mut self, pairs: &PairRange) {
        self.0.push(2);
        for end in [&pairs.lower, &pairs.upper] {
            let (tag, KeyPair { partition, row }) = match end {
                Bound::Unbounded => {
                    self.0.push(0);
                    continue;
                }
                Bound::Included(pair) => (1, pair),
                Bound::Excluded(pair) => (2, pair),
            };
            self.tagged(tag, partition.as_bytes());
            self.bytes(row.as_bytes());
        }
    }

    fn filter(&mut self, filter: &Filter) {
        self.0.push(1);
        self.node(filter.node());
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Refused(_) => self.0.push(0),
            Node::Compare(comparison) => {
                let tag = match comparison.rule {
                    Rule::Named => 1,
                    Rule::Declared => 7,
                };
                self.tagged(tag, comparison.property.as_bytes());
                // A word of two letters.
                self.0.extend(comparison.operator.word().bytes());
                self.value(&comparison.constant);
                self.absent(comparison.absent);
            }
            Node::IsTrue(comparison) => {
                self.tagged(2, comparison.property.as_bytes());
                self.absent(comparison.absent);
            }
            Node::Sealed(sealed) => {
                self.tagged(6, sealed.property().as_bytes());
                self.tagged(0, sealed.mark());
                self.absent(sealed.holds_of_absent());
            }
            Node::Not(inner) => {
                self.0.push(3);
                self.node(inner);
            }
            Node::Join(join, terms) => {
                self.0.push(match join {
                    Join::And => 4,
                    Join::Or => 5,
                });
                self.length(terms.len());
                for term in terms {
                    self.node(term);
                }
            }
        }
    }

    /// Writes what a comparison says of rows without the property. Most say no, and have nothing written of it.
    fn absent(&mut self, holds: bool) {
        if holds {
            self.0.push(8);
        }
    }

    fn value(&mut self, value: &Value) {
        match value.as_value_ref() {
            ValueRef::String(v) => self.tagged(1, v.as_bytes()),
            ValueRef::Binary(v) => self.tagged(2, v),
            ValueRef::Boolean(v) => self.tagged(3, &[u8::from(v)]),
            ValueRef::Int32(v) => self.tagged(4, &v.to_le_bytes()),
            ValueRef::Int64(v) => self.tagged(5, &v.to_le_bytes()),
            ValueRef::Double(v) => self.tagged(6, &v.to_bits().to_le_bytes()),
            ValueRef::DateTime(v) => self.tagged(7, &v.get().to_le_bytes()),
            ValueRef::Guid(v) => self.tagged(8, v.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Query, declared, plan, prop};
    use super::*;

    fn token(remaining: Option<u64>) -> Continuation {
        Continuation::new(Position { partition: "Sales", row: "empid_000001", remaining }, 7)
    }

    fn because(text: &str) -> String {
        text.parse::<Continuation>().unwrap_err().to_string()
    }

    #[test]
    fn a_token_survives_as_text() {
        for token in [
            token(None),
            token(Some(0)),
            token(Some(u64::MAX)),
            Continuation::new(Position { partition: "", row: "", remaining: None }, u64::MAX),
            Continuation::new(
                Position { partition: "\u{1f600}", row: &"名".repeat(512), remaining: Some(1) },
                0,
            ),
        ] {
            let text = token.to_string();
            assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')), "{text}");
            assert_eq!(text.parse::<Continuation>().unwrap(), token);
        }
    }

    #[test]
    fn its_text_is_frozen() {
        let text = token(Some(5)).to_string();
        assert_eq!(text, "AQcAAAAAAAAAAQUAAAAAAAAAU2FsZXMAZW1waWRfMDAwMDAx4h35Ul_JQP8");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let bytes = token(Some(5)).with_encoded(<[u8]>::to_vec);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let error = Continuation::decode(&flipped).unwrap_err();
            assert!(error.to_string().ends_with("the token is damaged"), "bit {bit}: {error}");
        }
        let text = token(None).to_string();
        for bit in 0..text.len() * 8 {
            let mut flipped = text.clone().into_bytes();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(flipped) = String::from_utf8(flipped) {
                assert!(because(&flipped).ends_with("the token is damaged"), "bit {bit}");
            }
        }
        for length in 0..text.len() {
            assert!(text[..length].parse::<Continuation>().is_err(), "{length}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = token(None).with_encoded(<[u8]>::to_vec);
        bytes[0] = 2;
        let body = bytes.len() - 8;
        let checksum = xxh3_64_with_seed(&bytes[..body], SEED);
        bytes[body..].copy_from_slice(&checksum.to_le_bytes());
        let text: String = base64::URL.encode(&bytes).map(|piece| piece.as_str().to_owned()).collect();
        assert!(because(&text).contains("the token has version 2"));
    }

    #[test]
    fn a_token_of_another_query_is_refused() {
        let position = Position { partition: "Sales", row: "empid_000001", remaining: None };
        let held = token(None);
        assert_eq!(held.resume(7).unwrap(), position);
        let error = held.resume(8).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
        assert!(
            error.to_string().ends_with("the token belongs to another query, another table or another store"),
            "{error}"
        );
    }

    #[test]
    fn the_fingerprint_tells_queries_apart() {
        let base = || Query::new().partition("p").row_prefix("r");
        let all = [
            Query::new(),
            base(),
            base().rev(),
            base().top(1),
            base().select(["A"]),
            base().select([""; 0]),
            base().select(["A", "B"]),
            base().select(["AB"]),
            base().select(["A", "BC"]),
            base().select(["AB", "C"]),
            base().filter(prop("A").eq("b") & prop("C").eq("d")),
            base().filter(prop("A").eq("b") & prop("Ceqd").is_true()),
            base().filter(prop("A").eq(1)),
            base().filter(prop("A").eq(1_i64)),
            base().filter(prop("A").ne(1)),
            base().filter(declared("A").ne(1)),
            base().filter(prop("B").eq(1)),
            base().filter(prop("A").eq("1")),
            base().filter(prop("A").is_true()),
            base().filter(!prop("A").is_true()),
            base().filter(prop("A").eq(1) | prop("A").eq(2)),
            base().filter(prop("A").eq(1) & prop("A").eq(2)),
            Query::new().partition("p").rows("r"..),
            Query::new().partition("p").rows(.."r"),
            Query::new().partition("p").rows(..="r"),
            Query::new().partition("pr"),
            Query::new().partition_prefix("p"),
        ];
        let prints: Vec<_> = all.iter().map(|query| fingerprint(&plan(query).unwrap(), 1)).collect();
        for (i, a) in prints.iter().enumerate() {
            for (j, b) in prints.iter().enumerate() {
                assert_eq!(a == b, i == j, "{:?} {:?}", all[i], all[j]);
            }
        }
        let plan = plan(&base()).unwrap();
        assert_ne!(fingerprint(&plan, 1), fingerprint(&plan, 2));
    }

    #[test]
    fn one_query_said_in_two_ways_has_one_fingerprint() {
        let print = |query: &Query| fingerprint(&plan(query).unwrap(), 1);
        let keys = prop("PartitionKey").eq("p") & prop("A").eq(1) & !prop("RowKey").lt("r");
        assert_eq!(
            print(&Query::new().filter(keys)),
            print(&Query::new().partition("p").rows("r"..).filter(prop("A").eq(1)))
        );
        assert_eq!(print(&Query::new().top(10)), print(&Query::new().top(3)));
    }

    proptest! {
        #[test]
        fn no_text_panics(text: String, bytes: Vec<u8>) {
            prop_assert!(text.parse::<Continuation>().is_err());
            prop_assert!(Continuation::decode(&bytes).is_err());
        }

        #[test]
        fn sealed_garbage_is_damaged_or_a_token(body: Vec<u8>) {
            let mut bytes = [&[VERSION][..], &body].concat();
            let checksum = xxh3_64_with_seed(&bytes, SEED);
            bytes.extend(checksum.to_le_bytes());
            if let Ok(token) = Continuation::decode(&bytes) {
                prop_assert_eq!(token.with_encoded(<[u8]>::to_vec), bytes);
            }
        }
    }
}
