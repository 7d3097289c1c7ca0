//! Keys and records as bytes, and the rules of names.

use super::keys::{self, Key};
use super::*;
#[cfg(feature = "blob")]
use crate::error::ErrorKind;
use crate::messages::SetDigest;
use crate::model::Ticks;

#[test]
fn keys_are_taken_apart_as_they_were_made_and_no_others_are() {
    let id = BlobId::new(&[1; 16]);
    assert_eq!(Key::parse(&keys::DIRECTORY), Some(Key::Directory));
    assert_eq!(Key::parse(&keys::COUNTERS), Some(Key::Counters));
    assert_eq!(Key::parse(&keys::name(7, "a/b")), Some(Key::Name(7, "a/b")));
    assert_eq!(Key::parse(&keys::blob(id)), Some(Key::Blob(id)));
    assert_eq!(Key::parse(&keys::waiting(id)), Some(Key::Waiting(id)));
    assert_eq!(Key::parse(&keys::segment(id, 300)), Some(Key::Segment(id, 300)));
    let long = [keys::blob(id), vec![0]].concat();
    let short = keys::segment(id, 1);
    for wrong in [&[][..], &[6], &[0, 0], &[1, 1], &[2, 0, 0], &long, &short[..short.len() - 1]] {
        assert_eq!(Key::parse(wrong), None, "{wrong:?}");
    }
    assert!(keys::segment(id, 255) < keys::segment(id, 256));
}

#[test]
fn records_are_read_as_they_were_written_and_no_others_are() {
    let at = |ticks| Ticks::new(ticks).unwrap();
    let blob = BlobRecord {
        length: 70_000,
        digest: 9,
        references: 2,
        made: at(5),
        changed: at(6),
        content_type: "image/jpeg".into(),
    };
    let body = blob.encode();
    assert_eq!(BlobRecord::decode(&body), Some(blob));
    for length in 0..=36 {
        assert_eq!(BlobRecord::decode(&body[..length]), None, "{length}");
    }
    assert_eq!(BlobRecord::decode(&[&body[..], &[7]].concat()), None, "no type has a control character");

    let named = NameRecord { id: BlobId::new(&[1; 16]) };
    assert_eq!(NameRecord::decode(&named.encode()), Some(named));
    assert_eq!(NameRecord::decode(&named.encode()[1..]), None);

    for waiting in [Waiting::Upload(at(7)), Waiting::Gone] {
        let body = waiting.encode();
        assert_eq!(Waiting::decode(&body), Some(waiting));
        assert_eq!(Waiting::decode(&[&body[..], &[0]].concat()), None);
    }
    assert_eq!((Waiting::decode(&[]), Waiting::decode(&[2])), (None, None));

    let set_digest = |count| SetDigest { count, digest: u64::MAX - count };
    let counters = Counters {
        names: set_digest(1),
        blobs: set_digest(2),
        waiting: set_digest(3),
        segments: set_digest(4),
        bytes: 5,
    };
    assert_eq!(Counters::decode(&counters.encode()), Some(counters));
    assert_eq!(Counters::decode(&counters.encode()[1..]), None);
}

#[test]
fn an_upload_is_over_after_an_hour_by_whichever_clock() {
    let touched = Ticks::now();
    let hour = UPLOAD_STANDS;
    let waiting = Waiting::Upload(touched);
    let nearly = hour.checked_sub(Duration::from_secs(1)).unwrap();
    assert!(!waiting.is_over(touched));
    assert!(!waiting.is_over(touched.checked_add(nearly).unwrap()));
    assert!(waiting.is_over(touched.checked_add(hour).unwrap()));
    assert!(!waiting.is_over(touched.checked_sub(nearly).unwrap()), "the clock was set back");
    assert!(waiting.is_over(touched.checked_sub(hour).unwrap()), "it was far ahead");
    assert!(Waiting::Gone.is_over(touched));
}

