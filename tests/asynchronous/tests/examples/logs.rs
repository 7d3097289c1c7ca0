//! The example `logs`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/logs.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let begun = Ticks::now();
        let served = all(["/cart", "/"].map(|path| {
            let tables = tables.clone();
            async move {
                let serve = move |tables: &table_core::Tables| {
                    let log = tables.log("requests")?;
                    for number in 0..500_u16 {
                        let status = if number % 100 == 99 { 500 } else { 200 };
                        log.append(&Request { path: path.into(), status })?;
                    }
                    log.flush()
                };
                tables.run(serve).await
            }
        }));
        served.await.into_iter().collect::<Result<()>>()?;
        let read = tables.run(move |tables| {
            let requests: Log<Request> = tables.log("requests")?;
            let failed = requests
                .during(begun..)?
                .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.value.status == 500));
            let failed = failed.count();
            let later = Ticks::now().checked_add(Duration::from_secs(86_400)).unwrap();
            let dropped = requests.drop_before(later)?;
            Ok((failed, dropped, requests.entries()?.count()))
        });
        let (failed, dropped, left) = read.await?;
        assert_eq!((failed, left), (10, 0));
        assert!(dropped >= 2);
        Ok(())
    });
}
