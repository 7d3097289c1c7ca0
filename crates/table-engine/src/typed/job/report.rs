//! What a check of copies says, and a repair.

use std::fmt;

/// The most that a report names.
const NAMED: usize = 1_000;
/// How many numbers a report has, but for what was mended.
pub(super) const COUNTS: usize = 13;

/// What a check of a table's copies has found, or a repair has mended; see [`Table::check`](crate::Table::check).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyReport {
    /// How many entities there are.
    pub entities: u64,
    /// How many copies of them were looked at.
    pub copies: u64,
    /// Copies that an entity is to have, and that are not there.
    pub missing: u64,
    /// Copies that say something else than their entity, or are another's.
    pub stale: u64,
    /// Copies of no entity.
    pub orphans: u64,
    /// How many rows of summaries were looked at.
    pub summaries: u64,
    /// Rows of summaries, there or missing, that don't say what the entities come to.
    pub miscounted: u64,
    /// How many index lists were looked at.
    pub lists: u64,
    /// Entities that are not on an index list that they are to be on.
    pub unlisted: u64,
    /// Index lists that are damaged, and ids on lists that are of no entity which is to be there.
    pub mislisted: u64,
    /// Entities that hold something else of [another](crate::Entity#on-fields) than that says.
    pub outdated: u64,
    /// Parts of wide entities that are missing, or are other rows. What they held is lost: [`Table::delete`](crate::Table::delete) removes what is
    /// left of the entity, and a repair the copies that only the part led to; then it can be inserted anew. A part that no head speaks of is an orphan.
    pub lost_parts: u64,
    /// Fields of entities that refer to a blob which the store does not have: another store's, that an earlier build took in.
    /// A repair sets them to the empty blob.
    pub missing_blobs: u64,
    /// How many of all these were mended.
    pub mended: u64,
    /// The first thousand of what is wrong, each as table, partition key, row key and what it is. Of a repair that others
    /// have begun, of what was found since.
    pub problems: Vec<CopyProblem>,
}

/// A copy that is not as its entity says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyProblem {
    /// The table of the copy.
    pub table: String,
    /// The partition key.
    pub partition: String,
    /// The row key of the copy.
    pub row: String,
    /// The index; of a blob that is missing, the property.
    pub index: &'static str,
    /// What is wrong.
    pub what: &'static str,
}

/// The table and the keys of a row that a report names.
#[derive(Clone, Copy)]
pub(super) struct RowKeys<'r> {
    pub(super) table: &'r str,
    pub(super) partition: &'r str,
    pub(super) row: &'r str,
}

impl CopyReport {
    /// Returns whether every copy is as its entity says, and none is missing.
    pub fn is_sound(&self) -> bool {
        self.wrong() == 0
    }

    /// Returns how many copies are not.
    pub fn wrong(&self) -> u64 {
        self.missing
            + self.stale
            + self.orphans
            + self.miscounted
            + self.unlisted
            + self.mislisted
            + self.outdated
            + self.lost_parts
            + self.missing_blobs
    }

    /// Returns what it has counted, but for what was mended.
    pub(super) fn counts(&mut self) -> [&mut u64; COUNTS] {
        [
            &mut self.entities,
            &mut self.copies,
            &mut self.missing,
            &mut self.stale,
            &mut self.orphans,
            &mut self.summaries,
            &mut self.miscounted,
            &mut self.lists,
            &mut self.unlisted,
            &mut self.mislisted,
            &mut self.outdated,
            &mut self.lost_parts,
            &mut self.missing_blobs,
        ]
    }

    /// Names what is wrong, unless too many others are named.
    pub(super) fn name(&mut self, problems: impl IntoIterator<Item = CopyProblem>) {
        let room = NAMED.saturating_sub(self.problems.len());
        self.problems.extend(problems.into_iter().take(room));
    }

    /// Counts something that is wrong with a row, and names it if not too many others are.
    #[inline]
    pub(super) fn add(&mut self, what: &'static str, index: &'static str, row: RowKeys<'_>) {
        let counter = match what {
            MISSING => &mut self.missing,
            STALE => &mut self.stale,
            MISCOUNTED => &mut self.miscounted,
            UNLISTED => &mut self.unlisted,
            MISLISTED => &mut self.mislisted,
            OUTDATED => &mut self.outdated,
            NO_BLOB => &mut self.missing_blobs,
            LOST | TAKEN | UNSAID => &mut self.lost_parts,
            _ => &mut self.orphans,
        };
        *counter += 1;
        if self.problems.len() < NAMED {
            let [table, partition, row] = [row.table, row.partition, row.row].map(str::to_owned);
            self.problems.push(CopyProblem { table, partition, row, index, what });
        }
    }
}

pub(super) const MISSING: &str = "the copy is missing";
pub(super) const STALE: &str = "the copy is not what its entity says";
pub(super) const MISCOUNTED: &str = "the summary does not say what its entities come to";
pub(super) const UNLISTED: &str = "an entity is not on the list";
pub(super) const MISLISTED: &str = "the list is damaged, or has an id of no entity that is to be there";
pub(super) const OUTDATED: &str = "what it holds of another entity is not what that says";
pub(super) const NO_BLOB: &str = "the property refers to a blob that the store does not have, another store's mostly: a repair empties \
                                  it, or hold what `Store::import_blob` gives";
pub(super) const LOST: &str =
    "the part is missing, and what it held is lost: delete the entity, repair, and insert it anew";
pub(super) const TAKEN: &str = "another row lies where the part is to be: move that, and put the entity anew";
pub(super) const UNSAID: &str = "it does not say how many parts it has: put the entity anew";
pub(super) const ORPHAN: &str = "the copy is of no entity that has one there";

impl fmt::Display for CopyReport {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entities, copies, missing, stale, orphans, summaries, miscounted, mended, .. } = self;
        write!(
            f,
            "{entities} entities, {copies} copies; {missing} missing, {stale} stale, {orphans} orphaned, {mended} mended"
        )?;
        if *summaries > 0 || *miscounted > 0 {
            write!(f, "; {summaries} rows of summaries, {miscounted} miscounted")?;
        }
        if self.lists > 0 || self.unlisted > 0 {
            let (lists, wrong) = (self.lists, self.unlisted + self.mislisted);
            write!(f, "; {lists} index lists, {wrong} wrong ids")?;
        }
        if self.outdated > 0 {
            write!(f, "; {} that hold what others said before", self.outdated)?;
        }
        if self.missing_blobs > 0 {
            write!(f, "; {} blobs that the store does not have", self.missing_blobs)?;
        }
        if self.lost_parts > 0 {
            write!(f, "; {} lost parts", self.lost_parts)?;
        }
        Ok(())
    }
}
