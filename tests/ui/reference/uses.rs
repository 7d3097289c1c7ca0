//! A reference is to an entity, stands in no key, and is looked up in a table of that entity.

use table_core::typed::Ref;
use table_core::{Entity, Table};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    manager: Option<Ref<Employee>>,
}

#[derive(Entity)]
#[entity(table = "Rooms", kind = "room")]
#[key(partition = "all", row = "{number:04}")]
struct Room {
    number: u32,
    of: Ref<Employee>,
}

// It refers to no entity.
#[derive(Entity)]
#[entity(table = "Rooms", kind = "floor")]
#[key(partition = "floors", row = "{number:04}")]
struct Floor {
    number: u32,
    keeper: Ref<String>,
}

// The entity is of another kind than the one that is referred to.
fn another(rooms: &Table<Room>, employee: &Employee) {
    let _ = rooms.get(employee.manager.as_ref().unwrap());
    let _ = rooms.all().filter(|room| room.of.eq(Room::key(4)));
}

fn main() {}
