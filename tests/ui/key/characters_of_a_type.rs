use table_derive::KeyPart;

#[derive(KeyPart)]
enum Status {
    #[key_part(rename = "on/off")]
    Open,
    #[key_part(rename = "")]
    Closed,
}

fn main() {}
