//! Keys printed, taken apart and searched, over templates and values at random.

mod bounds;
mod checks;
mod introspected;
mod keys;
mod pictures;
mod plainly;
mod quickly;
mod strategies;

pub(super) use checks::{EMPLOYEE, employee, with_row};
