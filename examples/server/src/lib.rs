//! A company's store, served by the protocol of Azure Tables while this program uses it by its types.
//!
//! A client in another language inserts an employee as a plain entity. The server plans by the layout that the store has
//! noted of the kind, so the copies under other keys are kept, and this program finds the employee by an index.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use table_core::{Entity, ErrorKind, Store};
use table_server::account::{Given, KeyKeeper};
use table_server::listen::{Limits, Server};
use table_server::service::{Service, Settings};

/// The account of emulators, with the key that their documentation prints: for this machine alone.
pub const ACCOUNT: &str = "devstoreaccount1";
/// The key of that account.
pub const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// An employee, found by department and id, by name, and by e-mail address.
#[derive(Clone, Debug, Entity, PartialEq, Eq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, partition = "{department}", row = "name_{name}_{id:06}")]
#[index(by_email, table = "Emails", partition = "{email}", row = "email", unique, atomic)]
pub struct Employee {
    /// The department, which is the partition.
    pub department: String,
    /// The number within it.
    pub id: u32,
    /// The name.
    pub name: String,
    /// The e-mail address, which is unique.
    pub email: String,
    /// The age in years.
    pub age: i32,
}

/// Opens the store, with two employees to look at if it is new.
pub fn open(directory: &Path) -> Result<Store, table_core::Error> {
    let store = Store::options().open(directory)?;
    let staff = store.table::<Employee>()?;
    for (id, name, age) in [(1, "Ann", 40), (2, "Jun", 31)] {
        let email = format!("{}@contoso.com", name.to_lowercase());
        let employee = Employee { department: "Sales".into(), id, name: name.into(), email, age };
        match staff.insert(&employee) {
            // It was made by a former run.
            Err(error)
                if matches!(error.kind(), ErrorKind::EntityAlreadyExists | ErrorKind::UniqueConflict) => {}
            inserted => drop(inserted?),
        }
    }
    Ok(store)
}

/// Serves the store's tables until `stop` is ready, and tells `ready` the address.
pub async fn serve(
    store: &Store,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), Box<dyn Error>> {
    let given = Given { key1: Some(KEY.to_owned().into()), key2: None };
    let keys = KeyKeeper::open(store.to_async(), ACCOUNT, given).await?;
    let service = Service::new(store.to_async(), Arc::new(keys), Settings::default());
    let server = Server::bind(address, Limits::default(), Arc::new(service)).await?;
    ready(server.address());
    server.run(stop).await;
    Ok(())
}
