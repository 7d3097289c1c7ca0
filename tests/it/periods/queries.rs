//! Queries over periods: which tables they read, what of them, and in which order.

use table_core::typed::{InPeriods, Periods};
use table_core::{Continuation, Entity, ErrorKind, Projection, Store, Stored, Ticks};

use super::{Login, at, login, store};

/// The newest first.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Tail{at:%Y%m}", kind = "tail")]
#[key(partition = "{user}", row = "{at:inverted}")]
struct Tail {
    user: String,
    at: Ticks,
}

/// Everybody's of a day beside each other, in shards; the time stands behind what tells users apart.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Hits{at:%Y%m%d%H}", kind = "hit")]
#[key(partition = "{user:shard(4)}", row = "hit_{user}_{at:ticks}")]
#[index(by_path, row = "path_{path}_{user}_{at:ticks}", copy(count))]
#[index(by_hour, row = "hour_{at:%Y%m%d%H}_{path}", unique)]
struct Hit {
    user: String,
    at: Ticks,
    path: String,
    count: u32,
}

/// A partition for each day.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Days{at:%Y%j}", kind = "day", allow(hot_partition))]
#[key(partition = "{at:%Y%m%d}", row = "{at:ticks}")]
struct Day {
    at: Ticks,
}

fn days(logins: &Periods<Login>, users: &[&str], days: std::ops::RangeInclusive<u32>) {
    for day in days {
        for user in users {
            for hour in [3, 15] {
                logins.insert(&login(user, &format!("2014-07-{day:02}T{hour:02}:00"))).unwrap();
            }
        }
    }
}

fn times<T>(found: impl IntoIterator<Item = table_core::Result<T>>, of: impl Fn(&T) -> Ticks) -> Vec<String> {
    found.into_iter().map(|found| of(&found.unwrap()).to_string()).collect()
}

#[test]
fn a_span_of_time_gives_exactly_what_lies_in_it() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    days(&logins, &["ann", "bob"], 1..=9);
    let of = |login: &Stored<Login>| login.at;
    let count = |from: &str, to: &str| {
        let during = || logins.during(at(from)..at(to)).unwrap();
        let (ann, all) = (during().rows().user("ann").count().unwrap(), during().all().count().unwrap());
        let copies = during().by_address().user("ann").address("10.0.0.7").count().unwrap();
        let across = during().rows().across_partitions().count().unwrap();
        let filtered = during().all().filter(|login| login.count.ge(1)).count().unwrap();
        assert_eq!((all, copies, across, filtered), (2 * ann, ann, 2 * ann, 2 * ann));
        ann
    };
    assert_eq!(count("2014-07-03", "2014-07-05"), 4);
    assert_eq!(count("2014-07-03T03:00", "2014-07-05T03:00"), 4);
    assert_eq!(count("2014-07-03T03:00:00.0000001", "2014-07-05T03:00:00.0000001"), 4);
    assert_eq!(count("2014-07-03T04:00", "2014-07-03T15:00"), 0);
    assert_eq!(count("2014-07-03T04:00", "2014-07-03T15:00:00.0000001"), 1);
    assert_eq!(count("2014-07-05", "2014-07-03"), 0);
    assert_eq!(count("0001-01-01", "9999-12-31"), 18);
    assert_eq!(count("2014-07-09T15:00", "2015-01-01"), 1);

    assert_eq!(logins.all_periods().rows().user("ann").count().unwrap(), 18);
    assert_eq!(logins.during(..at("2014-07-02")).unwrap().all().count().unwrap(), 4);
    assert_eq!(logins.during(at("2014-07-09")..).unwrap().all().count().unwrap(), 4);
    assert_eq!(
        logins.during(at("2014-07-08T15:00")..=at("2014-07-09T03:00")).unwrap().all().count().unwrap(),
        4
    );
    assert_eq!(logins.during::<Ticks>(..).unwrap().all().count().unwrap(), 36);

    // In the order of the keys: each user's times.
    let found = times(logins.during(at("2014-07-08T12:00")..at("2014-07-09T12:00")).unwrap().all(), of);
    let two = ["2014-07-08T15:00:00Z", "2014-07-09T03:00:00Z"];
    assert_eq!(found, [two, two].concat());
    let reverse = times(logins.during(at("2014-07-08T12:00")..).unwrap().all().rev(), of);
    assert_eq!(reverse, {
        let mut all = times(logins.during(at("2014-07-08T12:00")..).unwrap().all(), of);
        all.reverse();
        all
    });

    // A range of the key itself narrows what the span has.
    let narrow = logins.during(at("2014-07-02T10:00")..at("2014-07-07")).unwrap();
    let narrow = narrow.rows().user("bob").at(at("2014-07-01")..at("2014-07-03T12:00"));
    assert_eq!(times(narrow, of), ["2014-07-02T15:00:00Z", "2014-07-03T03:00:00Z"]);
    let one = logins.all_periods().rows().user("bob").at(at("2014-07-04T15:00"));
    assert_eq!(times(one, of), ["2014-07-04T15:00:00Z"]);
}

