//! Wide entities against plain structs: whatever is done to both, they hold the same.

use std::collections::BTreeMap;

use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound};
use table_core::{ErrorKind, IfMatch, Stored, View};

use super::{Survey, key, survey};

/// Operations of a run: `WIDE_OPERATIONS`; five times as many in `cargo xtask test --soak`.
fn operations() -> u64 {
    std::env::var("WIDE_OPERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

/// So many entities: few, so that each is written often.
const SURVEYS: u64 = 12;

fn made(random: &mut Random, id: u32) -> Survey {
    let mut made = survey(id);
    // Three mails for two entities each.
    made.mail = format!("m{}@contoso.com", random.below(SURVEYS * 2));
    made.score = random.below(6) as u16;
    made.level = random.below(4) as i32;
    made.answers[random.below(200) as usize] = Some(random.below(50) as i64);
    made.remark = (random.below(2) == 0).then(|| "x".repeat(random.below(30) as usize));
    made
}

fn is_taken(model: &BTreeMap<u32, Survey>, new: &Survey) -> bool {
    model.values().any(|other| other.id != new.id && other.mail == new.mail)
}

#[test]
fn a_wide_entity_is_a_struct() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let surveys = store.table::<Survey>().unwrap();
    let mut random = Random::new(0x1de);
    let mut model: BTreeMap<u32, Survey> = BTreeMap::new();
    let operations = operations();
    for operation in 0..operations {
        let id = random.below(SURVEYS) as u32;
        match random.below(12) {
            0 => {
                let new = made(&mut random, id);
                let expected = match (model.contains_key(&id), is_taken(&model, &new)) {
                    (true, _) => Some(ErrorKind::EntityAlreadyExists),
                    (false, true) => Some(ErrorKind::UniqueConflict),
                    (false, false) => None,
                };
                assert_eq!(surveys.insert(&new).err().map(|error| error.kind()), expected);
                if expected.is_none() {
                    model.insert(id, new);
                }
            }
            1 | 2 => {
                let new = made(&mut random, id);
                let expected = is_taken(&model, &new).then_some(ErrorKind::UniqueConflict);
                assert_eq!(surveys.put(&new).err().map(|error| error.kind()), expected);
                if expected.is_none() {
                    model.insert(id, new);
                }
            }
            3 => {
                let deleted = surveys.delete(key(id));
                assert_eq!(deleted.is_ok(), model.remove(&id).is_some());
            }
            4 | 5 => {
                let (at, answer, title) =
                    (random.below(199) as usize, random.below(9) as i64, random.below(3));
                let patch = match title {
                    0 => Survey::patch().title("patched"),
                    1 => Survey::patch().answers(at..at + 2, vec![Some(answer), None]).level(1),
                    _ => Survey::patch().score(answer as u16).remark(None),
                };
                let merged = surveys.merge(key(id), patch, IfMatch::Any);
                let Some(known) = model.get_mut(&id) else {
                    assert_eq!(merged.unwrap_err().kind(), ErrorKind::EntityNotFound);
                    continue;
                };
                match title {
                    0 => known.title = "patched".into(),
                    1 => {
                        (known.answers[at], known.answers[at + 1], known.level) = (Some(answer), None, 1);
                    }
                    _ => (known.score, known.remark) = (answer as u16, None),
                }
                assert_eq!(*merged.unwrap(), *known);
            }
            6 => {
                let (score, pages) = (random.below(5) as u16, random.below(90) as u32);
                let updated =
                    surveys.update(key(id), |survey| (survey.score, survey.end.pages) = (score, pages));
                match model.get_mut(&id) {
                    Some(known) => {
                        (known.score, known.end.pages) = (score, pages);
                        assert_eq!(*updated.unwrap(), *known);
                    }
                    None => assert_eq!(updated.unwrap_err().kind(), ErrorKind::EntityNotFound),
                }
            }
            7 => {
                let to = random.below(SURVEYS) as u32;
                let moved = surveys.move_to(key(id), |survey| survey.id = to);
                match (model.contains_key(&id), id == to || !model.contains_key(&to)) {
                    (false, _) => assert_eq!(moved.unwrap_err().kind(), ErrorKind::EntityNotFound),
                    (true, false) => assert_eq!(moved.unwrap_err().kind(), ErrorKind::EntityAlreadyExists),
                    (true, true) => {
                        let mut known = model.remove(&id).unwrap();
                        known.id = to;
                        assert_eq!(*moved.unwrap(), known);
                        model.insert(to, known);
                    }
                }
            }
            8 => {
                let level = random.below(4) as i32;
                let found: Vec<_> = surveys
                    .rows()
                    .office("Oslo")
                    .filter(|s| s.level.eq(level) & s.end.pages.lt(40))
                    .into_iter()
                    .map(|survey| survey.unwrap().id)
                    .collect();
                let passes = |survey: &&Survey| survey.level == level && survey.end.pages < 40;
                assert_eq!(found, model.values().filter(passes).map(|survey| survey.id).collect::<Vec<_>>());
            }
            9 => {
                let stored = surveys.get(key(id)).unwrap();
                assert_eq!(stored.as_deref(), model.get(&id));
                if let Some(stored) = stored {
                    let new = Survey { title: "replaced".into(), ..(*stored).clone() };
                    let tag = Stored::etag(&stored);
                    surveys.replace(&new, tag).unwrap();
                    assert_eq!(surveys.replace(&new, tag).unwrap_err().kind(), ErrorKind::ConditionNotMet);
                    model.insert(id, new);
                }
            }
            10 => {
                let score = random.below(6) as u16;
                let found: Vec<_> =
                    surveys.by_score().office("Oslo").score(score).entities().into_iter().collect();
                let expected: Vec<_> =
                    model.values().filter(|s| s.score == score && s.is_scored()).cloned().collect();
                let found: Vec<_> = found.into_iter().map(|survey| (*survey.unwrap()).clone()).collect();
                assert_eq!(found, expected);
            }
            _ => {
                let snapshot = store.snapshot().unwrap();
                if let Some(view) = surveys.at(&snapshot).view(key(id)).unwrap() {
                    let known = &model[&id];
                    assert_eq!(
                        (view.level().unwrap(), view.end().unwrap()),
                        (known.level, known.end.clone())
                    );
                    assert_eq!(View::to_entity(&view).unwrap(), *known);
                }
            }
        }
        if operation % 2_500 == 0 {
            let found: Vec<_> =
                surveys.rows().office("Oslo").into_iter().map(|survey| (*survey.unwrap()).clone()).collect();
            assert_eq!(found, model.values().cloned().collect::<Vec<_>>());
            assert!(surveys.check().unwrap().is_sound());
            assert_sound(&store);
        }
    }
}
