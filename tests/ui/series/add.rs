use table_core::{Entity, Store, Table};

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
struct Day {
    host: String,
    day: u32,
    #[series]
    load: [Option<f64>; 24],
    #[series]
    requests: [Option<u32>; 24],
}

#[derive(Entity)]
#[entity(table = "Load", kind = "host")]
#[key(partition = "{name}", row = "host")]
struct Host {
    name: String,
    racks: u8,
}

fn uses(store: &Store, days: &Table<Day>, hosts: &Table<Host>) -> Result<(), table_core::Error> {
    // A float loses what is added, a little at a time.
    days.add(Day::key("web1", 1), Day::add().load(13, 1))?;
    // A part of a number, of no number.
    days.add(Day::key("web1", 1), Day::add().requests(13, 0.5))?;
    // No series, and what is another entity's.
    hosts.add(Host::key("web1"), Host::add())?;
    hosts.add(Host::key("web1"), Day::add().requests(13, 1))?;
    store.transaction().add(Host::key("web1"), Day::add().requests(13, 1)).commit()?;
    Ok(())
}

fn main() {}
