//! `tables blobs` and `tables logs`.

use snapbox::str;
use table_core::Store;

use crate::run::{on, on_company, same, to_people};

#[test]
fn blobs_are_listed_and_printed() {
    same(
        to_people(&["blobs"]).shown(),
        str![[r#"
container  blobs  bytes
logs           1    148
photos         2     55
[0]

"#]],
    );
    same(
        to_people(&["blobs", "photos"]).shown(),
        str![[r#"
blob               bytes  type        made                          changed
mia.png               20  image/png   <time>  <time>
notes/read-me.txt     35  text/plain  <time>  <time>
[0]

"#]],
    );
    same(
        on_company(&["blobs", "photos", "notes/"]).shown(),
        str![[r#"
{"blob":"notes/read-me.txt","bytes":35,"type":"text/plain","made":"<time>","changed":"<time>"}
[0]

"#]],
    );
    let ran = on_company(&["blobs", "photos", "--get", "notes/read-me.txt"]);
    assert_eq!((ran.out.as_str(), ran.code), ("Photos are taken on the first day.\n", 0));
    assert_eq!(on_company(&["blobs", "photos", "--get", "nothing"]).code, 3);
    assert_eq!(on_company(&["blobs", "nothing"]).code, 3);
}

#[test]
fn entries_of_a_log_are_printed() {
    same(
        on_company(&["logs"]).shown(),
        str![[r#"
{"log":"requests","blobs":1,"bytes":148}
[0]

"#]],
    );
    same(
        on_company(&["logs", "requests"]).shown(),
        str![[r#"
{"at":"<time>","path":"/","status":200}
{"at":"<time>","path":"/cart","status":500}
[0]

"#]],
    );
    assert_eq!(on_company(&["logs", "requests", "--until", "2014-07-31"]).out, "");
    let since = on_company(&["logs", "requests", "--since", "365d"]);
    assert_eq!(since.out.lines().count(), 2, "{}", since.err);
    same(
        on_company(&["logs", "nothing"]).shown(),
        str![[r#"
[3]
tables: there is no log `nothing`; there are requests

"#]],
    );
    assert_eq!(on_company(&["logs", "requests", "--since", "soon"]).code, 2);
}

#[test]
fn an_entry_with_a_time_of_its_own_keeps_both() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("logs.tables");
    let store = Store::open(&path).unwrap();
    let log = store.log::<serde_json::Value>("requests").unwrap();
    log.append(&serde_json::json!({"at": "gate 7"})).unwrap();
    log.flush().unwrap();
    drop(log);
    store.close().unwrap();
    let ran = on(path.to_str().unwrap(), &["logs", "requests"]);
    assert!(ran.out.ends_with("\"entry\":{\"at\":\"gate 7\"}}\n"), "{}", ran.shown());
}
