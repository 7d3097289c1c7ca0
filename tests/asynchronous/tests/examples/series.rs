//! The example `series`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/series.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let days = store.to_async().table::<Day>().await?;
        for number in 1..=4 {
            days.insert(&day(number)).await?;
        }
        let today = || Day::key("web1", "2014-07-04");
        let patch = Day::patch().cpu(14, Some(0.93)).requests(12..14, vec![310, 270]);
        let patched = days.merge(today(), patch, IfMatch::Any).await?;
        assert_eq!(patched.cpu[13..16], [Some(0.7), Some(0.93), None]);
        assert_eq!(patched.requests[11..14], [0, 310, 270]);
        let query = || days.rows().host("web1");
        let above = query().filter(|d| d.cpu.range(9..17).any(|hour| hour.gt(0.68))).count().await?;
        let through = query().filter(|d| d.cpu.range(9..17).all(|hour| hour.gt(0.63))).count().await?;
        assert_eq!((above, through), (1, 1));
        let offices = query().select::<Office>().try_collect().await?;
        assert_eq!((offices.len(), offices[1].office[0]), (4, Some(0.6)));

        let counted = all((0..8).map(|_| {
            let days = days.clone();
            async move {
                for _ in 0..25 {
                    days.add(Day::key("web1", "2014-07-04"), Day::add().requests(15, 1)).await?;
                }
                Ok::<(), table_core::Error>(())
            }
        }));
        counted.await.into_iter().collect::<table_core::Result<()>>()?;
        assert_eq!(days.get(today()).await?.unwrap().requests[15], 200);
        let refused = days.merge(today(), Day::patch().cpu(24, Some(0.5)), IfMatch::Any).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ValueOutOfRange);
        Ok(())
    });
}
