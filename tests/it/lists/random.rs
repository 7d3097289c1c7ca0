//! Random changes of any form, beside a model that is looked through by itself.

use integration_tests::random::Random;
use integration_tests::together::change_at_random;
use integration_tests::{Scratch, assert_sound};

use super::{Employee, assert_listed, employee};

/// Steps: `TABLE_CORE_LISTS`; ten times as many in `cargo xtask test --soak`.
fn steps() -> u64 {
    std::env::var("TABLE_CORE_LISTS").map_or(10_000, |text| text.parse().expect("a number"))
}

const DEPARTMENTS: [&str; 3] = ["Legal", "Ops", "Sales"];
const NAMES: [&str; 4] = ["Jones", "Cao", "O,Hara", "50%;x"];
const SKILLS: [&str; 4] = ["Rust", "rust", "SQL", "C"];

fn any(random: &mut Random) -> Employee {
    let department = DEPARTMENTS[random.below(3) as usize];
    let mut one = employee(department, random.below(12) as u32, NAMES[random.below(4) as usize]);
    one.skills = (0..random.below(4)).map(|_| SKILLS[random.below(4) as usize].to_owned()).collect();
    one.team = (random.below(3) > 0).then(|| format!("t{}", random.below(3)));
    one
}

#[test]
fn lists_say_what_a_plain_look_finds_whatever_is_changed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (mut staff, mut random) = (Vec::<Employee>::new(), Random::new(11));
    let steps = steps();
    for step in 0..steps {
        let (becomes, done) = change_at_random(&store, &mut random, &staff, any, |old, one| {
            (old.last_name, old.team) = (one.last_name.clone(), one.team.clone());
        });
        done.unwrap();
        staff = becomes;
        if step % 500 == 0 {
            assert_listed(&store, &staff);
        }
    }
    assert_listed(&store, &staff);
    assert_sound(&store);
}
