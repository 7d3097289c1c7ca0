//! Random changes and reads of periods, beside one sorted map with a filter.

use std::cell::RefCell;
use std::collections::BTreeMap;

use integration_tests::Scratch;
use integration_tests::random::Random;
use table_core::{Durability, ErrorKind, Store, Ticks};

use super::{Login, at};

/// Operations of a run: `TABLE_PERIOD_OPERATIONS`; five times as many in `cargo xtask test --soak`.
fn operations() -> u64 {
    std::env::var("TABLE_PERIOD_OPERATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

const HOUR: u64 = 36_000_000_000;

#[test]
fn periods_are_one_table_with_a_filter() {
    let scratch = Scratch::new();
    let store = Store::options().durability(Durability::Relaxed).open(scratch.path().join("store")).unwrap();
    let logins = store.periods::<Login>().unwrap();
    let mut model: BTreeMap<(String, Ticks), u32> = BTreeMap::new();
    let random = RefCell::new(Random::new(20_140_731));
    let below = |end| random.borrow_mut().below(end);
    let (base, mut floor) = (at("2014-07-01").get(), Ticks::MIN);
    let mut late = 0;
    for operation in 0..operations() {
        // The days pass.
        let today = base + operation / 50 * HOUR;
        let time = || Ticks::new(today - 12 * 24 * HOUR + below(30 * 24) * HOUR / 2 - below(2)).unwrap();
        let user = || format!("user{}", below(5));
        let (user, time) = (user(), time());
        let key = || Login::key(&*user, time);
        let login = Login {
            user: user.clone(),
            at: time,
            address: "a".into(),
            count: u32::try_from(operation).unwrap(),
        };
        let at_most = |time: Ticks| (user.clone(), time);
        let is_dropped = time < floor;
        let known = model.get(&at_most(time)).copied();
        let answer = |result: table_core::Result<()>| result.map_err(|error| error.kind());
        let missing = if is_dropped { ErrorKind::PeriodDropped } else { ErrorKind::EntityNotFound };
        match below(100) {
            0..40 => {
                let expected = match known {
                    _ if is_dropped => Err(ErrorKind::PeriodDropped),
                    Some(_) => Err(ErrorKind::EntityAlreadyExists),
                    None => Ok(()),
                };
                assert_eq!(answer(logins.insert(&login).map(drop)), expected);
                if expected.is_ok() {
                    model.insert(at_most(time), login.count);
                }
                late += u64::from(is_dropped);
            }
            40..50 => {
                let expected = if is_dropped { Err(ErrorKind::PeriodDropped) } else { Ok(()) };
                assert_eq!(answer(logins.put(&login).map(drop)), expected);
                if expected.is_ok() {
                    model.insert(at_most(time), login.count);
                }
            }
            50..60 => {
                // Of one that is there, mostly.
                let Some(((user, time), count)) = model.range_mut(at_most(time)..).next() else { continue };
                let updated = logins.update(Login::key(&**user, *time), |login| login.count += 1).unwrap();
                *count += 1;
                assert_eq!(updated.count, *count);
            }
            60..65 => {
                let expected = if known.is_some() { Ok(()) } else { Err(missing) };
                assert_eq!(answer(logins.delete(key())), expected);
                model.remove(&at_most(time));
            }
            65..75 => {
                assert_eq!(logins.get(key()).unwrap().map(|login| login.count), known);
                let copy = logins.get(Login::by_address(&*user, "a", time)).unwrap();
                assert_eq!(copy.is_some(), known.is_some());
            }
            75..95 => {
                let beyond = Ticks::new(time.get() + below(20 * 24) * HOUR + below(2)).unwrap();
                let expected: Vec<_> = model
                    .iter()
                    .filter(|((_, at), _)| *at >= time && *at < beyond)
                    .map(|((user, at), count)| (user.clone(), *at, *count))
                    .collect();
                let mine = || expected.iter().filter(|(of, ..)| *of == user).cloned();
                let during = logins.during(time..beyond).unwrap();
                let taken = |login: table_core::Result<table_core::Stored<Login>>| {
                    let login = table_core::Stored::into_inner(login.unwrap());
                    (login.user, login.at, login.count)
                };
                match below(5) {
                    0 => assert!(during.all().into_iter().map(taken).eq(expected.iter().cloned())),
                    1 => assert!(during.rows().user(&*user).into_iter().map(taken).eq(mine())),
                    2 => assert!(during.rows().user(&*user).rev().into_iter().map(taken).eq(mine().rev())),
                    3 => assert_eq!(
                        during.by_address().user(&*user).address("a").count().unwrap(),
                        u64::try_from(mine().count()).unwrap()
                    ),
                    _ => {
                        let (query, mut after, mut all) = (during.all(), None, Vec::new());
                        loop {
                            let page = query.page(7, after.as_ref()).unwrap();
                            all.extend(page.entities.into_iter().map(|login| taken(Ok(login))));
                            after = page.next;
                            if after.is_none() {
                                break;
                            }
                        }
                        assert_eq!(all, expected);
                    }
                }
            }
            95..98 => {
                let batch = logins.egt(time, Login::partition(&*user)).put(&login).commit();
                let expected = if is_dropped { Err(ErrorKind::PeriodDropped) } else { Ok(()) };
                assert_eq!(answer(batch.map(drop)), expected);
                if expected.is_ok() {
                    model.insert(at_most(time), login.count);
                }
            }
            98 => {
                let until = Ticks::new(today - below(10 * 24) * HOUR).unwrap();
                let before = floor;
                floor = logins.drop_before(until).unwrap().floor;
                assert_eq!(floor, before.max(Ticks::new(until.get() / (24 * HOUR) * 24 * HOUR).unwrap()));
                model.retain(|(_, at), _| *at >= floor);
            }
            _ => {
                let days = model
                    .keys()
                    .map(|(_, at)| at.get() / (24 * HOUR))
                    .collect::<std::collections::BTreeSet<_>>();
                // A table whose entities are gone stays until it is dropped.
                assert!(logins.list().unwrap().len() >= days.len());
            }
        }
    }
    assert!(late > 0, "some came late");
    let report = store.check().unwrap();
    assert!(report.problems.is_empty() && report.wrong_copies.is_empty(), "{report:?}");
    let all = logins.all_periods().all().into_iter().map(|login| login.unwrap().count);
    assert!(all.eq(model.values().copied()));
}
