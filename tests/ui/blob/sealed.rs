use table_core::Entity;
use table_core::blob::SealedBlob;

// The reference has the key that opens the blob.
#[derive(Entity)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{clinic}", row = "patient_{id:06}")]
struct Bare {
    clinic: String,
    id: u32,
    scan: SealedBlob,
    second: Option<SealedBlob>,
    #[property(plain)]
    hidden: SealedBlob,
}

#[derive(Entity)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{clinic}", row = "patient_{id:06}")]
struct Words {
    clinic: String,
    id: u32,
    #[encrypt(dual)]
    scan: SealedBlob,
    #[encrypt(blind)]
    second: SealedBlob,
}

#[derive(Entity)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{clinic}", row = "patient_{scan}")]
struct InKey {
    clinic: String,
    #[encrypt]
    scan: SealedBlob,
}

fn main() {}