#[test]
fn what_is_read_makes_no_table_and_is_of_one_moment() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    assert_eq!(logins.all_periods().all().count().unwrap(), 0);
    assert_eq!(
        logins.during(at("2014-07-01")..at("2015-01-01")).unwrap().rows().user("ann").first().unwrap(),
        None
    );
    assert!(store.tables().unwrap().is_empty());
    days(&logins, &["ann"], 1..=9);

    let snapshot = store.snapshot().unwrap();
    let mut begun = logins.all_periods().rows().user("ann").into_iter();
    assert!(begun.next().unwrap().is_ok());
    logins.drop_before(at("2014-07-06")).unwrap();
    logins.insert(&login("ann", "2014-08-01")).unwrap();
    store.reclaim().unwrap();
    assert_eq!(begun.map(Result::unwrap).count(), 17, "a reader goes on in its snapshot");
    let then = logins.at(&snapshot);
    assert_eq!(then.all_periods().all().count().unwrap(), 18);
    assert_eq!(then.during(at("2014-07-05")..at("2014-07-07")).unwrap().all().count().unwrap(), 4);
    assert!(then.get(Login::key("ann", at("2014-07-01T03:00"))).unwrap().is_some());
    assert!(then.get(Login::key("ann", at("2014-08-01"))).unwrap().is_none());
    assert_eq!(logins.all_periods().all().count().unwrap(), 9);
    let keys = ["2014-07-01T03:00", "2014-07-09T15:00", "2014-08-01"].map(|time| Login::key("ann", at(time)));
    let found: Vec<_> = logins.get_many(keys).unwrap().iter().map(Option::is_some).collect();
    assert_eq!(found, [false, true, true]);
}

/// All pages of a query, of this size.
fn pages<T>(
    size: usize,
    page: impl Fn(usize, Option<&Continuation>) -> table_core::Result<table_core::store::Page<T>>,
) -> Vec<T> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = page(size, after.as_ref()).unwrap();
        assert!(page.entities.len() <= size);
        assert!(page.next.is_none() || page.entities.len() == size);
        all.extend(page.entities);
        match page.next {
            Some(next) => after = Some(next.to_string().parse().unwrap()),
            None => return all,
        }
    }
}

#[test]
fn pages_go_on_whatever_becomes_of_the_tables() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    days(&logins, &["ann", "bob", "cao"], 1..=9);
    let whole = |logins: &Periods<Login>| -> Vec<_> {
        logins.all_periods().all().into_iter().map(|login| Stored::into_inner(login.unwrap())).collect()
    };
    for size in [1, 2, 3, 7, 54, 1_000] {
        let query = logins.all_periods().all();
        let found = pages(size, |size, after| query.page(size, after));
        assert_eq!(found.into_iter().map(Stored::into_inner).collect::<Vec<_>>(), whole(&logins), "{size}");
        let query = logins.all_periods().rows().user("bob").rev();
        let mut found = pages(size, |size, after| query.page(size, after));
        found.reverse();
        assert_eq!(found.len(), 18);
        assert!(found.windows(2).all(|two| two[0].at < two[1].at));
        let query = logins.during(at("2014-07-02T10:00")..at("2014-07-04T10:00")).unwrap();
        let query = query.by_address().user("bob").address("10.0.0.7").top(3);
        assert_eq!(pages(size, |size, after| query.page(size, after)).len(), 3);
    }
    let query = logins.all_periods().all();
    let first = query.page(10, None).unwrap();
    let next = first.next.unwrap();
    let last = first.entities.last().unwrap().clone();
    // The token is of this query of these periods.
    for other in [logins.during(at("2014-07-01")..).unwrap().all(), logins.all_periods().all().rev()] {
        assert_eq!(other.page(10, Some(&next)).unwrap_err().kind(), ErrorKind::InvalidContinuation);
    }
    logins.drop_before(at("2014-07-02")).unwrap();
    logins.insert(&login("ann", "2014-07-21")).unwrap();
    let rest = query.page(1_000, Some(&next)).unwrap();
    assert!(rest.next.is_none());
    let after = |login: &Login| (&login.user, login.at) > (&last.user, last.at);
    let expected: Vec<_> = whole(&logins).into_iter().filter(after).collect();
    assert_eq!(rest.entities.into_iter().map(Stored::into_inner).collect::<Vec<_>>(), expected);
    let error = logins.all_periods().all().page(0, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Login)]
