//! Queues, as a user has them.

mod behaviour;
mod receipts;
mod refused;
mod transactions;
mod workers;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::queue::Queue;
use table_core::{Entity, Tables};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3_600);
/// So short that it is over at once.
const SHORT: Duration = Duration::from_millis(1);

/// A message: somebody was hired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Hire {
    department: String,
    id: u32,
}

fn hire(id: u32) -> Hire {
    Hire { department: "Sales".into(), id }
}

/// An employee, for changes that messages go with.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com") }
}

fn hires(store: &Tables) -> Queue<Hire> {
    store.queue("hires").unwrap()
}

fn numbers(received: &[table_core::queue::Received<Hire>]) -> Vec<u32> {
    received.iter().map(|hire| hire.id).collect()
}
