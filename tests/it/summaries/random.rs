//! Random changes of any form, beside a model that adds up by itself.

use integration_tests::random::Random;
use integration_tests::together::change_at_random;
use integration_tests::{Scratch, assert_sound};
use table_core::ErrorKind;

use super::{Employee, assert_summarized, employee};

/// Steps: `TABLE_CORE_SUMMARIES`.
fn steps() -> u64 {
    std::env::var("TABLE_CORE_SUMMARIES").map_or(3_000, |text| text.parse().expect("a number"))
}

const DEPARTMENTS: [&str; 3] = ["Legal", "Ops", "Sales"];

fn any(random: &mut Random) -> Employee {
    let department = DEPARTMENTS[random.below(3) as usize];
    let mut one = employee(department, random.below(9) as u32, random.below(7) as u8, 0);
    // Now and then so much that two of them are too many.
    one.salary = if random.below(40) == 0 { i64::MAX / 2 + 7 } else { random.below(1_000) as i64 - 300 };
    one.bonus = (random.below(2) == 0).then(|| random.below(100) as i32 - 50);
    one
}

/// Whether some number of a summary would be more than one holds.
fn overflows(staff: &[Employee]) -> bool {
    let sum = |wanted: &dyn Fn(&Employee) -> bool| {
        staff.iter().filter(|one| wanted(one)).map(|one| i128::from(one.salary)).sum::<i128>()
    };
    let is_too_much = |sum: i128| i64::try_from(sum).is_err();
    DEPARTMENTS.iter().any(|department| is_too_much(sum(&|one| one.department == *department)))
        || (0..7).any(|level| is_too_much(sum(&|one| one.level == level)))
}

#[test]
fn summaries_say_what_a_plain_look_finds_whatever_is_changed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<Employee>().unwrap();
    let (mut staff, mut random) = (Vec::<Employee>::new(), Random::new(7));
    let (mut refused, mut done) = (0, 0);
    for step in 0..steps() {
        let (becomes, committed) = change_at_random(&store, &mut random, &staff, any, |old, one| {
            (old.salary, old.level) = (one.salary, one.level);
        });
        match committed {
            Ok(_) => {
                assert!(!overflows(&becomes), "step {step}");
                staff = becomes;
                done += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ValueOutOfRange, "step {step}: {error}");
                assert!(overflows(&becomes), "step {step}: {error}");
                refused += 1;
            }
        }
        if step % 50 == 0 {
            assert_summarized(&store, &staff);
        }
    }
    assert_summarized(&store, &staff);
    let report = table.check().unwrap();
    assert!(report.is_sound() && report.summaries > 0, "{report}");
    assert!(done > 100 && refused > 0, "{done} done, {refused} refused");
    assert_sound(&store);
}
