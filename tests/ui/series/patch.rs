use table_core::{Entity, IfMatch, Result, Table};

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
struct Day {
    host: String,
    day: u32,
    #[series]
    cpu: [Option<f64>; 24],
}

fn set(days: &Table<Day>) -> Result<()> {
    days.merge(Day::key("web1", 1), Day::patch().cpu([Some(0.5); 24]), IfMatch::Any)?;
    Ok(())
}

fn main() {}
