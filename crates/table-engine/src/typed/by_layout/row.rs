//! A row of no declared kind in a batch that is planned, since it has entities of declared kinds, too.
//!
//! A store takes what a plan says of rows beside those of entities, and does not look what kinds they are of. So the row is read
//! first, and must still be that one when it is written.

use std::sync::Arc;

use super::kinds::Kinds;
use super::{What, Write};
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "access")]
use crate::executor::Rights;
#[cfg(feature = "access")]
use crate::model::EntityKeys;
use crate::model::IfMatch;
use crate::model::names::ENTITY_TYPE;
use crate::plan::{self, Act, Condition, Content, PlanBuilder, RowProperty, RowWrite, Seals, Version};
use crate::row::view::RowView;
use crate::schema::KeyPair;
use crate::typed::change::attempt::{Attempt, PlanScratch, ReadRequest};

/// The write of such a row.
pub(super) struct RowAttempt<'w> {
    write: Write<'w>,
    properties: Vec<RowProperty<'w>>,
    kinds: Arc<Kinds>,
    is_asked: bool,
    found: Option<Version>,
    /// Whether the row that is there, or that is to be, is of a declared kind.
    is_declared: bool,
}

impl<'w> RowAttempt<'w> {
    pub(super) fn new(write: Write<'w>, kinds: Arc<Kinds>) -> Self {
        let properties = write.entity().map(|entity| plan::borrowed(entity.entries())).unwrap_or_default();
        Self { write, properties, kinds, is_asked: false, found: None, is_declared: false }
    }

    fn refused(&self, kind: ErrorKind) -> Error {
        self.write.place(Error::new(kind), self.kinds.table())
    }

    /// Refuses to write at the key of a row that an access does not show: as if there were none, but that the key is taken.
    #[cfg(feature = "access")]
    fn check_shown(&self) -> Result<()> {
        let keys = EntityKeys::new(self.write.partition, self.write.row);
        let restricted = self.kinds.table().exec().restricted().filter(|_| self.found.is_some());
        if !restricted.is_some_and(|restricted| restricted.hides(keys).unwrap_or(true)) {
            return Ok(());
        }
        Err(self.refused(match self.write.what {
            What::Insert(_) | What::Put(_) | What::InsertOrMerge(_) => ErrorKind::EntityAlreadyExists,
            What::Replace(..) | What::Merge(..) | What::Delete(_) => ErrorKind::EntityNotFound,
        }))
    }

    /// Returns whether the row is to bear the text of a declared kind.
    fn becomes_declared(&self) -> bool {
        let text = self.write.entity().and_then(|entity| entity.get(ENTITY_TYPE)?.as_str());
        text.is_some_and(|text| self.kinds.declare(text))
    }
}

impl Attempt for RowAttempt<'_> {
    #[cfg(feature = "access")]
    fn rights(&self) -> Option<Rights> {
        Some(self.write.rights())
    }

    #[cfg(feature = "access")]
    fn own_key(&self) -> Result<Option<KeyPair>> {
        Ok(Some(KeyPair::of(self.write.partition, self.write.row)))
    }

    fn begin(&mut self) {
        (self.is_asked, self.found, self.is_declared) = (false, None, false);
    }

    fn partition(&self) -> Result<Option<&str>> {
        Ok(Some(self.write.partition))
    }

    fn reads(&self) -> bool {
        true
    }

    fn next_read(&mut self) -> Result<Option<ReadRequest>> {
        if std::mem::replace(&mut self.is_asked, true) {
            return Ok(None);
        }
        let keys = KeyPair::of(self.write.partition, self.write.row);
        Ok(Some(ReadRequest { table: None, keys, is_copy: true, head: None }))
    }

    fn on_row(&mut self, row: Option<(&RowView<'_>, Version)>) -> Result<()> {
        let Some((view, version)) = row else { return Ok(()) };
        self.found = Some(version);
        self.is_declared = view.kind()?.is_some_and(|kind| self.kinds.declare(kind));
        Ok(())
    }

    fn release(&mut self, _: ReadRequest) {}

    fn make(&mut self) -> Result<()> {
        #[cfg(feature = "access")]
        self.check_shown()?;
        if self.is_declared || self.becomes_declared() {
            let because = "a row of a declared kind has come there, or goes, meanwhile";
            return Err(self.refused(ErrorKind::DeclaredKind).because(because));
        }
        let version = match self.write.what {
            What::Insert(_) if self.found.is_some() => {
                return Err(self.refused(ErrorKind::EntityAlreadyExists));
            }
            What::Insert(_) | What::Put(_) | What::InsertOrMerge(_) => return Ok(()),
            What::Replace(_, version) | What::Merge(_, version) | What::Delete(version) => version,
        };
        match (self.found, version) {
            (None, _) => Err(self.refused(ErrorKind::EntityNotFound)),
            (Some(found), IfMatch::ETag(etag)) if found.etag != etag => {
                Err(self.refused(ErrorKind::ConditionNotMet))
            }
            _ => Ok(()),
        }
    }

    fn plan<'p>(
        &'p self,
        number: usize,
        _: &dyn Seals,
        _: &'p mut PlanScratch<'p>,
        builder: &mut PlanBuilder<'p>,
    ) -> Result<()> {
        let content = Content::Properties(&self.properties);
        let act = match self.write.what {
            What::Delete(_) => Act::Remove,
            What::Merge(..) | What::InsertOrMerge(_) => Act::Merge(content),
            What::Insert(_) | What::Put(_) | What::Replace(..) => Act::Put(content),
        };
        let condition = self.found.map_or(Condition::StillAbsent, Condition::Is);
        let row = RowWrite { key: self.write.row, condition, act, kind: None, of: number };
        builder.write(self.kinds.table().name(), self.write.partition, row);
        Ok(())
    }

    fn takes_what_it_finds(&self) -> bool {
        matches!(self.write.what, What::Put(_) | What::InsertOrMerge(_))
    }
}
