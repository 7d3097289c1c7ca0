//! Blobs by name, in stages, in rows and in a log, by one thread that goes on when it is refused something.

use std::collections::BTreeSet;
use std::path::Path;

use table_core::blob::Log;
use table_core::{Durability, ErrorKind, Result, Store};

use super::run::{self, Acks, GivenUp, Run};
use super::{batches, wrong};
use crate::blobbed::{Picture, bytes};

/// Each takes another way; every fourth has more than a stage.
const NUMBERS: u32 = 12;
/// The blob that is put again and again, and the one that grows.
const SAME: &str = "same";
const GROWS: &str = "grows";
const GROWN: usize = 20_000;

pub(super) fn run(root: &Path, level: Durability) {
    run::work_alone(|| batches::open(root, level), work);
}

fn work(run: &mut Run<impl Fn() -> Result<Store>>, acks: &Acks) -> std::result::Result<(), GivenUp> {
    for number in 0..NUMBERS {
        put(run, acks, number)?;
        write_log(run, acks, number)?;
        if number % 3 == 2 {
            remove(run, acks, number - 1)?;
        }
        if number == NUMBERS / 2 {
            run.close();
        }
    }
    run.attempt(|store| store.container("passing")?.put("blob", &bytes(1)))?;
    acks.say("dropping");
    run.attempt(|store| match store.drop_container("passing") {
        // The attempt before it may have been more than it said.
        Err(error) if error.kind() == ErrorKind::ContainerNotFound => Ok(()),
        dropped => dropped,
    })?;
    acks.say("dropped");
    Ok(())
}

/// Puts it by its name, at once or in stages; over the one that was put before; behind what has grown; and in a row.
fn put(
    run: &mut Run<impl Fn() -> Result<Store>>,
    acks: &Acks,
    number: u32,
) -> std::result::Result<(), GivenUp> {
    let bytes = bytes(number);
    let name = number.to_string();
    run.attempt(|store| {
        let files = store.container("files")?;
        match number % 4 {
            3 => files.upload(&name, "image/png", &*bytes).map(drop),
            _ => files.put(&name, &bytes),
        }
    })?;
    acks.say(format_args!("file {number}"));
    run.attempt(|store| store.container("files")?.put(SAME, &bytes))?;
    acks.say(format_args!("same {number}"));
    run.attempt(|store| {
        let files = store.container("files")?;
        // An attempt before may have been more than it said.
        let length = files.find(GROWS)?.map_or(0, |found| found.length);
        if length > u64::from(number) * GROWN as u64 {
            return Ok(());
        }
        files.append(GROWS, &vec![number as u8; GROWN]).map(drop)
    })?;
    acks.say(format_args!("grown {}", number + 1));
    run.attempt(|store| {
        let picture = store.upload("image/jpeg", &*bytes)?;
        let bytes = u32::try_from(bytes.len()).unwrap_or_default();
        store.table::<Picture>()?.put(&Picture { album: "all".into(), number, bytes, picture })
    })?;
    acks.say(format_args!("picture {number}"));
    Ok(())
}

fn write_log(
    run: &mut Run<impl Fn() -> Result<Store>>,
    acks: &Acks,
    number: u32,
) -> std::result::Result<(), GivenUp> {
    run.attempt(|store| {
        let log: Log<u32> = store.log("numbers")?;
        for each in 0..3 {
            log.append(&(number * 3 + each))?;
        }
        log.flush()
    })?;
    acks.say(format_args!("entry {number}"));
    Ok(())
}

fn remove(
    run: &mut Run<impl Fn() -> Result<Store>>,
    acks: &Acks,
    number: u32,
) -> std::result::Result<(), GivenUp> {
    acks.say(format_args!("removes {number}"));
    run.attempt(|store| store.container("files")?.delete(&number.to_string()).map(drop))?;
    acks.say(format_args!("file gone {number}"));
    run.attempt(|store| match store.table::<Picture>()?.delete(Picture::key("all", number)) {
        Err(error) if error.kind() == ErrorKind::EntityNotFound => Ok(()),
        deleted => deleted,
    })?;
    acks.say(format_args!("picture gone {number}"));
    Ok(())
}

