//! Entities with a table for each period, and index lists, awaited.

use integration_tests::Scratch;
use table_core::asynchronous::{AsyncPeriods, Reads, WriteOutcome, WriteToken, block_on};
use table_core::{Batch, DynamicEntity, Entity, ErrorKind, IfMatch, Store, Ticks};

use super::steps::{dropped_everywhere, is_send};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
    times: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index_list(by_last_name, row = "last_{last_name}", of = id)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
}

fn at(text: &str) -> Ticks {
    text.parse().unwrap()
}

fn login(day: &str) -> Login {
    Login { user: "ann".into(), at: at(day), times: 1 }
}

fn logins(store: &Store) -> AsyncPeriods<Login> {
    block_on(store.to_async().periods()).unwrap()
}

#[test]
fn every_call_does_what_the_one_that_blocks_does() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for reads in [Reads::Inline, Reads::Spawned] {
        let logins = logins(&store).reads(reads);
        block_on(async {
            let key = || Login::key("ann", at("2014-07-30"));
            assert_eq!(logins.get(key()).await?, None);
            let missing = logins.update(key(), |login| login.times += 1).await.unwrap_err();
            assert_eq!(missing.kind(), ErrorKind::EntityNotFound);
            let first = logins.insert(&login("2014-07-30")).await?;
            let again = logins.insert(&login("2014-07-30")).await.unwrap_err();
            assert_eq!(again.kind(), ErrorKind::EntityAlreadyExists);
            let updated = logins.update(key(), |login| login.times += 1).await?;
            assert_eq!((updated.times, logins.get(key()).await?.unwrap().times), (2, 2));
            let stale = logins.replace(&login("2014-07-30"), first).await.unwrap_err();
            assert_eq!(stale.kind(), ErrorKind::ConditionNotMet);
            logins.put(&login("2014-07-31")).await?;
            assert_eq!(logins.get_or_insert(&login("2014-07-30")).await?.times, 2);
            let merged = logins.merge(key(), Login::patch().times(7), IfMatch::Any).await?;
            assert_eq!(merged.times, 7);
            assert!(logins.exists(key()).await?);
            let both = logins.get_many([key(), Login::key("bob", at("2014-07-30"))]).await?;
            assert!(both[0].is_some() && both[1].is_none());
            assert_eq!(logins.list().await?.len(), 2);
            let table = logins.table_of(at("2014-07-31")).await?.unwrap();
            assert_eq!(table.all().count().await?, 1);
            assert!(logins.table_of(at("2014-08-31")).await?.is_none());
            let from = at("2014-07-31");
            let found = logins.stream(move |logins| Ok(logins.during(from..)?.rows().user("ann")));
            assert_eq!(found.try_collect().await?.len(), 1);
            assert_eq!(logins.read(|logins| logins.all_periods().all().count()).await?, 2);
            logins.delete(key()).await?;
            assert_eq!(logins.delete(key()).await.unwrap_err().kind(), ErrorKind::EntityNotFound);
            let loaded = logins.bulk_insert(["2014-08-01", "2014-08-02"].map(login)).await?;
            assert_eq!(loaded.committed, 2);
            assert_eq!(logins.drop_before(at("2014-07-01")).await?.tables, 0);
            for info in logins.list().await? {
                store.drop_table(&info.table)?;
            }
            // What it knew of tables that are gone is forgotten.
            logins.insert(&login("2014-07-31")).await?;
            assert_eq!(logins.list().await?.len(), 1);
            store.drop_table(&logins.list().await?[0].table)?;
            let gone = logins.merge(Login::key("ann", from), Login::patch().times(7), IfMatch::Any).await;
            assert_eq!(gone.unwrap_err().kind(), ErrorKind::EntityNotFound);
            Ok::<_, table_core::Error>(())
        })
        .unwrap();
    }
    let logins = logins(&store);
    block_on(logins.drop_before(at("2014-08-01"))).unwrap();
    assert_eq!(block_on(logins.floor()).unwrap(), at("2014-08-01"));
    let late = block_on(logins.insert(&login("2014-07-31"))).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::PeriodDropped);
}

