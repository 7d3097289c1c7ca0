//! The command line, as it is called.

mod ls;
mod run;
