//! Changes of entities, and the tables that they make.

use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Projection, Store, Stored, Ticks};

use super::{Login, at, login, store};

#[test]
fn an_entity_lies_in_the_table_of_its_period() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    assert!(store.tables().unwrap().is_empty(), "to ask for periods makes none");
    let key = || Login::key("ann", at("2014-07-31T18:00"));
    assert_eq!(logins.get(key()).unwrap(), None);
    assert!(!logins.exists(key()).unwrap());
    let missing = logins.delete(key()).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::EntityNotFound, "{missing}");
    assert!(store.tables().unwrap().is_empty(), "what finds nothing makes no table");

    logins.insert(&login("ann", "2014-07-31T18:00")).unwrap();
    logins.insert(&login("ann", "2014-07-31T23:59:59.9999999")).unwrap();
    logins.insert(&login("ann", "2014-08-01")).unwrap();
    logins.put(&login("bob", "2014-08-01")).unwrap();
    assert_eq!(store.tables().unwrap(), ["Logins20140731", "Logins20140801"]);
    assert_eq!(
        logins
            .list()
            .unwrap()
            .iter()
            .map(|period| (period.start, period.end, &*period.table))
            .collect::<Vec<_>>(),
        [
            (at("2014-07-31"), Some(at("2014-08-01")), "Logins20140731"),
            (at("2014-08-01"), Some(at("2014-08-02")), "Logins20140801"),
        ]
    );
    let again = logins.insert(&login("ann", "2014-07-31T18:00")).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::EntityAlreadyExists);
    assert!(again.to_string().contains("Logins20140731"), "{again}");

    let found = logins.get(key()).unwrap().unwrap();
    assert_eq!(*found, login("ann", "2014-07-31T18:00"));
    assert_eq!(logins.update(key(), |login| login.count += 1).unwrap().count, 2);
    assert_eq!(logins.merge(key(), Login::patch().count(5_u32), IfMatch::Any).unwrap().count, 5);
    let stale = logins.replace(&login("ann", "2014-07-31T18:00"), Stored::etag(&found)).unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::ConditionNotMet);
    assert_eq!(logins.view(key(), |login| login.count()).unwrap(), Some(5));
    let copy = logins.get(Login::by_address("ann", "10.0.0.7", at("2014-07-31T18:00"))).unwrap();
    assert!(copy.is_some(), "the index\'s key says the period");
    assert_eq!(logins.get_or_insert(&login("ann", "2014-07-31T18:00")).unwrap().count, 5);
    assert_eq!(logins.get_or_insert(&login("cao", "2014-08-02")).unwrap().count, 1);
    logins.delete(key()).unwrap();
    assert_eq!(logins.get(key()).unwrap(), None);

    let all = store.dynamic_table("logins20140801").unwrap();
    assert_eq!(all.query(&table_core::Query::new()).unwrap().count(), 4, "two entities and their copies");
    let report = store.check().unwrap();
    assert!(report.problems.is_empty() && report.wrong_copies.is_empty(), "{report:?}");
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Login)]
struct Count {
    count: u32,
}

#[test]
fn some_fields_are_read_from_the_table_of_the_period() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    let key = || Login::key("ann", at("2014-07-31T18:00"));
    assert_eq!(logins.get_as::<Count>(key()).unwrap(), None);
    logins.insert(&login("ann", "2014-07-31T18:00")).unwrap();
    assert_eq!(logins.get_as::<Count>(key()).unwrap(), Some(Count { count: 1 }));
}

#[test]
fn a_change_stops_where_its_closure_says_so() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    logins.insert(&login("ann", "2014-07-31T18:00")).unwrap();
    let key = || Login::key("ann", at("2014-07-31T18:00"));
    let refused = logins.try_update(key(), |login| {
        login.count = 9;
        Err(Box::<dyn std::error::Error>::from("no"))
    });
    assert_eq!(refused.map(drop).unwrap_err().to_string(), "no");
    assert_eq!(logins.get(key()).unwrap().unwrap().count, 1);
    assert_eq!(
        logins
            .try_update::<table_core::Error>(key(), |login| {
                login.count = 9;
                Ok(())
            })
            .unwrap()
            .count,
        9
    );
}

