//! Queues and blobs.

mod blobs;
mod queues;
