//! A list of the value by which it is found, in the place of what it lists.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index_list(by_last_name, row = "name_{last_name}", of = last_name)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
}

#[derive(Entity)]
#[entity(table = "Reviews", kind = "review")]
#[key(partition = "{department}", row = "review_{id:06}_{year:04}")]
#[index_list(by_grade, row = "grade_{grade}", of = grade)]
#[index_list(by_place, row = "place_{place}", of(place, id, year))]
struct Review {
    department: String,
    id: u32,
    year: u16,
    grade: String,
    place: String,
}

fn main() {}
