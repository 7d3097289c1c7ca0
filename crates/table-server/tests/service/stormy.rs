//! A short storm of damaged requests.

use crate::storm::storm;

#[test]
fn damaged_requests_are_answered_and_never_by_a_failure() {
    let counts = storm(4_000, 1);
    assert!(counts.known * 2 >= counts.sent, "{counts:?}");
    let done =
        counts.statuses.iter().filter(|(status, _)| **status < 300).map(|(_, count)| count).sum::<u64>();
    assert!(done * 8 >= counts.sent, "{counts:?}");
    assert!(counts.operations.len() >= 17 && counts.no_requests < counts.sent, "{counts:?}");
}
