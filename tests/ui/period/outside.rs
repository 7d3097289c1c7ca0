use table_core::{Entity, Ticks};

// The key does not say in which table it lies.
#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{id:06}")]
struct Login {
    user: String,
    id: u32,
    at: Ticks,
}

// No time at all.
#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:06}")]
struct Number {
    user: String,
    at: u32,
}

// Copies beyond the period.
#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
#[index(by_address, table = "Addresses", partition = "{address}", row = "{user}_{at:ticks}", atomic)]
#[index(by_name, partition = "all", row = "{user}_{at:ticks}", eventual)]
#[summarized_in(Visits)]
struct Elsewhere {
    user: String,
    at: Ticks,
    address: String,
}

// Unique in each period alone.
#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "at_{at:ticks}")]
#[index(by_number, row = "number_{at:%Y%m}_{number}", unique)]
#[index(by_day, row = "day_{at:%Y%j}_{number}", unique)]
struct Unique {
    user: String,
    at: Ticks,
    number: u32,
}

fn main() {}
