//! An index list in the store that is damaged, that its row has no room for, and one that it has.

use table_core::{Result, Store};

use super::Findings;
use crate::rolls::{OF_ROW, Roll, discharge, enlist};

/// The table of both lists.
pub(super) const TABLES: [&str; 1] = ["Rolls"];
/// On the long one, and on the short one behind them.
const LONG: u32 = OF_ROW + 1;
const SHORT: u32 = 3;

fn side(number: u32) -> u8 {
    u8::from(number >= LONG)
}

pub(super) fn build(store: &Store) -> Result<()> {
    enlist(store, 0..LONG - 1, 0)?;
    enlist(store, LONG - 1..LONG, 0)?;
    enlist(store, LONG..LONG + SHORT, 1)
}

/// Reads the lists, and some of those who are on them.
pub(super) fn compare(store: &Store, findings: &mut Findings) {
    let rolls = match store.table::<Roll>() {
        Ok(rolls) => rolls,
        Err(error) => return findings.error(&error),
    };
    for (side, numbers) in [(0, 0..LONG), (1, LONG..LONG + SHORT)] {
        match rolls.list(Roll::by_side(side)) {
            Ok(list) if list.keys().eq(numbers.clone().map(Roll::of)) => {}
            Ok(list) => findings.wrong(|| format!("the list of side {side} has {} others", list.len())),
            Err(error) => findings.error(&error),
        }
    }
    for number in (0..LONG + SHORT).step_by(37) {
        match rolls.get(Roll::of(number)) {
            Ok(Some(found)) if found == Roll::new(number, side(number)) => {}
            Ok(Some(found)) => findings.wrong(|| format!("roll {number} is on side {}", found.side)),
            Ok(None) => findings.missed(|| format!("roll {number} is not there")),
            Err(error) => findings.error(&error),
        }
    }
}

/// Goes on with it: one more comes, and so many go that the row has room for the list.
pub(super) fn go_on(store: &Store, findings: &mut Findings) {
    let go_on = || {
        let number = LONG + SHORT;
        enlist(store, number..number + 1, 0)?;
        discharge(store, 0)?;
        discharge(store, 1)?;
        let list = store.table::<Roll>()?.list(Roll::by_side(0))?;
        Ok::<_, table_core::Error>(list.keys().eq((2..LONG).chain([number]).map(Roll::of)))
    };
    match go_on() {
        Ok(true) => {}
        Ok(false) => findings.wrong(|| "a list is otherwise than it was changed".to_owned()),
        Err(error) => findings.error(&error),
    }
}
