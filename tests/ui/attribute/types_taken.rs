use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "department", types(patch))]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: u32,
}

struct DepartmentPatch;

fn main() {}
