//! `tables repair`: copies that do not agree with their entities are written anew.

use clap::Args;
use table_core::introspect::{KindInfo, RowOf};
use table_core::store::Problem;
use table_core::{DynamicEntity, DynamicTable, Error, ErrorKind, Store};

use crate::copies::WholeEntity;
use crate::failure::{Exit, Failure};
use crate::kinds::Kinds;
use crate::output::Cell;
use crate::owners;
use crate::session::Session;

/// The arguments of `repair`.
#[derive(Debug, Args)]
pub(crate) struct Repair {}

/// So often an entity is read again that others change.
const ATTEMPTS: usize = 16;

impl Repair {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("repair")?;
        let store = session.store("repair")?;
        let kinds = session.kinds()?;
        let mut mended: u64 = 0;
        // The structs know all that there is to be known.
        for declared in &*session.all_declared() {
            mended = mended.saturating_add(declared.repair(&store)?.mended);
        }
        let report = store.check()?;
        if !report.problems.is_empty() {
            return Err(Failure::Refused(format!(
                "{} problems are damage, which no repair mends: `tables check` lists them; take the store from a backup",
                report.problems.len()
            )));
        }
        for problem in &report.wrong_copies {
            match mend(&store, &kinds, problem) {
                Ok(()) => {}
                Err(Failure::Store(error)) if !error.kind().stops() => {
                    session.note(format!("{problem}: {error}"));
                }
                Err(failure) => return Err(failure),
            }
        }
        let left = store.check()?.wrong_copies.len();
        let by_layout = report.wrong_copies.len().saturating_sub(left);
        mended = mended.saturating_add(u64::try_from(by_layout).unwrap_or(u64::MAX));
        if left > 0 {
            session.note("what is left takes the struct of its kind: a program that adds it by `Cli::new().kind::<..>()`");
        }
        session.output().facts(vec![
            ("mended".to_owned(), Cell::count(mended)),
            ("left".to_owned(), Cell::count(left)),
        ])?;
        Ok(if left == 0 { Exit::Done } else { Exit::Damaged })
    }
}

/// Mends what is wrong with a row: the copies of its entity are written anew, and a copy of no entity goes. What only a struct
/// knows is left as it is.
fn mend(store: &Store, kinds: &Kinds, problem: &Problem) -> Result<(), Failure> {
    let (Some(name), Some((partition, row))) = (&problem.table, &problem.row) else { return Ok(()) };
    let table = store.dynamic_table(name)?;
    let Some(found) = table.get(partition, row)? else { return Ok(()) };
    let Some((kind, of)) = kinds.identify(name, &found) else { return Ok(()) };
    let kind = kinds.owner(kind);
    let own = store.dynamic_table(kind.entities_table())?;
    let key = match of {
        RowOf::Entity => (partition.clone(), row.clone()),
        // What a part held is nowhere else, and what many entities give together is counted anew by the struct.
        RowOf::Part(_) => return Ok(()),
        _ => match owners::entity_of(kind, &table, &found)? {
            Some(key) => key,
            None => return Ok(()),
        },
    };
    let entity = write_copies(store, &own, kind, &key)?;
    let is_of_entity =
        entity.is_some_and(|entity| owners::has_copy_at(kind, &table, &entity, (partition, row)));
    if of != RowOf::Entity && !is_of_entity {
        table.raw().delete(partition, row)?;
    }
    Ok(())
}

/// Writes the copies of an entity that do not agree with it; returns the entity. One that is changed meanwhile is read again.
fn write_copies(
    store: &Store,
    own: &DynamicTable,
    kind: &KindInfo,
    key: &(String, String),
) -> Result<Option<DynamicEntity>, Failure> {
    let mut known = own.get(&key.0, &key.1)?;
    for _ in 0..ATTEMPTS {
        let Some(entity) = known else { return Ok(None) };
        let whole = WholeEntity::gather(own, kind, &entity)?;
        let copies = whole.copies(store)?;
        for index in kind.indexes() {
            let is_wrong = copies.iter().any(|copy| copy.name == index.name && !copy.state.is_sound());
            if let Some(made) = whole.made(&index).filter(|_| is_wrong) {
                store.dynamic_table(&index.table)?.raw().put(&made)?;
            }
        }
        known = own.get(&key.0, &key.1)?;
        if known.as_ref().and_then(DynamicEntity::etag) == entity.etag() {
            return Ok(Some(entity));
        }
    }
    let error = Error::new(ErrorKind::ConditionNotMet).because("others change the entity again and again");
    Err(error.table(own.name()).partition(&key.0).row(&key.1).into())
}
