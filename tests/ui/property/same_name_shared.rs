use table_derive::Properties;

#[derive(Properties)]
struct Person {
    name: String,
    #[property(rename = "Name")]
    full_name: String,
}

fn main() {}
