//! Entities sealed before they are written.

use super::EncryptingTable;
use super::lens::{Lens, RowKind, Treatment};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::ATTEMPTS;
use crate::executor::layouts::needs_its_struct;
use crate::model::names::ENTITY_TYPE;
use crate::model::{DynamicEntity, EdmType, EntityKeys, Value};
use crate::plan::{Act, Committed, Condition};
use crate::row::encode::Given;
use crate::schema::LayoutProperty;
use crate::sealing::{SealedAt, Sealer};

/// The entities of one write, or of one batch, on their way.
pub(crate) struct Sealing<'t> {
    table: &'t EncryptingTable,
    lens: Lens,
    sealer: Sealer<'t>,
}

/// What an entity is stored as.
pub(crate) struct Sealed {
    /// What is to be done, under the version of the row that was looked at.
    pub(crate) what: (Condition, Act<()>),
    /// Whether that is another condition than the caller's.
    pub(crate) is_of_version: bool,
    /// Sealed bytes, by their properties' places; rising.
    values: Vec<(usize, Value)>,
}

impl Sealed {
    /// Returns the properties as they are stored.
    pub(crate) fn given<'a>(&'a self, entity: &'a DynamicEntity) -> Vec<Given<'a>> {
        let mut sealed = self.values.iter().peekable();
        let stored = |(at, (name, value)): (usize, &'a (crate::model::Name, Value))| {
            let value = sealed.next_if(|(place, _)| *place == at).map_or(value, |(_, sealed)| sealed);
            (&**name, value.as_value_ref())
        };
        entity.entries().iter().enumerate().map(stored).collect()
    }
}

impl<'t> Sealing<'t> {
    pub(crate) fn new(table: &'t EncryptingTable) -> Result<Self> {
        Ok(Self { table, lens: table.lens(&table.table.snapshot()?)?, sealer: table.table.sealer() })
    }

    /// Seals what is to be sealed of an entity.
    pub(crate) fn seal(&self, condition: Condition, act: Act<()>, entity: &DynamicEntity) -> Result<Sealed> {
        let place = |e: Error| {
            e.attempted(act.describe(condition))
                .table(self.table.name())
                .partition(entity.partition_key())
                .row(entity.row_key())
        };
        let seal = || {
            let (kind, what, is_of_version) = self.look(condition, act, entity)?;
            Ok(Sealed { what, is_of_version, values: self.values(kind, entity)? })
        };
        seal().map_err(place)
    }

    /// Returns the kind of the row, and the write to be done. A merge that doesn't say the kind takes that of the row
    /// which is there, and so holds for that version alone.
    ///
    /// The snapshot is dropped before anything is sealed: the key provider may take long.
    fn look(
        &self,
        condition: Condition,
        act: Act<()>,
        entity: &DynamicEntity,
    ) -> Result<(RowKind<'_>, (Condition, Act<()>), bool)> {
        let kind = |kind: Option<&str>| self.lens.kind(kind);
        let what = (condition, act);
        match (act, entity.get(ENTITY_TYPE)) {
            (Act::Merge(()), None) => {}
            (_, given) => return Ok((kind(given.and_then(Value::as_str)), what, false)),
        }
        #[cfg(feature = "access")]
        if let Some(restricted) = self.table.table.exec().restricted() {
            use crate::executor::Rights;
            // What is there is read, and may be another the moment after: so a merge takes what it may come to do.
            let adds = if condition == Condition::Any { Rights::ADD } else { Rights::NONE };
            let rights = Rights::READ.and(Rights::UPDATE).and(adds);
            restricted.check(rights, EntityKeys::new(entity.partition_key(), entity.row_key()))?;
        }
        let snapshot = self.table.table.snapshot()?;
        let view = snapshot.view(&self.table.table, entity.partition_key(), entity.row_key())?;
        Ok(match (view, condition) {
            (Some(view), Condition::Tag(_)) => (kind(view.kind()?), what, false),
            (Some(view), _) => (kind(view.kind()?), (Condition::Tag(view.etag()), Act::Merge(())), true),
            (None, Condition::Any) => (kind(None), (Condition::Absent, Act::Put(())), true),
            (None, _) => return Err(Error::new(ErrorKind::EntityNotFound)),
        })
    }

