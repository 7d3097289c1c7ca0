//! Where a list can lie, and what it can be called.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
// Elsewhere, and doesn't say when it comes; or both.
#[index_list(by_city, table = "Cities", partition = "all", row = "{city}", of(department, id))]
#[index_list(by_team, partition = "teams", row = "{team}", of(department, id), atomic, eventual)]
// Beside them, and says so.
#[index_list(by_floor, row = "floor_{floor}", of = id, atomic)]
// A name that is taken: by an index, by a method of tables, by a function.
#[index_list(by_email, row = "mail_{email}", of = id)]
#[index_list(list, row = "list_{name}", of = id)]
#[index_list(key, row = "key_{name}", of = id)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    city: String,
    team: String,
    floor: String,
}

// C7: with the entity, and with another index.
#[derive(Entity)]
#[entity(table = "Company", kind = "visitor")]
#[key(partition = "{department}", row = "visitor_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index_list(by_name, row = "visitor_{name}", of = id)]
#[index_list(by_mail, row = "email_{name}", of = id)]
struct Visitor {
    department: String,
    id: u32,
    name: String,
    email: String,
}

fn main() {}
