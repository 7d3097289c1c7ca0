//! Encryption: sealed and signed values, tokens, and keys that change.

mod blind;
mod canary;
mod encrypting;
mod encryption;
mod sealed;
mod signed;
mod tampering;
