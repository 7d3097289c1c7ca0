//! Series against arrays: whatever is done to both, they hold the same.

use std::collections::BTreeMap;

use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound};
use table_core::{ErrorKind, IfMatch, Store, View};

use super::{Day, day};

/// Operations of a run: `SERIES_OPERATIONS`; five times as many in `cargo xtask test --soak`.
fn operations() -> u64 {
    std::env::var("SERIES_OPERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

/// So many entities: few, so that each is written often.
const DAYS: u64 = 12;

struct Model {
    days: BTreeMap<u32, Day>,
    random: Random,
}

impl Model {
    fn number(&mut self) -> u32 {
        self.random.below(DAYS) as u32
    }

    fn slot(&mut self) -> usize {
        // Beyond the end now and then.
        self.random.below(26) as usize
    }

    fn value(&mut self) -> Option<f64> {
        (self.random.below(4) > 0).then(|| self.random.below(1_000) as f64 / 8.0)
    }
}

fn whole(store: &Store, model: &Model) {
    let days = store.table::<Day>().unwrap();
    let found: Vec<_> = days.rows().host("web1").into_iter().map(|day| (*day.unwrap()).clone()).collect();
    assert_eq!(found, model.days.values().cloned().collect::<Vec<_>>());
    assert!(days.check().unwrap().is_sound());
    assert_sound(store);
}

#[test]
fn a_series_is_an_array() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let days = store.table::<Day>().unwrap();
    let mut model = Model { days: BTreeMap::new(), random: Random::new(0x5e41e5) };
    let operations = operations();
    for operation in 0..operations {
        let number = model.number();
        let key = || Day::key("web1", number);
        match model.random.below(11) {
            0 => {
                let new = day(number);
                let inserted = days.insert(&new);
                assert_eq!(inserted.is_ok(), !model.days.contains_key(&number));
                model.days.entry(number).or_insert(new);
            }
            1 => {
                let deleted = days.delete(key());
                assert_eq!(deleted.is_ok(), model.days.remove(&number).is_some());
            }
            2..6 => {
                let (slot, value) = (model.slot(), model.value());
                let (from, more) = (model.slot(), model.random.below(4) as usize);
                let many = vec![model.random.below(9) as i64; more];
                let patch = Day::patch().cpu(slot, value).requests(from..from + more, many.clone());
                let merged = days.merge(key(), patch, IfMatch::Any);
                let fits = slot < 24 && (more == 0 || from + more <= 24);
                match model.days.get_mut(&number) {
                    Some(known) if fits => {
                        known.cpu[slot] = value;
                        for (at, one) in many.into_iter().enumerate() {
                            known.requests[from + at] = one;
                        }
                        assert_eq!(*merged.unwrap(), *known);
                    }
                    Some(_) => assert_eq!(merged.unwrap_err().kind(), ErrorKind::ValueOutOfRange),
                    None => assert!(merged.is_err()),
                }
            }
            6 => {
                let (slot, value) = (model.slot() % 24, model.value());
                let updated = days.update(key(), |day| {
                    day.cpu[slot] = value;
                    day.rack = slot as u8;
                });
                match model.days.get_mut(&number) {
                    Some(known) => {
                        (known.cpu[slot], known.rack) = (value, slot as u8);
                        assert_eq!(*updated.unwrap(), *known);
                    }
                    None => assert_eq!(updated.unwrap_err().kind(), ErrorKind::EntityNotFound),
                }
            }
            7 => {
                let (slot, least) = (model.slot(), model.random.below(800) as f64 / 8.0);
                let found = days.rows().host("web1").filter(|d| d.cpu.at(slot).ge(least)).count();
                let is_there = |day: &&Day| day.cpu[slot].is_some_and(|cpu| cpu >= least);
                match found {
                    Ok(found) => assert_eq!(found, model.days.values().filter(is_there).count() as u64),
                    Err(error) => assert!(slot >= 24 && error.kind() == ErrorKind::InvalidFilter),
                }
            }
            8 => {
                let (slot, by) = (model.slot(), model.random.below(9) as i64 - 4);
                let added = days.add(key(), Day::add().requests(slot, by));
                match model.days.get_mut(&number) {
                    Some(known) if slot < 24 => {
                        known.requests[slot] += by;
                        added.unwrap();
                    }
                    Some(_) => assert_eq!(added.unwrap_err().kind(), ErrorKind::ValueOutOfRange),
                    None => assert!(added.is_err()),
                }
            }
            9 => {
                let (from, least) = (model.slot() % 20, model.random.below(400) as i64);
                let range = from..from + 4;
                let any = |day: &&Day| day.requests[range.clone()].iter().any(|slot| *slot < least);
                let found = days.rows().host("web1");
                let found = found.filter(|d| d.requests.range(range.clone()).any(|slot| slot.lt(least)));
                assert_eq!(found.count().unwrap(), model.days.values().filter(any).count() as u64);
            }
            _ => {
                let snapshot = store.snapshot().unwrap();
                let slot = model.slot();
                for view in days.at(&snapshot).rows().host("web1").views() {
                    let view = view.unwrap();
                    let known = &model.days[&view.day().unwrap()];
                    match view.cpu().at(slot) {
                        Ok(cpu) => assert_eq!(cpu, known.cpu[slot]),
                        Err(error) => assert!(slot >= 24 && error.kind() == ErrorKind::ValueOutOfRange),
                    }
                    assert_eq!(View::to_entity(&view).unwrap().requests, known.requests);
                }
            }
        }
        if operation % 2_500 == 0 {
            whole(&store, &model);
        }
    }
    whole(&store, &model);
}
