//! LMDB as an executor: what the traits of the seam ask of it.

mod blobs;
mod outbox;
mod periods;
#[cfg(feature = "queue")]
mod queue_tasks;
mod queues;
mod service_records;
mod store;
mod table;
