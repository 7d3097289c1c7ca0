//! What a summary says of itself.

use table_core::Entity;

// It says of what, it counts, and each field is in the key or a number.
#[derive(Entity)]
#[entity(table = "Company", kind = "nothing")]
#[key(partition = "{department}", row = "nothing")]
#[summary(atomic)]
struct OfNothing {
    department: String,
    #[summary(count)]
    all: u64,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "uncounted")]
#[key(partition = "{department}", row = "uncounted")]
#[summary(of = Employee)]
struct Uncounted {
    department: String,
    boss: String,
    #[summary(sum = salary)]
    salaries: i64,
    #[summary(count, when = is_senior)]
    seniors: u64,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "muddled", signed)]
#[key(partition = "{department}", row = "muddled_{level}")]
#[index(by_all, row = "all_{all}_{level}")]
#[summary(of = Employee, unique)]
#[summarized_in(OfNothing)]
struct Muddled {
    department: String,
    #[summary(count)]
    level: u64,
    #[summary(count, sum = salary)]
    both: u64,
    #[summary(sum = salary, when = is_senior)]
    some: i64,
    #[summary]
    bare: u64,
    #[summary()]
    empty: u64,
    #[encrypt]
    #[summary(count)]
    all: u64,
}

// A number stands in a summary.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "id_{id}")]
#[summarized_in()]
struct Employee {
    department: String,
    id: u32,
    #[summary(count)]
    salary: i64,
    #[summarized_in(Muddled)]
    other: i64,
}

fn is_senior(_: &Employee) -> bool {
    true
}

fn main() {}
