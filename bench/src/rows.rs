//! The rows: employees in fifty departments, and wide rows of mixed values.

use table_core::{DynamicEntity, Ticks, Value};

use crate::floor;
use crate::random::Random;

pub(crate) const DEPARTMENTS: u64 = 50;
const AREAS: [&str; 5] = ["Engineering", "Finance", "Marketing", "Sales", "Support"];
const FIRST: [&str; 8] = ["Ada", "Björn", "Chen", "Dolores", "Ewa", "Francisco", "Grace", "Hiroshi"];
const LAST: [&str; 8] =
    ["Abercrombie", "Cao", "Dijkstra", "Jones", "Kowalczyk", "Nakamura", "Okafor", "Smith"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) partition: String,
    pub(crate) row: String,
}

/// One row in the form that each engine takes.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) key: Key,
    pub(crate) floor: floor::Properties,
    pub(crate) ours: DynamicEntity,
}

impl Sample {
    fn new(key: Key, properties: Vec<(String, Value)>) -> Self {
        let mut ours = DynamicEntity::new(&*key.partition, &*key.row);
        for (name, value) in &properties {
            ours.set(name, value.clone());
        }
        let floor = properties.into_iter().map(|(name, value)| (name, value.into())).collect();
        Self { key, floor, ours }
    }

    /// Returns a row with these properties under another key.
    pub(crate) fn under(&self, key: Key) -> Self {
        let mut ours = DynamicEntity::new(&*key.partition, &*key.row);
        for (name, value) in self.ours.properties() {
            ours.set(name, value.clone());
        }
        Self { key, floor: self.floor.clone(), ours }
    }
}

pub(crate) fn row_key(id: u64) -> String {
    format!("empid_{id:06}")
}

pub(crate) fn department(number: u64) -> String {
    let area = usize::try_from(number).ok().and_then(|number| AREAS.get(number % AREAS.len()));
    format!("{}-{number:02}", area.unwrap_or(&"Sales"))
}

/// The key of employee `id` of `rows`: each department has as many, one after another.
pub(crate) fn key(id: u64, rows: u64) -> Key {
    let number = id.saturating_mul(DEPARTMENTS).checked_div(rows).unwrap_or(0) % DEPARTMENTS;
    Key { partition: department(number), row: row_key(id) }
}

fn pick<'t>(random: &mut Random, from: &[&'t str]) -> &'t str {
    from.get(random.index(from.len())).unwrap_or(&"")
}

fn ticks(random: &mut Random) -> Ticks {
    // Some second from 1970 to 2023.
    let seconds = std::time::Duration::from_secs(random.below(1_700_000_000));
    Ticks::UNIX_EPOCH.checked_add(seconds).unwrap_or(Ticks::UNIX_EPOCH)
}

fn double(random: &mut Random) -> f64 {
    f64::from(u32::try_from(random.below(1 << 20)).unwrap_or(0)) / 16.0
}

fn int32(random: &mut Random, bound: u64) -> i32 {
    i32::try_from(random.below(bound)).unwrap_or(0)
}

/// An employee: seven properties, about 90 bytes.
pub(crate) fn employee(key: Key) -> Sample {
    let id = key.row.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let random = &mut Random::new(id);
    let (first, last) = (pick(random, &FIRST), pick(random, &LAST));
    let email = format!("{}{}@contoso.com", last.to_ascii_lowercase(), random.below(1_000_000));
    let properties = vec![
        ("FirstName".to_owned(), first.into()),
        ("LastName".to_owned(), last.into()),
        ("Email".to_owned(), email.into()),
        ("Age".to_owned(), (18 + int32(random, 50)).into()),
        ("Salary".to_owned(), double(random).into()),
        ("Hired".to_owned(), ticks(random).into()),
        ("Remote".to_owned(), (random.below(2) == 1).into()),
    ];
    Sample::new(key, properties)
}

/// All employees, in the order of their keys.
pub(crate) fn employees(rows: u64) -> Vec<Sample> {
    let mut samples: Vec<_> = (0..rows).map(|id| employee(key(id, rows))).collect();
    samples.sort_by(|a, b| (&a.key.partition, &a.key.row).cmp(&(&b.key.partition, &b.key.row)));
    samples
}

/// The name of a property of a wide row.
pub(crate) fn wide_name(index: usize) -> String {
    format!("Property_{index:03}")
}

/// The values of a row of `width` properties of mixed types.
pub(crate) fn wide_values(id: u64, width: usize) -> Vec<Value> {
    let mut random = Random::new(id ^ 0x5eed);
    let random = &mut random;
    let value = |index: usize| -> Value {
        match index % 6 {
            0 => format!("text {:08x}", random.below(1 << 32)).into(),
            1 => i64::try_from(random.below(1 << 40)).unwrap_or(0).into(),
            2 => double(random).into(),
            3 => (random.below(2) == 1).into(),
            4 => ticks(random).into(),
            _ => int32(random, 1 << 30).into(),
        }
    };
    (0..width).map(value).collect()
}

/// A row of `width` properties of mixed types.
pub(crate) fn wide(id: u64, width: usize) -> Sample {
    let values = wide_values(id, width).into_iter().enumerate();
    let properties = values.map(|(index, value)| (wide_name(index), value)).collect();
    Sample::new(Key { partition: format!("wide-{width:03}"), row: row_key(id) }, properties)
}
