use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login", keep = "three months")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Words {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login", keep = "0 days")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Nothing {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins", kind = "login", keep = "90 days")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct NoPeriod {
    user: String,
    at: u64,
}

fn main() {}
