//! What a list lists its entities by: the fields of their key that nothing else says.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
// No such field.
#[index_list(by_name, row = "name_{name}", of = ids)]
// Twice.
#[index_list(by_email, row = "email_{email}", of(id, id))]
// Given by the partition, and by the list's own key.
#[index_list(by_city, row = "city_{city}", of(department, id))]
#[index_list(by_team, row = "team_{team}_{id:06}", of = id)]
// Of no key.
#[index_list(by_floor, row = "floor_{floor}", of = name)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    city: String,
    team: String,
    floor: String,
}

// Too few, beside the entities and elsewhere; folded text gives nothing back.
#[derive(Entity)]
#[entity(table = "Reviews", kind = "review")]
#[key(partition = "{department}", row = "review_{id:06}_{year:04}")]
#[index_list(by_grade, row = "grade_{grade}", of = id)]
#[index_list(by_place, partition = "all", row = "place_{place}", of(id, year), atomic)]
struct Review {
    department: String,
    id: u32,
    year: u16,
    grade: String,
    place: String,
}

#[derive(Entity)]
#[entity(table = "Tags", kind = "tag")]
#[key(partition = "all", row = "tag_{name}_{id:06}")]
#[index_list(by_name, row = "name_{name:lower}", of = id)]
struct Tag {
    name: String,
    id: u32,
}

fn main() {}