struct Of {
    at: Ticks,
}

#[test]
fn some_fields_and_entities_of_copies_are_read() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    days(&logins, &["ann"], 1..=3);
    let some = logins.all_periods().rows().user("ann").select::<Of>();
    assert_eq!(some.into_iter().map(|of| of.unwrap().at).collect::<Vec<_>>().len(), 6);
    let by_address = || logins.all_periods().by_address().user("ann").address("10.0.0.7");
    let entities = by_address().entities().into_iter().map(|login| Stored::into_inner(login.unwrap()));
    assert_eq!(
        entities.collect::<Vec<_>>(),
        logins
            .all_periods()
            .all()
            .into_iter()
            .map(|login| Stored::into_inner(login.unwrap()))
            .collect::<Vec<_>>()
    );
    assert!(by_address().exists().unwrap());
    assert_eq!(by_address().first().unwrap().unwrap().at, at("2014-07-01T03:00"));
    let explained = logins.all_periods().rows().user("ann").explain().unwrap();
    assert!(
        explained.to_string().contains(&format!("; in {} tables, one after another", explained.tables()))
    );
}

#[test]
fn the_newest_come_first_where_times_are_inverted() {
    let (_dir, store) = store();
    let tail = store.periods::<Tail>().unwrap();
    for month in 1..=12 {
        for day in [1, 15] {
            tail.insert(&Tail { user: "ann".into(), at: at(&format!("2014-{month:02}-{day:02}")) }).unwrap();
        }
    }
    let of = |tail: &Stored<Tail>| tail.at;
    let newest = times(tail.all_periods().rows().user("ann").top(3), of);
    assert_eq!(newest, ["2014-12-15T00:00:00Z", "2014-12-01T00:00:00Z", "2014-11-15T00:00:00Z"]);
    let oldest = times(tail.during(at("2014-02-10")..at("2014-04-15")).unwrap().rows().user("ann").rev(), of);
    assert_eq!(
        oldest,
        ["2014-02-15T00:00:00Z", "2014-03-01T00:00:00Z", "2014-03-15T00:00:00Z", "2014-04-01T00:00:00Z"]
    );
    let query = tail.all_periods().rows().user("ann");
    assert_eq!(pages(5, |size, after| query.page(size, after)).len(), 24);
}

