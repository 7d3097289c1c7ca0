use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Generic<T: Clone, U> {
    department: String,
    id: u32,
    value: T,
    other: U,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Borrowed<'a> {
    department: &'a str,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Sized<const N: usize> {
    department: String,
    id: u32,
    bytes: [u8; N],
}

fn main() {}
