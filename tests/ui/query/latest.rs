use table_core::{Entity, Table, Ticks};

#[derive(Entity)]
#[entity(table = "Claims", kind = "claim")]
#[key(partition = "{employee}", row = "{at:ticks}_{number}")]
#[index(newest, row = "new_{at:inverted}_{number}")]
struct Claim {
    employee: String,
    at: Ticks,
    number: u32,
}

/// There are the latest only where the key counts backwards; and then their order is propagated.
fn latest(claims: &Table<Claim>) {
    let _ = claims.rows().employee("jones").latest(3);
    let _ = claims.newest().employee("jones").latest(3).rev();
    let _ = claims.newest().latest(3);
}

/// A partition that is known is one partition.
fn across(claims: &Table<Claim>) {
    let _ = claims.rows().employee("jones").across_partitions();
    let _ = claims.rows().count();
}

fn main() {}
