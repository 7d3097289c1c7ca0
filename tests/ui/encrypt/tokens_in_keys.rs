use table_derive::Entity;

/// No token without `blind`, sealed or not; and a field with tokens is as readable as another without the format.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
#[index(by_iban, row = "iban_{iban:blind}", unique)]
#[index(by_email, row = "email_{email:blind}", unique)]
#[index(by_tag, row = "tag_{tags[]:blind}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[encrypt]
    ssn: String,
    iban: String,
    #[encrypt(blind)]
    email: String,
    #[encrypt(blind)]
    tags: Vec<u8>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn}", unique)]
struct Readable {
    department: String,
    id: u32,
    #[encrypt(blind)]
    ssn: String,
}

fn main() {}
