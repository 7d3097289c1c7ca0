//! What a sealed blob's reader gives of segments that an attacker changed, moved, cut or exchanged: an error, and never
//! other bytes.

use std::borrow::Cow;
use std::io::{Read, Seek, SeekFrom};

use proptest::prelude::*;

use super::*;
use crate::contents::ContainerId;
use crate::model::Ticks;

/// A blob as a store gives it whose file an attacker may have written to.
#[derive(Clone)]
struct Forged {
    segments: Vec<Vec<u8>>,
    info: BlobInfo,
}

impl BlobSnapshot for Forged {
    fn find(&self, _: ContainerId, _: &str) -> Result<Option<BlobInfo>> {
        Ok(None)
    }

    fn list(&self, _: ContainerId, _: &str, _: Option<&str>, _: usize) -> Result<(Vec<BlobInfo>, bool)> {
        Ok((Vec::new(), true))
    }

    fn blob(&self, _: BlobId) -> Result<Option<BlobInfo>> {
        Ok(Some(self.info.clone()))
    }

    fn segment(&self, _: BlobId, number: u32, _: bool) -> Result<Cow<'_, [u8]>> {
        let segment = self.segments.get(usize::try_from(number).unwrap());
        segment.map(|segment| segment.as_slice().into()).ok_or_else(|| Error::new(ErrorKind::Corrupt))
    }
}

const TYPE: &str = "image/jpeg";

/// Bytes of which no two segments are alike.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from((at / 251 + at) % 256).unwrap()).collect()
}

/// Seals bytes as an upload does.
fn sealed(bytes: &[u8]) -> (Forged, Held) {
    let key = SecretKey::generate().unwrap();
    let cipher = SegmentCipher::new(key.expose(), TYPE);
    let mut all = Vec::new();
    SealingReader::new(cipher, bytes).read_to_end(&mut all).unwrap();
    let (id, length, time) = (BlobId::new(&[1; 16]), length_of(all.len()), Ticks::MIN);
    let name = String::new();
    let info = BlobInfo { name, length, content_type: TYPE.into(), made: time, changed: time, id };
    let reference = [&reference::encode(id, length)[..], key.expose()].concat();
    let segments = all.chunks(SEGMENT).map(<[u8]>::to_vec).collect();
    (Forged { segments, info }, Held::decode(&reference).unwrap())
}

/// Returns what is read of it from end to end, whole and by a reader.
fn read(forged: &Forged, held: &Held) -> Result<Vec<u8>> {
    let info = held.info(&[1; 16], forged)?;
    let mut opener = Opener::new(held.cipher(&info.content_type)?);
    let whole = read_whole(forged, &info, Some(&mut opener));
    let mut read = Vec::new();
    let in_parts = reader(forged, held)?.read_to_end(&mut read);
    match &whole {
        Ok(whole) => assert!(in_parts.is_ok() && read == *whole),
        Err(_) => assert_eq!(in_parts.unwrap_err().kind(), io::ErrorKind::InvalidData),
    }
    whole
}

fn reader(forged: &Forged, held: &Held) -> Result<BlobReader> {
    let info = held.info(&[1; 16], forged)?;
    let opener = Opener::new(held.cipher(&info.content_type)?);
    Ok(BlobReader::sealed(Box::new(forged.clone()), info, held.length, Box::new(opener)))
}

#[test]
fn bytes_of_any_length_come_back() {
    for length in [0, 1, PLAIN - 1, PLAIN, PLAIN + 1, 2 * PLAIN, 2 * PLAIN + 1, 3 * PLAIN - 1] {
        let (forged, held) = sealed(&bytes(length));
        assert_eq!(held.length, length_of(length));
        assert_eq!(forged.segments.len(), length.div_ceil(PLAIN).max(1));
        assert!(read(&forged, &held).unwrap() == bytes(length), "{length}");
    }
}

#[test]
fn what_was_changed_moved_cut_or_exchanged_is_refused() {
    let (sound, held) = sealed(&bytes(2 * PLAIN + 100));
    let (other, _) = sealed(&bytes(2 * PLAIN + 100));
    let refused = |what: &str, forge: &dyn Fn(&mut Forged)| {
        let mut forged = sound.clone();
        forge(&mut forged);
        let error = read(&forged, &held).map(drop).expect_err(what);
        assert!(matches!(error.kind(), ErrorKind::DecryptionFailed | ErrorKind::Corrupt), "{what}: {error}");
    };
    for segment in 0..3 {
        refused("a bit", &|forged| forged.segments[segment][50] ^= 1);
        refused("a bit of the tag", &|forged| *forged.segments[segment].last_mut().unwrap() ^= 0x80);
        refused("another blob's", &|forged| forged.segments[segment] = other.segments[segment].clone());
        refused("nothing", &|forged| forged.segments[segment].clear());
        refused("one byte less", &|forged| {
            let length = forged.segments[segment].len();
            forged.segments[segment].truncate(length - 1);
        });
    }
    refused("the first two exchanged", &|forged| forged.segments.swap(0, 1));
    refused("twice the same", &|forged| forged.segments[1] = forged.segments[0].clone());
    refused("all of another", &|forged| forged.segments = other.segments.clone());
    refused("another type", &|forged| forged.info.content_type = "text/html".into());
    // Cut where a segment ends, with a record that says so.
    refused("the end is missing", &|forged| {
        forged.segments.truncate(2);
        forged.info.length = 2 * length_of(SEGMENT);
    });
    refused("more behind", &|forged| {
        forged.segments.push(vec![7; 50]);
        forged.info.length += 50;
    });
    assert!(read(&sound, &held).is_ok());
}

