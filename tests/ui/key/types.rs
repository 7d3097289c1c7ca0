use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Readings", kind = "reading")]
#[key(partition = "{station}", row = "at_{height}")]
struct Reading {
    station: String,
    height: f64,
}

#[derive(Entity)]
#[entity(table = "Readings", kind = "depth")]
#[key(partition = "{station}", row = "depth_{depth}")]
struct Depth {
    station: String,
    depth: i32,
}

#[derive(Entity)]
#[entity(table = "Readings", kind = "maybe")]
#[key(partition = "{station}", row = "maybe_{number}")]
struct Maybe {
    station: String,
    number: Option<u32>,
}

fn main() {}
