//! Processes that put blobs, hold them, let go of them, and write logs.

use std::path::Path;

use integration_tests::blobbed::{Picture, Scan, bytes, put_sealed, rotate_sealed, staged};
use integration_tests::rolls::{OF_ROW, Roll, discharge, enlist};
use integration_tests::vault;
use table_core::Store;
use table_core::blob::Log;

use crate::say;

/// `blob-work STORE FIRST KIND`: from this number on puts, uploads or logs, and says what was done, until the process is
/// killed. Of the kind `single` all goes in one transaction, of `staged` in several; `logs` writes entries alone, `sealed`
/// sealed blobs whose keys it rotates, `lists` entities of long index lists, and `enlist` puts
/// as many on one as make it long, at once.
pub fn work(arguments: &[&str]) {
    let [path, first, kind] = arguments else { panic!("arguments") };
    if *kind == "sealed" {
        return work_sealed(&vault::open(Path::new(path)).unwrap(), first.parse().unwrap());
    }
    let store = Store::open(path).unwrap();
    let first: u32 = first.parse().unwrap();
    if *kind == "enlist" {
        enlist(&store, first..first + OF_ROW + 1, 0).unwrap();
        say("enlisted");
        return std::thread::sleep(std::time::Duration::from_secs(60));
    }
    if *kind == "lists" {
        return work_on_lists(&store, first);
    }
    let log: Log<u32> = store.log("numbers").unwrap();
    say("ready");
    for number in first.. {
        if *kind == "logs" {
            // Several at once: what was gathered is there whole, or not at all.
            for each in 0..4 {
                log.append(&(number * 4 + each)).unwrap();
            }
            log.flush().unwrap();
            say(format!("entries {number}"));
        } else {
            put(&store, first, number, *kind == "staged");
        }
    }
}

/// Puts entities on one of two lists, and takes others off.
fn work_on_lists(store: &Store, first: u32) {
    let rolls = store.table::<Roll>().unwrap();
    say("ready");
    for number in first.. {
        let side = u8::try_from(number % 2).unwrap();
        rolls.insert(&Roll::new(number, side)).unwrap();
        say(format!("picture {number}"));
        if number % 3 == 2 && number > first + 1 {
            for former in [number - 1, number - 2] {
                say(format!("removes {former}"));
                discharge(store, former).unwrap();
                say(format!("removed {former}"));
            }
        }
    }
}

/// Of 300 to 1,200,000 bytes, so that some are uploaded in stages.
fn work_sealed(store: &Store, first: u32) {
    let scans = store.table::<Scan>().unwrap();
    say("ready");
    for number in first.. {
        put_sealed(store, number, &bytes(number)).unwrap();
        say(format!("picture {number}"));
        if number > first && number % 3 == 0 {
            let former = number - 1;
            say(format!("removes {former}"));
            scans.delete(Scan::key("all", former)).unwrap();
            say(format!("removed {former}"));
        }
        if number % 4 == 1 {
            // The other process may destroy a key that this one is about to seal with, or go over the rows, too.
            drop(rotate_sealed(store));
        }
    }
}

fn put(store: &Store, first: u32, number: u32, is_staged: bool) {
    let (files, pictures) = (store.container("files").unwrap(), store.table::<Picture>().unwrap());
    let bytes = if is_staged { staged(number) } else { bytes(number) };
    if is_staged {
        files.upload(&format!("{number}"), "application/octet-stream", &*bytes).unwrap();
    } else {
        files.put(&format!("{number}"), &bytes).unwrap();
    }
    say(format!("file {number}"));
    let length = u32::try_from(bytes.len()).unwrap();
    let picture = store.upload("image/jpeg", &*bytes).unwrap();
    pictures.insert(&Picture { album: "all".into(), number, bytes: length, picture }).unwrap();
    say(format!("picture {number}"));
    if number > first && number.is_multiple_of(3) {
        let former = number - 1;
        say(format!("removes {former}"));
        files.delete(&format!("{former}")).unwrap();
        pictures.delete(Picture::key("all", former)).unwrap();
        say(format!("removed {former}"));
    }
}
