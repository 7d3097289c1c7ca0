//! Calls that are awaited.

mod blobs;
mod jobs;
mod periods;
mod queues;
mod steps;
