//! Rows that are lent in place, beside entities and the typed read: pages of rows of nine properties, in time for a row.
//!
//! Under callgrind, for which each way has a frame of its own, `--op` names one: `typed`, `page-with`, `query-with`, `views`,
//! `page`.

use std::path::Path;

use table_core::{
    Durability, DynamicEntity, DynamicTable, Query, Snapshot, Store, Table, Ticks, Uuid, ValueRef,
};

use crate::measure::{self, Clock, Contender, Timer};
use crate::place::Place;
use crate::profile::profiled;
use crate::random::Random;
use crate::report::{self, Unit};
use crate::{Arguments, Digest, Result};

/// The rows of a page.
const ROWS: u32 = 1_000;

/// What the typed read makes of a row: it has eight properties and its kind.
#[derive(table_core::Entity, Clone)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    city: String,
    age: i32,
    salary: i64,
    rating: f64,
    joined: Ticks,
    badge: Uuid,
}

impl Employee {
    fn numbered(id: u32) -> Result<Self> {
        let mut random = Random::new(id.into());
        let name = ["Jun Cao", "Mia Gómez", "Ken Kwok", "Aliza Blythe-Carter"].get(random.index(4));
        let city = ["Oslo", "Seattle", "São Paulo", "Villingen-Schwenningen"].get(random.index(4));
        let joined = Ticks::new(635_424_264_000_000_000 + random.below(1 << 52)).ok_or("a time is none")?;
        Ok(Self {
            department: "Sales".to_owned(),
            id,
            name: (*name.unwrap_or(&"")).to_owned(),
            email: format!("{:x}@contoso.com", random.below(1 << 40)),
            city: (*city.unwrap_or(&"")).to_owned(),
            age: i32::try_from(20 + random.below(50))?,
            salary: i64::try_from(random.below(1 << 40))?,
            rating: f64::from(u32::try_from(random.below(500))?) / 100.0,
            joined,
            badge: Uuid::from_u64_pair(random.next(), random.next()),
        })
    }

    /// The row without a struct that declares it.
    fn entity(&self) -> DynamicEntity {
        DynamicEntity::new(&*self.department, format!("empid_{:06}", self.id))
            .with("EntityType", "employee")
            .with("Name", &*self.name)
            .with("Email", &*self.email)
            .with("City", &*self.city)
            .with("Age", self.age)
            .with("Salary", self.salary)
            .with("Rating", self.rating)
            .with("Joined", self.joined)
            .with("Badge", self.badge)
    }

    fn add_to(&self, digest: &mut Digest) {
        digest.row();
        digest.text("employee");
        for text in [&self.name, &self.email, &self.city] {
            digest.text(text);
        }
        for value in [
            ValueRef::Int32(self.age),
            ValueRef::Int64(self.salary),
            ValueRef::Double(self.rating),
            ValueRef::DateTime(self.joined),
            ValueRef::Guid(self.badge),
        ] {
            digest.ours(value);
        }
    }
}

/// The rows, as a struct has written them and as a program without one has.
struct Rows {
    store: Store,
    staff: Table<Employee>,
    free: DynamicTable,
}

impl Rows {
    fn new(place: &Place) -> Result<Self> {
        let store =
            Store::options().durability(Durability::Relaxed).map_size(1 << 30).open(place.join("store"))?;
        let staff = store.table::<Employee>()?;
        let free = store.create_table("Free")?;
        for id in 0..ROWS {
            let employee = Employee::numbered(id)?;
            staff.insert(&employee)?;
            free.insert(&employee.entity())?;
        }
        Ok(Self { store, staff, free })
    }

    fn typed(&self) -> Result<Digest> {
        let mut digest = Digest::default();
        for employee in self.staff.rows().department("Sales") {
            employee?.add_to(&mut digest);
        }
        Ok(digest)
    }

    fn views(&self, table: &DynamicTable) -> Result<Digest> {
        let (mut digest, snapshot): (_, Snapshot) = (Digest::default(), self.store.snapshot()?);
        for view in snapshot.views(table, &sales())? {
            let view = view?;
            digest.row();
            for property in view.properties() {
                digest.ours(property?.1);
            }
        }
        Ok(digest)
    }

    fn read(&self, way: &str) -> Result<Digest> {
        let table = self.staff.dynamic();
        match way {
            "typed" => self.typed(),
            "page-with" => page_with(table),
            "query-with" => query_with(table),
            "views" => self.views(table),
            "page" => page(table),
            "page-with-free" => page_with(&self.free),
            "query-with-free" => query_with(&self.free),
            "page-free" => page(&self.free),
            other => Err(format!("there is no way `{other}` to read").into()),
        }
    }
}

fn page_with(table: &DynamicTable) -> Result<Digest> {
    let mut digest = Digest::default();
    table.page_with(&sales(), 1_000, None, |row| add_row(&mut digest, row))?;
    Ok(digest)
}

fn query_with(table: &DynamicTable) -> Result<Digest> {
    let mut digest = Digest::default();
    table.query_with(&sales(), |row| add_row(&mut digest, row))?;
    Ok(digest)
}

fn page(table: &DynamicTable) -> Result<Digest> {
    let mut digest = Digest::default();
    for entity in table.page(&sales(), 1_000, None)?.entities {
        digest.row();
        entity.properties().for_each(|(_, value)| digest.ours(value.as_value_ref()));
    }
    Ok(digest)
}

fn sales() -> Query {
    Query::new().partition("Sales")
}

fn add_row(digest: &mut Digest, row: &table_core::store::Row<'_>) {
    digest.row();
    for (_, value) in row.properties() {
        digest.ours(value);
    }
}

/// Each way, and what stands in the table.
const WAYS: [(&str, &str); 8] = [
    ("typed", "typed read"),
    ("page-with", ", page_with"),
    ("query-with", ", query_with"),
    ("views", ", views"),
    ("page", ", page"),
    ("page-with-free", ", page_with, no struct"),
    ("query-with-free", ", query_with, no struct"),
    ("page-free", ", page, no struct"),
];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    println!("\n## Pages of {ROWS} rows of nine properties");
    report::machine(Path::new("/dev/shm"), "a row; processor time");
    let place = Place::in_memory()?;
    let rows = Rows::new(&place)?;
    report::comparison_head();
    let contender = |(way, name): (&'static str, &'static str)| {
        let rows = &rows;
        Contender::new(name, move |_, timer: &mut Timer| timer.time(|| rows.read(way)))
    };
    let contenders = WAYS.into_iter().map(contender).collect();
    let times = measure::rounds(Clock::Processor, arguments.rounds, ROWS.into(), contenders)?;
    report::comparison("read", Unit::Nanoseconds, &times, None);
    Ok(())
}

/// Reads the rows in one way, many times.
pub(crate) fn profile(arguments: &Arguments) -> Result<()> {
    let place = Place::in_memory()?;
    let rows = Rows::new(&place)?;
    let read = || {
        let digests = (0..arguments.count).map(|_| rows.read(&arguments.op));
        digests.map(|digest| digest.map(|digest| digest.rows)).sum::<Result<u64>>()
    };
    let done = profiled(read)?;
    println!("{}: {done} operations, {done} rows", arguments.op);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_reads_the_same() {
        let place = Place::for_tests("lending").unwrap();
        let rows = Rows::new(&place).unwrap();
        let expected = rows.typed().unwrap();
        assert_eq!(expected.rows, u64::from(ROWS));
        for (way, _) in WAYS {
            assert_eq!(rows.read(way).unwrap(), expected, "{way}");
        }
    }
}
