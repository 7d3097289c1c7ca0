use table_core::{Entity, Result, Ticks};
use table_core::typed::Periods;

#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
}

fn of_a_day(logins: &Periods<Login>) -> Result<()> {
    println!("{}", logins.during("2014-07-30".."2014-07-31")?.rows().user("ann").count()?);
    println!("{}", logins.during("2014-07-30")?.rows().user("ann").count()?);
    Ok(())
}

fn main() {}
