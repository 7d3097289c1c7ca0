use table_core::Entity;
use table_core::blob::Blob;

// The store counts who holds a blob.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Sealed {
    department: String,
    id: u32,
    #[encrypt]
    photo: Blob,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "photo_{photo}")]
struct InKey {
    department: String,
    photo: Blob,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Kept {
    department: String,
    id: u32,
    #[property(json)]
    photo: Vec<Blob>,
}

fn main() {}
