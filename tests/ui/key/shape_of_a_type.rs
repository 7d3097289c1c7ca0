use table_derive::KeyPart;

#[derive(KeyPart)]
struct Two(u32, u32);

#[derive(KeyPart)]
struct Nothing;

#[derive(KeyPart)]
enum Data {
    Empty,
    Full(u32),
}

#[derive(KeyPart)]
enum Never {}

#[derive(KeyPart)]
enum Same {
    Open,
    #[key_part(rename = "Open")]
    Closed,
}

fn main() {}
