//! Sends many damaged requests to a service, and tells what became of them: `cargo run --release -p table-server --example
//! storm -- [requests] [seed]`. It ends by a panic, with the request, where one is answered by a failure of the server.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program for developers, with the client of the tests"
)]

#[path = "../tests/service/client.rs"]
mod client;
#[path = "../tests/support/signing.rs"]
mod signing;
#[path = "../tests/service/storm.rs"]
mod storm;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise| arguments.next().map_or(otherwise, |text| text.parse().unwrap());
    let (requests, seed) = (number(1_000_000), number(1));
    println!("{:#?}", storm::storm(requests, seed));
}
