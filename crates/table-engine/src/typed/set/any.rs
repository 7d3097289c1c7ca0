//! Entities of a set by keys and properties, without knowing their type: for imports, editors and the like.

use super::{EntitySet, SetMember, SetTable, Visitor, unknown_kind};
use crate::error::{Error, ErrorKind, Result};
use crate::model::names::ENTITY_TYPE;
use crate::model::{DynamicEntity, ETag, IfMatch, IntoIfMatch};
use crate::schema;
use crate::typed::change::driver;
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::{Change, Payload};
use crate::typed::entity::Entity;
use crate::typed::entity::path::check_kind_name;
use crate::typed::entity::source::Source;
use crate::typed::read::key::Key;

/// What is to be done with an entity of whichever kind.
#[derive(Clone, Copy)]
enum What {
    Check,
    Insert,
    Put,
    Merge(IfMatch),
    Delete(IfMatch),
}

impl<Set: EntitySet> SetTable<Set> {
    /// Checks that these properties under these keys are an entity of the kind that `EntityType` names: an error says what
    /// does not fit.
    pub fn check_any(&self, entity: &DynamicEntity) -> Result<()> {
        self.run(entity, What::Check).map(|_| ())
    }

    /// Adds an entity and its copies by its properties; `EntityType` says of which kind it is.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Entity, EntitySet, ErrorKind, IfMatch, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # #[index(by_email, row = "email_{email}", unique)]
    /// # struct Employee { department: String, id: u32, email: String }
    /// # #[derive(EntitySet)]
    /// # enum Company { Employee(Employee) }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let company = store.set::<Company>()?;
    /// let jun = DynamicEntity::new("Sales", "empid_000007").with("EntityType", "employee");
    /// assert_eq!(company.insert_any(&jun).unwrap_err().kind(), ErrorKind::SchemaMismatch); // no e-mail
    /// company.insert_any(&jun.with("Email", "jun@contoso.com"))?;
    ///
    /// // The copies are changed with it.
    /// let change = DynamicEntity::new("Sales", "empid_000007").with("Email", "cao@contoso.com");
    /// company.merge_any(&change, IfMatch::Any)?;
    /// let staff = store.table::<Employee>()?;
    /// assert!(staff.get(Employee::by_email("Sales", "cao@contoso.com"))?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_any(&self, entity: &DynamicEntity) -> Result<ETag> {
        self.written(entity, What::Insert)
    }

    /// Adds an entity by its properties, or puts it in the place of the one there.
    pub fn put_any(&self, entity: &DynamicEntity) -> Result<ETag> {
        self.written(entity, What::Put)
    }

    /// Sets the given properties of the entity there, whatever its kind, and makes its copies follow. Those of its
    /// primary key can't be set, and none that its struct does not have.
    pub fn merge_any(&self, changes: &DynamicEntity, condition: impl IntoIfMatch) -> Result<ETag> {
        self.written(changes, What::Merge(condition.into()))
    }

    /// Removes the entity of these keys, whatever its kind, with its copies; fails if there is none.
    pub fn delete_any(&self, partition_key: &str, row_key: &str) -> Result<()> {
        self.delete_any_if(partition_key, row_key, IfMatch::Any)
    }

    /// Removes the entity as [`delete_any`](Self::delete_any) does, if it is of the version demanded.
    pub fn delete_any_if(
        &self,
        partition_key: &str,
        row_key: &str,
        condition: impl IntoIfMatch,
    ) -> Result<()> {
        self.run(&DynamicEntity::new(partition_key, row_key), What::Delete(condition.into())).map(|_| ())
    }

    fn written(&self, entity: &DynamicEntity, what: What) -> Result<ETag> {
        // Every change but a check writes.
        self.run(entity, what)?.ok_or_else(|| Error::new(ErrorKind::EntityNotFound))
    }

    /// Returns the version written, if something was.
    fn run(&self, entity: &DynamicEntity, what: What) -> Result<Option<ETag>> {
        let (partition, row) = (entity.partition_key(), entity.row_key());
        let attempted = match what {
            What::Check => "check an entity of",
            What::Insert => "insert into",
            What::Put => "put into",
            What::Merge(_) => "merge into",
            What::Delete(_) => "delete from",
        };
        let place = |e: Error| e.attempted(attempted).table(self.table.name()).partition(partition).row(row);
        let given = entity.get(ENTITY_TYPE).map(|kind| kind.as_str().unwrap_or_default());
        let run = || {
            #[cfg(feature = "access")]
            if let Some(restricted) = self.table.exec().restricted() {
                use crate::executor::Rights;
                use crate::model::EntityKeys;
                // Which kind the entity is of is read before its change is made, which says what that takes.
                let rights = match what {
                    What::Merge(_) => Rights::READ.and(Rights::UPDATE),
                    What::Delete(_) => Rights::READ.and(Rights::DELETE),
                    What::Check | What::Insert | What::Put => Rights::NONE,
                };
                restricted.check(rights, EntityKeys::new(partition, row))?;
            }
            let stored = match what {
                What::Merge(_) | What::Delete(_) => self.table.get_by(partition, row, |view| {
                    let kind = view.kind()?.unwrap_or_default().to_owned();
                    given.map_or(Ok(()), |given| check_kind_name(view, given)).map(|()| kind)
                })?,
                _ => Some(given.unwrap_or_default().to_owned()),
            };
            let kind = stored.ok_or_else(|| Error::new(ErrorKind::EntityNotFound))?;
            // What is given says its version; a row of another one is of the kind all the same.
            let kind = match what {
                What::Merge(_) | What::Delete(_) => super::visited::<Set>(&kind).to_owned(),
                What::Check | What::Insert | What::Put => kind,
            };
            let visited = Set::visit(&kind, Run { set: self, entity, what });
            visited.unwrap_or_else(|| Err(unknown_kind::<Set>(&kind, "")))
        };
        run().map_err(place)
    }
}

