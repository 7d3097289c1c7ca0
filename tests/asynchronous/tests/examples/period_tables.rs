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
        let tables = store.to_async();
        let report = tables.run(|tables| tables.periods::<Login>()?.bulk_insert(attempts)).await?;
        assert_eq!(report.committed, 399);
        let found = tables.run(move |tables| tables.periods::<Login>()?.get(Login::key("jonesj", time(364))));
        assert_eq!(&*found.await?.unwrap().address, "10.0.0.0");
        let (from, to): (Ticks, Ticks) =
            ("2014-07-10T12:00:00Z".parse().unwrap(), "2014-07-20T12:00:00Z".parse().unwrap());
        let failed = tables.run(move |tables| {
            let failed = tables.periods::<Login>()?.during(from..to)?;
            let failed = failed.rows().user("jonesj").filter(|login| login.succeeded.eq(false));
            failed.into_iter().map(|login| Ok(login?.at)).collect::<table_core::Result<Vec<_>>>()
        });
        let failed = failed.await?;
        assert!(!failed.is_empty() && failed.is_sorted() && failed.iter().all(|at| (from..to).contains(at)));
        let dropped = tables.run(|tables| {
            let logins = tables.periods::<Login>()?;
            let before = logins.list()?.len();
            let dropped = logins.expire("2014-08-08T12:00:00Z".parse::<Ticks>().unwrap())?;
            Ok((before, dropped.tables, logins.list()?.len()))
        });
        assert_eq!(dropped.await?, (100, 9, 91));
        let late = Login { user: "caoj".into(), at: first, address: "10.0.0.9".into(), succeeded: true };
        let late = tables.run(move |tables| tables.periods::<Login>()?.insert(&late)).await.unwrap_err();
        assert_eq!(late.kind(), ErrorKind::PeriodDropped);
        Ok(())
    });
}
