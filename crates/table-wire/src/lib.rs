//! What the server and the client of the Table service's protocol have in common: escapes, dates, texts to sign, and bodies of
//! many parts.
//!
//! Nothing here knows a store, a socket, or a library of HTTP.

pub mod date;
pub mod multipart;
pub mod percent;
pub mod shared_key;
