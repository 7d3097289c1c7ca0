//! What a log gathers and writes, at times that the tests choose.

use table_engine::blob::log::write::Writer;
use table_engine::error::ErrorKind;
use table_engine::model::Ticks;

use crate::Store;
use crate::tests_scratch::in_memory;

#[test]
fn times_never_go_back_and_each_hour_has_its_blob() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let container = store.container("logs").unwrap();
    let mut writer = Writer::new(container.clone(), "queue".into());
    let at = |text: &str| text.parse::<Ticks>().unwrap();
    for (number, time) in [
        "2014-07-31T18:59:59Z",
        // The clock is set back.
        "2014-07-31T17:00:00Z",
        "2014-07-31T19:00:00Z",
        "2014-07-31T18:30:00Z",
    ]
    .into_iter()
    .enumerate()
    {
        writer.append(&number.to_string(), at(time)).unwrap();
    }
    writer.flush().unwrap();
    let mut second = Writer::new(container.clone(), "queue".into());
    second.append("\"second\"", at("2014-07-31T18:10:00Z")).unwrap();
    drop(second);
    let names: Vec<_> = container.list("").unwrap().map(|blob| blob.unwrap().name).collect();
    assert_eq!(
        names,
        [
            "queue/2014/07/31/1800/000001.log",
            "queue/2014/07/31/1800/000002.log",
            "queue/2014/07/31/1900/000001.log"
        ]
    );
    let text = |name: &str| String::from_utf8(container.get(name).unwrap().unwrap()).unwrap();
    assert_eq!(
        text(&names[0]),
        "{\"at\":\"2014-07-31T18:59:59Z\",\"entry\":0}\n{\"at\":\"2014-07-31T18:59:59Z\",\"entry\":1}\n"
    );
    assert_eq!(
        text(&names[2]),
        "{\"at\":\"2014-07-31T19:00:00Z\",\"entry\":2}\n{\"at\":\"2014-07-31T19:00:00Z\",\"entry\":3}\n"
    );
    assert_eq!(text(&names[1]), "{\"at\":\"2014-07-31T18:10:00Z\",\"entry\":\"second\"}\n");
}

#[test]
fn what_can_not_be_written_stays_gathered_up_to_a_bound() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let container = store.container("logs").unwrap();
    let mut writer = Writer::new(container, "queue".into());
    let now = Ticks::now();
    writer.append("1", now).unwrap();
    store.drop_container("logs").unwrap();
    assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::ContainerNotFound);
    let entry = format!("\"{}\"", "x".repeat(500_000));
    let mut kinds = Vec::new();
    for _ in 0..10 {
        kinds.push(writer.append(&entry, now).unwrap_err().kind());
    }
    assert_eq!(kinds[0], ErrorKind::ContainerNotFound);
    assert_eq!(kinds[9], ErrorKind::BlobTooLarge);
    let error = writer.append(&format!("\"{}\"", "x".repeat(1024 * 1024)), now).unwrap_err();
    assert!(error.to_string().contains("an entry may have"), "{error}");
}
