//! Tables of `table-core` on Azure Table storage, over its REST service.
//!
//! [`client`] speaks the protocol.

pub mod client;
