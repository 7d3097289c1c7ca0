use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
#[index(by_rain, row = "rain_{sun:04}_{year:04}")]
struct Copied {
    station: String,
    year: u32,
    #[part]
    rain: f64,
    sun: u16,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide, version = 2, gone("Old"))]
#[key(partition = "{station}", row = "year_{year:04}")]
struct Versioned {
    station: String,
    year: u32,
    #[part]
    #[property(was = "Wet")]
    rain: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide, signed)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct Sealed {
    station: String,
    year: u32,
    #[part]
    #[encrypt]
    rain: f64,
}

#[derive(Entity)]
#[entity(table = "Weather{at:%Y}", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{at:ticks}")]
struct Periods {
    station: String,
    at: table_core::Ticks,
    #[part]
    rain: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
#[summarized_in(Sums)]
#[copied_into(Holder)]
struct Derived {
    station: String,
    year: u32,
    #[part]
    rain: f64,
    #[property(rename = "EntityParts")]
    parts: u32,
}

fn main() {}
