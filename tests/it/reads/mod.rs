//! Typed reads: what each way to ask gives, and what it refuses.

mod model;
