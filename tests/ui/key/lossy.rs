use table_core::{Entity, Ticks};

#[derive(Entity)]
#[entity(table = "Log", kind = "event")]
#[key(partition = "{source}", row = "{at:%Y%m%d}")]
struct Event {
    source: String,
    at: Ticks,
}

fn main() {}
