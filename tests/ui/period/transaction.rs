use table_core::{Entity, Result, Store, Ticks};


#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
}

fn twice(store: &Store, login: &Login) -> Result<()> {
    store.transaction().insert(login).commit()?;
    store.transaction().delete(Login::key("ann", login.at)).commit()?;
    Ok(())
}

fn main() {}
