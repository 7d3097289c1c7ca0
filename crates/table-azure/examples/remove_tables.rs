//! Removes the tables of an account whose names begin with a prefix: those that tests have made and left.
//!
//! ```console
//! TABLE_AZURE="$AZURE_STORAGE_CONNECTION_STRING" TABLE_AZURE_PREFIX=A1764x cargo run -p table-azure --example remove_tables
//! ```

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::error::Error;
use std::time::Duration;

use table_azure::client::{Client, Failure, Retries};

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let connection = std::env::var("TABLE_AZURE").map_err(|_| "`TABLE_AZURE` has the connection string")?;
    let prefix = std::env::var("TABLE_AZURE_PREFIX").unwrap_or_default();
    // An empty one would be every table of the account.
    if prefix.is_empty() {
        return Err("`TABLE_AZURE_PREFIX` says what the names begin with".into());
    }
    let client = Client::connect(&connection, Retries::default(), Duration::from_secs(30))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut removed = 0_u32;
        for table in client.tables().await?.iter().filter(|table| table.starts_with(&*prefix)) {
            match client.delete_table(table).await {
                Ok(()) => removed += 1,
                // Another has removed it meanwhile, or it is being removed.
                Err(Failure::Refused(refusal)) if matches!(refusal.status, 404 | 409) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        println!("{removed} tables removed");
        Ok(())
    })
}
