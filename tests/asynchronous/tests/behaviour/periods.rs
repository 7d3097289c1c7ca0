//! Changes of several entities of one period, awaited.

use asynchronous_tests::on_executors;
use table_core::asynchronous::{WriteOutcome, WriteToken};
use table_core::{Entity, ErrorKind, Ticks};

#[derive(Entity, Clone)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
}

fn at(text: &str) -> Ticks {
    text.parse().unwrap()
}

fn login(user: &str, time: &str) -> Login {
    Login { user: user.into(), at: at(time) }
}

#[test]
fn changes_of_a_period_are_made_together_and_make_its_table() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let logins = tables.periods::<Login>().await?;
        let (morning, noon) = (login("ann", "2014-07-31T08:00"), login("ann", "2014-07-31T12:00"));
        let changes = || logins.egt(morning.at, Login::partition("ann")).insert(&morning).insert(&noon);
        let unasked = changes();
        assert!(tables.tables().await?.is_empty());
        drop(unasked);

        let token = WriteToken::new();
        let tracked = logins.tracked(&token).egt(morning.at, Login::partition("ann")).insert(&morning);
        tracked.insert(&noon).commit().await?;
        assert!(matches!(token.decided().await, WriteOutcome::Committed(_)));
        assert_eq!(tables.tables().await?, ["Logins20140731"]);
        // All or nothing: one of them is there.
        let evening = login("ann", "2014-07-31T20:00");
        let refused = logins.egt(noon.at, Login::partition("ann")).insert(&evening).insert(&noon);
        assert_eq!(refused.commit().await.unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
        assert!(!logins.exists(Login::key("ann", evening.at)).await?);

        // A table that is dropped behind the handle's back is made again.
        tables.drop_table("Logins20140731").await?;
        changes().commit().await?;
        assert!(logins.exists(Login::key("ann", noon.at)).await?);
        Ok(())
    });
}

#[test]
fn what_is_of_another_period_or_partition_or_dropped_is_refused() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let logins = tables.periods::<Login>().await?;
        let (ann, bob) = (login("ann", "2014-07-31T08:00"), login("bob", "2014-07-31T08:00"));
        let other = logins.egt(ann.at, Login::partition("ann")).insert(&bob).commit().await;
        assert_eq!(other.unwrap_err().kind(), ErrorKind::DifferentPartitions);
        let nothing = logins.egt(ann.at, Login::partition("ann")).commit().await;
        let blocking = logins.blocking().egt(ann.at, Login::partition("ann")).commit();
        assert_eq!(nothing.unwrap_err().to_string(), blocking.unwrap_err().to_string());
        let elsewhere = logins.egt(at("2014-08-01"), Login::partition("ann")).insert(&ann).commit().await;
        let blocking = logins.blocking().egt(at("2014-08-01"), Login::partition("ann")).insert(&ann).commit();
        assert_eq!(elsewhere.unwrap_err().to_string(), blocking.unwrap_err().to_string());

        logins.drop_before(at("2014-08-01")).await?;
        let dropped = logins.egt(ann.at, Login::partition("ann")).insert(&ann).commit().await;
        assert_eq!(dropped.unwrap_err().kind(), ErrorKind::PeriodDropped);
        Ok(())
    });
}
