//! Each side of a copy says that the other is there.

use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "untold")]
#[key(partition = "{department}", row = "id_{id:06}")]
struct Untold {
    department: String,
    id: u32,
    name: String,
}

#[derive(Projection)]
#[projection(of = Untold)]
struct Name {
    name: String,
}

// The source doesn't say that it is copied.
#[derive(Entity)]
#[entity(table = "Company", kind = "holder")]
#[key(partition = "{department}", row = "holder")]
#[index(by_id, row = "by_{id:06}", copy = keys)]
struct Holder {
    department: String,
    id: u32,
    #[copy_of(Untold, key(department, id))]
    of: Option<Name>,
}

// The other holds no copy of it.
#[derive(Entity)]
#[entity(table = "Company", kind = "hopeful")]
#[key(partition = "{department}", row = "hope_{id:06}")]
#[copied_into(Holder)]
struct Hopeful {
    department: String,
    id: u32,
}

fn main() {}
