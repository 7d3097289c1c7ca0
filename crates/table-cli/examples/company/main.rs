//! Makes a store with something of every kind in it, to be looked at with `tables`:
//!
//! ```text
//! cargo run -p table-cli --example company company.tables
//! cargo run -p table-cli -- --store company.tables ls
//! ```
//!
//! Beside the store lies `company.tables.keys`, the key ring that opens its sealed values.

mod fill;
mod kinds;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let path = path.ok_or("give the directory that the store is to be made in")?;
    let mut keys = path.clone().into_os_string();
    keys.push(".keys");
    let keys = PathBuf::from(keys);
    for there in [&path, &keys] {
        if there.exists() {
            return Err(format!("`{}` is there already", there.display()).into());
        }
    }
    fill::fill(&path, &keys)?;
    writeln!(io::stdout(), "{} is made, and {} opens its sealed values", path.display(), keys.display())?;
    Ok(())
}
