//! Calls that are awaited.

mod blobs;
mod jobs;
mod queues;
mod steps;
