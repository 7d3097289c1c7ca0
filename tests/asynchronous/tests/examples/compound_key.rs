//! The example `compound_key`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/compound_key.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let store = store.to_async();
        let (staff, reviews) = (store.table::<Employee>().await?, store.table::<Review>().await?);
        for (id, last_name) in [(123, "Jones"), (124, "Hall")] {
            staff.insert(&Employee { department: "Sales".into(), id, last_name: last_name.into() }).await?;
            for (year, manager_rating) in [(2010, 2), (2011, 4), (2012, 5)] {
                let (department, comments) = ("Sales".into(), format!("a good {year}"));
                reviews.insert(&Review { department, id, year, manager_rating, comments }).await?;
            }
        }
        let everything = Query::new().partition("Sales").rows("empid_000123".."empid_000124");
        assert_eq!(staff.dynamic().query(&everything).try_collect().await?.len(), 4);
        let mut ratings = Vec::new();
        let mut found = reviews.rows().department("Sales").id(123).year(2011..=2012).stream();
        while let Some(review) = found.try_next().await? {
            ratings.push(review.manager_rating);
        }
        assert_eq!(ratings, [4, 5]);
        let staff = staff.rows().department("Sales").try_collect().await?;
        assert_eq!(staff.iter().map(|e| &*e.last_name).collect::<Vec<_>>(), ["Jones", "Hall"]);
        Ok(())
    });
}
