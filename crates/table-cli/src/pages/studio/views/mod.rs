//! The pages of the studio. Each is made by calls that block.

mod check;
mod find;
mod home;
mod jobs;
mod outbox;
mod problem;
mod queues;
mod row;
mod shell;
mod statistics;
mod studio;
mod table;
mod values;

pub(super) use self::statistics::History;
pub(super) use self::studio::Studio;
