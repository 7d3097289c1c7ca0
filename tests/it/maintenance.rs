//! Jobs: indexes that are made, removed, checked and repaired while programs write.

mod jobs;
