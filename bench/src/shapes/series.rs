//! A slot of a series beside a plain property of the same entity, of 24 slots and of 249.

use std::hint::black_box;

use table_core::{Entity, IfMatch, Store};

use super::{ENTITIES, in_turn};
use crate::Result;

macro_rules! entity {
    ($name:ident, $table:literal, $kind:literal, $slots:literal) => {
        #[derive(Entity, Clone)]
        #[entity(table = $table, kind = $kind)]
        #[key(partition = "{host}", row = "{host}_{day:06}")]
        struct $name {
            host: String,
            day: u32,
            plain: i64,
            #[series]
            slot: [Option<i64>; $slots],
        }
    };
}

entity!(Hours, "Hours", "hours", 24);
entity!(Days, "Days", "days", 249);

macro_rules! figures {
    ($store:ident, $name:ident, $slots:literal) => {{
        let table = $store.table::<$name>()?;
        let new = |day: u32| $name {
            host: "web".to_owned(),
            day,
            plain: 1,
            slot: std::array::from_fn(|at| i64::try_from(at).ok()),
        };
        table.bulk_insert((0..ENTITIES).map(new))?.into_result()?;
        let key = |day: u32| $name::key("web", day % ENTITIES);
        let [get, plain, slot, add] = in_turn(
            300,
            [
                &mut |day| {
                    black_box(table.get(key(day))?);
                    Ok(())
                },
                &mut |day| {
                    table.merge(key(day), $name::patch().plain(i64::from(day)), IfMatch::Any)?;
                    Ok(())
                },
                &mut |day| {
                    table.merge(key(day), $name::patch().slot(13, Some(i64::from(day))), IfMatch::Any)?;
                    Ok(())
                },
                &mut |day| {
                    table.add(key(day), $name::add().slot(13, 1))?;
                    Ok(())
                },
            ],
        )?;
        println!("| {} | {get:.2} | {plain:.1} | {slot:.1} | {:.2} | {add:.1} |", $slots, slot / plain);
    }};
}

pub(super) fn run(store: &Store) -> Result<()> {
    println!("| slots | get, µs | a plain property patched | a slot patched | ratio | a slot added to |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    figures!(store, Hours, 24);
    figures!(store, Days, 249);
    Ok(())
}
