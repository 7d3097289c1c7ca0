//! Changes whose answers were lost: whether they were carried out, by what their rows tell.

use table_engine::{ETag, Result};

use super::commit::Step;
use super::planned::Planned;
use super::rings;
use super::service::Service;
use super::table::TableEntry;
use crate::client::Refusal;

/// What is known of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was carried out. Rows that tell it have these versions.
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
                *etag = found.as_ref().and_then(table_engine::DynamicEntity::etag);
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
            Some(refusal) => unmarked(steps, refusal),
            None => Verdict::Unknown,
        })
    }
}

/// Returns what is known of a change that is not told by rows which might tell it.
fn of_others(refusal: &Refusal) -> Verdict {
    // What the service does not take it has not taken before.
    if depends_on_rows(refusal) { Verdict::Unknown } else { Verdict::NotDone }
}

/// Returns what is known of a change that no row tells.
fn unmarked(steps: &[Step], refusal: &Refusal) -> Verdict {
    let are_removals = steps.iter().all(|step| !step.operation.writes());
    if are_removals && refusal.status == 404 && refusal.code != "TableNotFound" {
        // What was to go is gone.
        return Verdict::Done(vec![None; steps.len()]);
    }
    of_others(refusal)
}

/// Returns whether the service refuses a request because of what is there, and not of what it says.
fn depends_on_rows(refusal: &Refusal) -> bool {
    matches!(refusal.status, 404 | 409 | 412)
}

#[cfg(test)]
mod tests {
    use super::super::commit::Of;
    use super::*;
    use crate::client::Operation;

    fn step(operation: Operation) -> Step {
        Step { of: Of::Row, place: 0, key: "r".into(), operation, ring: None, before: None }
    }

    fn refusal(status: u16) -> Refusal {
        Refusal { status, code: String::new(), text: String::new(), index: None, retry_after: None }
    }

    #[test]
    fn without_a_row_that_tells_it_a_change_is_known_by_its_refusal_alone() {
        let removal = [step(Operation::delete("r", "*".into()))];
        assert_eq!(unmarked(&removal, &refusal(404)), Verdict::Done(vec![None]));
        assert_eq!(unmarked(&removal, &refusal(412)), Verdict::Unknown);
        let missing = Refusal { code: "TableNotFound".into(), ..refusal(404) };
        assert_eq!(unmarked(&removal, &missing), Verdict::Unknown);
        let write = [step(Operation::replace("r", None, Vec::new()))];
        assert_eq!(unmarked(&write, &refusal(409)), Verdict::Unknown);
        assert_eq!(unmarked(&write, &refusal(400)), Verdict::NotDone);
    }
}
