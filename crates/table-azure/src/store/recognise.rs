//! Changes whose answers were lost: whether they were carried out, by what their rows tell.

use table_engine::{DynamicEntity, ETag, Result};

use super::commit::{Of, Step};
use super::planned::Planned;
use super::rings;
use super::service::Service;
use super::table::TableEntry;
use crate::client::Refusal;

/// What is known of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was carried out. Rows that tell so, and were not written since, have these versions.
    Done(Vec<Option<ETag>>),
    /// It was not, and can't be any more.
    NotDone,
    /// It may have been.
    Unknown,
}

impl Service {
    /// Finds out whether a change was carried out that was sent, not answered, and then refused, or not answered again.
    pub(super) async fn recognise(
        &self,
        table: &TableEntry,
        planned: &Planned,
        steps: &[Step],
        refusal: Option<&Refusal>,
    ) -> Result<Verdict> {
        let mut etags = vec![None; steps.len()];
        let (mut is_done, mut is_undone, mut has_marks) = (false, false, false);
        for (step, etag) in steps.iter().zip(&mut etags) {
            if step.ring.is_none() {
                continue;
            }
            has_marks = true;
            let found = self.row(table, &planned.partition, &step.key).await?;
            let Some(ring) = found.as_ref().and_then(rings::of) else { continue };
            if planned.token.is_in(ring) {
                is_done = true;
                // The version of who has written it since is none of this change's: who went by it would undo the other's.
                *etag =
                    found.as_ref().filter(|_| planned.token.is_last_of(ring)).and_then(DynamicEntity::etag);
            } else if let Some(before) = &step.before
                // An insert has nothing that it was planned on: what it has put there may have been removed since.
                && !step.operation.inserts()
            {
                is_undone |= rings::reaches(ring, before);
            }
        }
        Ok(match refusal {
            _ if is_done => Verdict::Done(etags),
            // The rows are all there, as they were planned on or later, and none tells the change.
            Some(_) if is_undone => Verdict::NotDone,
            Some(refusal) if has_marks => of_others(refusal),
            Some(refusal) if are_gone(steps, refusal) => self.removals(table, planned, steps).await?,
            Some(refusal) => of_others(refusal),
            None => Verdict::Unknown,
        })
    }

    /// Returns what is known of removals, of whose rows one was not there when they were sent again.
    async fn removals(&self, table: &TableEntry, planned: &Planned, steps: &[Step]) -> Result<Verdict> {
        // At the key of an entity's copy another entity's may lie since.
        let is_copy =
            |step: &&Step| planned.rows.iter().any(|row| row.place == step.place && row.index.is_some());
        if steps.len() > 1 {
            for step in steps.iter().filter(|step| !is_copy(step)) {
                // Others may have removed the one. Removals without a condition may be carried out once more.
                if self.raw_row(table, &planned.partition, &step.key).await?.is_some() {
                    let are_free = steps.iter().all(|step| step.of == Of::Removal);
                    return Ok(if are_free { Verdict::NotDone } else { Verdict::Unknown });
                }
            }
        }
        // What was to go is gone.
        Ok(Verdict::Done(vec![None; steps.len()]))
    }
}

/// Returns what is known of a change that is not told by rows which might tell it.
fn of_others(refusal: &Refusal) -> Verdict {
    // What the service does not take it has not taken before.
    if depends_on_rows(refusal) { Verdict::Unknown } else { Verdict::NotDone }
}

/// Returns whether a change removes rows alone, and the service says of one that it is not there.
fn are_gone(steps: &[Step], refusal: &Refusal) -> bool {
    let are_removals = steps.iter().all(|step| !step.operation.writes());
    are_removals && refusal.is_not_found() && refusal.code != "TableNotFound"
}

/// Returns whether the service refuses a request because of what is there, and not of what it says.
fn depends_on_rows(refusal: &Refusal) -> bool {
    matches!(refusal.status, 404 | 409 | 412)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Operation;

    fn step(operation: Operation) -> Step {
        Step { of: Of::Row, place: 0, key: "r".into(), operation, ring: None, before: None }
    }

    fn refusal(status: u16, code: &str) -> Refusal {
        Refusal { status, code: code.into(), text: String::new(), index: None, retry_after: None }
    }

    #[test]
    fn without_a_row_that_tells_it_a_change_is_known_by_its_refusal_alone() {
        let removal = [step(Operation::delete("r", "*".into()))];
        let write = [step(Operation::replace("r", None, Vec::new()))];
        let missing = refusal(404, "ResourceNotFound");
        assert!(are_gone(&removal, &missing) && !are_gone(&write, &missing));
        for other in [refusal(404, ""), refusal(404, "TableNotFound"), refusal(412, "ConditionNotMet")] {
            assert!(!are_gone(&removal, &other));
            assert_eq!(of_others(&other), Verdict::Unknown);
        }
        assert_eq!(of_others(&refusal(409, "EntityAlreadyExists")), Verdict::Unknown);
        assert_eq!(of_others(&refusal(400, "InvalidInput")), Verdict::NotDone);
    }
}
