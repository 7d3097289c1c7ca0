//! Entities of declared kinds written by their properties, without their structs.
//!
//! A write by properties that meets a row of a declared kind is refused by the store, whatever the program knows. Then it is
//! planned here, as its struct would: the layout that the store has noted takes the place of the struct, and drives the same
//! changes. What a layout does not say is refused by the line that is in the way.

mod batch;
mod jobs;
mod kinds;
mod look;
mod note;
mod row;
mod transaction;

use self::kinds::{Kinds, version_obstacle};
use self::look::Look;
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "access")]
use crate::executor::Rights;
use crate::handle::table::DynamicTable;
use crate::model::names::ENTITY_TYPE;
use crate::model::{DynamicEntity, ETag, IfMatch, IntoIfMatch, Value};
use crate::plan::{self, Act, Condition};
use crate::schema::KeyPair;
use crate::typed::change::layout_images::{GivenFields, LayoutImages, LayoutMeta, obstructed};
use crate::typed::change::{Change, driver};

/// So often it is looked anew when layouts have changed meanwhile, or a row that was in the way has gone.
const LOOKS: u32 = 4;

impl DynamicTable {
    plan::writes_of_entities!(&Self, &DynamicEntity => write_any -> Result<ETag>);

    /// Removes the entity of these keys; fails if there is none.
    pub fn delete(&self, partition_key: &str, row_key: &str) -> Result<()> {
        self.delete_if(partition_key, row_key, IfMatch::Any)
    }

    /// Removes the entity as [`delete`](Self::delete) does, if it is of the version demanded.
    pub fn delete_if(&self, partition_key: &str, row_key: &str, condition: impl IntoIfMatch) -> Result<()> {
        self.delete_any(partition_key, row_key, condition.into()).map(drop)
    }

    pub(crate) fn delete_any(&self, partition_key: &str, row_key: &str, condition: IfMatch) -> Result<ETag> {
        match self.remove(partition_key, row_key, condition) {
            Err(refused) if is_of_declared(&refused, self) => {
                let as_it_is = || self.remove(partition_key, row_key, condition);
                Write::delete(partition_key, row_key, condition).by_layout(self, refused, as_it_is)
            }
            done => done,
        }
    }

    pub(crate) fn write_any(
        &self,
        condition: Condition,
        act: Act<()>,
        entity: &DynamicEntity,
    ) -> Result<ETag> {
        match self.write(condition, act, entity) {
            Err(refused) if is_of_declared(&refused, self) => {
                let as_it_is = || self.write(condition, act, entity);
                Write::of(condition, act, entity).by_layout(self, refused, as_it_is)
            }
            done => done,
        }
    }
}

/// Returns whether an error says that a row is of a declared kind, which this handle does not write as it is, or may say so: what
/// is too large for one row may be a wide entity.
#[cold]
pub(crate) fn is_of_declared(refused: &Error, table: &DynamicTable) -> bool {
    use ErrorKind::{DeclaredKind, EntityTooLarge, TooManyProperties};
    matches!(refused.kind(), DeclaredKind | EntityTooLarge | TooManyProperties) && !table.is_raw()
}

/// A write of one row by its properties.
#[derive(Clone, Copy)]
struct Write<'w> {
    partition: &'w str,
    row: &'w str,
    what: What<'w>,
}

