//! Entities of several rows, and rows of several entities: series, periods, parts, lists and summaries.

mod format;
mod lists;
mod periods;
mod series;
mod summaries;
mod wide;