#[test]
fn a_dropped_insert_into_a_new_period_is_done_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let logins = logins(&store);
    let token = WriteToken::new();
    let tracked = logins.tracked(&token);
    let mut day = 0;
    let each = std::cell::Cell::new(0);
    dropped_everywhere(
        || {
            day += 1;
            each.set(day);
            let login = login(&format!("2014-07-{day:02}"));
            let tracked = tracked.clone();
            async move { tracked.insert(&login).await }
        },
        |done| {
            let outcome = block_on(token.decided());
            let key = Login::key("ann", at(&format!("2014-07-{:02}", each.get())));
            let is_there = logins.blocking().exists(key).unwrap();
            match done {
                Some(done) => assert!(done.is_ok() && is_there),
                // The token tells of the last write that was begun with it.
                None if is_there => assert!(matches!(outcome, WriteOutcome::Committed(_))),
                None => {}
            }
        },
    );
}

#[test]
fn lists_views_and_many_batches() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for reads in [Reads::Inline, Reads::Spawned] {
        let tables = store.to_async().reads(reads);
        block_on(async {
            let staff = tables.table::<Employee>().await?;
            for (id, last_name) in [(7, "Jones"), (3, "Jones"), (5, "Cao")] {
                staff.put(&Employee { department: "Sales".into(), id, last_name: last_name.into() }).await?;
            }
            let jones = staff.list(Employee::by_last_name("Sales", "Jones")).try_collect().await?;
            assert_eq!(jones.iter().map(|jones| jones.id).collect::<Vec<_>>(), [3, 7]);
            let none = staff.list(Employee::by_last_name("Sales", "Smith"));
            assert!(none.try_collect().await?.is_empty());
            let keys = staff.list_keys(Employee::by_last_name("Sales", "Jones")).await?;
            assert_eq!(keys[0].as_strs()?, ("Sales", "empid_000003"));
            let name = |id| staff.view(Employee::key("Sales", id), |view| Ok(view.last_name()?.to_owned()));
            assert_eq!((name(5).await?.as_deref(), name(6).await?), (Some("Cao"), None));
            let other = tables.create_table_if_missing("Other").await?;
            let batch = |partition: u32| -> Batch {
                let row = DynamicEntity::new(partition.to_string(), "1").with("Age", 1);
                other.blocking().batch(partition.to_string()).put(row)
            };
            let loaded = tables.bulk((0..100).map(batch).collect::<Vec<_>>()).await?;
            assert_eq!(loaded.committed, 100);
            Ok::<_, table_core::Error>(())
        })
        .unwrap();
    }
}

#[test]
fn every_future_may_go_to_another_thread() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let logins = logins(&store);
    let (one, key) = (login("2014-07-30"), || Login::key("ann", at("2014-07-30")));
    drop(is_send(logins.insert(&one)));
    drop(is_send(logins.put(&one)));
    drop(is_send(logins.replace(&one, IfMatch::Any)));
    drop(is_send(logins.update(key(), |login| login.times += 1)));
    drop(is_send(logins.merge(key(), Login::patch().times(1), IfMatch::Any)));
    drop(is_send(logins.get(key())));
    drop(is_send(logins.get_or_insert(&one)));
    drop(is_send(logins.delete(key())));
    drop(is_send(logins.table_of(at("2014-07-30"))));
    drop(is_send(logins.drop_before(at("2014-07-30"))));
    let mut stream = is_send(logins.stream(|logins| Ok(logins.all_periods().all())));
    drop(is_send(stream.try_next()));
    let staff = store.table::<Employee>().unwrap().to_async();
    drop(is_send(staff.list(Employee::by_last_name("Sales", "Jones"))));
    drop(is_send(staff.view(Employee::key("Sales", 1), |view| Ok(view.last_name()?.len()))));
}
