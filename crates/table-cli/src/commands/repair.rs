//! `tables repair`: copies that do not agree with their entities are written anew.

use std::collections::BTreeMap;

use clap::Args;
use table_core::introspect::{KindInfo, RowOf};
use table_core::store::Problem;
use table_core::typed::Job;
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
        let Mended { mended, left } = repair(session)?;
        session.output().facts(vec![
            ("mended".to_owned(), Cell::count(mended)),
            ("left".to_owned(), Cell::count(left)),
        ])?;
        Ok(if left == 0 { Exit::Done } else { Exit::Damaged })
    }
}

/// What a repair came to.
pub(super) struct Mended {
    pub(super) mended: u64,
    pub(super) left: usize,
}

/// Mends what can be mended, by the structs that there are and else by what is noted of the kinds; a note says what is left.
pub(super) fn repair(session: &mut Session<'_>) -> Result<Mended, Failure> {
    let store = session.store("repair")?;
    let kinds = session.kinds()?;
    let report = store.check()?;
    if !report.problems.is_empty() {
        return Err(Failure::Refused(format!(
            "{} problems are damage, which no repair mends: `tables check` lists them; take the store from a backup",
            report.problems.len()
        )));
    }
    let mut mended: u64 = 0;
    // The structs know all that there is to be known.
    for declared in &*session.all_declared() {
        mended = mended.saturating_add(declared.repair(&store)?.mended);
    }
    let mut obstacles = Vec::new();
    for kind in kinds.all().iter().filter(|kind| kind.lies_here() && !kind.indexes().is_empty()) {
        if session.declared(kind.table(), kind.kind()).is_some() {
            continue;
        }
        match kind.repair(&store).and_then(Job::run) {
            Ok(report) => mended = mended.saturating_add(report.mended),
            Err(error) if is_obstacle(&error) => obstacles.push((kind, error)),
            Err(error) if error.kind().stops() => return Err(error.into()),
            Err(error) => session.note(error.to_string()),
        }
    }
    // Of a kind that is not known whole some copies can be told all the same.
    let wrong = store.check()?.wrong_copies;
    let closed = obstacles.iter().filter(|(_, error)| error.kind() == ErrorKind::KeyUnavailable);
    let closed = closed.map(|(kind, _)| *kind).collect();
    let mut mending = Mending { store: &store, kinds: &kinds, closed, left: BTreeMap::new() };
    for problem in &wrong {
        match mending.mend(problem) {
            Ok(()) => {}
            Err(Failure::Store(error)) if !error.kind().stops() => {
                session.note(format!("{problem}: {error}"));
            }
            Err(failure) => return Err(failure),
        }
    }
    let reasons = mending.left;
    let left = if wrong.is_empty() { 0 } else { store.check()?.wrong_copies.len() };
    let by_row = wrong.len().saturating_sub(left);
    mended = mended.saturating_add(u64::try_from(by_row).unwrap_or(u64::MAX));
    for (index, why) in reasons {
        session.note(format!("`{index}` is left as it is: {why}"));
    }
    for (kind, error) in obstacles {
        let kind = kind.kind();
        session.note(format!("`{kind}` is looked at in part: {}", cure(kind, &error)));
    }
    Ok(Mended { mended, left })
}

/// Returns whether an error says that what is noted of a kind is not enough for a job.
pub(super) fn is_obstacle(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::DeclaredKind | ErrorKind::KeyUnavailable)
}

/// Returns why a job can't be done by what is noted of a kind, and what helps.
pub(super) fn cure(kind: &str, error: &Error) -> String {
    let reason = error.reason();
    if error.kind() == ErrorKind::KeyUnavailable {
        return format!("{reason}; give --keys FILE");
    }
    format!(
        "{reason}; a program of yours with the struct does it: `table_cli::Cli::new().kind::<{}>().run()`",
        struct_name(kind)
    )
}

/// Returns the name that a struct of this kind has, most likely.
fn struct_name(kind: &str) -> String {
    let words = kind.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let capitalised = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    };
    words.map(capitalised).collect()
}

/// A repair by what is noted of the kinds.
struct Mending<'m> {
    store: &'m Store,
    kinds: &'m Kinds,
    /// Those that seal values, and whose keys are not given.
    closed: Vec<&'m KindInfo>,
    /// Why an index is left as it is, by the names of its kind and its own.
    left: BTreeMap<String, String>,
}

impl Mending<'_> {
    /// Mends what is wrong with a row: the copies of its entity are written anew, and a copy of no entity goes. What only a struct
    /// knows is left as it is.
    fn mend(&mut self, problem: &Problem) -> Result<(), Failure> {
        let (Some(name), Some((partition, row))) = (&problem.table, &problem.row) else { return Ok(()) };
        let table = self.store.dynamic_table(name)?;
        let Some(found) = table.get(partition, row)? else { return Ok(()) };
        let Some((kind, of)) = self.kinds.identify(name, &found) else { return Ok(()) };
        let kind = self.kinds.owner(kind);
        if self.closed.iter().any(|closed| std::ptr::eq(*closed, kind)) {
            return Ok(());
        }
        let own = self.store.dynamic_table(kind.entities_table())?;
        let key = match &of {
            RowOf::Entity => (partition.clone(), row.clone()),
            // What a part held is nowhere else, and what many entities give together is counted anew by the struct.
            RowOf::Part(_) => return Ok(()),
            _ => match owners::entity_of(kind, &table, &found)? {
                Some(key) => key,
                None => return Ok(()),
            },
        };
        let entity = self.write_copies(&own, kind, &key.0, &key.1)?;
        let RowOf::Index(of_index) = of else { return Ok(()) };
        let Some(entity) = entity else {
            table.raw().delete(partition, row)?;
            return Ok(());
        };
        let whole = WholeEntity::gather(&own, kind, &entity)?;
        let indexes = kind.indexes();
        let mut here = indexes.iter().filter(|index| index.table.eq_ignore_ascii_case(name));
        // What can't be told of its own index is left as it is.
        let is_of_entity = here.any(|index| match whole.lies_at(index, partition, row) {
            Some(lies) => lies,
            None => index.name == of_index,
        });
        if !is_of_entity {
            table.raw().delete(partition, row)?;
        }
        Ok(())
    }

    /// Writes the copies of an entity that do not agree with it; returns the entity. One that is changed meanwhile is read again.
    fn write_copies(
        &mut self,
        own: &DynamicTable,
        kind: &KindInfo,
        partition: &str,
        row: &str,
    ) -> Result<Option<DynamicEntity>, Failure> {
        let mut known = own.get(partition, row)?;
        for _ in 0..ATTEMPTS {
            let Some(entity) = known else { return Ok(None) };
            let whole = WholeEntity::gather(own, kind, &entity)?;
            let copies = whole.copies(self.store)?;
            for index in kind.indexes() {
                let of_index = copies.iter().filter(|copy| copy.name == index.name);
                if of_index.clone().all(|copy| copy.state.is_sound()) {
                    continue;
                }
                match whole.made(&index) {
                    Ok(made) => drop(self.store.dynamic_table(&index.table)?.raw().put(&made)?),
                    Err(why) => drop(self.left.insert(format!("{}.{}", kind.kind(), index.name), why)),
                }
            }
            known = own.get(partition, row)?;
            if known.as_ref().and_then(DynamicEntity::etag) == entity.etag() {
                return Ok(Some(entity));
            }
        }
        let error =
            Error::new(ErrorKind::ConditionNotMet).because("others change the entity again and again");
        Err(error.table(own.name()).partition(partition).row(row).into())
    }
}
