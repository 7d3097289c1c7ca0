//! OData JSON: pages of rows of nine properties, written and read, beside `serde_json` on a struct of the same fields.
//!
//! The struct's text says no types: numbers are numbers, and its times and UUIDs are texts already. So it has less to do.
//! The aims are 0.8 µs for a row that is written out of the store, the read of its page included, and 1 µs for one that is
//! read.

use std::path::Path;

use serde::{Deserialize, Serialize};
use table_core::odata::{Member, Metadata, Reader, Writer};
use table_core::{Durability, DynamicEntity, DynamicTable, Query, Store, Ticks, Uuid, ValueRef};

use crate::measure::{self, Clock, Contender, Timer};
use crate::place::Place;
use crate::random::Random;
use crate::report::{self, Unit};
use crate::{Arguments, Digest, Result};

/// The rows of a page.
const ROWS: u32 = 1_000;

/// The fields, as a program without tables would have them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Plain {
    partition_key: String,
    row_key: String,
    timestamp: String,
    name: String,
    email: String,
    city: String,
    age: i32,
    salary: i64,
    rating: f64,
    joined: String,
    badge: String,
    is_manager: bool,
}

#[derive(Serialize, Deserialize)]
struct PlainPage {
    value: Vec<Plain>,
}

fn entity(id: u32) -> Result<DynamicEntity> {
    let mut random = Random::new(id.into());
    let name = ["Jun Cao", "Mia Gómez", "Ken \"Kim\" Kwok", "Aliza Blythe-Carter"].get(random.index(4));
    let city = ["Oslo", "Seattle", "São Paulo", "Villingen-Schwenningen"].get(random.index(4));
    let joined = Ticks::new(635_424_264_000_000_000 + random.below(1 << 52)).ok_or("a time is none")?;
    Ok(DynamicEntity::new("Sales", format!("empid_{id:06}"))
        .with("Name", *name.unwrap_or(&""))
        .with("Email", format!("{:x}@contoso.com", random.below(1 << 40)))
        .with("City", *city.unwrap_or(&""))
        .with("Age", i32::try_from(20 + random.below(50))?)
        .with("Salary", i64::try_from(random.below(1 << 40))?)
        .with("Rating", f64::from(u32::try_from(random.below(500))?) / 100.0)
        .with("Joined", joined)
        .with("Badge", Uuid::from_u64_pair(random.next(), random.next()))
        .with("IsManager", random.below(8) == 0))
}

/// Adds the values that both have in one form.
fn add(digest: &mut Digest, name: &str, value: ValueRef<'_>) {
    if !matches!(name, "Joined" | "Badge") {
        digest.ours(value);
    }
}

fn digest_of(entity: &DynamicEntity, digest: &mut Digest) {
    digest.row();
    entity.properties().for_each(|(name, value)| add(digest, name, value.into()));
}

impl Plain {
    fn of(entity: &DynamicEntity) -> Result<Self> {
        let get = |name| entity.get(name).map(ValueRef::from).ok_or("a row lacks a property");
        let text = |name| Ok::<_, &str>(get(name)?.as_str().unwrap_or_default().to_owned());
        Ok(Self {
            partition_key: entity.partition_key().to_owned(),
            row_key: entity.row_key().to_owned(),
            timestamp: entity.timestamp().ok_or("a row has no version")?.to_string(),
            name: text("Name")?,
            email: text("Email")?,
            city: text("City")?,
            age: get("Age")?.as_i32().unwrap_or(0),
            salary: get("Salary")?.as_i64().unwrap_or(0),
            rating: get("Rating")?.as_f64().unwrap_or(0.0),
            joined: get("Joined")?.as_ticks().ok_or("a time is none")?.to_string(),
            badge: get("Badge")?.as_uuid().ok_or("a UUID is none")?.to_string(),
            is_manager: get("IsManager")?.as_bool().unwrap_or(false),
        })
    }

    fn digest_of(&self, digest: &mut Digest) {
        digest.row();
        for text in [&self.name, &self.email, &self.city] {
            digest.text(text);
        }
        digest.ours(ValueRef::Int32(self.age));
        digest.ours(ValueRef::Int64(self.salary));
        digest.ours(ValueRef::Double(self.rating));
        digest.ours(ValueRef::Boolean(self.is_manager));
    }
}

/// The rows in every form, and their texts.
struct Rows {
    table: DynamicTable,
    entities: Vec<DynamicEntity>,
    plain: PlainPage,
    text: Vec<u8>,
    /// The text of each row by itself.
    texts: Vec<Vec<u8>>,
    plain_text: Vec<u8>,
}

impl Rows {
    fn new(place: &Place) -> Result<Self> {
        let store =
            Store::options().durability(Durability::Relaxed).map_size(1 << 30).open(place.join("store"))?;
        let table = store.create_table("Company")?;
        for id in 0..ROWS {
            table.insert(&entity(id)?)?;
        }
        let entities: Vec<_> = table.query(&Query::new())?.collect::<table_core::Result<_>>()?;
        let value = entities.iter().map(Plain::of).collect::<Result<_>>()?;
        let plain = PlainPage { value };
        let plain_text = serde_json::to_vec(&plain)?;
        let writer = Writer::new(Metadata::Minimal);
        let one = |entity| {
            let mut text = Vec::new();
            writer.entity(entity, &mut text).map(|()| text)
        };
        let texts = entities.iter().map(one).collect::<table_core::Result<_>>()?;
        let mut rows = Self { table, entities, plain, text: Vec::new(), texts, plain_text };
        let mut text = Vec::new();
        rows.write(Metadata::Minimal, &mut text)?;
        rows.text = text;
        Ok(rows)
    }