/// What is written.
#[derive(Clone, Copy)]
enum What<'w> {
    Insert(&'w DynamicEntity),
    Put(&'w DynamicEntity),
    Replace(&'w DynamicEntity, IfMatch),
    Merge(&'w DynamicEntity, IfMatch),
    InsertOrMerge(&'w DynamicEntity),
    Delete(IfMatch),
}

impl<'w> Write<'w> {
    fn of(condition: Condition, act: Act<()>, entity: &'w DynamicEntity) -> Self {
        let version = match condition {
            Condition::Tag(etag) => IfMatch::ETag(etag),
            _ => IfMatch::Any,
        };
        let what = match (act, condition) {
            (Act::Merge(()), Condition::Any) => What::InsertOrMerge(entity),
            (Act::Merge(()), _) => What::Merge(entity, version),
            (_, Condition::Absent) => What::Insert(entity),
            (_, Condition::Any) => What::Put(entity),
            _ => What::Replace(entity, version),
        };
        Self { partition: entity.partition_key(), row: entity.row_key(), what }
    }

    fn delete(partition: &'w str, row: &'w str, condition: IfMatch) -> Self {
        Self { partition, row, what: What::Delete(condition) }
    }

    /// Returns the entity that is given.
    fn entity(self) -> Option<&'w DynamicEntity> {
        match self.what {
            What::Insert(entity)
            | What::Put(entity)
            | What::Replace(entity, _)
            | What::Merge(entity, _)
            | What::InsertOrMerge(entity) => Some(entity),
            What::Delete(_) => None,
        }
    }

    /// Returns what it does, as it follows "cannot " in an error.
    fn describe(self) -> &'static str {
        match self.what {
            What::Insert(_) => "insert into",
            What::Put(_) => "insert or replace in",
            What::Replace(..) => "replace in",
            What::Merge(..) => "merge into",
            What::InsertOrMerge(_) => "insert or merge into",
            What::Delete(_) => "delete from",
        }
    }

    /// Returns the permissions that it takes.
    #[cfg(feature = "access")]
    fn rights(self) -> Rights {
        match self.what {
            What::Insert(_) => Rights::ADD,
            What::Put(_) | What::InsertOrMerge(_) => Rights::ADD.and(Rights::UPDATE),
            What::Replace(..) | What::Merge(..) => Rights::UPDATE,
            What::Delete(_) => Rights::DELETE,
        }
    }

    /// Returns what is given of the entity.
    fn given(self) -> GivenFields<'w> {
        match self.what {
            What::Insert(entity) | What::Put(entity) | What::Replace(entity, _) => GivenFields::Whole(entity),
            What::Merge(entity, _) => GivenFields::Some(entity),
            What::InsertOrMerge(entity) => GivenFields::SomeOrWhole(entity),
            What::Delete(_) => GivenFields::Nothing,
        }
    }

    /// Returns the change that it is.
    fn change(self) -> Change<'w> {
        match self.what {
            What::Insert(_) => Change::Insert,
            What::Put(_) | What::InsertOrMerge(_) => Change::Put,
            What::Replace(_, condition) => Change::Replace(condition),
            What::Merge(entity, condition) => Change::Set(entity, condition),
            What::Delete(condition) => Change::Delete(condition),
        }
    }

    /// Returns the text of `EntityType` that the row is to bear, and whether it says nothing of that.
    fn kind(self) -> (Option<&'w str>, bool) {
        let given = self.entity().and_then(|entity| entity.get(ENTITY_TYPE));
        let merges = !matches!(self.what, What::Insert(_) | What::Put(_) | What::Replace(..));
        (given.and_then(Value::as_str), merges && given.is_none())
    }

    fn place(self, error: Error, table: &DynamicTable) -> Error {
        error.placed(self.describe(), table.name(), self.partition, Some(self.row))
    }

    /// Carries out the write of a row that the store `refused` to write as it is.
    #[cold]
    fn by_layout(
        self,
        table: &DynamicTable,
        mut refused: Error,
        as_it_is: impl Fn() -> Result<ETag>,
    ) -> Result<ETag> {
        for _ in 0..LOOKS {
            if let Some(etag) = self.planned(table, &refused)? {
                return Ok(etag);
            }
            match as_it_is() {
                Err(again) if is_of_declared(&again, table) => refused = again,
                done => return done,
            }
        }
        Err(refused)
    }

    /// Plans the write and carries it out; `None` if the row that was in the way has gone.
    fn planned(self, table: &DynamicTable, refused: &Error) -> Result<Option<ETag>> {
        let mut looks = 0;
        loop {
            looks += 1;
            let look = Look::at(table)?;
            let Ok(layouts) = look.layouts() else { return Err(refused.again()) };
            let stored = look.kind_of(&self).map_err(|e| self.place(e, table))?;
            drop(look);
            let kinds = Kinds::of(table, layouts);
            let run = || {
                let Some(kind) = self.find_kind(&kinds, stored.as_ref())? else {
                    return if self.is_free(&kinds, stored.as_ref()) {
                        Ok(None)
                    } else {
                        Err(refused.again())
                    };
                };
                let mut images = LayoutImages::new(kind, self.given())?;
                let keys = Ok(KeyPair::of(self.partition, self.row));
                let family = kinds.with_others(kinds.others(kind)?);
                let done = driver::commit_one(&family, keys, self.change(), &mut images);
                done.map(Some).map_err(|error| explained(error, kind))
            };
            match run() {
                // Another layout has been noted meanwhile.
                Err(error) if error.kind() == ErrorKind::LayoutChanged && looks < LOOKS => {}
                done => return done.map_err(|error| self.place(error, table)),
            }
        }
    }

    /// Returns whether neither a row that is there nor the one to be is in the way of a write as it is.
    #[allow(clippy::option_option, reason = "no row, and one without a kind, are two answers")]
    fn is_free(self, kinds: &Kinds, stored: Option<&Option<String>>) -> bool {
        stored.is_none() && !self.kind().0.is_some_and(|text| kinds.declare(text))
    }

    /// Returns the kind by which it is planned; `None` if the row that is there, or is to be, is of none that could be.
    fn find_kind(
        self,
        kinds: &Kinds,
        stored: Option<&Option<String>>,
    ) -> Result<Option<&'static LayoutMeta>> {
        let (given, says_nothing) = self.kind();
        let text = match (given, stored) {
            (Some(given), _) => given,
            (None, Some(Some(stored))) if says_nothing => stored,
            _ => return Ok(None),
        };
        let Some(kind) = kinds.find(text)? else { return Ok(None) };
        match stored {
            None => Ok(Some(kind)),
            // An insert finds a row in its place, whatever that is.
            Some(_) if matches!(self.what, What::Insert(_)) => Ok(Some(kind)),
            Some(stored) if stored.as_deref() == Some(text) => Ok(Some(kind)),
            Some(Some(stored)) => kinds.find(stored).map(|_| None),
            Some(None) => Ok(None),
        }
    }
}

/// Says of a kind whose rows are still to be converted that its layout is in the way.
fn explained(error: Error, kind: &LayoutMeta) -> Error {
    if error.kind() == ErrorKind::MigrationPending {
        return obstructed(kind.schema().kind, &version_obstacle(kind.layout()));
    }
    error
}
