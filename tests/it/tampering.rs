//! Every way to damage or move a sealed value in an entity's own row, put through the store: a read of it as it is
//! declared gets an error, and never another value. Its copies are signed, and `signed::forged` is about those.

use std::sync::Arc;

use integration_tests::Scratch;
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, DynamicTable, Entity, Error, ErrorKind, IfMatch, Store, Ticks, Uuid, Value};

/// Declares a person in this table: two tables have one each.
macro_rules! person {
    ($name:ident, $table:literal) => {
        #[derive(Entity, Clone, Debug, PartialEq)]
        #[entity(table = $table, kind = "person")]
        #[key(partition = "{city}", row = "person_{id:02}")]
        #[index(by_name, row = "name_{name}_{id:02}")]
        struct $name {
            city: String,
            id: u8,
            name: String,
            #[encrypt]
            text: String,
            #[encrypt]
            bytes: Vec<u8>,
            #[encrypt]
            flag: bool,
            #[encrypt]
            int: i32,
            #[encrypt]
            long: i64,
            #[encrypt]
            double: f64,
            #[encrypt]
            time: Ticks,
            #[encrypt]
            guid: Uuid,
        }

        impl $name {
            fn of(city: &str, id: u8) -> Self {
                Self {
                    city: city.into(),
                    id,
                    name: "Ann".into(),
                    text: "078-05-1120".into(),
                    bytes: vec![7; 8],
                    flag: true,
                    int: -7,
                    long: 1 << 40,
                    double: 0.1,
                    time: Ticks::new(600_000_000_000_000_000).unwrap(),
                    guid: Uuid::from_u128(7),
                }
            }
        }
    };
}

person!(Left, "Left");
person!(Right, "Right");

const PROPERTIES: [&str; 8] = ["Text", "Bytes", "Flag", "Int", "Long", "Double", "Time", "Guid"];

/// Where a data key's name lies in a sealed value.
const KEY: std::ops::Range<usize> = 3..11;

/// What a sealed value has before and after the ciphertext.
const OVERHEAD: usize = 67;

/// A store with four people in each of two tables.
struct Town {
    _scratch: Scratch,
    left: table_core::Table<Left>,
    right: table_core::Table<Right>,
}

/// A sealed value in one row.
struct Sealed {
    table: DynamicTable,
    partition: &'static str,
    id: u8,
    property: &'static str,
    bytes: Vec<u8>,
}

impl Town {
    fn new() -> Self {
        let scratch = Scratch::new();
        let store: Store = integration_tests::relaxed()
            .encryption(Arc::new(MemoryKeys::new().unwrap()))
            .open(scratch.path().join("store"))
            .unwrap();
        let (left, right) = (store.table::<Left>().unwrap(), store.table::<Right>().unwrap());
        for city in ["Bonn", "Ulm"] {
            for id in [1, 2] {
                left.insert(&Left::of(city, id)).unwrap();
                right.insert(&Right::of(city, id)).unwrap();
            }
        }
        Self { _scratch: scratch, left, right }
    }

    /// Every sealed value of the entities' own rows.
    fn values(&self) -> Vec<Sealed> {
        let mut values = Vec::new();
        for table in [self.left.dynamic().raw(), self.right.dynamic().raw()] {
            for (partition, id) in [("Bonn", 1), ("Bonn", 2), ("Ulm", 1), ("Ulm", 2)] {
                let row = table.get(partition, &own(id)).unwrap().unwrap();
                for property in PROPERTIES {
                    let bytes = row.get(property).unwrap().as_bytes().unwrap().to_vec();
                    values.push(Sealed { table: table.clone(), partition, id, property, bytes });
                }
            }
        }
        values
    }

    /// Reads the entity.
    fn read(&self, at: &Sealed) -> Result<(), Error> {
        let (city, id) = (at.partition, at.id);
        // Whatever is read without an error is the entity.
        if at.table.name() == "Left" {
            self.left.get(Left::key(city, id)).map(|e| assert_eq!(*e.unwrap(), Left::of(city, id)))
        } else {
            self.right.get(Right::key(city, id)).map(|e| assert_eq!(*e.unwrap(), Right::of(city, id)))
        }
    }

    /// Puts another value in the place of a sealed one, past everything that knows of sealing.
    fn put(&self, at: &Sealed, value: Value) {
        let change = DynamicEntity::new(at.partition, own(at.id)).with(at.property, value);
        at.table.merge(&change, IfMatch::Any).unwrap();
    }

