use table_core::{Entity, Result, Table};

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{day:06}")]
struct Day {
    host: String,
    day: u32,
    #[series]
    cpu: [Option<f64>; 24],
}

fn busy(days: &Table<Day>) -> Result<()> {
    println!("{}", days.rows().host("web1").filter(|d| d.cpu.gt(3.0)).count()?);
    println!("{}", days.rows().host("web1").filter(|d| d.cpu.is_none()).count()?);
    println!("{}", days.rows().host("web1").filter(|d| d.cpu.range(8..12).ge(3.0)).count()?);
    Ok(())
}

fn main() {}
