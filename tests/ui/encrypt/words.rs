use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[encrypt(tokens = table)]
    ssn: String,
    #[encrypt(blind)]
    #[property(json)]
    tags: Vec<String>,
    #[encrypt(scope = galaxy)]
    iban: String,
    #[encrypt(blind, tokens = store)]
    card: String,
    #[encrypt(blinds)]
    pass: String,
    #[encrypt(scope)]
    note: String,
    #[encrypt = "blind"]
    phone: String,
}

fn main() {}
