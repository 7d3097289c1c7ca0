use table_core::{Entity, EntitySet};

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "{name}")]
struct EndsInText {
    station: String,
    name: String,
    #[part]
    rain: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
#[index(by_name, row = "year_{name}", copy = keys, unique)]
struct MeetsAnIndex {
    station: String,
    year: u32,
    #[part]
    name: String,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct FullOfSlots {
    station: String,
    year: u32,
    rain: f64,
    #[part]
    sun: f64,
    #[series]
    days: [Option<f64>; 251],
    wind: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "decade", wide)]
#[key(partition = "{station}", row = "decade_{number:04}")]
struct Sound {
    station: String,
    number: u32,
    #[part]
    rain: f64,
}

// Its rows could be parts of the other's: `decade_0201_01`.
#[derive(Entity)]
#[entity(table = "Weather", kind = "station")]
#[key(partition = "{name}", row = "decade_{number:04}_{of:02}")]
struct Station {
    name: String,
    number: u32,
    of: u8,
}

#[derive(EntitySet)]
enum Weather {
    Sound(Sound),
    Station(Station),
}

fn main() {}
