use table_core::{Entity, Properties};

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct NoPart {
    station: String,
    year: u32,
    rain: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year")]
#[key(partition = "{station}", row = "year_{year:04}")]
struct NotWide {
    station: String,
    year: u32,
    #[part]
    rain: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct OnTheFirst {
    #[part]
    rain: f64,
    #[part]
    sun: f64,
    station: String,
    year: u32,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct OnAKey {
    station: String,
    #[part]
    year: u32,
    rain: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct BehindIt {
    station: String,
    rain: f64,
    #[part]
    sun: f64,
    year: u32,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct OnSkipped {
    station: String,
    year: u32,
    #[part]
    #[property(skip)]
    rain: f64,
    #[part]
    sun: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct WithWords {
    station: String,
    year: u32,
    #[part(2)]
    rain: f64,
    #[part]
    #[part]
    sun: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
#[part]
struct OnTheStruct {
    station: String,
    year: u32,
    #[part]
    rain: f64,
}

#[derive(Properties)]
struct Shared {
    sun: f64,
    #[part]
    wind: f64,
}

fn main() {}
