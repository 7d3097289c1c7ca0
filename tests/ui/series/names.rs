use table_core::{Entity, Properties};

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
struct Slot {
    host: String,
    day: u32,
    #[property(rename = "Cpu_07")]
    hot: f64,
    #[series]
    cpu: [Option<f64>; 24],
}

#[derive(Properties)]
struct Shared {
    #[series]
    cpu: [Option<f64>; 120],
}

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
struct Stem {
    host: String,
    day: u32,
    #[series(width = 2)]
    #[property(rename = "Cpu")]
    load: [Option<f64>; 120],
    #[flatten]
    shared: Shared,
}

/// A number behind the last slot, one that no slot is written with, and another width are other names.
#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
struct Apart {
    host: String,
    day: u32,
    #[property(rename = "Cpu_24")]
    after: f64,
    #[property(rename = "Cpu_7")]
    short: f64,
    #[series]
    cpu: [Option<f64>; 24],
    #[series(width = 3)]
    #[property(rename = "Cpu")]
    load: [Option<f64>; 24],
}

#[derive(Entity)]
#[entity(table = "Load", kind = "year")]
#[key(partition = "{host}", row = "year_{year:04}")]
struct Year {
    host: String,
    year: u32,
    #[series]
    days: [Option<f64>; 365],
}

#[derive(Entity)]
#[entity(table = "Load", kind = "year")]
#[key(partition = "{host}", row = "year_{year:04}")]
#[index(whole, row = "all_{year:04}")]
#[index(keys, row = "keys_{year:04}", copy = keys)]
struct Most {
    host: String,
    year: u32,
    #[series]
    days: [Option<f64>; 251],
}

fn main() {}
