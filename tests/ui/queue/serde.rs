use table_core::queue::Queue;
use table_core::{Result, Store};

struct Hire {
    id: u32,
}

fn hire(store: &Store) -> Result<()> {
    let hires: Queue<Hire> = store.queue("hires")?;
    hires.send(&Hire { id: 7 })?;
    Ok(())
}

fn main() {}