#[test]
fn a_reader_gives_what_comes_before_and_after_what_was_changed() {
    let put = bytes(3 * PLAIN);
    let (mut forged, held) = sealed(&put);
    forged.segments[1][7] ^= 1;
    let mut reader = reader(&forged, &held).unwrap();
    assert_eq!(
        (reader.len(), reader.info().length, reader.content_type()),
        (length_of(3 * PLAIN), reader.len(), TYPE)
    );
    let mut first = vec![0; PLAIN];
    reader.read_exact(&mut first).unwrap();
    assert!(first == put[..PLAIN]);
    let mut rest = Vec::new();
    let error = reader.read_to_end(&mut rest).unwrap_err();
    assert_eq!((error.kind(), rest.len()), (io::ErrorKind::InvalidData, 0));
    let inner = error.get_ref().and_then(|error| error.downcast_ref::<Error>()).unwrap();
    assert_eq!(inner.kind(), ErrorKind::DecryptionFailed, "{inner}");
    assert!(reader.read(&mut [0; 4]).is_err(), "nothing of it is given the second time");
    reader.seek(SeekFrom::End(-5)).unwrap();
    reader.read_to_end(&mut rest).unwrap();
    assert!(rest == put[put.len() - 5..]);
}

#[test]
fn an_upload_whose_reader_fails_gives_no_end() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::other("no more"));
            }
            let length = into.len().min(self.0);
            self.0 -= length;
            into[..length].fill(7);
            Ok(length)
        }
    }
    // Whether a segment is the last is known when the next byte comes.
    for (length, given) in [(PLAIN - 1, 0), (PLAIN, 0), (PLAIN + 1, SEGMENT), (2 * PLAIN + 10, 2 * SEGMENT)] {
        let cipher = SegmentCipher::new(&[7; 32], TYPE);
        let mut all = Vec::new();
        let error = SealingReader::new(cipher, Failing(length)).read_to_end(&mut all).unwrap_err();
        assert_eq!((error.to_string().as_str(), all.len()), ("no more", given));
    }
}

#[test]
fn it_is_the_reference_with_the_key_and_shows_none_of_it() {
    let (_, held) = sealed(b"a scan");
    let blob = SealedBlob(Some(Arc::new(held)));
    let value = blob.to_property().unwrap().into_value().unwrap();
    let bytes = value.as_bytes().unwrap().to_vec();
    assert_eq!(reference::in_clear(&bytes).map(|clear| &clear[..]), Some(&bytes[..reference::BYTES]));
    let back = SealedBlob::from_property(Some(ValueRef::Binary(&bytes))).unwrap();
    assert_eq!((&back, back.len()), (&blob, 6));
    let text = format!("{blob:?} {blob:#?}");
    for part in bytes[reference::BYTES..].windows(3) {
        let [a, b, c] = [part[0], part[1], part[2]];
        assert!(
            !text.contains(&format!("{a}, {b}, {c}"))
                && !text.contains(&format!("{a:02x}{b:02x}{c:02x}{a:02x}"))
        );
    }
    assert_eq!(SealedBlob::default(), SealedBlob::from_property(Some(ValueRef::Binary(&[]))).unwrap());
    let no_length = [&reference::encode(BlobId::new(&[1; 16]), 5)[..], &[7; 32]].concat();
    for wrong in [&bytes[..reference::BYTES], &bytes[1..], &[7; 72], &no_length] {
        let error = SealedBlob::from_property(Some(ValueRef::Binary(wrong))).unwrap_err();
        assert_eq!(error.to_string(), "expected a reference to a sealed blob, found other bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_place_is_read_as_it_was(length in 0..3 * PLAIN, places in prop::collection::vec((0..3 * PLAIN, 0..PLAIN), 1..8)) {
        let put = bytes(length);
        let (forged, held) = sealed(&put);
        let mut reader = reader(&forged, &held).unwrap();
        for (at, most) in places {
            reader.seek(SeekFrom::Start(length_of(at))).unwrap();
            let mut read = Vec::new();
            (&mut reader).take(length_of(most)).read_to_end(&mut read).unwrap();
            let from = at.min(length);
            prop_assert!(read == put[from..(from + most).min(length)]);
        }
    }
}