    /// Reads the entity with another value in the place of a sealed one.
    #[track_caller]
    fn refuses(&self, at: &Sealed, value: Value, expected: ErrorKind, what: &dyn std::fmt::Display) {
        self.put(at, value);
        let error = self.read(at).expect_err("what was damaged was read");
        assert_eq!(error.kind(), expected, "{} in {}: {what}: {error}", at.property, at.partition);
    }

    /// As it was.
    fn restore(&self, at: &Sealed) {
        self.put(at, at.bytes.clone().into());
        self.read(at).unwrap();
    }
}

fn own(id: u8) -> String {
    format!("person_{id:02}")
}

/// What damage of the byte at this place is: a key that nobody knows, or a value that is not what was sealed.
fn kind_at(byte: usize) -> ErrorKind {
    if KEY.contains(&byte) { ErrorKind::KeyUnavailable } else { ErrorKind::DecryptionFailed }
}

#[test]
fn every_flipped_bit_is_refused() {
    let town = Town::new();
    for at in town.values().iter().take(PROPERTIES.len()) {
        for bit in 0..at.bytes.len() * 8 {
            let mut flipped = at.bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            town.refuses(at, flipped.into(), kind_at(bit / 8), &format_args!("bit {bit}"));
        }
        town.restore(at);
    }
}

#[test]
fn every_truncation_and_extension_is_refused() {
    let town = Town::new();
    for at in town.values().iter().take(PROPERTIES.len()) {
        let refused = |bytes: &[u8], what: &str, length| {
            let expected = match bytes {
                // With its front gone, what stands there may still begin as a value of some key would.
                [1, 1, 0..=7, key @ ..] if bytes.len() >= OVERHEAD && key[..8] != at.bytes[KEY] => {
                    ErrorKind::KeyUnavailable
                }
                _ => ErrorKind::DecryptionFailed,
            };
            town.refuses(at, bytes.to_vec().into(), expected, &format_args!("{what} {length}"));
        };
        for length in 0..at.bytes.len() {
            refused(&at.bytes[..length], "the first", length);
            refused(&at.bytes[length + 1..], "without the first", length + 1);
        }
        refused(&[&at.bytes[..], &[0]].concat(), "longer by", 1);
        refused(&[&at.bytes[..], &at.bytes[..]].concat(), "doubled", 0);
        town.restore(at);
    }
}

#[test]
fn no_value_can_take_another_ones_place() {
    let town = Town::new();
    let values = town.values();
    assert_eq!(values.len(), 64);
    // The same value was sealed for each entity of both tables: only where it stands tells them apart.
    for (number, at) in values.iter().enumerate() {
        for (other, from) in values.iter().enumerate() {
            if number == other {
                continue;
            }
            let what = format!("{} of {}, {}, {}", from.property, from.table.name(), from.partition, from.id);
            town.refuses(at, from.bytes.clone().into(), ErrorKind::DecryptionFailed, &what);
        }
        town.restore(at);
    }
    // Two that are exchanged are both refused.
    let (one, two) = (&values[0], &values[8]);
    town.put(one, two.bytes.clone().into());
    town.put(two, one.bytes.clone().into());
    for at in [one, two] {
        assert_eq!(town.read(at).unwrap_err().kind(), ErrorKind::DecryptionFailed);
    }
}

#[test]
fn no_plain_value_is_taken_for_a_sealed_one() {
    let town = Town::new();
    let plain: [Value; 9] = [
        "078-05-1120".into(),
        vec![7_u8; 8].into(),
        true.into(),
        (-7).into(),
        (1_i64 << 40).into(),
        0.1.into(),
        Ticks::new(600_000_000_000_000_000).unwrap().into(),
        Uuid::from_u128(7).into(),
        vec![0_u8; OVERHEAD].into(),
    ];
    for at in town.values().iter().take(PROPERTIES.len()) {
        for value in &plain {
            let what = format!("{:?}", value.edm_type());
            town.refuses(at, value.clone(), ErrorKind::DecryptionFailed, &what);
        }
        town.restore(at);
    }
}

#[test]
fn a_value_of_another_store_is_refused() {
    let (town, other) = (Town::new(), Town::new());
    for (at, from) in town.values().iter().zip(other.values()) {
        let what = "of another store, whose keys this one does not have";
        town.refuses(at, from.bytes.into(), ErrorKind::KeyUnavailable, &what);
        town.restore(at);
    }
}
