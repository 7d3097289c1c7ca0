//! The example `logs`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/logs.rs"));

use table_core::asynchronous::AsyncLog;

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let begun = Ticks::now();
        let served = all(["/cart", "/"].map(|path| {
            let tables = tables.clone();
            async move {
                let log = tables.log("requests").await?;
                for number in 0..500_u16 {
                    let status = if number % 100 == 99 { 500 } else { 200 };
                    log.append(&Request { path: path.into(), status }).await?;
                }
                log.flush().await
            }
        }));
        served.await.into_iter().collect::<Result<()>>()?;
        let requests: AsyncLog<Request> = tables.log("requests").await?;
        let (mut failed, mut entries) = (0, requests.during(begun..));
        while let Some(entry) = entries.try_next().await? {
            failed += usize::from(entry.value.status == 500);
        }
        drop(entries);
        let dropped =
            requests.drop_before(Ticks::now().checked_add(Duration::from_secs(86_400)).unwrap()).await?;
        let left = requests.entries().try_collect().await?.len();
        assert_eq!((failed, left), (10, 0));
        assert!(dropped >= 2);
        Ok(())
    });
}
