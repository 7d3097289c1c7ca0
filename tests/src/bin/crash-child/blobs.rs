//! Processes that put blobs, hold them, let go of them, and write logs.

use integration_tests::blobbed::{Picture, bytes};
use table_core::blob::Log;
use table_core::{IfMatch, Store};

use crate::say;

/// `blob-work STORE FIRST`: from this number on puts, uploads and logs, and says what was done, until the process is killed.
pub fn work(arguments: &[&str]) {
    let [path, first] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    let first: u32 = first.parse().unwrap();
    let (files, pictures) = (store.container("files").unwrap(), store.table::<Picture>().unwrap());
    let log: Log<u32> = store.log("numbers").unwrap();
    say("ready");
    for number in first.. {
        let bytes = bytes(number);
        if number % 2 == 0 {
            files.put(&format!("{number}"), &bytes).unwrap();
        } else {
            files.upload(&format!("{number}"), "application/octet-stream", &*bytes).unwrap();
        }
        say(format!("file {number}"));
        let length = u32::try_from(bytes.len()).unwrap();
        let picture = store.upload("image/jpeg", &*bytes).unwrap();
        pictures.insert(&Picture { album: "all".into(), number, bytes: length, picture }).unwrap();
        say(format!("picture {number}"));
        log.append(&number).unwrap();
        log.flush().unwrap();
        say(format!("entry {number}"));
        if number > first && number % 3 == 0 {
            let former = number - 1;
            say(format!("removes {former}"));
            files.delete(&format!("{former}")).unwrap();
            pictures.delete(Picture::key("all", former), IfMatch::Any).unwrap();
            say(format!("removed {former}"));
        }
    }
}
