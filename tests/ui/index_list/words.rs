//! The words of an index list.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
// Neither says what it is to say.
#[index_list(by_name)]
// No name.
#[index_list(row = "x_{name}", of = id)]
// Words of an index.
#[index_list(by_email, row = "email_{email}", of = id, unique)]
#[index_list(by_city, row = "city_{city}", of = id, copy(email), when = Employee::is_in_town)]
#[index_list(by_team, row = "team_{team}", of = id, eventual)]
// No words at all, and one too many.
#[index_list(by_floor, row = "floor_{floor}", off = id)]
#[index_list(by_desk, row = "desk_{desk}", of = id, of = id)]
// A word that a list has, of an index.
#[index(by_chair, row = "chair_{chair}_{id:06}", of = id)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    city: String,
    team: String,
    floor: String,
    desk: String,
    chair: u32,
}

impl Employee {
    fn is_in_town(&self) -> bool {
        true
    }
}

fn main() {}
