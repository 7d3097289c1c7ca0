//! What the store is filled with.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use table_core::blob::Blob;
use table_core::crypt::KeyRing;
use table_core::store::Propagate;
use table_core::{DynamicEntity, IfMatch, Result, Store, Tables, Ticks};

use crate::kinds::{
    Contract, Department, Employee, Headcount, Hire, Login, Product, Request, Ticket, Weather, before,
};

/// Makes a store in a directory, and a key ring in a file.
pub(crate) fn fill(path: &Path, keys: &Path) -> Result<()> {
    let ring = Arc::new(KeyRing::create(keys)?);
    // What follows later is left so, to be seen.
    let store = Store::options().encryption(ring).propagate(Propagate::Manual).open(path)?;
    staff(&store)?;
    shop(&store)?;
    others(&store)?;
    tickets(&store)?;
    queues(&store)?;
    store.close()
}

fn staff(store: &Tables) -> Result<()> {
    let departments = store.table::<Department>()?;
    store.table::<Headcount>()?;
    for (name, city) in [("Legal", "Bergen"), ("Sales", "Oslo")] {
        let seal =
            if name == "Sales" { store.upload("image/png", &b"a small one"[..])? } else { Blob::default() };
        departments.insert(&Department { name: name.into(), city: city.into(), seal })?;
    }
    let photos = store.container("photos")?;
    photos.put_as("mia.png", "image/png", b"not really a picture")?;
    photos.put_as("notes/read-me.txt", "text/plain", b"Photos are taken on the first day.\n")?;
    let staff = store.table::<Employee>()?;
    for (department, id, first, last, age) in [
        ("Sales", 42, "Mia", "Hall", 41),
        ("Sales", 7, "Jun", "Cao", 29),
        ("Sales", 8, "Ken", "Kwok", 55),
        ("Legal", 3, "Ann", "Jones", 47),
    ] {
        staff.insert(&Employee {
            department: department.into(),
            id,
            first_name: first.into(),
            last_name: last.into(),
            email: format!("{}@contoso.com", first.to_lowercase()),
            age,
            salary: 30_000 + 1_000 * i64::from(age),
            hired: "2014-07-31T18:00:00Z".parse().unwrap_or(Ticks::MIN_PROPERTY),
            project: (age > 40).then(|| "apollo".into()),
        })?;
    }
    store.propagate()?;
    // Ken has another name since; the list of names does not know yet.
    staff.update(Employee::key("Sales", 8), |ken| ken.last_name = "Kwok-Berg".into()).map(drop)
}

fn shop(store: &Tables) -> Result<()> {
    let products = store.table::<Product>()?;
    for (id, name, cents, stock) in [(1, "lamp", 4_990, 12), (2, "chair", 12_900, 0), (3, "table", 24_900, 3)]
    {
        let product = Product { shelf: "home".into(), id, name: name.into(), cents, stock };
        products.insert(&product)?;
    }
    // A program that writes rows as they are has changed a copy and not its entity.
    let wrong = DynamicEntity::new("home", "name_chair_0002").with("Stock", 99);
    store.dynamic_table("Shop")?.raw().merge(&wrong, IfMatch::Any).map(drop)
}

fn others(store: &Tables) -> Result<()> {
    let contracts = store.table::<Contract>()?;
    for (id, title, salary, number) in
        [(1, "engineer", 90_000, "078-05-1120"), (2, "lawyer", 70_000, "219-09-9999")]
    {
        let (company, title, number) = ("contoso".into(), title.into(), number.into());
        contracts.insert(&Contract { company, id, title, salary, number })?;
    }
    let mut months = [None; 12];
    for (month, known) in months.iter_mut().zip([-4.5, -3.0, 0.5]) {
        *month = Some(known);
    }
    let year = Weather { station: "Oslo".into(), year: 2014, rain: Some(763.0), months };
    store.table::<Weather>()?.insert(&year)?;
    let logins = store.periods::<Login>()?;
    for (user, at, succeeded) in
        [("caoj", "2014-07-30T09:00:00Z", true), ("caoj", "2014-07-31T09:00:00Z", false)]
    {
        let at = at.parse().unwrap_or(Ticks::MIN_PROPERTY);
        logins.insert(&Login { user: user.into(), at, succeeded })?;
    }
    let notes = store.create_table("Notes")?;
    notes.insert(
        &DynamicEntity::new("2014", "one")
            .with("Text", "Rows need no declaration.")
            .with("Weight", 2.5)
            .with("Large", 9_007_199_254_740_993_i64),
    )?;
    notes.insert(&DynamicEntity::new("2014", "two").with("Bytes", vec![0xC0, 0xFF, 0xEE]))?;
    notes.insert(&DynamicEntity::new("2015", "three").with("Text", "A new year,\nand two lines."))?;
    let log = store.log::<Request>("requests")?;
    for (path, status) in [("/", 200), ("/cart", 500)] {
        log.append(&Request { path: path.into(), status })?;
    }
    log.flush()
}

/// Leaves an index half made.
fn tickets(store: &Tables) -> Result<()> {
    let ticket = |id| before::Ticket { queue: "support".into(), id, state: "open".into() };
    store.table::<before::Ticket>()?.bulk_insert((0..300).map(ticket))?.into_result()?;
    store.table::<Ticket>()?.rebuild()?.steps_of(100).step().map(drop)
}

fn queues(store: &Tables) -> Result<()> {
    let hires = store.queue::<Hire>("hires")?.max_dequeues(1);
    for id in [1, 2] {
        hires.send(&Hire { department: "Sales".into(), id })?;
        if let Some(received) = hires.receive(Duration::from_secs(60))? {
            received.fail("the badge printer is on fire", Duration::ZERO)?;
        }
        // The next receive sets it aside.
        hires.receive(Duration::from_secs(60))?;
    }
    for id in [3, 4, 5] {
        hires.send(&Hire { department: "Legal".into(), id })?;
    }
    let payments = store.queue::<u32>("payments")?;
    payments.send(&1)?;
    payments.pause()
}
