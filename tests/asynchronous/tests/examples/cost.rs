//! The example `cost`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/cost.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let staff = store.to_async().table::<Employee>().await?;
        staff.bulk_insert((0..2_000).map(employee)).await?.into_result()?;
        let counted = staff.run(|staff| staff.cost()).await?;
        assert_eq!(counted.entities, 2_000);
        assert!(counted.advice.iter().any(|line| line.starts_with("`by_state` tells little apart")));
        Ok(())
    });
}
