//! Calls that are awaited.

mod queues;
mod steps;
