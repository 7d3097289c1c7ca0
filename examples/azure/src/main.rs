//! Runs the company on the store that the first argument names: a directory, `emulator`, or a connection string.
//!
//! ```console
//! cargo run -p azure-example company.tables
//! cargo run -p azure-example emulator
//! cargo run -p azure-example "$AZURE_STORAGE_CONNECTION_STRING"
//! ```

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let store = std::env::args().nth(1).unwrap_or_else(|| "company.tables".into());
    let tables = azure_example::open(&store)?;
    for employee in azure_example::run(&tables)? {
        println!("{} ({}), {}", employee.last_name, employee.age, employee.email);
    }
    Ok(())
}