#[test]
fn an_entity_moves_within_its_period_alone() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    logins.insert(&login("ann", "2014-07-31T18:00")).unwrap();
    logins.insert(&login("ann", "2014-08-01T18:00")).unwrap();
    let moved =
        logins.move_to(Login::key("ann", at("2014-07-31T18:00")), |login| login.at = at("2014-07-31T19:00"));
    assert_eq!(moved.unwrap().at, at("2014-07-31T19:00"));
    let key = || Login::key("ann", at("2014-07-31T19:00"));
    let error = logins.move_to(key(), |login| login.at = at("2014-08-01T19:00")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DifferentPartitions);
    assert!(error.to_string().contains("`Logins20140801`"), "{error}");
    assert!(logins.get(key()).unwrap().is_some());

    // A table by itself takes no entity of another period.
    let day = logins.table_of(at("2014-07-31T03:00")).unwrap().unwrap();
    let error = day.insert(&login("bob", "2014-08-01T19:00")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DifferentPartitions, "{error}");
    let report = day.bulk_insert([login("bob", "2014-08-01T19:00"), login("bob", "2014-07-31")]).unwrap();
    assert_eq!((report.committed, report.failures.len()), (1, 1));
    assert!(logins.table_of(at("2015-01-01")).unwrap().is_none());
    assert_eq!(day.rows().user("bob").count().unwrap(), 1);
    assert!(day.check().unwrap().problems.is_empty());
}

#[test]
fn a_batch_is_of_one_period() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    let (first, second) = (login("ann", "2014-07-31T18:00"), login("ann", "2014-07-31T19:00"));
    let other = login("ann", "2014-08-01T18:00");
    let egt = || logins.egt(at("2014-07-31T12:00"), Login::partition("ann"));
    egt().insert(&first).insert(&second).commit().unwrap();
    let error = egt().update(Login::key("ann", first.at), |login| login.count = 7).insert(&other).commit();
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.index()), (ErrorKind::DifferentPartitions, Some(1)), "{error}");
    assert_eq!(logins.get(Login::key("ann", first.at)).unwrap().unwrap().count, 1);
    assert_eq!(store.tables().unwrap(), ["Logins20140731"]);
}

#[test]
fn many_entities_are_loaded_into_their_periods() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    logins.insert(&login("ann", "2014-07-02T00:00:05")).unwrap();
    logins.drop_before(at("2014-07-02")).unwrap();
    let times = |day: u32, second: u32| format!("2014-07-{day:02}T00:{:02}:{:02}", second / 60, second % 60);
    let all = (1..=5).flat_map(|day| (0..100).map(move |second| login("ann", &times(day, second))));
    let report = logins.bulk_insert(all).unwrap();
    assert_eq!(report.committed, 399);
    let (dropped, there): (Vec<_>, Vec<_>) =
        report.failures.iter().partition(|failure| failure.error.kind() == ErrorKind::PeriodDropped);
    assert_eq!(dropped.iter().map(|failure| failure.index).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    assert_eq!((there.len(), there[0].index), (1, 105));
    assert_eq!(there[0].error.kind(), ErrorKind::EntityAlreadyExists);
    assert_eq!(store.tables().unwrap().len(), 4);
}

#[test]
fn what_is_dropped_stays_dropped() {
    let (dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    for day in 1..=9 {
        logins.insert(&login("ann", &format!("2014-07-{day:02}T12:00"))).unwrap();
    }
    // Another handle has the table open, and another still has its batch to commit.
    let held = logins.clone();
    let key = |day: u32| Login::key("ann", at(&format!("2014-07-{day:02}T12:00")));
    assert!(held.get(key(3)).unwrap().is_some());
    let late = login("ann", "2014-07-03T13:00");
    let batch = held.egt(late.at, Login::partition("ann")).insert(&late);

    let dropped = logins.drop_before(at("2014-07-04T15:00")).unwrap();
    assert_eq!((dropped.tables, dropped.floor), (3, at("2014-07-04")));
    assert_eq!(logins.floor().unwrap(), at("2014-07-04"));
    assert_eq!(logins.list().unwrap().len(), 6);
    let kind = |error: table_core::Error| error.kind();
    assert_eq!(kind(batch.commit().unwrap_err()), ErrorKind::PeriodDropped);
    assert_eq!(held.get(key(3)).unwrap(), None);
    for error in [
        held.insert(&late).unwrap_err(),
        held.put(&late).unwrap_err(),
        held.update(key(3), |_| {}).unwrap_err(),
        held.delete(key(3)).unwrap_err(),
        held.get_or_insert(&late).unwrap_err(),
        // A period that never had a table.
        held.insert(&login("ann", "1999-01-01")).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::PeriodDropped, "{error}");
        assert!(error.to_string().contains("2014-07-04T00:00:00Z"), "{error}");
    }
    // The floor never goes back, and is what another program finds.
    let dropped = logins.drop_before(at("2014-07-01")).unwrap();
    assert_eq!((dropped.tables, dropped.floor), (0, at("2014-07-04")));
    assert_eq!(logins.expire(at("2014-07-07T01:00")).unwrap().floor, at("2014-07-05"));
    drop((logins, held, store));
    let store = Store::open(dir.path().join("store")).unwrap();
    let logins = store.periods::<Login>().unwrap();
    assert_eq!(logins.insert(&late).unwrap_err().kind(), ErrorKind::PeriodDropped);
    assert_eq!(logins.list().unwrap().len(), 5);
    store.reclaim().unwrap();
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_table_dropped_by_its_name_comes_again() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    logins.insert(&login("ann", "2014-07-31T18:00")).unwrap();
    store.drop_table("Logins20140731").unwrap();
    assert_eq!(logins.get(Login::key("ann", at("2014-07-31T18:00"))).unwrap(), None);
    logins.insert(&login("ann", "2014-07-31T18:00")).unwrap();
    assert!(logins.get(Login::key("ann", at("2014-07-31T18:00"))).unwrap().is_some());
}

