//! Changes that are planned here, and not carried out: explained, added to a load, or lent to the caller.

use super::attempt::Attempt;
use super::driver::{PlanTables, Scope, Together, named, planned_with, prepared};
use super::entity_attempt::EntityAttempt;
use super::entity_images::TypedImages;
#[cfg(feature = "access")]
use super::restricted;
use super::{Change, Payload};
use crate::error::Result;
use crate::executor::Loader;
use crate::handle::table::DynamicTable;
use crate::plan::{Plan, Seals, WriteExplain};
use crate::schema::{IndexMask, KeyPair};
use crate::sealing::{SealedAt, Sealer};
use crate::typed::entity::Entity;

/// Returns the rows that the changes would touch.
#[inline]
pub(crate) fn explain(
    together: Together<'_>,
    attempts: &mut [&mut (dyn Attempt + '_)],
) -> Result<WriteExplain> {
    #[cfg(feature = "access")]
    restricted::refuse_explain(together)?;
    let derived = prepared(together, attempts, false)?;
    let sealers: Vec<_> = together.tables.iter().map(DynamicTable::dry_run_sealer).collect();
    let seals: Vec<_> = sealers.iter().map(|sealer| -> &dyn Seals { sealer }).collect();
    named(together, |names| {
        planned_with(together.scope, derived, PlanTables { names, seals: &seals }, attempts, WriteExplain::of)
    })
}

/// Adds a change to a load, which carries it out together with others. Returns whether there is anything to carry out.
pub(crate) fn loaded(
    table: &DynamicTable,
    attempt: &mut (dyn Attempt + '_),
    loader: &mut dyn Loader,
) -> Result<bool> {
    #[cfg(feature = "access")]
    restricted::refuse_job(table)?;
    let (attempts, alone) = (&mut [attempt], Together::alone(table));
    let derived = prepared(alone, attempts, true)?;
    let sealers: Vec<_> = alone.tables.iter().map(DynamicTable::sealer).collect();
    let seals: Vec<_> = sealers.iter().map(|sealer| -> &dyn Seals { sealer }).collect();
    named(alone, |names| {
        planned_with(alone.scope, derived, PlanTables { names, seals: &seals }, attempts, |plan| {
            // An entity may have no copy in an index.
            if plan.groups.iter().all(|group| group.written() == 0) {
                return Ok(false);
            }
            let sealed_at = SealedAt::earliest(sealers.iter().map(Sealer::sealed_at));
            loader.add(plan, &sealed_at).map_err(|refused| plan.explain_refusal(refused).error)?;
            Ok(true)
        })
    })?
}

/// Returns what `run` makes of the plan that adds an entity.
pub(crate) fn insertion<E: Entity, T>(
    table: &DynamicTable,
    entity: &E,
    index_mask: IndexMask,
    seals: &dyn Seals,
    run: impl FnOnce(&Plan<'_>) -> T,
) -> Result<T> {
    let mut entities = TypedImages::<E>::of(Payload::Entity(entity));
    let mut attempt = EntityAttempt::lent(Ok(KeyPair::default()), Change::Insert, &mut entities);
    attempt.set_index_mask(index_mask);
    named(Together::alone(table), |names| planned(Scope::ALONE, names, &mut [&mut attempt], &[seals], run))
}

/// Returns what `run` makes of the plan of the changes, for which everything has been found; `tables` are the names of their
/// tables, and `seals` what seals for each.
pub(crate) fn planned<T>(
    scope: Scope<'_>,
    tables: &[&str],
    attempts: &mut [&mut (dyn Attempt + '_)],
    seals: &[&dyn Seals],
    run: impl FnOnce(&Plan<'_>) -> T,
) -> Result<T> {
    for (number, attempt) in attempts.iter_mut().enumerate() {
        attempt.make().map_err(|error| scope.numbered(error, number))?;
    }
    planned_with(scope, None, PlanTables { names: tables, seals }, attempts, run)
}
