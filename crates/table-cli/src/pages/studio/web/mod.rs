//! The web server: who is let in, what a request says, how it is answered.

mod answer;
mod gate;
mod live;
mod request;
mod server;

pub(super) use self::answer::Answer;
pub(super) use self::gate::Gate;
pub(super) use self::request::{Method, Request, link};
pub(super) use self::server::serve;
