//! Many who write entities of one summary at one time.

use integration_tests::together::{left, write_beside_each_other};
use integration_tests::{Scratch, assert_sound};

use super::{Payroll, assert_summarized, employee};

#[test]
fn writers_of_one_summary_are_never_in_each_others_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let payrolls = store.table::<Payroll>().unwrap();
    write_beside_each_other(
        &store,
        |id| employee("Sales", id, 5, 3),
        |one| {
            one.salary += 1;
            one.level = 3;
        },
        |staff, snapshot| {
            let count = staff.at(snapshot).rows().department("Sales").count().unwrap();
            let said = payrolls.at(snapshot).get(Payroll::key("Sales")).unwrap();
            assert_eq!(said.map_or(0, |said| said.employees), count);
        },
    );
    assert_summarized(&store, &left().map(|id| employee("Sales", id, 3, 4)).collect::<Vec<_>>());
    assert_sound(&store);
}
