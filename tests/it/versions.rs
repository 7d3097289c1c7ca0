//! A struct that changes: what programs of several releases read and write of one another's rows.

mod changing;
mod layouts;
