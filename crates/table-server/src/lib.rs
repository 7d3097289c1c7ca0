//! A server that speaks the protocol of Azure Tables over a store of `table-core`.
//!
//! [`Service`](service::Service) answers requests, without sockets. [`wire`] reads and writes what the protocol is made of,
//! and [`auth`] finds out who asks.

pub mod account;
pub mod admin;
pub mod auth;
#[cfg(feature = "bin")]
pub mod config;
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
