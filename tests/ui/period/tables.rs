use table_core::{Entity, EntitySet, Store, Ticks};

#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
}

#[derive(Entity)]
#[entity(table = "Users", kind = "user")]
#[key(partition = "{user}", row = "user")]
struct User {
    user: String,
}

// A set is of one table.
#[derive(EntitySet)]
enum Any {
    User(User),
    Login(Login),
}

fn uses(store: &Store) -> table_core::Result<()> {
    store.table::<Login>()?;
    store.periods::<User>()?;
    store.migration::<Login>()?;
    Ok(())
}

fn main() {}
