//! The example `index_table`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/index_table.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let films = tables.table::<Film>().await?;
        films.insert(&film(1, "Heat", 1995, "Crime", &["Al Pacino", "Robert De Niro"])).await?;
        films.insert(&film(2, "The Insider", 1999, "Drama", &["Al Pacino", "Russell Crowe"])).await?;
        films.insert(&film(3, "Collateral", 2004, "Crime", &["Tom Cruise", "Jamie Foxx"])).await?;
        let found = films.by_genre().catalogue("main").genre("Crime").year(2000..).try_collect().await?;
        assert_eq!(found.iter().map(|film| &*film.title).collect::<Vec<_>>(), ["Collateral"]);
        let pacino = || films.by_actor().catalogue("main").actor("Al Pacino");
        let found = pacino().entities().try_collect().await?;
        assert_eq!(found.iter().map(|film| film.year).collect::<Vec<_>>(), [1995, 1999]);
        films.update(Film::key("main", 1), |film| film.actors.retain(|actor| actor != "Al Pacino")).await?;
        assert_eq!(pacino().count().await?, 1);

        let customers = tables.table::<Customer>().await?;
        for (id, town, last_name) in
            [(1, "Hull", "Jones"), (2, "Hull", "Jonas"), (3, "Hull", "Smith"), (4, "Hulme", "Jones")]
        {
            let (region, phone) = ("north".into(), format!("555-{id}"));
            let (town, last_name) = (town.into(), last_name.into());
            customers.insert(&Customer { region, id, town, last_name, phone }).await?;
        }
        let query = customers.by_name().region("north").town("Hull").last_name(prefix("Jon"));
        assert_eq!(query.try_collect().await?.iter().map(|c| c.id).collect::<Vec<_>>(), [2, 1]);

        let orders = tables.table::<Order>().await?;
        for number in 1..=40 {
            orders.insert(&Order { number, item: format!("item {number}") }).await?;
        }
        assert!(orders.get(Order::key(17)).await?.is_some_and(|order| order.item == "item 17"));
        let found = orders.rows().all_shards().number(10..15).try_collect().await?;
        assert_eq!(found.iter().map(|order| order.number).collect::<Vec<_>>(), [10, 11, 12, 13, 14]);
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
