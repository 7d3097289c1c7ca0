//! The employees: made from their number, so that ten million of them need no memory.

use serde::{Deserialize, Serialize};
use table_core::Entity;

use crate::random::Random;

/// How many departments there are, all of one size.
pub const DEPARTMENTS: u64 = 50;

/// Employees of a department who bear one last name, about.
const NAMESAKES: u64 = 100;

const FIRST: [&str; 16] = [
    "Ada",
    "Bjorn",
    "Chen",
    "Dolores",
    "Ewa",
    "Francisco",
    "Grace",
    "Hiroshi",
    "Ines",
    "Jun",
    "Kofi",
    "Lena",
    "Mia",
    "Noor",
    "Olu",
    "Petra",
];
const LAST: [&str; 20] = [
    "Abercrombie",
    "Bauer",
    "Cao",
    "Dijkstra",
    "Eze",
    "Fischer",
    "Garcia",
    "Hall",
    "Ito",
    "Jones",
    "Kowalczyk",
    "Lindqvist",
    "Moreau",
    "Nakamura",
    "Okafor",
    "Papadopoulos",
    "Quist",
    "Rossi",
    "Smith",
    "Tanaka",
];

/// One employee of a department.
#[derive(Entity, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:08}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:08}")]
pub struct Employee {
    /// With `id`, the key.
    pub department: String,
    /// Unique in the department.
    pub id: u32,
    /// In no index.
    pub first_name: String,
    /// In a plain index, with `id`, within the department.
    pub last_name: String,
    /// Unique in the department.
    pub email: String,
    /// In no index.
    pub age: i32,
    /// In no index.
    pub salary: f64,
}

/// The name of a department.
pub fn department(number: u64) -> String {
    format!("Department-{:02}", number % DEPARTMENTS)
}

fn pick(from: &[&'static str], at: u64) -> &'static str {
    let index = usize::try_from(at).unwrap_or(0).checked_rem(from.len()).unwrap_or(0);
    from.get(index).copied().unwrap_or("")
}

impl Employee {
    /// The employee of this number in a company of `of`.
    ///
    /// Numbers go through the departments a hundred employees at a time, so that a hundred numbers from a multiple
    /// of a hundred are of one department.
    pub fn numbered(number: u64, of: u64) -> Self {
        let (hundred, within) = (number / 100, number % 100);
        let id = hundred / DEPARTMENTS * 100 + within;
        let random = &mut Random::new(number.wrapping_mul(0x0dd5_eed5));
        let first_name = pick(&FIRST, random.next());
        let names = (of / DEPARTMENTS / NAMESAKES).max(1);
        let name = random.below(names);
        let mut last_name = pick(&LAST, name).to_owned();
        if name >= 20 {
            last_name.push_str(&(name / 20).to_string());
        }
        Self {
            department: department(hundred),
            id: u32::try_from(id).unwrap_or(u32::MAX),
            // The dot keeps `smith1` and 2 apart from `smith` and 12.
            email: format!("{}.{}.{number}@contoso.com", first_name.to_lowercase(), last_name.to_lowercase()),
            first_name: first_name.to_owned(),
            last_name,
            age: i32::try_from(18 + random.below(50)).unwrap_or(0),
            salary: f64::from(u32::try_from(random.below(1 << 20)).unwrap_or(0)) / 8.0,
        }
    }
}
