//! A kind with a table for each period has no versions.

use table_core::{Entity, Ticks};

#[derive(Entity)]
#[entity(kind = "login", version = 1, former)]
#[key(partition = "{user}", row = "{at:ticks}")]
struct LoginV1 {
    user: String,
    at: Ticks,
}

#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login", version = 2, from = LoginV1)]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
}

impl From<LoginV1> for Login {
    fn from(LoginV1 { user, at }: LoginV1) -> Self {
        Self { user, at }
    }
}

fn main() {}
