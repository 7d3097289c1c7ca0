use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
#[index(by_day, row = "of_{day:06}", copy(note))]
struct Day {
    host: String,
    day: u32,
    note: String,
    #[series]
    cpu: [Option<f64>; 24],
}

#[derive(Projection)]
#[projection(of = Day)]
struct NoSeries {
    #[series]
    cpus: [Option<f64>; 24],
    #[series]
    note: [Option<f64>; 24],
}

#[derive(Projection)]
#[projection(of = Day)]
struct Slots {
    #[series(from = 20)]
    cpu: [Option<f64>; 8],
    #[series(of = cpu, slot = 24)]
    last: Option<f64>,
}

#[derive(Projection)]
#[projection(of = Day)]
struct Types {
    #[series]
    cpu: [f64; 24],
    #[series(of = cpu, slot = 3)]
    third: Option<String>,
    #[series(of = cpu, slot = 4)]
    right: Option<f64>,
}

fn main() {}