    /// Writes the page of entities that are in memory.
    fn write(&self, metadata: Metadata, out: &mut Vec<u8>) -> Result<()> {
        let writer = writer(metadata);
        let mut page = writer.page(out);
        for entity in &self.entities {
            page.entity(entity)?;
        }
        page.finish();
        Ok(())
    }

    /// Writes the page of rows in place.
    fn write_stored(&self, metadata: Metadata, out: &mut Vec<u8>) -> Result<()> {
        let writer = writer(metadata);
        let mut page = writer.page(out);
        self.table.query_with(&Query::new(), |row| page.entity(row))?;
        page.finish();
        Ok(())
    }

    /// Reads the page as entities.
    fn read(&self) -> Result<Digest> {
        let mut digest = Digest::default();
        for read in Reader::new().page(&self.text) {
            digest_of(&read?, &mut digest);
        }
        Ok(digest)
    }

    /// Reads the rows one by one, in place.
    fn visit(&self) -> Result<Digest> {
        let mut digest = Digest::default();
        for text in &self.texts {
            digest.row();
            Reader::new().visit(text, |member| {
                if let Member::Property(name, value) = member {
                    add(&mut digest, name, value);
                }
                Ok(())
            })?;
        }
        Ok(digest)
    }

    fn read_plain(&self) -> Result<Digest> {
        let mut digest = Digest::default();
        let page: PlainPage = serde_json::from_slice(&self.plain_text)?;
        page.value.iter().for_each(|plain| plain.digest_of(&mut digest));
        Ok(digest)
    }

    /// Reads the page as a tree.
    fn read_tree(&self) -> Result<Digest> {
        let tree: serde_json::Value = serde_json::from_slice(&self.text)?;
        let rows = tree.get("value").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
        Ok(Digest { rows: u64::try_from(rows)?, sum: 0 })
    }
}

fn writer(metadata: Metadata) -> Writer {
    Writer::new(metadata).of_service("http://127.0.0.1:10002/devstoreaccount1", "devstoreaccount1", "Company")
}

/// Times one way to write the page.
fn written<'a>(name: &'static str, mut write: impl FnMut(&mut Vec<u8>) -> Result<()> + 'a) -> Contender<'a> {
    let mut out = Vec::new();
    let run = move |_, timer: &mut Timer| {
        out.clear();
        timer.time(|| write(&mut out))?;
        Ok(Digest { rows: ROWS.into(), sum: 0 })
    };
    Contender::new(name, run)
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    println!("\n## OData JSON, pages of {ROWS} rows of nine properties");
    report::machine(Path::new("/dev/shm"), "a row; processor time");
    let place = Place::in_memory()?;
    let rows = Rows::new(&place)?;
    report::comparison_head();
    let wants = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    if wants("write") {
        let contenders = vec![
            written("serde_json, a struct", |out| Ok(serde_json::to_writer(out, &rows.plain)?)),
            written(", minimal, of entities", |out| rows.write(Metadata::Minimal, out)),
            written(", none, of entities", |out| rows.write(Metadata::None, out)),
            written(", full, of entities", |out| rows.write(Metadata::Full, out)),
            written(", minimal, of the store", |out| rows.write_stored(Metadata::Minimal, out)),
        ];
        let times = measure::rounds(Clock::Processor, arguments.rounds, ROWS.into(), contenders)?;
        report::comparison("write", Unit::Nanoseconds, &times, None);
    }
    if wants("read") {
        let contenders = vec![
            Contender::new("serde_json, a struct", |_, timer: &mut Timer| timer.time(|| rows.read_plain())),
            Contender::new(", entities", |_, timer: &mut Timer| timer.time(|| rows.read())),
            Contender::new(", one by one, in place", |_, timer: &mut Timer| timer.time(|| rows.visit())),
        ];
        let times = measure::rounds(Clock::Processor, arguments.rounds, ROWS.into(), contenders)?;
        report::comparison("read", Unit::Nanoseconds, &times, None);
        // By itself: so many small allocations slow those of the others.
        let tree = |_, timer: &mut Timer| timer.time(|| rows.read_tree());
        let contenders = vec![
            Contender::new("serde_json, a struct", |_, timer: &mut Timer| timer.time(|| rows.read_plain())),
            Contender::new(", a tree of serde_json", tree).of_its_own(),
        ];
        let times = measure::rounds(Clock::Processor, arguments.rounds, ROWS.into(), contenders)?;
        report::comparison("read", Unit::Nanoseconds, &times, None);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_the_same_rows() {
        let place = Place::for_tests("codec").unwrap();
        let rows = Rows::new(&place).unwrap();
        assert_eq!(rows.read().unwrap(), rows.read_plain().unwrap());
        assert_eq!(rows.visit().unwrap(), rows.read_plain().unwrap());
        assert_eq!(rows.read_tree().unwrap().rows, u64::from(ROWS));
        for metadata in [Metadata::Minimal, Metadata::None, Metadata::Full] {
            let (mut of_entities, mut of_store) = (Vec::new(), Vec::new());
            rows.write(metadata, &mut of_entities).unwrap();
            rows.write_stored(metadata, &mut of_store).unwrap();
            assert!(of_entities == of_store);
            let read: Vec<_> = Reader::new().page(&of_entities).map(|entity| entity.unwrap()).collect();
            assert_eq!(read == rows.entities, metadata != Metadata::None);
        }
    }
}
