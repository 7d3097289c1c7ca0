//! Guide, pattern 2 and the table of films: entities found by what is in them, each way by copies under other row keys;
//! and rows spread over shards, with an index that brings their order back.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, Query, Store, prefix};

/// A film, found by its genre, by each of its actors, and whole by its title.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Films", kind = "film")]
#[key(partition = "{catalogue}", row = "film_{id:05}")]
#[index(by_genre, row = "genre_{genre}_{year:04}_{id:05}", copy(title))]
#[index(by_actor, row = "actor_{actors[]:escaped}!{id:05}", copy(title), as = actor)]
struct Film {
    catalogue: String,
    id: u32,
    title: String,
    year: u16,
    genre: String,
    #[property(json)]
    actors: Vec<String>,
}

/// A customer, found by town and last name.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Customers", kind = "customer")]
#[key(partition = "{region}", row = "customer_{id}")]
#[index(by_name, row = "name_{town:escaped}!{last_name:escaped}!{id}", copy(phone))]
struct Customer {
    region: String,
    id: u32,
    town: String,
    last_name: String,
    phone: String,
}

/// An order. The shards spread new orders over eight partitions, so that they don't all go to the last one.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders", kind = "order")]
#[key(partition = "orders_{number:shard(8)}", row = "{number:06}")]
struct Order {
    number: u32,
    item: String,
}

fn film(id: u32, title: &str, year: u16, genre: &str, actors: &[&str]) -> Film {
    let actors = actors.iter().map(|&actor| actor.into()).collect();
    Film { catalogue: "main".into(), id, title: title.into(), year, genre: genre.into(), actors }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("index_table");
    let store = Store::open(scratch.path())?;
    let mut out = stdout();

    let films = store.table::<Film>()?;
    films.insert(&film(1, "Heat", 1995, "Crime", &["Al Pacino", "Robert De Niro"]))?;
    films.insert(&film(2, "The Insider", 1999, "Drama", &["Al Pacino", "Russell Crowe"]))?;
    films.insert(&film(3, "Collateral", 2004, "Crime", &["Tom Cruise", "Jamie Foxx"]))?;
    writeln!(out, "A row for each actor, beside one for the genre:\n")?;
    draw(&mut out, films.dynamic(), &Query::new().row_prefix("actor_"))?;

    writeln!(out, "\nCrime films from 2000 on:\n")?;
    let query = films.by_genre().catalogue("main").genre("Crime").year(2000..);
    writeln!(out, "  {}", query.explain()?)?;
    let found: Vec<_> = query.into_iter().collect::<Result<_, _>>()?;
    found.iter().try_for_each(|film| writeln!(out, "  {} ({})", film.title, film.year))?;
    assert_eq!(found.iter().map(|film| &*film.title).collect::<Vec<_>>(), ["Collateral"]);

    writeln!(out, "\nFilms with Al Pacino, whole: each copy leads to its film in the same snapshot.\n")?;
    let query = films.by_actor().catalogue("main").actor("Al Pacino").entities();
    writeln!(out, "  {}", query.explain()?)?;
    let found: Vec<_> = query.into_iter().collect::<Result<_, _>>()?;
    found.iter().try_for_each(|film| writeln!(out, "  {}: {}", film.title, film.actors.join(", ")))?;
    assert_eq!(found.iter().map(|film| film.year).collect::<Vec<_>>(), [1995, 1999]);
    films.update(Film::key("main", 1), |film| film.actors.retain(|actor| actor != "Al Pacino"))?;
    assert_eq!(films.by_actor().catalogue("main").actor("Al Pacino").count()?, 1, "his row went along");

    let customers = store.table::<Customer>()?;
    for (id, town, last_name) in
        [(1, "Hull", "Jones"), (2, "Hull", "Jonas"), (3, "Hull", "Smith"), (4, "Hulme", "Jones")]
    {
        let (town, last_name) = (town.into(), last_name.into());
        customers.insert(&Customer {
            region: "north".into(),
            id,
            town,
            last_name,
            phone: format!("555-{id}"),
        })?;
    }
    writeln!(out, "\nCustomers in Hull whose name starts with Jon: a range of the index.\n")?;
    let query = customers.by_name().region("north").town("Hull").last_name(prefix("Jon"));
    writeln!(out, "  {}", query.explain()?)?;
    let found: Vec<_> = query.into_iter().collect::<Result<_, _>>()?;
    found.iter().try_for_each(|c| writeln!(out, "  {}, {}", c.last_name, c.phone))?;
    assert_eq!(found.iter().map(|c| c.id).collect::<Vec<_>>(), [2, 1]);

    let orders = store.table::<Order>()?;
    for number in 1..=40 {
        orders.insert(&Order { number, item: format!("item {number}") })?;
    }
    writeln!(out, "\nOrders lie in eight partitions. One is a point read, for its shard can be computed:\n")?;
    writeln!(out, "  {}", orders.rows().number(17).explain()?)?;
    assert!(orders.get(Order::key(17))?.is_some_and(|order| order.item == "item 17"));
    writeln!(out, "\nAll of them in order are eight ranges, merged:\n")?;
    let query = orders.rows().all_shards().number(10..15);
    writeln!(out, "  {}", query.explain()?)?;
    let found: Vec<_> =
        query.into_iter().map(|order| order.map(|order| order.number)).collect::<Result<_, _>>()?;
    writeln!(out, "  {found:?}")?;
    assert_eq!(found, [10, 11, 12, 13, 14]);
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