#[test]
fn contents_are_cut_into_segments() {
    let bytes: Vec<u8> = (0..=250).cycle().take(2 * SEGMENT + 5).collect();
    let content = BlobContent::new(&[1; 16], ANY_TYPE, &bytes);
    let lengths: Vec<_> = content.segments.iter().map(Vec::len).collect();
    assert_eq!(lengths, [SEGMENT, SEGMENT, 5]);
    assert_eq!(content.segments.concat(), bytes);
    assert_eq!(content.length(), 131_029);
    assert_eq!([0, 1, 65_512, 65_513].map(segments), [0, 1, 1, 2]);
    assert_eq!(BlobContent::new(&[1; 16], ANY_TYPE, &[]).segments.len(), 0);
}

#[cfg(feature = "blob")]
#[test]
fn names_and_types_have_rules() {
    for name in ["a", "sales/000007.jpg", "Photo 1", "\u{e9}", &"a".repeat(1_024)] {
        name::check_blob(name).unwrap();
    }
    for (name, said) in
        [("", "one character"), (&*"a".repeat(1_025), "1025 bytes"), ("a\nb", "`\\n`"), ("\0", "`\\0`")]
    {
        let error = name::check_blob(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidBlobName, "{name}");
        assert!(error.to_string().contains(said), "{error}");
    }
    name::check_prefix("").unwrap();
    for name in ["photos", "a-b", &"a".repeat(63)] {
        name::check_container(name).unwrap();
    }
    for name in ["ab", "Photos", "a--b", &"a".repeat(64)] {
        let error = name::check_container(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidContainerName, "{name}");
        assert!(error.to_string().contains("container"), "{error}");
    }
    name::check_type("text/plain; charset=utf-8").unwrap();
    for text in ["", "a\nb", "\u{e9}", &"a".repeat(256)] {
        assert_eq!(name::check_type(text).unwrap_err().kind(), ErrorKind::ValueOutOfRange, "{text}");
    }
}

/// As `docs/internals/format.md` has them.
#[test]
fn keys_and_records_are_these_bytes() {
    let id = BlobId([7; 16]);
    let of = |kind: u8, rest: &[u8]| [&[kind][..], &id.0, rest].concat();
    assert_eq!((keys::DIRECTORY, keys::COUNTERS), ([0], [1]));
    assert_eq!(keys::name(0x0102_0304, "a/b"), [2, 1, 2, 3, 4, b'a', b'/', b'b']);
    assert_eq!(keys::blob(id), of(3, &[]));
    assert_eq!(keys::waiting(id), of(4, &[]));
    assert_eq!(keys::segment(id, 258), of(5, &[0, 0, 1, 2]));
    let blob = BlobRecord {
        length: 258,
        digest: 9,
        references: 3,
        made: Ticks::new(5).unwrap(),
        changed: Ticks::new(6).unwrap(),
        content_type: "a/b".into(),
    };
    let numbers = [
        [2, 1, 0, 0, 0, 0, 0, 0],
        [9, 0, 0, 0, 0, 0, 0, 0],
        [5, 0, 0, 0, 0, 0, 0, 0],
        [6, 0, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(blob.encode(), [&numbers.concat()[..], &[3, 0, 0, 0], b"a/b"].concat());
    assert_eq!(NameRecord { id }.encode(), [7; 16]);
    assert_eq!(Waiting::Upload(Ticks::new(5).unwrap()).encode(), [0, 5, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Waiting::Gone.encode(), [1]);
    let set_digest = |count| SetDigest { count, digest: count + 1 };
    let counters = Counters {
        names: set_digest(1),
        blobs: set_digest(3),
        waiting: set_digest(5),
        segments: set_digest(7),
        bytes: 9,
    };
    let numbers: Vec<u8> = (1..=9_u64).flat_map(u64::to_le_bytes).collect();
    assert_eq!(counters.encode(), numbers);
    let mark =
        [0xc1, 0x9d, 0x4b, 0x1f, 0xe6, 0x52, 0xa8, 0x37, 0x0e, 0xd4, 0x73, 0xbc, 0x95, 0x28, 0xf1, 0x6a];
    assert_eq!(reference::encode(id, 258), [&mark[..], &id.0, &[2, 1, 0, 0, 0, 0, 0, 0]].concat());
}
