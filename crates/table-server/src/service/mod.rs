//! The operations of the protocol, over a store.
