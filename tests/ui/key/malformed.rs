use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department", row = "empid_{id:06}")]
struct Open {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_id:06}")]
struct Closed {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{ department }", row = "empid_{id:06}")]
struct Spaces {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_tag, row = "tag_{tags[0]}_{id}")]
struct Subscript {
    department: String,
    id: u32,
    tags: Vec<String>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = r#"{"department"}"#, row = "{id}")]
struct Raw {
    department: String,
    id: u32,
}

fn main() {}
