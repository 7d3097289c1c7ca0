//! Entities on index lists that their rows have no room for.

use std::collections::BTreeMap;
use std::ops::Range;

use table_core::{Entity, Key, Result, Store};

/// A person on the roll of a side.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Rolls", kind = "roll")]
#[key(partition = "all", row = "roll_{name}")]
#[index_list(by_side, row = "side_{side}", of = name)]
pub struct Roll {
    /// It begins with a number.
    pub name: String,
    /// Which side.
    pub side: u8,
}

/// As many as the row of a list holds: one more, and their names lie in a blob.
pub const OF_ROW: u32 = 960;

impl Roll {
    /// The one of this number. Of such names 64 go into a property.
    pub fn new(number: u32, side: u8) -> Self {
        Self { name: format!("{number:06}{}", "r".repeat(498)), side }
    }

    /// The number that its name begins with.
    pub fn number(&self) -> u32 {
        self.name.get(..6).and_then(|number| number.parse().ok()).unwrap_or_default()
    }

    /// The key of the one of this number.
    pub fn of(number: u32) -> Key<Self> {
        Self::key(Self::new(number, 0).name)
    }
}

/// Puts all of these numbers on the roll of a side, in one transaction.
pub fn enlist(store: &Store, numbers: Range<u32>, side: u8) -> Result<()> {
    let all: Vec<_> = numbers.map(|number| Roll::new(number, side)).collect();
    all.iter().fold(store.transaction(), |all, one| all.put(one)).commit().map(drop)
}

/// Takes one off, if it is there.
pub fn discharge(store: &Store, number: u32) -> Result<()> {
    match store.table::<Roll>()?.delete(Roll::of(number)) {
        Err(error) if error.kind() == table_core::ErrorKind::EntityNotFound => Ok(()),
        deleted => deleted,
    }
}

/// The numbers of each side by what the entities say; in the place of that, whose list says otherwise.
pub fn sides(store: &Store) -> Result<std::result::Result<BTreeMap<u8, Vec<u32>>, u8>> {
    let (rolls, snapshot) = (store.table::<Roll>()?, store.snapshot()?);
    let mut sides = BTreeMap::<u8, Vec<u32>>::from([(0, Vec::new()), (1, Vec::new())]);
    for roll in rolls.at(&snapshot).rows() {
        let roll = roll?;
        sides.entry(roll.side).or_default().push(roll.number());
    }
    for (side, numbers) in &sides {
        let list = rolls.at(&snapshot).list(Roll::by_side(*side))?;
        if !list.keys().eq(numbers.iter().map(|number| Roll::of(*number))) {
            return Ok(Err(*side));
        }
    }
    Ok(Ok(sides))
}
