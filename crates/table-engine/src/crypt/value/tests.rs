//! The bytes of sealed values and tokens, frozen; and everything that is not them, refused.
//!
//! The vectors were made by another program, from `docs/internals/format.md`, with AES and GCM of its own.

use uuid::Uuid;

use super::*;
use crate::crypt::{KeyScope, Scope, SecretKey, Token, TokenScope};
use crate::model::Ticks;

const STORE: [u8; 16] =
    [0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf];

fn key(version: u32) -> DataKey {
    let bytes: Vec<u8> = (0..32).collect();
    DataKey::new(
        KeyHandle(0x0123_4567_89ab_cdef),
        version,
        Scope::store(),
        &SecretKey::from_slice(&bytes).unwrap(),
    )
}

fn cell() -> Cell<'static> {
    Cell::new(7, "Sales", "empid_000001", "Ssn").unwrap()
}

fn salt() -> [u8; envelope::SALT] {
    std::array::from_fn(|at| 100 + u8::try_from(at).unwrap())
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Returns a value, the number of its type, and its ciphertext with the tag.
fn vectors() -> [(ValueRef<'static>, &'static str, &'static str); 8] {
    [
        (
            ValueRef::String("078-05-1120 é"),
            "00",
            "37ba115a846a71bf741229be6029a8063c353adaaa22f06493abb299e931",
        ),
        (ValueRef::Binary(b""), "01", "1d949cbbb31d6e362267e9fc4b9b8053"),
        (ValueRef::Boolean(true), "02", "066e231d4bd131a8e958c3c4b739e3b222"),
        (ValueRef::Int32(-2), "03", "f972d6882ac47c868bf12f7f0f930f54fc9438ff"),
        (ValueRef::Int64(1 << 40), "04", "078d2977b45e5c8e1152b62c476d816c1b8998882767b44a"),
        (ValueRef::Double(-0.5), "05", "078d2977b45fbc31b1083185c0c9facd533fe64745ea449e"),
        (
            ValueRef::DateTime(Ticks::new(635_424_264_000_000_000).unwrap()),
            "06",
            "07dd4b16b4248d86b5d8cf03d5278d511fd5c48d8a56e6d8",
        ),
        (
            ValueRef::Guid(Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff)),
            "07",
            "079c0b44f00a3af9cdb9b3256f5d94f2eec339d06266fd18e0d18a16a8d12c1c",
        ),
    ]
}

#[test]
fn the_bytes_of_a_sealed_value_are_frozen() {
    for (value, tag, ciphertext) in vectors() {
        let key = key(1);
        let sealed = seal_with(&salt(), &cell(), &STORE, &key, value).unwrap();
        let handle = "efcdab8967452301";
        let salt = "6465666768696a6b6c6d6e6f707172737475767778797a7b";
        let commitment = "9fd1da8a401372860860ac5e14484a5e";
        let expected = unhex(&format!("0101{tag}{handle}{salt}{commitment}{ciphertext}"));
        assert_eq!(sealed, expected, "{:?}", value.edm_type());
        let parsed = Sealed::parse(&expected).unwrap();
        assert_eq!(KeyHandle::of(&expected), Some(key.handle()));
        assert_eq!(parsed.open(&cell(), &STORE, &key).unwrap(), value.to_value());
    }
}

#[test]
fn tokens_are_frozen() {
    let ssn = ValueRef::String("078-05-1120");
    let token = |version, scope, value| Token::new(&key(version), scope, &cell(), value).to_string();
    assert_eq!(token(3, TokenScope::Partition, ssn), "03977fa0b3c2f4da5061800d043d1b1249");
    assert_eq!(token(3, TokenScope::Table, ssn), "03040e200d5db8fcb130a4daaabbf31291");
    // Of the version only the last byte; of an integer not its width.
    for five in [ValueRef::Int32(5), ValueRef::Int64(5)] {
        assert_eq!(token(259, TokenScope::Partition, five), "03c27dcf5abf4df8726c9bcb434360a7c5");
    }
    let check = SecretKey::from_slice(&(0..32).collect::<Vec<u8>>()).unwrap().check_value();
    assert_eq!(&check[..], unhex("98e38a37774e8d485def70f1438c99336ab00dbf7bef866e723cdd015afd6bd2"));
}

#[test]
fn how_long_a_value_will_be_is_known_before() {
    for (value, ..) in vectors() {
        assert_eq!(sealed_len(value), seal(&cell(), &STORE, &key(1), value).unwrap().len());
    }
}

#[test]
fn what_is_sealed_and_what_it_is_bound_to_are_written_without_growing() {
    for (value, ..) in vectors() {
        let sealed = seal(&cell(), &STORE, &key(1), value).unwrap();
        assert_eq!(sealed.capacity(), sealed.len());
        let aad = binding(&cell(), &STORE, &[0; HEADER], &[]);
        assert_eq!(aad.capacity(), aad.len());
    }
}

#[test]
fn a_token_is_its_bytes_and_its_text() {
    let token = Token::new(&key(3), TokenScope::Table, &cell(), ValueRef::String("078-05-1120"));
    let text = "03040e200d5db8fcb130a4daaabbf31291";
    assert_eq!(token.to_bytes().to_vec(), unhex(text));
    assert_eq!((token.to_string(), format!("{token:?}")), (text.to_owned(), format!("Token({text})")));
}

#[test]
fn tokens_of_a_table_are_of_a_key_that_all_its_partitions_know() {
    use KeyScope::{Partition, Store, Table};
    for (tokens, values, keys) in [
        (TokenScope::Table, Partition, Table),
        (TokenScope::Table, Table, Table),
        (TokenScope::Table, Store, Store),
        (TokenScope::Partition, Partition, Partition),
        (TokenScope::Partition, Table, Table),
        (TokenScope::Partition, Store, Store),
    ] {
        assert_eq!(tokens.key_scope(values), keys, "{tokens:?} of {values:?}");
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_refused() {
    let (key, cell) = (key(1), cell());
    let open = |bytes: &[u8]| match Sealed::parse(bytes) {
        // Another handle is another key's: the store would look for that one. Here it is bound by the binding too.
        Some(sealed) => sealed.open(&cell, &STORE, &key),
        None => Sealed::read(&cell, bytes).map(|_| unreachable!()),
    };
    for (value, ..) in vectors() {
        let sealed = seal(&cell, &STORE, &key, value).unwrap();
        assert_eq!(open(&sealed).unwrap(), value.to_value());
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&flipped).unwrap_err().kind(), ErrorKind::DecryptionFailed, "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert!(open(&sealed[..length]).is_err(), "length {length}");
            assert!(open(&sealed[length + 1..]).is_err(), "without the first {length}");
        }
        assert!(open(&[&*sealed, &[0]].concat()).is_err());
    }
}

#[test]
fn a_value_opens_in_its_own_cell_alone() {
    let key = key(1);
    let cells = [
        cell(),
        Cell { table: 8, ..cell() },
        Cell { partition: "Marketing", ..cell() },
        Cell { row: "empid_000002", ..cell() },
        Cell { property: "Salary", ..cell() },
        // The same letters, cut elsewhere.
        Cell { partition: "Salese", row: "mpid_000001", ..cell() },
        Cell { row: "empid_000001S", property: "sn", ..cell() },
        Cell { partition: "", row: "Salesempid_000001", ..cell() },
    ];
    for (at, from) in cells.iter().enumerate() {
        let sealed = seal(from, &STORE, &key, ValueRef::Int64(7)).unwrap();
        let sealed = Sealed::parse(&sealed).unwrap();
        for (other, to) in cells.iter().enumerate() {
            let opened = sealed.open(to, &STORE, &key);
            assert_eq!(opened.is_ok(), at == other, "{from:?} as {to:?}");
        }
        assert!(sealed.open(from, &[0; 16], &key).is_err(), "another store");
        // Whose key it is says the key; a cell's scope only says which key seals.
        assert!(sealed.open(&from.scoped(KeyScope::Partition), &STORE, &key).is_ok());
    }
}

#[test]
fn a_value_opens_as_no_other_type() {
    let (key, cell) = (key(1), cell());
    for (value, ..) in vectors() {
        let sealed = seal(&cell, &STORE, &key, value).unwrap();
        for tag in 0..=255 {
            let mut other = sealed.clone();
            other[2] = tag;
            let opened = Sealed::parse(&other).map(|sealed| sealed.open(&cell, &STORE, &key).is_ok());
            assert_eq!(opened == Some(true), tag == plain::tag(value.edm_type()), "type {tag}");
        }
    }
}

#[test]
fn another_key_of_the_same_name_does_not_open() {
    let other = DataKey::new(key(1).handle(), 1, Scope::store(), &SecretKey::generate().unwrap());
    let sealed = seal(&cell(), &STORE, &key(1), ValueRef::Boolean(true)).unwrap();
    let error = Sealed::parse(&sealed).unwrap().open(&cell(), &STORE, &other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DecryptionFailed);
}

#[test]
fn a_flag_is_one_of_two_bytes_and_a_text_is_utf_8() {
    for flag in [false, true] {
        let sealed = seal(&cell(), &STORE, &key(1), ValueRef::Boolean(flag)).unwrap();
        let opened = Sealed::parse(&sealed).unwrap().open(&cell(), &STORE, &key(1)).unwrap();
        assert_eq!(opened, Value::Boolean(flag));
        assert_eq!(plain::value_of(EdmType::Boolean, vec![flag.into()]), Some(Value::Boolean(flag)));
    }
    for (edm, bytes) in [
        (EdmType::Boolean, vec![2]),
        (EdmType::Boolean, vec![]),
        (EdmType::Int32, vec![0; 8]),
        (EdmType::Int64, vec![0; 4]),
        (EdmType::Double, vec![0; 4]),
        (EdmType::DateTime, vec![0; 4]),
        (EdmType::Guid, vec![0; 15]),
        (EdmType::DateTime, vec![0xff; 8]),
        (EdmType::String, vec![0xff]),
    ] {
        assert_eq!(plain::value_of(edm, bytes), None, "{edm:?}");
    }
}

#[test]
fn keys_print_their_names_alone() {
    let key = key(1);
    assert!(key.handle().to_string().ends_with("0123456789abcdef"), "{}", key.handle());
    assert!(format!("{:?}", key.handle()).contains("0123456789abcdef"));
    let secret = SecretKey::from_slice(&[0x5a; 32]).unwrap();
    assert!(SecretKey::from_slice(&[0x5a; 31]).is_none() && SecretKey::from_slice(&[0x5a; 33]).is_none());
    for text in [format!("{secret:?}"), format!("{:?}", secret.derivation())] {
        assert!(!text.is_empty() && !text.contains("90") && !text.contains("5a"), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_refused_before_it_is_sealed() {
    let most = limits::BINARY_BYTES - OVERHEAD;
    let fits = seal(&cell(), &STORE, &key(1), ValueRef::Binary(&vec![1; most])).unwrap();
    assert_eq!(fits.len(), limits::BINARY_BYTES);
    let text = "\u{20ac}".repeat(limits::STRING_UNITS);
    for value in [ValueRef::Binary(&vec![1; most + 1]), ValueRef::String(&text)] {
        let error = seal(&cell(), &STORE, &key(1), value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PropertyValueTooLarge);
        assert!(error.to_string().contains("`Ssn`") && !error.to_string().contains('\u{20ac}'), "{error}");
    }
    let early = ValueRef::DateTime(Ticks::MIN);
    assert_eq!(seal(&cell(), &STORE, &key(1), early).unwrap_err().kind(), ErrorKind::ValueOutOfRange);
    assert_eq!(Cell::new(7, "a", "b", "").unwrap_err().kind(), ErrorKind::PropertyNameInvalid);
}

#[test]
fn equal_values_seal_differently_and_have_one_token() {
    let (key, ssn) = (key(1), ValueRef::String("078-05-1120"));
    let [a, b] = [(); 2].map(|()| seal(&cell(), &STORE, &key, ssn).unwrap());
    assert_ne!(a[11..35], b[11..35], "salts");
    assert_ne!(a[51..], b[51..], "ciphertexts");

    let token = |cell: &Cell<'_>, scope, value| Token::new(&key, scope, cell, value);
    let base = token(&cell(), TokenScope::Partition, ssn);
    assert_eq!(base, token(&Cell { row: "other", ..cell() }, TokenScope::Partition, ssn));
    for other in [
        token(&cell(), TokenScope::Table, ssn),
        token(&cell(), TokenScope::Partition, ValueRef::String("078-05-1121")),
        token(&cell(), TokenScope::Partition, ValueRef::Binary(b"078-05-1120")),
        token(&Cell { table: 8, ..cell() }, TokenScope::Partition, ssn),
        token(&Cell { partition: "Marketing", ..cell() }, TokenScope::Partition, ssn),
        token(&Cell { property: "Salary", ..cell() }, TokenScope::Partition, ssn),
    ] {
        assert_ne!(base, other);
    }
    let elsewhere = Cell { partition: "Marketing", ..cell() };
    assert_eq!(token(&cell(), TokenScope::Table, ssn), token(&elsewhere, TokenScope::Table, ssn));
}

proptest::proptest! {
    #[test]
    fn whatever_is_sealed_opens(bytes: Vec<u8>, text: String, partition: String, row: String, number: i64, bits: u64) {
        let cell = Cell::new(7, &partition, &row, "P").unwrap();
        let double = ValueRef::Double(f64::from_bits(bits));
        for value in [ValueRef::Binary(&bytes), ValueRef::String(&text), ValueRef::Int64(number), double] {
            let sealed = seal(&cell, &STORE, &key(1), value).unwrap();
            proptest::prop_assert_eq!(sealed.len(), OVERHEAD + PlainBytes::of(value).as_slice().len());
            let opened = Sealed::parse(&sealed).unwrap().open(&cell, &STORE, &key(1)).unwrap();
            proptest::prop_assert_eq!(opened, value.to_value());
        }
    }

    #[test]
    fn random_bytes_are_no_sealed_value(bytes: Vec<u8>) {
        let mut bytes = bytes;
        for at in 0..bytes.len().min(2) {
            bytes[at] = 1;
        }
        if let Some(sealed) = Sealed::parse(&bytes) {
            proptest::prop_assert!(sealed.open(&cell(), &STORE, &key(1)).is_err());
        }
    }
}

/// Returns a reference to a blob, and a key behind it.
fn reference_with_key() -> Vec<u8> {
    let reference = reference::encode(crate::contents::BlobId([9; 16]), 1_000);
    [&reference[..], &[5; 32]].concat()
}

#[test]
fn what_refers_to_a_blob_stays_in_the_clear_and_can_t_be_changed() {
    let (key, cell) = (key(1), cell());
    for length in [reference::BYTES, reference::WITH_KEY] {
        let value = &reference_with_key()[..length];
        let sealed = seal(&cell, &STORE, &key, ValueRef::Binary(value)).unwrap();
        assert_eq!(sealed.len(), sealed_len(ValueRef::Binary(value)));
        assert_eq!((sealed.capacity(), sealed[1]), (sealed.len(), SUITE_OF_BLOB));
        assert_eq!(sealed[HEADER..HEADER + reference::BYTES], value[..reference::BYTES]);
        assert_eq!(KeyHandle::of(&sealed), Some(key.handle()));
        let mut found = 0;
        reference::each_in(&sealed, |at, id, length| {
            assert_eq!((id.0, length), ([9; 16], 1_000));
            assert!(reference::is_sealed(&sealed, at));
            found += 1;
        });
        assert_eq!(found, 1);
        let opened = Sealed::parse(&sealed).unwrap().open(&cell, &STORE, &key).unwrap();
        assert_eq!(opened, Value::Binary(value.to_vec()));
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let opened = Sealed::parse(&flipped).map(|sealed| sealed.open(&cell, &STORE, &key).is_ok());
            assert_ne!(opened, Some(true), "bit {bit}");
        }
        for cut in 0..sealed.len() {
            let opened = Sealed::parse(&sealed[..cut]).map(|sealed| sealed.open(&cell, &STORE, &key).is_ok());
            assert_ne!(opened, Some(true), "length {cut}");
        }
    }
    // No other bytes have a part of theirs in the clear.
    for other in
        [&reference_with_key()[..39], &reference_with_key()[1..], &[&reference_with_key()[..], &[0]].concat()]
    {
        let sealed = seal(&cell, &STORE, &key, ValueRef::Binary(other)).unwrap();
        assert_eq!((sealed[1], sealed.len()), (SUITE, OVERHEAD + other.len()));
        reference::each_in(&sealed, |_, _, _| panic!("nothing is to be found"));
    }
}
