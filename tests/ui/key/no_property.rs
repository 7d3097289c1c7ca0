use table_core::Entity;

struct Badge(u32);

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "badge_{badge}")]
struct Employee {
    department: String,
    badge: Badge,
    #[property(rename = "Number")]
    number: usize,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "seat")]
#[key(partition = "{department}", row = "seat_{number:06}")]
#[index(by_row, row = "row_{row:06}_{number:06}")]
struct Seat {
    department: String,
    number: usize,
    row: isize,
}

fn main() {}
