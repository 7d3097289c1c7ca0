//! Blobs in one text property; and a type of the user's that is called so and that serde doesn't know.

use table_core::Entity;
use table_core::blob::Blob;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[property(json)]
    photos: Vec<Blob>,
}
mod own {
    pub struct Blob(pub Vec<u8>);
}

#[derive(Entity)]
#[entity(table = "Company", kind = "guest")]
#[key(partition = "{department}", row = "guest_{id:06}")]
struct Guest {
    department: String,
    id: u32,
    #[property(json)]
    photo: Option<own::Blob>,
}

fn main() {}
