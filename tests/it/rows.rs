//! Rows without a struct, and the files that they are in: operations, queries, limits, times, damage.

mod another_store;
mod concurrency;
mod damage;
mod errors;
mod executors;
mod limits;
mod metrics;
mod operations;
mod queries;
mod service_records;
mod space;
mod spans;
mod tables;
mod temporary;
mod time;
mod values;
mod verify;