#[test]
fn shards_of_many_periods_are_merged() {
    let (_dir, store) = store();
    let hits = store.periods::<Hit>().unwrap();
    let mut all = Vec::new();
    for hour in 0..24 {
        for user in 0..10_u32 {
            let at = at(&format!("2014-07-{:02}T{hour:02}:{:02}", 1 + user % 3, user));
            all.push(Hit {
                user: format!("user{user}"),
                at,
                path: format!("path{}-{user}", hour % 5),
                count: user,
            });
        }
    }
    assert_eq!(hits.bulk_insert(&all).unwrap().committed, 240);
    assert_eq!(hits.list().unwrap().len(), 72);
    let found: Vec<_> = hits.all_periods().rows().all_shards().into_iter().map(Result::unwrap).collect();
    assert_eq!(found.len(), 240);
    // Behind the shard.
    assert!(found.windows(2).all(|two| (&two[0].user, two[0].at) < (&two[1].user, two[1].at)));
    let reverse: Vec<_> =
        hits.all_periods().rows().all_shards().rev().into_iter().map(Result::unwrap).collect();
    assert!(reverse.iter().rev().map(|hit| &**hit).eq(found.iter().map(|hit| &**hit)));
    let query = hits.all_periods().rows().all_shards();
    let paged = pages(37, |size, after| query.page(size, after));
    assert!(paged.iter().map(|hit| &**hit).eq(found.iter().map(|hit| &**hit)));
    let during = hits.during(at("2014-07-02T05:02")..at("2014-07-02T09:00")).unwrap().all().count().unwrap();
    let expected =
        all.iter().filter(|hit| hit.at >= at("2014-07-02T05:02") && hit.at < at("2014-07-02T09:00"));
    assert_eq!(during, u64::try_from(expected.count()).unwrap());

    // Unique over all periods, since the hour stands in the key.
    let twice = Hit { user: "user0".into(), at: at("2014-07-01T00:00:30"), path: "path0-0".into(), count: 1 };
    assert_eq!(hits.insert(&twice).unwrap_err().kind(), ErrorKind::UniqueConflict);
}

#[test]
fn a_partition_of_each_day_follows_the_one_before() {
    let (_dir, store) = store();
    let days = store.periods::<Day>().unwrap();
    let all =
        (0..60_u32).map(|day| Day { at: at(&format!("2014-{:02}-{:02}T12:00", 1 + day / 28, 1 + day % 28)) });
    days.bulk_insert(all).unwrap().into_result().unwrap();
    let of = |day: &Stored<Day>| day.at;
    let found = times(days.all_periods().rows().across_partitions(), of);
    assert_eq!(found.len(), 60);
    assert!(found.is_sorted());
    let some = times(days.during(at("2014-01-27T13:00")..at("2014-02-02T13:00")).unwrap().all(), of);
    assert_eq!(some, ["2014-01-28T12:00:00Z", "2014-02-01T12:00:00Z", "2014-02-02T12:00:00Z"]);
    assert_eq!(days.all_periods().rows().at(at("2014-02-03T12:00")).count().unwrap(), 1);
}

/// The kind is used by a program that is generic over kinds, too.
#[test]
fn generic_code_reads_periods() {
    fn all<E: InPeriods>(store: &Store) -> u64 {
        store.periods::<E>().unwrap().all_periods().all().count().unwrap()
    }
    let (_dir, store) = store();
    store.periods::<Login>().unwrap().insert(&login("ann", "2014-07-31")).unwrap();
    assert_eq!((all::<Login>(&store), all::<Tail>(&store)), (1, 0));
}

#[test]
fn explain_says_how_many_tables_are_read_and_how() {
    let (_dir, store) = store();
    let logins = store.periods::<Login>().unwrap();
    days(&logins, &["ann"], 1..=3);
    let during = |from: &str, to: &str| {
        let explained = logins.during(at(from)..at(to)).unwrap().rows().user("ann").explain().unwrap();
        (explained.tables(), explained.to_string())
    };
    for (from, to, tables, text) in [
        ("2014-07-01", "2014-07-04", 3, "; in 3 tables, one after another"),
        ("2014-07-01T12:00", "2014-07-02T12:00", 2, "; in 2 tables, one after another"),
        ("2014-07-02", "2014-07-03", 1, "; in one table"),
        ("2014-08-01", "2014-08-02", 0, "; in no table: there is none for these times"),
    ] {
        let explained = during(from, to);
        assert_eq!(explained.0, tables, "{}", explained.1);
        assert!(explained.1.contains(text), "{}", explained.1);
    }
    let hits = store.periods::<Hit>().unwrap();
    for hour in 0..12 {
        let at = at(&format!("2014-07-31T{hour:02}:30"));
        hits.insert(&Hit { user: "ann".into(), at, path: "index".into(), count: 1 }).unwrap();
    }
    let explained = hits.all_periods().all().explain().unwrap();
    assert_eq!(explained.tables(), 12);
    assert!(explained.to_string().contains("; in 12 tables, merged"), "{explained}");
    let day = logins.table_of(at("2014-07-01")).unwrap().unwrap();
    assert_eq!(day.rows().user("ann").explain().unwrap().tables(), 1);
}