pub(super) fn verify(
    root: &Path,
    level: Durability,
    acks: super::Acks<'_>,
) -> std::result::Result<u64, String> {
    let open = || batches::open(root, level);
    let look = |_, store: &Store, _: &_| look(store, acks).map_err(|e| wrong("looking", e))?.map(Some);
    run::open_twice(root, level, acks, open, look, |opening, store| {
        if opening > 0 {
            return clear(store).map_err(|e| wrong("clearing", e))?;
        }
        let other = || store.container("others")?.put("one", &bytes(3));
        other().map_err(|e| wrong("putting on", e))
    })
}

/// How many acknowledged commits are not there; an error if something is there otherwise than it was ever put.
fn look(store: &Store, acks: super::Acks<'_>) -> Result<std::result::Result<u64, String>> {
    let numbers = |word: &str| -> BTreeSet<u32> {
        acks.iter()
            .filter_map(|ack| ack.strip_prefix(word))
            .filter_map(|number| number.parse().ok())
            .collect()
    };
    let last = |word: &str| numbers(word).last().copied();
    let removes = numbers("removes ");
    let (files, pictures) = (store.container("files")?, store.table::<Picture>()?);
    let mut lost = 0;
    for number in 0..NUMBERS {
        let found = files.get(&number.to_string())?;
        if found.as_ref().is_some_and(|found| *found != bytes(number)) {
            return Ok(Err(format!("file {number} has other bytes")));
        }
        let is_lost = numbers("file ").contains(&number) && !removes.contains(&number) && found.is_none();
        lost += u64::from(is_lost || numbers("file gone ").contains(&number) && found.is_some());
        let found = pictures.get(Picture::key("all", number))?;
        if let Some(found) = &found
            && found.picture.get(store)? != bytes(number)
        {
            return Ok(Err(format!("picture {number} has other bytes")));
        }
        let is_lost = numbers("picture ").contains(&number) && !removes.contains(&number) && found.is_none();
        lost += u64::from(is_lost || numbers("picture gone ").contains(&number) && found.is_some());
    }
    let same = files.get(SAME)?;
    let version = same.as_ref().map(|same| (0..NUMBERS).find(|number| bytes(*number) == *same));
    if version == Some(None) {
        return Ok(Err("what was put again has other bytes".into()));
    }
    lost += u64::from(version.flatten() < last("same "));
    let grown = files.get(GROWS)?.unwrap_or_default();
    if !grown.len().is_multiple_of(GROWN)
        || grown.iter().enumerate().any(|(at, byte)| at / GROWN != usize::from(*byte))
    {
        return Ok(Err(format!("what has grown has {} bytes, or other ones", grown.len())));
    }
    lost += u64::from(last("grown ").unwrap_or_default()).saturating_sub((grown.len() / GROWN) as u64);
    let log: Log<u32> = store.log("numbers")?;
    let found = log.entries()?.map(|entry| Ok(entry?.value)).collect::<Result<BTreeSet<_>>>()?;
    for number in numbers("entry ") {
        lost += u64::from(!(0..3).all(|each| found.contains(&(number * 3 + each))));
    }
    let is_back =
        acks.iter().any(|ack| ack == "dropped") && store.containers()?.iter().any(|name| name == "passing");
    Ok(Ok(lost + u64::from(is_back)))
}

/// Removes everything. Nothing may be left then but uploads, which expire.
fn clear(store: &Store) -> Result<std::result::Result<(), String>> {
    for name in store.containers()? {
        store.drop_container(&name)?;
    }
    if store.tables()?.iter().any(|table| table == "Pictures") {
        store.drop_table("Pictures")?;
    }
    store.reclaim()?;
    let left = store.stats()?.blobs;
    let is_empty = left.names == 0 && left.blobs == left.waiting;
    Ok(if is_empty { Ok(()) } else { Err(format!("left are {left:?}")) })
}
