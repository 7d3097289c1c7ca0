//! More slots than a row holds.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Weather", kind = "year")]
#[key(partition = "{station}", row = "year_{year:04}")]
struct Year {
    station: String,
    year: u32,
    #[series]
    rain: [Option<f64>; 366],
}
// Several series of which no single one is too long.
#[derive(Entity)]
#[entity(table = "Weather", kind = "half")]
#[key(partition = "{station}", row = "half_{year:04}")]
struct Half {
    station: String,
    year: u32,
    #[series]
    rain: [Option<f64>; 183],
    #[series]
    sun: [Option<f64>; 183],
}

fn main() {}
