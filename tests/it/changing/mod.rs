//! A struct that lives: what programs of several releases read and write of one another's rows.

mod carried;
mod defaults;
mod gone;
mod kept;
mod messages;
mod renamed;
mod rolling;
mod unsaid;
mod versions;
