//! Stores with something in them.

use std::path::Path;

use table_core::blob::Blob;
use table_core::{DynamicEntity, Entity, Query, Store, Ticks, Uuid, Value};

/// An employee, with a copy under the e-mail.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) email: String,
    pub(crate) age: u8,
}

/// A page with a picture.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Albums", kind = "page")]
#[key(partition = "{album}", row = "page_{number:04}")]
pub(crate) struct Page {
    pub(crate) album: String,
    pub(crate) number: u32,
    pub(crate) picture: Blob,
}

pub(crate) fn employee(id: u32) -> Employee {
    let department = ["Legal", "Sales"][usize::from(id.is_multiple_of(2))].to_owned();
    let age = u8::try_from(20 + id % 40).unwrap();
    Employee { department, id, email: format!("e{id}@contoso.com"), age }
}

/// Makes a store with so many employees, and a row that no struct declares.
pub(crate) fn company(path: &Path, employees: u32) {
    let store = Store::open(path).unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.bulk_insert((1..=employees).map(employee)).unwrap().into_result().unwrap();
    let note = DynamicEntity::new("Sales", "note").with("Text", "a|b, \"c\"\nd");
    store.dynamic_table("Company").unwrap().insert(&note).unwrap();
    store.close().unwrap();
}

/// Returns all rows of a table.
pub(crate) fn rows(path: &Path, table: &str) -> Vec<DynamicEntity> {
    let store = Store::options().create(false).read_only(true).open(path).unwrap();
    let table = store.dynamic_table(table).unwrap();
    table.query(&Query::new()).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Random numbers, the same ones in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    pub(crate) fn text(&mut self, most: u64) -> String {
        const CHARS: [char; 20] = [
            'a', 'Z', '0', ' ', ',', '"', '\\', '\n', '\r', '\t', '\u{1}', ';', '|', '\'', 'é', '漢', '😀',
            '@', '{', ']',
        ];
        let length = self.below(most);
        (0..length).map(|_| CHARS[usize::try_from(self.below(20)).unwrap()]).collect()
    }

    pub(crate) fn value(&mut self) -> Value {
        let bits = self.below(u64::MAX);
        match self.below(10) {
            0 => self.text(40).into(),
            1 => ["", "NaN", "true", "12", "2014-07-31T18:00:00Z"][usize::try_from(bits % 5).unwrap()].into(),
            2 => bits.is_multiple_of(2).into(),
            3 => i32::from_le_bytes(bits.to_le_bytes()[..4].try_into().unwrap()).into(),
            4 => i64::from_le_bytes(bits.to_le_bytes()).into(),
            5 => {
                let double = f64::from_bits(bits);
                if double.is_nan() { f64::NAN.into() } else { double.into() }
            }
            6 => [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 34.0]
                [usize::try_from(bits % 7).unwrap()]
            .into(),
            7 => Ticks::new(504_911_232_000_000_000 + bits % 2_650_000_000_000_000_000).unwrap().into(),
            8 => Uuid::from_u64_pair(bits, self.below(u64::MAX)).into(),
            _ => {
                let length = self.below(60);
                Value::Binary((0..length).map(|_| u8::try_from(self.below(256)).unwrap()).collect())
            }
        }
    }

    pub(crate) fn entity(&mut self, number: u64) -> DynamicEntity {
        let partition = format!("p{}", self.below(50));
        let mut entity = DynamicEntity::new(partition, format!("{number:06} é,'\"{}", self.below(1000)));
        for _ in 0..self.below(12) {
            let name = format!("P{}", self.below(40));
            let value = self.value();
            entity.set(&name, value);
        }
        entity
    }
}
