//! Memory of plans that were carried out, for those that come.

use super::encoded::EncodedPlan;
use super::group::Member;

/// Plans that hold nothing, and the list of a group that has no members.
#[derive(Debug, Default)]
pub(super) struct Blanks {
    #[expect(clippy::vec_box, reason = "they come and go, and a plan is large to be moved")]
    plans: Vec<Box<EncodedPlan>>,
    /// How many bytes the plans have.
    bytes: usize,
    members: Vec<Member>,
}

/// More bytes than these are given back to the system.
const MOST_BYTES: usize = 1 << 20;

impl Blanks {
    /// Returns a plan that holds nothing yet.
    pub(super) fn plan(&mut self) -> Box<EncodedPlan> {
        let Some(plan) = self.plans.pop() else { return Box::default() };
        self.bytes -= plan.size();
        plan
    }

    /// Returns an empty list of members.
    pub(super) fn members(&mut self) -> Vec<Member> {
        std::mem::take(&mut self.members)
    }

    /// Takes back a group's list of members, and the memory of their plans.
    pub(super) fn keep(&mut self, mut members: Vec<Member>) {
        for Member { mut prepared, .. } in members.drain(..) {
            let size = prepared.size();
            if self.bytes + size <= MOST_BYTES {
                prepared.empty();
                self.bytes += size;
                self.plans.push(prepared);
            }
        }
        self.members = members;
    }
}

#[cfg(test)]
mod tests {
    use table_engine::telemetry::Stamp;

    use super::*;

    fn member(mut prepared: Box<EncodedPlan>, bytes: usize) -> Member {
        prepared.bytes.resize(bytes, 7);
        (prepared.deferred, prepared.is_raw, prepared.refers, prepared.keeps_times) = (9, true, true, true);
        prepared.as_of = Some(table_engine::model::Ticks::MIN);
        prepared.queue_ops = Some(Box::default());
        prepared.blobs = Some(Box::default());
        Member { prepared, since: Stamp::NONE, turn: None, result: None }
    }

    #[test]
    fn a_plan_that_is_used_again_holds_nothing_of_the_one_before() {
        let mut blanks = Blanks::default();
        blanks.keep(vec![member(Box::default(), 100)]);
        let again = blanks.plan();
        assert!(again.bytes.capacity() >= 100);
        assert_eq!(format!("{again:?}"), format!("{:?}", EncodedPlan::default()));
        assert_eq!((blanks.bytes, blanks.members().capacity()), (0, 1));
    }

    #[test]
    fn no_more_memory_is_kept_than_a_megabyte() {
        let mut blanks = Blanks::default();
        blanks.keep((0..5).map(|_| member(Box::default(), MOST_BYTES / 3)).collect());
        blanks.keep(vec![member(Box::default(), 2 * MOST_BYTES)]);
        assert!(blanks.bytes <= MOST_BYTES && (2..=3).contains(&blanks.plans.len()));
    }
}
