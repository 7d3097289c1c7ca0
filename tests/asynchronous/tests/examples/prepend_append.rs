//! The example `prepend_append`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/prepend_append.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let (hot, log) = (tables.table::<HotEvent>().await?, tables.table::<Event>().await?);
        let start: Ticks = "2026-03-01T08:00:00Z".parse().unwrap();
        for sequence in 0..60 {
            let at = start.checked_add(std::time::Duration::from_secs(u64::from(sequence) * 60)).unwrap();
            let (source, text) = (format!("web-{:02}", sequence % 24), format!("request {sequence}"));
            hot.insert(&HotEvent { at, sequence, text: text.clone() }).await?;
            log.insert(&Event { source, at, sequence, text }).await?;
        }
        assert_eq!(hot.dynamic().run(partitions).await?.len(), 1);
        assert_eq!(log.dynamic().run(partitions).await?.len(), 4);
        let newest = log.rows().all_shards().latest(3);
        assert_eq!(newest.explain()?.ranges(), 4);
        let newest = newest.try_collect().await?;
        assert_eq!(newest.iter().map(|event| event.sequence).collect::<Vec<_>>(), [59, 58, 57]);
        let nine: Ticks = "2026-03-01T09:00:00Z".parse().unwrap();
        let before = log.rows().source("web-05").at(..nine).try_collect().await?;
        assert_eq!(before.iter().map(|event| event.sequence).collect::<Vec<_>>(), [53, 29, 5]);
        Ok(())
    });
}
