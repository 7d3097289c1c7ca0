//! Calls that are awaited.

mod awaited;