    fn values(&self, kind: RowKind<'_>, entity: &DynamicEntity) -> Result<Vec<(usize, Value)>> {
        if let (false, Some((kind, index))) = (self.table.table.is_raw(), kind.declared()) {
            return Err(needs_its_struct(kind, "", index));
        }
        if let RowKind::Copy(layout, _) = kind {
            return Err(Error::new(ErrorKind::SchemaMismatch).because(format!(
                "the row is a copy of an entity of the kind `{}`, and follows it: change the entity",
                layout.kind
            )));
        }
        let (partition, row) = (entity.partition_key(), entity.row_key());
        let rule = &self.lens.rule;
        let mut values = Vec::new();
        for (at, (name, value)) in entity.entries().iter().enumerate() {
            let scope = match self.lens.treatment(kind, EntityKeys::new(partition, row), name) {
                Treatment::Plain => continue,
                Treatment::Contradiction => return Err(contradiction(kind, name)),
                Treatment::Declared(of) => {
                    check_declared(of, value.edm_type())?;
                    of.scope()
                }
                Treatment::Named(of) => of.scope(),
                Treatment::Resolved => rule.scope,
            };
            let cell = self.table.table.cell(partition, row, name)?.scoped(scope);
            values.push((at, self.sealer.seal_cell(&cell, value.as_value_ref())?.into()));
        }
        Ok(values)
    }

    /// Returns what the values that were sealed so far were sealed with.
    pub(crate) fn sealed_at(&self) -> SealedAt {
        self.sealer.sealed_at()
    }
}

/// Refuses a value that the struct would not read, or not find.
fn check_declared(of: &LayoutProperty, given: EdmType) -> Result<()> {
    let (name, edm) = (&of.name, of.edm);
    if of.tokens().is_some() {
        return Err(Error::new(ErrorKind::SchemaMismatch).because(format!(
            "property `{name}` is looked up by a token, which only its struct's table keeps: \
             change it there, or by `SetTable::merge_any`"
        )));
    }
    if !fits(given, edm) {
        return Err(Error::new(ErrorKind::SchemaMismatch)
            .because(format!("property `{name}` is declared as {edm:?}, and the value is {given:?}")));
    }
    Ok(())
}

/// Returns whether a struct that declares this type reads the value.
fn fits(value: EdmType, declared: EdmType) -> bool {
    value == declared || (value, declared) == (EdmType::Int32, EdmType::Int64)
}

#[cold]
fn contradiction(kind: RowKind<'_>, name: &str) -> Error {
    let kind = kind.declared().map_or("", |(kind, _)| kind);
    Error::new(ErrorKind::SchemaMismatch).because(format!(
        "property `{name}` is to be sealed, and the struct of the kind `{kind}` would not read it so: \
         it needs `#[encrypt]` there"
    ))
}

/// What came of a write whose values were sealed for it.
pub(crate) struct Submitted {
    pub(crate) done: Result<Committed>,
    pub(crate) sealed_at: SealedAt,
    /// Whether it demands the row as it was read to be sealed, and not as the caller has said.
    pub(crate) is_of_version: bool,
}

/// Repeats an attempt at a write as long as the keys, or the row that its sealing depends on, have changed meanwhile.
pub(crate) fn submit(attempt: impl Fn() -> Result<Submitted>) -> Result<Committed> {
    let mut attempts = 1;
    loop {
        let Submitted { done, sealed_at, is_of_version } = attempt()?;
        let has_moved = |error: &Error| {
            let kinds =
                [ErrorKind::ConditionNotMet, ErrorKind::EntityAlreadyExists, ErrorKind::EntityNotFound];
            sealed_at.is_stale() || (is_of_version && kinds.contains(&error.kind()))
        };
        match done {
            Err(error) if attempts < ATTEMPTS && has_moved(&error) => attempts += 1,
            done => return done,
        }
    }
}
