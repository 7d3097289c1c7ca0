use std::collections::BTreeMap;

use table_core::{Entity, Properties};

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
struct List {
    host: String,
    day: u32,
    #[series]
    cpu: Vec<f64>,
}

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
struct Map {
    host: String,
    day: u32,
    #[series]
    cpu: BTreeMap<u32, f64>,
}

#[derive(Properties)]
struct One {
    #[series]
    cpu: Option<f64>,
}

#[derive(Properties)]
struct Nothing {
    #[series]
    cpu: [f64; 0],
}

#[derive(Properties)]
struct Nested {
    #[series]
    cpu: [Option<Option<f64>>; 3],
}

#[derive(Properties)]
struct Wrong {
    #[series]
    cpu: [(f64, f64); 3],
}

fn main() {}
