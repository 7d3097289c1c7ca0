//! Blobs in the store that is damaged: by name, in rows, sealed, waiting for the rest of an upload, and in a log.

use std::io::Read;

use table_core::blob::{Blob, Log, SealedBlob};
use table_core::{Entity, ErrorKind, Result, Store};

use super::Findings;

/// A map that is too large for a property.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Maps", kind = "map")]
#[key(partition = "{sea}", row = "map_{id:04}")]
#[index(by_scale, row = "scale_{scale:06}_{id:04}")]
struct Map {
    sea: String,
    id: u32,
    scale: u32,
    chart: Blob,
}

/// A map that only its owner may read.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Hidden", kind = "hidden")]
#[key(partition = "{sea}", row = "hidden_{id:04}")]
struct Hidden {
    sea: String,
    id: u32,
    #[encrypt(scope = partition)]
    chart: SealedBlob,
}

/// The tables of the maps.
pub(super) const TABLES: [&str; 2] = ["Maps", "Hidden"];
const LENGTHS: [usize; 6] = [0, 40, 5_000, 65_512, 66_000, 140_000];
const ENTRIES: u32 = 30;

fn name(number: usize) -> String {
    format!("seas/{number:02}.map")
}

fn bytes(number: usize) -> Vec<u8> {
    let length = LENGTHS.get(number).copied().unwrap_or_default();
    let mut state = u64::try_from(number).unwrap_or_default() << 1 | 1;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn id(number: usize) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

pub(super) fn build(store: &Store) -> Result<()> {
    let (charts, maps) = (store.container("charts")?, store.table::<Map>()?);
    for number in 0..LENGTHS.len() {
        let bytes = bytes(number);
        // Some in two pieces, and each twice, so that old ones lie about.
        charts.put(&name(number), b"a former one")?;
        let (head, tail) = bytes.split_at(bytes.len() / 2);
        charts.put(&name(number), head)?;
        charts.append(&name(number), tail)?;
        let chart = store.upload("image/png", &*bytes)?;
        maps.insert(&Map { sea: "North".into(), id: id(number), scale: 7, chart })?;
        maps.insert(&Map { sea: "South".into(), id: id(number), scale: 8, chart })?;
    }
    let hidden = store.table::<Hidden>()?;
    for number in 0..LENGTHS.len() {
        let chart = store.upload_sealed("image/png", &*bytes(number))?;
        hidden.insert(&Hidden { sea: "North".into(), id: id(number), chart })?;
    }
    // No entity comes to hold it.
    store.upload("image/png", &bytes(4)[..])?;
    let log: Log<u32> = store.log("watches")?;
    for number in 0..ENTRIES {
        log.append(&number)?;
    }
    log.flush()
}

/// Compares bytes that were read; what is gone without being so is as bad as what is missing.
fn compare_bytes(findings: &mut Findings, what: &str, found: Result<Option<Vec<u8>>>, number: usize) {
    match found {
        Ok(Some(found)) if found == bytes(number) => {}
        Ok(Some(found)) => findings.wrong(|| format!("{what} {number} has {} other bytes", found.len())),
        Ok(None) => findings.missed(|| format!("{what} {number} is not there")),
        Err(error) if matches!(error.kind(), ErrorKind::BlobGone | ErrorKind::BlobNotFound) => {
            findings.missed(|| format!("{what} {number}: {error}"));
        }
        Err(error) => findings.error(&error),
    }
}

/// Reads all of it in every way.
pub(super) fn compare(store: &Store, findings: &mut Findings) {
    match store.containers() {
        Ok(names) if names == ["charts", "logs"] => {}
        Ok(names) => findings.missed(|| format!("the containers are {names:?}")),
        Err(error) => return findings.error(&error),
    }
    match store.container("charts") {
        Ok(charts) => {
            for number in 0..LENGTHS.len() {
                compare_bytes(findings, "chart", charts.get(&name(number)), number);
            }
            let listed = charts.list("seas/").and_then(Iterator::collect::<Result<Vec<_>>>);
            match listed.map(|listed| listed.into_iter().map(|blob| blob.name).collect::<Vec<_>>()) {
                Ok(names) if names == (0..LENGTHS.len()).map(name).collect::<Vec<_>>() => {}
                Ok(names) => findings.missed(|| format!("the charts are {names:?}")),
                Err(error) => findings.error(&error),
            }
        }
        Err(error) => findings.error(&error),
    }
    match store.table::<Map>() {
        Ok(maps) => {
            for (number, sea) in (0..LENGTHS.len()).flat_map(|number| [(number, "North"), (number, "South")])
            {
                let found = maps.get(Map::key(sea, id(number)));
                let read = |chart: Blob| {
                    let mut found = Vec::new();
                    let read = chart.open(store)?.read_to_end(&mut found);
                    // The store's own error is in it.
                    read.map_or_else(|error| error.downcast().map_or(Ok(None), Err), |_| Ok(Some(found)))
                };
                let found = found.and_then(|map| map.map_or(Ok(None), |map| read(map.chart)));
                compare_bytes(findings, sea, found, number);
            }
        }
        Err(error) => findings.error(&error),
    }
    match store.table::<Hidden>() {
        Ok(hidden) => {
            for number in 0..LENGTHS.len() {
                let found = hidden.get(Hidden::key("North", id(number)));
                let found = found.and_then(|map| map.map(|map| map.chart.get(store)).transpose());
                compare_bytes(findings, "hidden", found, number);
            }
        }
        Err(error) => findings.error(&error),
    }
    let entries = store.log::<u32>("watches").and_then(|log| log.entries());
    match entries.and_then(|entries| entries.map(|entry| Ok(entry?.value)).collect::<Result<Vec<_>>>()) {
        Ok(entries) if entries == (0..ENTRIES).collect::<Vec<_>>() => {}
        Ok(entries) => findings.missed(|| format!("the entries are {entries:?}")),
        Err(error) => findings.error(&error),
    }
}

/// Goes on with it: what comes of it is right, or an error.
pub(super) fn go_on(store: &Store, findings: &mut Findings) {
    let go_on = || {
        let (charts, maps) = (store.container("charts")?, store.table::<Map>()?);
        let length = charts.append(&name(4), b"more")?;
        let mut wrong = length != 66_004;
        charts.put(&name(1), b"another")?;
        wrong |= charts.get(&name(1))?.as_deref() != Some(b"another");
        wrong |= !charts.delete(&name(2))?;
        // The second of the two that hold it takes it along.
        for sea in ["North", "South"] {
            let map = maps.get(Map::key(sea, 5))?;
            maps.delete(Map::key(sea, 5))?;
            let found = map.map_or(Ok(Vec::new()), |map| map.chart.get(store));
            wrong |= match found {
                Ok(found) => sea == "South" || found != bytes(5),
                Err(error) if error.kind() == ErrorKind::BlobGone => sea == "North",
                Err(error) => return Err(error),
            };
        }
        Ok(wrong)
    };
    match go_on() {
        Ok(false) => {}
        Ok(true) => findings.wrong(|| "a blob is otherwise than it was written".to_owned()),
        Err(error) => findings.error(&error),
    }
}
