use table_core::{Entity, KeyPart};

#[derive(KeyPart)]
enum Grade {
    Junior,
    Senior,
}

/// Tokens of what has few values give them away by how often each occurs; and floats are not looked up.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[encrypt(blind)]
    retired: bool,
    #[encrypt(blind)]
    grade: Option<Grade>,
    #[encrypt(blind)]
    level: u8,
    #[encrypt(blind)]
    share: f64,
}

fn main() {}
