//! Handles that are restricted to an access: the matrix of what each method may do where, and two stores that differ outside.

mod awaited;
mod by_properties;
mod cells;
mod edges;
mod matrix;
mod model;
mod world;
