//! The texts of the protocol, read and written. Nothing here knows a store or a socket.
