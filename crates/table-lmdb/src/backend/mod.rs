//! LMDB as an executor: what the traits of the seam ask of it.

mod blobs;
mod outbox;
mod periods;
mod queues;
mod store;
mod table;
