//! The example `wide_entity`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/wide_entity.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let years = store.to_async().table::<Year>().await?;
        for (number, hottest) in [(2013, 29), (2014, 34)] {
            years.insert(&year(number, hottest)).await?;
        }
        let key = || Year::key("Oslo", 2014);
        let read = years.get(key()).await?.unwrap();
        assert_eq!(*read, year(2014, 34));
        let correct = |at: usize, degrees: f64| Year::patch().second(at, Some(degrees));
        let corrected = years.merge(key(), correct(0, 34.5), Stored::etag(&read)).await?;
        assert_eq!(corrected.second[0], Some(34.5));
        let stale = years.merge(key(), correct(1, 34.0), Stored::etag(&read)).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::ConditionNotMet);
        let query = || years.rows().station("Oslo").filter(|y| y.second.at(0).gt(30.0));
        assert_eq!(query().count().await?, 1);
        let last = query().select::<LastDay>().try_collect().await?;
        assert_eq!((last.len(), last[0].temperature.is_some()), (1, true));
        let hottest = years.by_hottest().station("Oslo").hottest(30..).entities().first().await?.unwrap();
        assert_eq!((hottest.year, hottest.second[0]), (2014, Some(34.5)));
        years.dynamic().raw().delete("Oslo", "year_2013_01").await?;
        assert_eq!(years.get(Year::key("Oslo", 2013)).await.unwrap_err().kind(), ErrorKind::Corrupt);
        years.put(&year(2013, 29)).await?;
        assert!(years.check().await?.is_sound());
        years.delete(key()).await?;
        assert_eq!(years.dynamic().query(&Query::new()).try_collect().await?.len(), 3);
        Ok(())
    });
}
