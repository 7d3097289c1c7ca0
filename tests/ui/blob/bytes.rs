use table_core::Entity;
use table_core::blob::Blob;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    photo: Blob,
}

fn ann() -> Employee {
    Employee { department: "Sales".into(), id: 1, photo: vec![1, 2, 3] }
}

fn main() {}