#[test]
fn a_table_by_itself_has_no_name_of_a_period() {
    let (_dir, store) = store();
    // One that was there before.
    store.create_table("LOGINS20140731").unwrap().insert(&DynamicEntity::new("p", "r")).unwrap();
    let logins = store.periods::<Login>().unwrap();
    assert!(logins.list().unwrap().is_empty());
    assert_eq!(logins.get(Login::key("ann", at("2014-07-31T18:00"))).unwrap(), None);
    for day in ["2014-07-31", "2014-08-01"] {
        let error = logins.insert(&login("ann", day)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TableAlreadyExists);
        assert!(error.to_string().contains("rename_table"), "{error}");
    }
    store.rename_table("LOGINS20140731", "Former").unwrap();
    logins.insert(&login("ann", "2014-08-01")).unwrap();

    for name in ["Logins20140731", "LOGINS99991231", "Logins20140801"] {
        let error = store.create_table(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidTableName, "{error}");
        let error = store.rename_table("Former", name).unwrap_err();
        let expected =
            if name.ends_with("801") { ErrorKind::TableAlreadyExists } else { ErrorKind::InvalidTableName };
        assert_eq!(error.kind(), expected, "{error}");
    }
    // Those are of no day.
    for name in ["Logins", "Logins2014", "Logins20140732", "Logins201407310"] {
        store.create_table(name).unwrap();
    }
}

/// A kind in tables of the same name, by the month.
#[derive(Entity)]
#[entity(table = "logins{at:%Y%m}", kind = "login")]
#[key(partition = "{user}", row = "at_{at:ticks}")]
struct Monthly {
    user: String,
    at: Ticks,
}

#[test]
fn another_period_is_told_as_long_as_there_are_tables_of_the_former() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    logins.insert(&login("ann", "2014-07-31")).unwrap();
    let monthly = Monthly { user: "ann".into(), at: at("2014-08-01") };
    let error = store.periods::<Monthly>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    for word in ["Logins{%Y%m%d}", "Logins20140731", "logins{at:%Y%m}"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    logins.drop_before(at("2014-08-01")).unwrap();
    let monthlies = store.periods::<Monthly>().unwrap();
    assert_eq!(
        monthlies.insert(&Monthly { at: at("2014-07-01"), ..monthly }).unwrap_err().kind(),
        ErrorKind::PeriodDropped
    );
    monthlies.insert(&Monthly { user: "ann".into(), at: at("2014-08-01") }).unwrap();
    assert_eq!(store.tables().unwrap(), ["logins201408"]);
    assert_eq!(logins.insert(&login("ann", "2014-09-01")).unwrap_err().kind(), ErrorKind::LayoutChanged);
}

#[test]
fn a_period_that_is_dropped_under_its_first_write_is_said_to_be() {
    let (_dir, store) = store();
    // Each of these knows tables of its own.
    let periods = || store.periods::<Login>().unwrap();
    let (writer, other, dropper) = (periods(), periods(), periods());
    let days = || (1_u64..200).map(|day| at("2014-01-01").get() + day * 864_000_000_000);
    let write = |logins: &table_core::typed::Periods<Login>, user: &str| {
        for day in days() {
            let at = Ticks::new(day).unwrap();
            let inserted = logins.insert(&Login { at, ..login(user, "2014-01-01") });
            let batched = logins.egt(at, Login::partition(user)).delete(Login::key(user, at)).commit();
            for done in [inserted.map(drop), batched.map(drop)] {
                let kind = done.as_ref().err().map(table_core::Error::kind);
                let expected = [ErrorKind::PeriodDropped, ErrorKind::EntityNotFound];
                assert!(kind.is_none_or(|kind| expected.contains(&kind)), "{done:?}");
            }
        }
    };
    std::thread::scope(|scope| {
        let writers = [scope.spawn(|| write(&writer, "ann")), scope.spawn(|| write(&other, "bob"))];
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            if let Some(last) = dropper.list().unwrap().last() {
                dropper.drop_before(Ticks::new(last.start.get() + 864_000_000_000).unwrap()).unwrap();
            }
        }
    });
    assert!(store.check().unwrap().problems.is_empty());
}
