//! C28: a blob is a value of a field, and in no key, nor sealed, nor within what is kept as JSON.

use table_core::Entity;
use table_core::blob::Blob;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{photo}")]
struct InKey {
    department: String,
    photo: Blob,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id}")]
struct Sealed {
    department: String,
    id: u32,
    #[encrypt]
    photo: Blob,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id}")]
struct AsJson {
    department: String,
    id: u32,
    #[property(json)]
    photos: Vec<Blob>,
}

fn main() {}
