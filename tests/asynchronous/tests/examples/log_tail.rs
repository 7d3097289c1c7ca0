//! The example `log_tail`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/log_tail.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let claims = store.to_async().table::<Claim>().await?;
        let first: Ticks = "2014-07-31T18:00:00Z".parse().unwrap();
        let hours = |hours: u32| first.checked_add(Duration::from_secs(3_600) * hours).unwrap();
        for number in 0..10 {
            let (submitted, purpose) = (hours(number.into()), format!("trip {number}"));
            claims
                .insert(&Claim { employee: "jonesj".into(), submitted, number, cents: 9_950, purpose })
                .await?;
        }
        let newest = claims.rows().employee("jonesj").top(3).try_collect().await?;
        assert_eq!(newest.iter().map(|c| &*c.purpose).collect::<Vec<_>>(), ["trip 9", "trip 8", "trip 7"]);
        let found = claims.rows().employee("jonesj").submitted(first..=hours(2)).try_collect().await?;
        assert_eq!(found.iter().map(|claim| claim.number).collect::<Vec<_>>(), [2, 1, 0]);
        Ok(())
    });
}
