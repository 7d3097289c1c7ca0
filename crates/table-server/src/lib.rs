//! A server that speaks the protocol of Azure Tables over a store of `table-core`.
//!
//! [`Service`](service::Service) answers requests, without sockets; [`Server`](listen::Server) reads them from connections.
//! [`wire`] reads and writes what the protocol is made of, and [`auth`] finds out who asks.
//!
//! A program serves its own store, and goes on to use it by its types:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use table_core::{Entity, Store};
//! use table_server::account::{Given, KeyKeeper};
//! use table_server::listen::{Limits, Server};
//! use table_server::service::{Service, Settings};
//!
//! #[derive(Entity)]
//! #[entity(table = "Company", kind = "employee")]
//! #[key(partition = "{department}", row = "empid_{id:06}")]
//! #[index(by_name, row = "name_{name}_{id:06}")]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     name: String,
//! }
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Store::open("company.tables")?;
//! // Clients who insert an employee by its properties get the copies, the first one too.
//! store.table::<Employee>()?.note_kind()?;
//!
//! // The keys that the store has of the account, or two that are made now.
//! let keys = Arc::new(KeyKeeper::open(store.to_async(), "contoso", Given::default()).await?);
//! let service = Service::new(store.to_async(), keys, Settings::default());
//! let server = Server::bind("127.0.0.1:10002".parse()?, Limits::default(), Arc::new(service)).await?;
//! let stop = async { drop(tokio::signal::ctrl_c().await) };
//! let drained = server.run(stop).await;
//! println!("{} requests were given up", drained.abandoned);
//! store.close()?;
//! # Ok(())
//! # }
//! ```
//!
//! `examples/server` is a whole program, with a client in Python; the binary `table-server` serves a store without one.

pub mod account;
pub mod admin;
pub mod auth;
#[cfg(feature = "bin")]
pub mod config;
mod cors;
pub mod exchange;
pub mod fault;
mod ids;
pub mod listen;
#[cfg(feature = "bin")]
pub mod log;
#[cfg(feature = "queue")]
pub mod queues;
mod records;
#[cfg(feature = "bin")]
pub mod run;
pub mod service;
pub mod wire;
