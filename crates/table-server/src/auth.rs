//! Who asks: shared keys and shared access signatures.
