use table_derive::Projection;

#[derive(Projection)]
struct Contact {
    email: String,
}

fn main() {}
