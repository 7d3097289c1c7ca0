//! Wide entities, put together from their rows.
//!
//! A wide entity lies in a head and in parts, and a store plans a write of all of them at once: written row by row, by what is
//! noted of its kind, each row would empty the others. So the rows that stand near one another become one entity.

use std::collections::BTreeMap;

use table_core::{DynamicEntity, Value};

use super::super::counts::Counts;
use super::super::kinds::{ENTITY_PARTS, ENTITY_TYPE, WideRow};
use super::super::read::Item;
use super::super::reject::Reject;
use super::{Loader, Mode};
use crate::failure::Failure;

/// The rows of one entity, by the numbers of the parts; the head is 0.
struct Gathered {
    kind: usize,
    rows: BTreeMap<usize, Item>,
}

impl Gathered {
    /// Returns how many parts the head says that there are. One that says nothing has those that are there.
    fn parts(&self) -> usize {
        let said = self.rows.get(&0).and_then(|head| parts_said(&head.entity));
        said.unwrap_or_else(|| self.rows.keys().last().copied().unwrap_or_default())
    }

    /// Returns why the rows are no entity; `None` if they are one.
    fn lacks(&self, kind: &str) -> Option<String> {
        let parts = self.parts();
        let near = "stand near one another, as `tables export` writes them; --raw writes each row as it is";
        if !self.rows.contains_key(&0) {
            return Some(format!(
                "the row is a part of a wide entity `{kind}` whose head is missing: its rows must {near}"
            ));
        }
        let missing = (1..=parts).find(|part| !self.rows.contains_key(part))?;
        Some(format!(
            "part {missing} of {parts} of the wide entity `{kind}` is missing: its rows must {near}"
        ))
    }

    /// Puts the rows together.
    fn join(self) -> Option<Item> {
        let mut rows = self.rows.into_values();
        let mut whole = rows.next()?;
        for part in rows {
            add(&mut whole.entity, &part.entity);
            whole.rows += part.rows;
        }
        Some(whole)
    }
}

/// Returns how many parts a head says that its entity has.
pub(super) fn parts_said(head: &DynamicEntity) -> Option<usize> {
    head.get(ENTITY_PARTS).and_then(Value::as_i64).and_then(|said| usize::try_from(said).ok())
}

/// Adds what a part says to the head.
pub(super) fn add(head: &mut DynamicEntity, part: &DynamicEntity) {
    for (name, value) in part.properties().filter(|(name, _)| *name != ENTITY_TYPE) {
        head.set(name, value.clone());
    }
}

impl Loader<'_> {
    /// Puts the rows of wide entities together, and rejects those that are no whole one.
    pub(super) fn join_wide(
        &mut self,
        items: &mut Vec<Item>,
        counts: &mut Counts,
        rejects: &mut Vec<Reject>,
    ) -> Result<(), Failure> {
        if !self.kinds.have_wide() {
            return Ok(());
        }
        let (mut others, mut found) = (Vec::with_capacity(items.len()), Vec::<Gathered>::new());
        // Where the last entity of a key is among those that were found.
        let mut last: BTreeMap<(String, String), usize> = BTreeMap::new();
        for item in items.drain(..) {
            let Some(WideRow { kind, part, head }) = self.kinds.wide_row(&item.entity) else {
                others.push(item);
                continue;
            };
            let key = (item.entity.partition_key().to_owned(), head.to_owned());
            let of_it = last.get(&key).and_then(|at| found.get_mut(*at));
            if let Some(of_it) = of_it.filter(|of_it| !of_it.rows.contains_key(&part)) {
                of_it.rows.insert(part, item);
            } else {
                // Another entity of the same key comes later.
                last.insert(key, found.len());
                found.push(Gathered { kind, rows: BTreeMap::from([(part, item)]) });
            }
        }
        *items = others;
        for gathered in found {
            match gathered.lacks(self.kinds.name(gathered.kind)) {
                None => items.extend(gathered.join()),
                Some(why) => self.leave_out(gathered, &why, counts, rejects)?,
            }
        }
        Ok(())
    }

    /// Leaves out rows that are no whole entity.
    fn leave_out(
        &self,
        gathered: Gathered,
        why: &str,
        counts: &mut Counts,
        rejects: &mut Vec<Reject>,
    ) -> Result<(), Failure> {
        for item in gathered.rows.into_values() {
            if self.writing.mode == Mode::Skip && self.has(&item.entity)? {
                counts.skipped += item.rows;
                continue;
            }
            counts.rejected += item.rows;
            rejects.push(Reject::of(item.line, &item.entity, why.to_owned()));
        }
        Ok(())
    }
}
