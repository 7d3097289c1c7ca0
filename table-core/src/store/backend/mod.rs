//! LMDB as an executor: what the traits of the seam ask of it.

mod blobs;
mod pending;
mod periods;
mod queues;
mod store;
mod table;
