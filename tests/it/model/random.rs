//! Numbers, keys and values to try, from a seed.

use std::ops::Bound;
use std::sync::LazyLock;

use table_core::{DynamicEntity, Ticks, Uuid, Value};

/// What a run tries, all of it from the seed.
pub struct Random(integration_tests::random::Random);

/// Keys in the order in which the service sorts them, so that the place in the list stands for the key.
pub static PARTITIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let long = "p".repeat(511);
    sorted(&["", "a", "ab", "b", "\u{e000}", "\u{1f600}", &long])
});
pub static ROWS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let long = "k".repeat(511);
    let longer = "k".repeat(512);
    sorted(&[
        "",
        " ",
        "a",
        "a ",
        "a!",
        "aa",
        "aaa",
        "ab",
        "b",
        "z",
        "ä",
        "名",
        "\u{a0}",
        "\u{d7ff}",
        "\u{e000}",
        "\u{e000}a",
        "\u{ffff}",
        "\u{10000}",
        "\u{1f600}",
        "\u{1f600}a",
        "\u{10ffff}",
        &long,
        &longer,
    ])
});

fn sorted(keys: &[&str]) -> Vec<String> {
    let mut keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
    keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    keys
}

/// A row's place: of its partition key and of its row key in the lists.
pub type Place = (usize, usize);

pub fn partition(place: Place) -> &'static str {
    &PARTITIONS[place.0]
}

pub fn row(place: Place) -> &'static str {
    &ROWS[place.1]
}

const NAMES: [&str; 6] = ["A", "B", "C", "Größe", "_1", "EntityType"];

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(integration_tests::random::Random::new(seed))
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0.below(end as u64) as usize
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }

    pub fn place(&mut self) -> Place {
        (self.below(PARTITIONS.len()), self.below(ROWS.len()))
    }

    /// A text that a bound or a constant may be: mostly a key, else one that no key can be.
    pub fn text(&mut self) -> String {
        let keys = if self.once_in(2) { &*PARTITIONS } else { &*ROWS };
        let key = self.pick(keys).clone();
        match self.below(12) {
            0 => key + *self.pick(&["\0", "\u{1}", "\u{1f}x", "/", "\u{7f}", "\u{10ffff}", "\u{fffd}"]),
            _ => key,
        }
    }

    pub fn bound(&mut self) -> Bound<String> {
        match self.below(5) {
            0 => Bound::Unbounded,
            1 | 2 => Bound::Excluded(self.text()),
            _ => Bound::Included(self.text()),
        }
    }

    /// A property's name: mostly one of a few, now and then one of many.
    pub fn name(&mut self) -> String {
        if self.once_in(40) { format!("N{}", self.below(300)) } else { (*self.pick(&NAMES)).to_owned() }
    }

    /// A value; few enough of each type that they meet, some of a size that is stored in another way.
    pub fn value(&mut self) -> Value {
        match self.below(24) {
            0..=3 => Value::String(self.pick(&ROWS).clone()),
            4..=7 => Value::Int32(*self.pick(&[-1, 0, 1, i32::MIN, i32::MAX])),
            8..=10 => Value::Int64(*self.pick(&[-1, 0, 1, 300, 1 << 53, (1 << 53) + 1, i64::MIN, i64::MAX])),
            11..=13 => Value::Double(*self.pick(&[
                -0.0,
                0.0,
                0.5,
                1.0,
                9_007_199_254_740_992.0,
                9_223_372_036_854_775_808.0,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
            ])),
            14..=16 => Value::Boolean(self.once_in(2)),
            17 => Value::DateTime(*self.pick(&[Ticks::MIN_PROPERTY, Ticks::UNIX_EPOCH, Ticks::MAX])),
            18 => Value::Guid(Uuid::from_u128(*self.pick(&[0, 1, 1 << 120]))),
            19 => Value::Binary(self.pick(&[&b""[..], b"\0", b"a", b"ab", b"\xff"]).to_vec()),
            20 => Value::String((*self.pick(&["employee", "department", "employee.by_email"])).to_owned()),
            // At the borders of what a row's own checksum covers, and of what a short slot can point to.
            21 => Value::Binary(vec![7; *self.pick(&[255, 256, 257])]),
            22 => Value::String("名".repeat(*self.pick(&[21, 22, 85, 86]))),
            _ => Value::String("x".repeat(*self.pick(&[64, 65, 3_000, 4_096]))),
        }
    }

    /// An entity of up to four properties, seldom many.
    pub fn entity(&mut self, place: Place) -> DynamicEntity {
        let mut entity = DynamicEntity::new(partition(place), row(place));
        let properties = if self.once_in(50) { 40 } else { self.below(5) };
        for _ in 0..properties {
            let (name, value) = (self.name(), self.value());
            entity.set(&name, value);
        }
        entity
    }
}
