use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{at:%Y%m%d%H}", row = "{id}")]
struct Hourly {
    at: u64,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "log_{at:ticks}", row = "{id}")]
struct Ticks {
    at: u64,
    id: u32,
}

fn main() {}
