//! Index lists that several plans of one transaction change.
//!
//! To change a list is to write all of it, so a load onto one list would write as much for each entity as is there by then.
//! The first plan that changes a list finds out that it is sound, and writes it. What the plans behind it change is gathered
//! here, and written once: when the transaction ends, or before a plan that has to see the list as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use table_engine::error::Result;
use table_engine::model::Ticks;
use table_engine::plan::{Amounts, MOST_OF_LIST, RowKind};

use super::encoded::{EncodedAddition, EncodedPlan};
use super::transaction::Transaction;
use crate::records::catalog::TableState;

/// The lists that plans of the transaction have changed, by their stored keys.
#[derive(Debug, Default)]
pub(super) struct Gathered(BTreeMap<Box<[u8]>, List>);

/// A list as the transaction has written it, and what has come since.
#[derive(Debug)]
struct List {
    table: Arc<TableState>,
    seed: u64,
    kind: RowKind,
    /// Ids, and whether they are to be there.
    changes: BTreeMap<String, bool>,
    /// The most bytes that its ids can have by now.
    most: usize,
    /// When the last plan changed it.
    changed: Ticks,
}

impl Gathered {
    /// Returns whether a plan before has changed the list. What this one changes need not be looked at, unless the list
    /// has to be [written](Transaction::write_lists_for) before it.
    pub(super) fn has(&self, key: &[u8]) -> bool {
        !self.0.is_empty() && self.0.contains_key(key)
    }
}

impl List {
    /// Returns whether what a plan adds can wait: it can't be refused, whatever is on the list.
    fn takes(&self, plan: &EncodedPlan, addition: &EncodedAddition) -> bool {
        can_wait(plan, &addition.amounts)
            && addition.amounts.kind_name() == self.kind.name()
            && self.most + addition.amounts.bytes_of_ids() <= MOST_OF_LIST
    }
}

/// Returns whether changes of a list may wait: not those of a repair, which looks at the list, nor of a plan whose rows
/// keep their times.
fn can_wait(plan: &EncodedPlan, amounts: &Amounts) -> bool {
    amounts.are_ids() && !amounts.mends() && !plan.keeps_times
}

impl Transaction<'_> {
    /// Writes the lists that this plan has to see as they are.
    pub(super) fn write_lists_for(&mut self, plan: &EncodedPlan) -> Result<()> {
        if self.gathered.0.is_empty() {
            return Ok(());
        }
        if !plan.unchanged.is_empty() {
            return self.write_lists();
        }
        for row in &plan.rows {
            self.write_list(plan.key(row))?;
        }
        for addition in &plan.additions {
            let key = plan.bytes(&addition.key);
            if self.gathered.0.get(key).is_some_and(|list| !list.takes(plan, addition)) {
                self.write_list(key)?;
            }
        }
        Ok(())
    }

    /// Takes in what a plan that was carried out has changed of lists.
    pub(super) fn gather(&mut self, plan: &EncodedPlan, timestamp: Ticks) {
        for (at, most) in self.scratch.listed.drain(..) {
            let Some(addition) = plan.additions.get(at) else { continue };
            let Some(group) = plan.groups.get(addition.group) else { continue };
            if !can_wait(plan, &addition.amounts) {
                continue;
            }
            let list = List {
                table: group.table.clone(),
                seed: addition.seed,
                kind: addition.amounts.kind(),
                changes: BTreeMap::new(),
                most,
                changed: timestamp,
            };
            self.gathered.0.insert(plan.bytes(&addition.key).into(), list);
        }
        for at in self.scratch.waiting.drain(..) {
            let Some(addition) = plan.additions.get(at) else { continue };
            let Some(list) = self.gathered.0.get_mut(plan.bytes(&addition.key)) else { continue };
            list.most += addition.amounts.bytes_of_ids();
            list.changed = timestamp;
            for (id, stays) in addition.amounts.ids() {
                list.changes.insert(id.to_owned(), stays);
            }
        }
    }

    /// Writes the gathered changes of all lists.
    pub(super) fn write_lists(&mut self) -> Result<()> {
        while let Some((key, list)) = self.gathered.0.pop_first() {
            self.write(&key, list)?;
        }
        Ok(())
    }

    /// Writes the changes that were gathered of one list, if there are any.
    fn write_list(&mut self, key: &[u8]) -> Result<()> {
        match self.gathered.0.remove_entry(key) {
            Some((key, list)) => self.write(&key, list),
            None => Ok(()),
        }
    }

    /// Writes a list with its gathered changes. None of them can be refused: the list was sound when the transaction
    /// came to it, and has room. Any error spoils the transaction.
    fn write(&mut self, key: &[u8], list: List) -> Result<()> {
        if list.changes.is_empty() {
            return Ok(());
        }
        let amounts = Amounts::of_ids(list.kind, list.changes);
        let mut plan = EncodedPlan::of_addition(&list.table, key, list.seed, amounts);
        for group in plan.groups.iter() {
            self.begin_group(group)?;
        }
        self.carry(&mut plan, list.changed)?.map_err(|refused| refused.error)
    }
}
