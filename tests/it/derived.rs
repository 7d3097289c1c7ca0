//! What is kept elsewhere of an entity: copied fields, and copies in other partitions and tables.

mod copied;
mod elsewhere;
mod eventual;
