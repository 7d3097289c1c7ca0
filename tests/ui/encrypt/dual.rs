use table_derive::{Entity, Properties};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Words {
    department: String,
    id: u32,
    #[encrypt(duel)]
    a: String,
    #[encrypt(sealed)]
    b: String,
    #[encrypt(dual, dual)]
    c: String,
    #[encrypt(dual = true)]
    d: String,
    #[encrypt()]
    e: String,
    #[encrypt = "dual"]
    f: String,
    #[encrypt("dual")]
    g: String,
    #[encrypt(dual)]
    #[encrypt]
    h: String,
    #[encrypt(dual)]
    #[property(skip)]
    i: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_iban, row = "iban_{iban}", unique)]
struct InKey {
    department: String,
    id: u32,
    #[encrypt(dual)]
    iban: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_iban, row = "iban_{iban:blind}", unique)]
struct InIndex {
    department: String,
    id: u32,
    #[encrypt(dual, blind)]
    iban: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct AllWords {
    department: String,
    id: u32,
    #[encrypt(dual, blind, scope = partition, tokens = table)]
    iban: String,
}

#[derive(Properties)]
struct Bank {
    #[encrypt(daul)]
    iban: String,
}

fn main() {}
