//! Serves a company until ctrl-c, and says each second who is new.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use server_example::{ACCOUNT, Employee, KEY, open, serve};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "company.tables".into());
    let store = open(Path::new(&directory))?;
    let staff = store.to_async().table::<Employee>().await?;
    let watching = tokio::spawn(async move {
        let mut known = BTreeSet::new();
        loop {
            // By the copies of the index: what a client has inserted is there as what this program has.
            let mut sales = staff.by_name().department("Sales").stream();
            while let Ok(Some(employee)) = sales.try_next().await {
                if known.insert(employee.id) {
                    println!("{} ({}), {}", employee.name, employee.age, employee.email);
                }
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let ready = |address| {
        println!(
            "DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};TableEndpoint=http://{address}/{ACCOUNT};"
        );
    };
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    serve(&store, "127.0.0.1:10002".parse()?, ready, stop).await?;
    watching.abort();
    store.close()?;
    Ok(())
}
