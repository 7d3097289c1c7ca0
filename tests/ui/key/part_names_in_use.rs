use table_core::{Entity, Result, Store};

#[derive(Entity)]
#[entity(table = "Company", kind = "visit")]
#[key(partition = "{department}", row = "visit_{count:06}")]
#[index(by_name, row = "name_{name}", unique)]
struct Visit {
    department: String,
    count: u32,
    name: String,
}

fn uses(store: &Store, visit: &Visit) -> Result<()> {
    let visits = store.table::<Visit>()?;
    visits.insert(visit)?;
    for visit in visits.rows().department("Sales") {
        drop(visit?.name.len());
    }
    visits.get(Visit::by_name("Sales", "Ann"))?;
    Ok(())
}

fn main() {}
