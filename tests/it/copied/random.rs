//! Random changes of any form, each followed by a plain look now and then.

use std::collections::BTreeMap;

use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound};
use table_core::IfMatch;

use super::{Department, Employee, Project, all, assert_copied, department, employee, project};

/// Steps: `TABLE_CORE_COPIED`.
fn steps() -> u64 {
    std::env::var("TABLE_CORE_COPIED").map_or(10_000, |text| text.parse().expect("a number"))
}

const DEPARTMENTS: [&str; 2] = ["Legal", "Sales"];
const TITLES: [&str; 3] = ["autumn", "spring", "summer"];

fn id(random: &mut Random) -> u32 {
    random.below(5) as u32
}

fn maybe(random: &mut Random) -> Option<u32> {
    (random.below(3) > 0).then(|| id(random))
}

fn any_employee(random: &mut Random) -> Employee {
    let mut one = employee(DEPARTMENTS[random.below(2) as usize], id(random));
    one.name = format!("n{}", random.below(4));
    one.email = (random.below(2) == 0).then(|| format!("e{}", random.below(3)));
    one.boss_id = maybe(random);
    // What it says of others is not what is stored.
    one.boss = (random.below(2) == 0).then(|| super::Contact { name: "nobody".into(), email: None });
    one
}

fn any_department(random: &mut Random) -> Department {
    let mut one = department(DEPARTMENTS[random.below(2) as usize], maybe(random));
    one.city = format!("c{}", random.below(3));
    one
}

fn any_project(random: &mut Random) -> Project {
    let title = TITLES[random.below(3) as usize];
    project(title, DEPARTMENTS[random.below(2) as usize], id(random), maybe(random))
}

#[test]
fn copies_say_what_their_sources_do_whatever_is_changed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut random = Random::new(23);
    // What is there, without what is held of others.
    let mut staff = BTreeMap::<(String, u32), Employee>::new();
    let mut departments = BTreeMap::<String, Department>::new();
    let mut projects = BTreeMap::<String, Project>::new();
    for step in 0..steps() {
        let (mut people, mut places, mut plans) = (Vec::<(u64, Employee)>::new(), Vec::new(), Vec::new());
        for _ in 0..=random.below(3) {
            let what = random.below(6);
            match random.below(5) {
                0 | 1 => {
                    let one = any_employee(&mut random);
                    if people
                        .iter()
                        .all(|(_, known)| (&known.department, known.id) != (&one.department, one.id))
                    {
                        people.push((what, one));
                    }
                }
                2 => {
                    let one = any_department(&mut random);
                    if places.iter().all(|(_, known): &(u64, Department)| known.name != one.name) {
                        places.push((what, one));
                    }
                }
                _ => {
                    let one = any_project(&mut random);
                    if plans.iter().all(|(_, known): &(u64, Project)| known.title != one.title) {
                        plans.push((what, one));
                    }
                }
            }
        }
        let mut transaction = store.transaction();
        for (what, one) in &people {
            let key = || Employee::key(&*one.department, one.id);
            let known = (one.department.clone(), one.id);
            match (what, staff.contains_key(&known)) {
                (0, true) => {
                    staff.remove(&known);
                    transaction = transaction.delete(key());
                    continue;
                }
                (1, true) => {
                    transaction = transaction.update(key(), |old: &mut Employee| {
                        old.name.clone_from(&one.name);
                        old.email.clone_from(&one.email);
                        (old.boss_id, old.boss) = (one.boss_id, None);
                    });
                }
                (2, true) => {
                    let patch = Employee::patch().name(&*one.name).email(one.email.clone());
                    transaction = transaction.merge(key(), patch.boss_id(one.boss_id), IfMatch::Any);
                }
                (3, true) => transaction = transaction.replace(one, IfMatch::Any),
                (_, true) => transaction = transaction.put(one),
                (0 | 1, false) => transaction = transaction.put(one),
                (_, false) => transaction = transaction.insert(one),
            }
            staff.insert(known, one.clone());
        }
        for (what, one) in &places {
            let key = || Department::key(&*one.name);
            match (what, departments.contains_key(&one.name)) {
                (0, true) => {
                    departments.remove(&one.name);
                    transaction = transaction.delete(key());
                    continue;
                }
                (1, true) => {
                    transaction = transaction.update(key(), |old: &mut Department| {
                        old.city.clone_from(&one.city);
                        old.manager_id = one.manager_id;
                    });
                }
                (_, true) => transaction = transaction.put(one),
                (_, false) => transaction = transaction.insert(one),
            }
            departments.insert(one.name.clone(), one.clone());
        }
        for (what, one) in &plans {
            let key = || Project::key("west", &*one.title);
            match (what, projects.contains_key(&one.title)) {
                (0, true) => {
                    projects.remove(&one.title);
                    transaction = transaction.delete(key());
                    continue;
                }
                (1 | 2, true) => {
                    transaction = transaction.update(key(), |old: &mut Project| {
                        old.department.clone_from(&one.department);
                        (old.lead_id, old.deputy_id) = (one.lead_id, one.deputy_id);
                    });
                }
                (_, true) => transaction = transaction.replace(one, IfMatch::Any),
                (_, false) => transaction = transaction.insert(one),
            }
            projects.insert(one.title.clone(), one.clone());
        }
        // Now and then one alone, by its table, which may have another row key then.
        if people.is_empty() && places.is_empty() && plans.is_empty() {
            continue;
        }
        transaction.commit().unwrap_or_else(|error| panic!("step {step}: {error}"));
        if step.is_multiple_of(7)
            && let Some(from) = staff.keys().nth(random.below(staff.len() as u64 + 1) as usize).cloned()
        {
            let to = (from.0.clone(), 5 + id(&mut random));
            if !staff.contains_key(&to) {
                let table = store.table::<Employee>().unwrap();
                table.move_to(Employee::key(&*from.0, from.1), |one| one.id = to.1).unwrap();
                let mut one = staff.remove(&from).unwrap();
                one.id = to.1;
                staff.insert(to, one);
            }
        }
        if step % 100 == 0 || step + 1 == steps() {
            assert_copied(&store);
            let own = |one: &Employee| {
                (one.department.clone(), one.id, one.name.clone(), one.email.clone(), one.boss_id)
            };
            assert_eq!(
                all::<Employee>(&store).iter().map(own).collect::<Vec<_>>(),
                staff.values().map(own).collect::<Vec<_>>()
            );
            let own = |one: &Department| (one.name.clone(), one.city.clone(), one.manager_id);
            assert_eq!(
                all::<Department>(&store).iter().map(own).collect::<Vec<_>>(),
                departments.values().map(own).collect::<Vec<_>>()
            );
            let own = |one: &Project| (one.title.clone(), one.department.clone(), one.lead_id, one.deputy_id);
            assert_eq!(
                all::<Project>(&store).iter().map(own).collect::<Vec<_>>(),
                projects.values().map(own).collect::<Vec<_>>()
            );
        }
    }
    assert_sound(&store);
}
