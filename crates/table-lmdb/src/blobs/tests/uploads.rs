//! Uploads that stop.

use table_engine::contents::{BlobContent, BlobId, ContainerId, SEGMENT, UPLOAD_STANDS};
use table_engine::error::ErrorKind;

use super::*;
use crate::tests_scratch::in_memory;

fn stage(id: BlobId, first: u32, length: usize) -> BlobTask {
    BlobTask::Stage(BlobContent::of(id, first, "video/mp4", &bytes(length, 1)))
}

fn container(store: &Store) -> ContainerId {
    store.backend().clone().blobs().unwrap().container("films").unwrap()
}

#[test]
fn what_has_come_of_an_upload_that_stands_still_is_removed_and_it_can_not_go_on() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let films = container(&store);
    let hour = u64::try_from(UPLOAD_STANDS.as_nanos() / 100).unwrap();
    let begun = Ticks::now().get();
    set_clock(begun);
    let (one, other) = (BlobId::new(&[1; 16]), BlobId::new(&[1; 16]));
    ask(&store, stage(one, 0, 2 * SEGMENT)).unwrap();
    ask(&store, stage(other, 0, 2 * SEGMENT)).unwrap();
    // The second goes on within the hour.
    set_clock(begun + hour - 1);
    ask(&store, stage(other, 2, 10)).unwrap();
    store.shared().purge_blobs().unwrap();
    assert_eq!(store.stats().unwrap().blobs.waiting, 2);
    set_clock(begun + hour);
    store.shared().purge_blobs().unwrap();
    assert_eq!(store.stats().unwrap().blobs.waiting, 1);
    assert_sound(&store);
    let name = |id| BlobTask::Name { container: films, name: "film".into(), id, is_new: false };
    for task in [stage(one, 2, 10), name(one)] {
        assert_eq!(ask(&store, task).unwrap_err().kind(), ErrorKind::UploadExpired);
    }
    // Neither does one go on elsewhere than where it is.
    assert_eq!(ask(&store, stage(other, 3, 10)).unwrap_err().kind(), ErrorKind::UploadExpired);
    ask(&store, name(other)).unwrap();
    assert_eq!(ask(&store, name(other)).unwrap_err().kind(), ErrorKind::UploadExpired);
    let found = store.container("films").unwrap().find("film").unwrap().unwrap();
    assert_eq!(found.length, u64::try_from(2 * SEGMENT + 10).unwrap());
    let stats = store.stats().unwrap().blobs;
    assert_eq!((stats.blobs, stats.waiting), (1, 0));
    assert_sound(&store);
    CLOCK.set(None);
}

#[test]
fn a_container_of_another_store_is_none() {
    let dir = in_memory();
    let [one, other] = ["one", "other"].map(|name| Store::open(dir.path().join(name)).unwrap());
    let films = container(&one);
    container(&other);
    let put = |name: &str| {
        let content = BlobContent::new(&[1; 16], "video/mp4", &[1]);
        BlobTask::Put { container: films, name: name.into(), content, is_new: true }
    };
    ask(&one, put("film")).unwrap();
    assert_eq!(ask(&other, put("film")).unwrap_err().kind(), ErrorKind::ContainerNotFound);
    let snapshot = other.backend().clone().blobs().unwrap().read_snapshot().unwrap();
    assert_eq!(snapshot.find(films, "film").unwrap_err().kind(), ErrorKind::ContainerNotFound);
}
