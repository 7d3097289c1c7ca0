//! Memory of plans that were carried out, for those that come.

use super::encoded::Prepared;
use super::group::Member;

/// Plans that hold nothing, and the list of a group that has no members.
#[derive(Debug, Default)]
pub(super) struct Blanks {
    #[expect(clippy::vec_box, reason = "they come and go, and a plan is large to be moved")]
    plans: Vec<Box<Prepared>>,
    /// How many bytes the plans have.
    bytes: usize,
    members: Vec<Member>,
}

/// More bytes than these are given back to the system.
const MOST_BYTES: usize = 1 << 20;

impl Blanks {
    /// Returns a plan that holds nothing yet.
    pub(super) fn plan(&mut self) -> Box<Prepared> {
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