struct Run<'r, Set> {
    set: &'r SetTable<Set>,
    entity: &'r DynamicEntity,
    what: What,
}

impl<Set> Visitor<Set> for Run<'_, Set> {
    type Output = Result<Option<ETag>>;

    fn visit<E: SetMember>(self, _: fn(E) -> Set) -> Result<Option<ETag>> {
        let Self { set, entity, what } = self;
        let commit = |key, change, payload: Payload<'_, E>| {
            driver::commit_alone(&set.table, &mut EntityAttempt::new(key, change, payload)).map(Some)
        };
        let key = || Key::<E>::verbatim(entity.partition_key(), entity.row_key());
        match what {
            What::Check => read::<E>(entity).map(|_| None),
            What::Insert => {
                read::<E>(entity).and_then(|new| commit(Key::unused(), Change::Insert, Payload::Entity(&new)))
            }
            What::Put => read::<E>(entity).and_then(|new| commit(key(), Change::Put, Payload::Entity(&new))),
            What::Merge(condition) => {
                check_settable::<E>(entity)?;
                commit(key(), Change::Set(entity, condition), Payload::Nothing)
            }
            What::Delete(condition) => commit(key(), Change::Delete(condition), Payload::Nothing),
        }
    }
}

/// Returns the entity of these keys and properties.
fn read<E: Entity>(entity: &DynamicEntity) -> Result<E> {
    check_known::<E>(entity)?;
    let read = E::from_source(&mut Source::of_entity(E::SCHEMA, entity)?)?;
    let key = Key::of(&read);
    let (partition, row) = key.as_strs()?;
    if (partition, row) == (entity.partition_key(), entity.row_key()) {
        return Ok(read);
    }
    let (partition, row) = (partition.escape_debug(), row.escape_debug());
    let because = format!("its properties give the keys `{partition}` and `{row}`");
    Err(Error::new(ErrorKind::SchemaMismatch).because(because))
}

/// Refuses properties that the struct does not have: a misspelt one would be lost on every copy.
fn check_known<E: Entity>(entity: &DynamicEntity) -> Result<()> {
    let is_known = |name: &str| name == ENTITY_TYPE || E::SCHEMA.fields.iter().any(|f| f.property == name);
    match entity.properties().find(|(name, _)| !is_known(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Error::new(ErrorKind::SchemaMismatch)
            .because(format!("`{}` has no property `{name}`", E::SCHEMA.entity))),
    }
}

/// Refuses properties that stand in the primary key, too.
fn check_settable<E: Entity>(entity: &DynamicEntity) -> Result<()> {
    check_known::<E>(entity)?;
    let schema = E::SCHEMA;
    let in_key = [&schema.place().partition, &schema.place().row].into_iter().flat_map(schema::fields);
    let mut names = in_key.filter_map(|part| schema.fields.get(part.field)).map(|field| field.property);
    match names.find(|name| entity.get(name).is_some()) {
        None => Ok(()),
        Some(name) => Err(Error::new(ErrorKind::KeyChanged)
            .because(format!("the property `{name}` stands in the primary key, which a merge keeps"))),
    }
}
