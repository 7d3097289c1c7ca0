//! The texts of the protocol, read and written. Nothing here knows a store or a socket.

pub mod acl;
pub mod address;
pub mod batch;
pub mod cors;
pub mod error;
pub mod headers;
pub mod json;
pub mod parameters;
pub mod properties;
pub(crate) mod xml;
