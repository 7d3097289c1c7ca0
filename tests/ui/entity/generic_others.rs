use table_derive::{EntitySet, KeyPart, Properties};

#[derive(KeyPart)]
struct Id<T>(T);

#[derive(Properties)]
struct Person<'a> {
    name: &'a str,
}

#[derive(EntitySet)]
enum Company<T> {
    Employee(T),
}

fn main() {}
