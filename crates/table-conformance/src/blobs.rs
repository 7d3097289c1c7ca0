//! Blobs: bytes under names in containers, which a backend may keep.

use std::sync::Arc;

use table_engine::__executor::{
    Backend, BlobAnswer, BlobContent, BlobId, BlobSnapshot, BlobTask, Blobs, ContainerId,
};
use table_engine::contents::SEGMENT;
use table_engine::{ErrorKind, Result};

use super::check_lacks;

/// Returns the backend's blobs. A backend without them says so.
fn blobs(backend: &Arc<dyn Backend>) -> Option<Arc<dyn Blobs>> {
    match backend.clone().blobs() {
        Ok(blobs) => Some(blobs),
        Err(error) => {
            check_lacks(&error, "blobs");
            None
        }
    }
}

/// Returns so many bytes, of which no two segments are the same.
fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at % 251).unwrap_or_default().wrapping_add(seed)).collect()
}

/// A container of a backend, and what is done in it.
struct Bucket {
    blobs: Arc<dyn Blobs>,
    id: ContainerId,
}

impl Bucket {
    fn run(&self, tasks: Vec<BlobTask>) -> Result<Vec<BlobAnswer>> {
        self.blobs.clone().carry_out(tasks)
    }

    /// Makes the task that puts bytes under a name, and returns the identity of the blob.
    fn put(&self, name: &str, bytes: &[u8], is_new: bool) -> (BlobTask, BlobId) {
        let content = BlobContent::new(&self.blobs.identity(), "text/plain", bytes);
        let id = content.id;
        (BlobTask::Put { container: self.id, name: name.into(), content, is_new }, id)
    }

    fn snapshot(&self) -> Box<dyn BlobSnapshot> {
        self.blobs.clone().read_snapshot().unwrap()
    }

    /// Returns how long the blob of a name is, and what it holds by its segments.
    fn read(&self, snapshot: &dyn BlobSnapshot, name: &str, id: BlobId) -> Option<Vec<u8>> {
        let found = snapshot.find(self.id, name).unwrap()?;
        assert_eq!(snapshot.blob(id).unwrap().map(|known| known.length), Some(found.length));
        let segments = usize::try_from(found.length).unwrap().div_ceil(SEGMENT);
        let each = (0..segments)
            .flat_map(|at| snapshot.segment(id, u32::try_from(at).unwrap(), false).unwrap().to_vec());
        let read: Vec<u8> = each.collect();
        assert_eq!(read.len(), usize::try_from(found.length).unwrap());
        Some(read)
    }

    fn names(&self, prefix: &str, after: Option<&str>, most: usize) -> (Vec<String>, bool) {
        let (found, is_end) = self.snapshot().list(self.id, prefix, after, most).unwrap();
        (found.into_iter().map(|blob| blob.name).collect(), is_end)
    }
}

/// Returns a container of this name, if the backend keeps blobs.
fn bucket(backend: &Arc<dyn Backend>, name: &str) -> Option<Bucket> {
    let blobs = blobs(backend)?;
    let id = blobs.container(name).unwrap();
    Some(Bucket { blobs, id })
}

pub(crate) fn containers_come_and_go(backend: &Arc<dyn Backend>) {
    let Some(photos) = bucket(backend, "photos") else { return };
    let blobs = &photos.blobs;
    assert_eq!(blobs.container("photos").unwrap(), photos.id);
    assert_ne!(blobs.container("mails").unwrap(), photos.id);
    assert_eq!(blobs.containers().unwrap(), ["mails", "photos"]);
    photos.run(vec![photos.put("a", b"1", true).0]).unwrap();
    blobs.drop_container("photos").unwrap();
    assert_eq!(blobs.containers().unwrap(), ["mails"]);
    let put = photos.run(vec![photos.put("a", b"1", false).0]);
    assert_eq!(put.unwrap_err().kind(), ErrorKind::ContainerNotFound);
    assert_eq!(blobs.drop_container("photos").unwrap_err().kind(), ErrorKind::ContainerNotFound);
    let again = Bucket { blobs: blobs.clone(), id: blobs.container("photos").unwrap() };
    assert_eq!(again.names("", None, 10), (vec![], true));
}

pub(crate) fn a_blob_is_what_was_put_and_appended(backend: &Arc<dyn Backend>) {
    let Some(photos) = bucket(backend, "photos") else { return };
    for length in [0, 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, 3 * SEGMENT + 17] {
        let (mut whole, more) = (bytes(length, 1), bytes(SEGMENT / 2, 7));
        let (task, id) = photos.put("a", &whole, false);
        assert_eq!(photos.run(vec![task]).unwrap().len(), 1);
        assert_eq!(photos.read(&*photos.snapshot(), "a", id).as_ref(), Some(&whole), "{length}");
        let content = BlobContent::new(&photos.blobs.identity(), "text/plain", &more);
        let append = BlobTask::Append { container: photos.id, name: "a".into(), content };
        whole.extend(&more);
        let long = BlobAnswer::Length(u64::try_from(whole.len()).unwrap());
        assert_eq!(photos.run(vec![append]).unwrap(), [long]);
        assert_eq!(photos.read(&*photos.snapshot(), "a", id), Some(whole), "{length}");
    }
    let delete = || vec![BlobTask::Delete { container: photos.id, name: "a".into() }];
    assert_eq!(photos.run(delete()).unwrap(), [BlobAnswer::Removed(true)]);
    assert_eq!(photos.run(delete()).unwrap(), [BlobAnswer::Removed(false)]);
    assert_eq!(photos.snapshot().find(photos.id, "a").unwrap(), None);
}

pub(crate) fn blobs_are_listed_by_their_names(backend: &Arc<dyn Backend>) {
    let Some(photos) = bucket(backend, "photos") else { return };
    for name in ["b", "a/2", "a", "a/1", "\u{e9}"] {
        photos.run(vec![photos.put(name, b"1", true).0]).unwrap();
    }
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(photos.names("", None, 10), (list(&["a", "a/1", "a/2", "b", "\u{e9}"]), true));
    assert_eq!(photos.names("a/", None, 10), (list(&["a/1", "a/2"]), true));
    let (first, is_end) = photos.names("", None, 2);
    assert_eq!((first, is_end), (list(&["a", "a/1"]), false));
    assert_eq!(photos.names("", Some("a/1"), 10), (list(&["a/2", "b", "\u{e9}"]), true));
}

/// What is asked together happens whole or not at all, and a snapshot sees the blobs of its moment.
pub(crate) fn blobs_change_together(backend: &Arc<dyn Backend>) {
    let Some(photos) = bucket(backend, "photos") else { return };
    let (task, first) = photos.put("a", b"first", true);
    photos.run(vec![task]).unwrap();
    let before = photos.snapshot();
    let refused = photos.run(vec![photos.put("b", b"1", false).0, photos.put("a", b"2", true).0]);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::BlobAlreadyExists);
    assert_eq!(photos.names("", None, 10).0, ["a"]);
    let (task, second) = photos.put("a", b"second", false);
    photos.run(vec![task, photos.put("b", b"1", true).0]).unwrap();
    assert_eq!(photos.read(&*before, "a", first).as_deref(), Some(&b"first"[..]));
    assert_eq!(before.find(photos.id, "b").unwrap(), None);
    let now = photos.snapshot();
    assert_eq!(photos.read(&*now, "a", second).as_deref(), Some(&b"second"[..]));
    assert_eq!(now.blob(first).unwrap(), None, "what nothing leads to is gone");
}
