use table_core::Entity;
use table_core::crypt::Secret;

#[derive(Entity)]
#[entity(table = "Company", kind = "guest")]
#[key(partition = "{department}", row = "guest_{id:06}")]
struct Guest {
    department: String,
    id: u32,
    pin: Secret<String>,
    other: Option<Secret<Vec<u8>>>,
    // Hidden from `Debug` and wiped, and no more.
    #[property(plain)]
    hint: Secret<String>,
}

fn main() {}
