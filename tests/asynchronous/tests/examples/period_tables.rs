//! The example `period_tables`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/period_tables.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let first: Ticks = "2014-05-01T06:00:00Z".parse().unwrap();
        let time = move |quarter: u32| first.checked_add(Duration::from_secs(6 * 3_600) * quarter).unwrap();
        let attempts = (0..399).map(move |quarter| {
            let user = if quarter % 4 < 2 { "jonesj" } else { "caoj" }.to_owned();
            let address = format!("10.0.0.{}", quarter % 7);
            Login { user, at: time(quarter), address, succeeded: quarter % 9 != 0 }
        });
        let logins = store.to_async().periods::<Login>().await?;
        assert_eq!(logins.bulk_insert(attempts).await?.committed, 399);
        let found = logins.get(Login::key("jonesj", time(364))).await?.unwrap();
        assert_eq!(&*found.address, "10.0.0.0");
        let (from, to): (Ticks, Ticks) =
            ("2014-07-10T12:00:00Z".parse().unwrap(), "2014-07-20T12:00:00Z".parse().unwrap());
        let failed = logins.stream(move |logins| {
            let failed = logins.during(from..to)?;
            Ok(failed.rows().user("jonesj").filter(|login| login.succeeded.eq(false)))
        });
        let failed: Vec<_> = failed.try_collect().await?.iter().map(|login| login.at).collect();
        assert!(!failed.is_empty() && failed.is_sorted() && failed.iter().all(|at| (from..to).contains(at)));
        let before = logins.list().await?.len();
        let dropped = logins.expire("2014-08-08T12:00:00Z".parse::<Ticks>().unwrap()).await?;
        assert_eq!((before, dropped.tables, logins.list().await?.len()), (100, 9, 91));
        let late = Login { user: "caoj".into(), at: first, address: "10.0.0.9".into(), succeeded: true };
        let late = logins.insert(&late).await.unwrap_err();
        assert_eq!(late.kind(), ErrorKind::PeriodDropped);
        Ok(())
    });
}
