//! The client of the protocol, beside a stub that answers as it is told.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

#[path = "client/calls.rs"]
mod calls;
#[path = "client/repeats.rs"]
mod repeats;
#[path = "client/stub.rs"]
mod stub;
