use table_core::{Entity, Result, Ticks};
use table_core::typed::Periods;

#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
}

fn of_ann(logins: &Periods<Login>) -> Result<()> {
    for login in logins.rows().user("ann") {
        println!("{}", login?.at);
    }
    println!("{}", logins.all().count()?);
    Ok(())
}

fn main() {}
