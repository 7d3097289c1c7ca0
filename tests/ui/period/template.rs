use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "{at:%Y%m%d}Logins", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct First {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}s", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Middle {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins{at:%Y}{at:%m}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Two {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins{at:%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct NoYear {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins{at:%Y-%m}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Sign {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins{user}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct NoTime {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins{when:%Y}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Unknown {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins{at:%Y", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Open {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Logins2{at:%Y}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Digit {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "our-logins{at:%Y}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Name {
    user: String,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "LoginsOfEverybodyWhoEverCameHereByWhateverWayThereMayBe{at:%Y%m%d%H}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Long {
    user: String,
    at: u64,
}

fn main() {}
