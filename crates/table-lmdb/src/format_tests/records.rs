//! Keys, small records and tokens.

use table_engine::error::ErrorKind;
use table_engine::query::{Continuation, Position, Query, fingerprint, plan, prop};
use table_engine::row::dict::{Dict, Length};
use table_engine::row::key::StoredKey;
use table_engine::row::shape::{Column, MAX_SHAPES, Shape};
use table_engine::schema::{ColumnType, Period};

use super::{hex, key_of, time};
use crate::Store;
use crate::lmdb::Db;
use crate::records::catalog::{self, AllRecords, Entry, RecordMac};
use crate::records::counts::{self, Counts};
use crate::records::features::Features;
use crate::records::meta::{self, META_KEY, Meta};
use crate::records::names;
use crate::records::periods::{self, PeriodsEntry};
use crate::records::record_digest::{self, RecordDigest, SetDigest};
use crate::tests_scratch::in_memory;

#[test]
fn keys_are_these_bytes() {
    for (table, partition, row, bytes) in [
        (1, "", "", "0100"),
        (7, "Sales", "empid_000001", "0753616c657300656d7069645f303030303031"),
        (64, "a", "b", "4040610062"),
        (0x4000, "a", "b", "804000610062"),
        (0x0102_0304, "a", "b", "c1020304610062"),
        ((1 << 30) - 1, " ", "~", "ffffffff20007e"),
        (7, "it's 100%", "{a}", "07697427732031303025007b617d"),
        (7, "é", "名", "07c3a900e5908d"),
        // Each lead byte that is permuted, and its neighbours.
        (7, "\u{d7ff}", "\u{7ff}", "07ed9fbf00dfbf"),
        (7, "\u{e000}", "\u{efff}", "07f3808000f3bfbf"),
        (7, "\u{f000}", "\u{ffff}", "07f4808000f4bfbf"),
        (7, "\u{10000}", "\u{3ffff}", "07ee90808000eebfbfbf"),
        (7, "\u{40000}", "\u{fffff}", "07ef80808000f1bfbfbf"),
        (7, "\u{100000}", "\u{10ffff}", "07f280808000f28fbfbf"),
        (7, "a\u{1f600}z", "\u{fffd}!", "0761ee9f98807a00f4bfbd21"),
    ] {
        let bytes = hex(bytes);
        assert_eq!(key_of(table, partition, row), bytes);
        let key = StoredKey::parse(&bytes).unwrap();
        assert_eq!(key.table, table);
        assert_eq!((key.partition().as_deref(), key.row().as_deref()), (Some(partition), Some(row)));
    }
    for bytes in ["", "40", "ffffff", "07", "0753616c6573", "400753616c657300", "803fff00", "c000000700"] {
        assert_eq!(StoredKey::parse(&hex(bytes)), None, "{bytes}");
    }
    // A surrogate, a lead byte that UTF-8 lacks, a character cut off.
    for row in ["eda080", "f5808080", "f38080ff", "f380", "80"] {
        let stored = hex(&format!("0753616c657300{row}"));
        assert_eq!(StoredKey::parse(&stored).unwrap().row(), None, "{row}");
    }
}

#[test]
fn the_stores_own_record_is_these_bytes() {
    let bytes = hex(
        "04000000be07000007000000090000000000000000506261007bd108 0c00000000000000 0000000000000000 0600000000000000 \
         0000000000010000 30313233343536373839616263646566 03000000 8877665544332211 01000000 ffffffffffffffff \
         000102030405060708090a0b0c0d0e0f 7cf03fd8905212fa",
    );
    let identity = *b"0123456789abcdef";
    let meta = Meta {
        max_key: 1_982,
        next_table: 7,
        generation: 9,
        high_water: time(),
        transaction: 12,
        features: Features { reader: 0, writer: 6, ignorable: 1 << 40 },
        identity,
        catalog: SetDigest { count: 3, digest: 0x1122_3344_5566_7788 },
        tombstones: SetDigest { count: 1, digest: u64::MAX },
        authenticated: std::array::from_fn(|at| u8::try_from(at).unwrap()),
    };
    assert_eq!((META_KEY, &meta.encode()[..]), (&b"\0meta"[..], &bytes[..]));
    assert_eq!(Meta::decode(&bytes).unwrap(), meta);
    // Any longer or shorter one is another version's, though it be sealed.
    for length in [28, 52, 100, 115, 117, 124] {
        let mut other = bytes.clone();
        other.resize(length + 8, 0);
        meta::seal(META_KEY, &mut other);
        assert_eq!(Meta::decode(&other).unwrap_err().kind(), ErrorKind::Corrupt, "{length}");
    }
}

/// Puts every damaged form of a record in its place, and has it read.
fn refuses_damage(
    store: &Store,
    db: Db,
    key: &[u8],
    read: impl Fn(&heed::RwTxn<'_>) -> Result<(), ErrorKind>,
) {
    let mut txn = store.shared().environment.env.write_txn().unwrap();
    let record = db.get(&txn, key).unwrap().unwrap().to_vec();
    assert_eq!(read(&txn), Ok(()));
    for bit in 0..record.len() * 8 {
        let mut flipped = record.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        db.put(&mut txn, key, &flipped).unwrap();
        assert_eq!(read(&txn), Err(ErrorKind::Corrupt), "bit {bit}");
    }
    for length in 0..record.len() {
        db.put(&mut txn, key, &record[..length]).unwrap();
        assert_eq!(read(&txn), Err(ErrorKind::Corrupt), "{length} bytes");
    }
    txn.abort();
}

/// Puts a record under every key that a flipped bit makes of its own, and has it read.
fn refuses_other_keys(
    store: &Store,
    db: Db,
    key: &[u8],
    read: impl Fn(&heed::RwTxn<'_>) -> Result<(), ErrorKind>,
) {
    for bit in 0..key.len() * 8 {
        let mut txn = store.shared().environment.env.write_txn().unwrap();
        let record = db.get(&txn, key).unwrap().unwrap().to_vec();
        assert!(db.delete(&mut txn, key).unwrap());
        let mut flipped = key.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        db.put(&mut txn, &flipped, &record).unwrap();
        assert_eq!(read(&txn), Err(ErrorKind::Corrupt), "bit {bit} of {}", key.escape_ascii());
        txn.abort();
    }
}

fn is(db: Db, txn: &heed::RoTxn<'_>, key: &str, record: &str) {
    assert_eq!(db.get(txn, &hex(key)).unwrap(), Some(&hex(record)[..]), "{key}");
}

#[test]
fn numbers_of_tables_end() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let environment = &store.shared().environment;
    let mut meta = Meta::read(environment.dbs.main, &environment.read_txn().unwrap()).unwrap();
    let mut txn = environment.write_txn().unwrap();
    meta.next_table = (1 << 30) - 1;
    let last = catalog::create(&environment.dbs, &mut txn, &mut meta, "Last").unwrap();
    assert_eq!((last.id, key_of(last.id, "", "")), ((1 << 30) - 1, hex("ffffffff00")));
    let error = catalog::create(&environment.dbs, &mut txn, &mut meta, "Beyond").unwrap_err();
    assert_eq!((error.kind(), error.table_name()), (ErrorKind::Incompatible, Some("Beyond")));
    assert!(error.to_string().contains("every table number"), "{error}");
    // A record with such a number is damaged, though it be sealed.
    let beyond = Entry { id: 1 << 30, ..last };
    assert_eq!(catalog::decode(b"last", &beyond.encode(b"last")).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn small_records_are_these_bytes() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    store.create_table("Company").unwrap();
    let (env, dbs) = (&store.shared().environment.env, store.shared().environment.dbs);

    let company = "636f6d70616e79";
    let entry = Entry {
        id: 1,
        name: "Company".into(),
        identity: *b"0123456789abcdef",
        digest: None,
        former: Vec::new(),
    };
    let record = "01000000 0000 30313233343536373839616263646566 436f6d70616e79";
    assert_eq!(entry.encode(&hex(company)), hex(&format!("{record} be152b1a6d2e4a0e")));
    assert_eq!(entry.encode(&hex("00000001")), hex(&format!("{record} d2ebd8a9dffe93be")));
    let digest = std::array::from_fn(|at| u8::try_from(at).unwrap());
    let authenticated = Entry { digest: Some(RecordMac { digest, has_numbers: false }), ..entry };
    let record =
        "01000000 0100 30313233343536373839616263646566 436f6d70616e79 000102030405060708090a0b0c0d0e0f";
    assert_eq!(authenticated.encode(&hex(company)), hex(&format!("{record} 68e74a6d6875da0a")));
    let renamed = Entry { former: vec!["Firm".into(), "Staff".into()], ..authenticated };
    let record = "01000000 0500 30313233343536373839616263646566 02 04 4669726d 05 5374616666 436f6d70616e79 \
                  000102030405060708090a0b0c0d0e0f";
    let encoded = renamed.encode(&hex(company));
    assert_eq!(encoded[..encoded.len() - 8], hex(record));
    assert_eq!(catalog::decode(b"company", &encoded).unwrap(), Some(renamed));
    let txn = env.read_txn().unwrap();
    let meta = Meta::read(dbs.main, &txn).unwrap();
    let created = catalog::find(&dbs, &txn, &meta, "company").unwrap().unwrap();
    assert_eq!(dbs.catalog.get(&txn, &hex(company)).unwrap(), Some(&created.encode(&hex(company))[..]));
    drop(txn);
    refuses_damage(&store, dbs.catalog, &hex(company), |txn| {
        catalog::find(&dbs, txn, &meta, "COMPANY").map(drop).map_err(|e| e.kind())
    });

    let record_digest = RecordDigest {
        names: 2,
        symbols: 1,
        shapes: 4,
        layouts: SetDigest { count: 1, digest: 0xfedc_ba98_7654_3210 },
        catalog: 5,
        ..RecordDigest::default()
    };
    let mut txn = env.write_txn().unwrap();
    record_digest.write(dbs.main, &mut txn, 7).unwrap();
    let record_digest_bytes =
        "02000000 01000000 04000000 01000000 1032547698badcfe 0500000000000000 2b192da2cb0207cd";
    is(dbs.main, &txn, "00742300000007", record_digest_bytes);
    assert_eq!(RecordDigest::read(dbs.main, &txn, 7).unwrap(), record_digest);
    commit(&store, txn);
    refuses_damage(&store, dbs.main, &record_digest::key(7), |txn| {
        RecordDigest::read(dbs.main, txn, 7).map(drop).map_err(|e| e.kind())
    });

    counts_and_names(&store);
    tombstones(&store, &created);
}

#[test]
fn a_template_of_periods_is_these_bytes_and_is_missed_where_it_is_lost_or_an_old_one() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    store.create_table("Company").unwrap();
    let (env, dbs) = (&store.shared().environment.env, store.shared().environment.dbs);
    let key = b"logins{";
    let of = |floor: &str| PeriodsEntry {
        stem: "Logins".into(),
        period: Period::Day,
        floor: floor.parse().unwrap(),
    };
    let (former, now) = (of("2014-07-30"), of("2014-07-31"));
    let record = now.encode(key);
    assert_eq!(record.len(), 8 + 1 + 6 + 8);
    assert_eq!(record[..8], now.floor.get().to_le_bytes());
    assert_eq!(record[8..15], hex("03 4c6f67696e73"));

    let mut txn = env.write_txn().unwrap();
    let mut meta = Meta::begin(dbs.main, &txn).unwrap();
    periods::put(&dbs, &mut txn, &mut meta, None, &former).unwrap();
    periods::put(&dbs, &mut txn, &mut meta, Some(&former), &now).unwrap();
    assert_eq!((meta.features.reader, meta.catalog.count), (8, 2));
    meta.write(dbs.main, &mut txn).unwrap();
    assert_eq!(dbs.catalog.get(&txn, key).unwrap(), Some(&record[..]));
    txn.commit().unwrap();
    let read = |txn: &heed::RwTxn<'_>| {
        let AllRecords { entries, templates } = catalog::all(&dbs, txn, &meta).map_err(|e| e.kind())?;
        assert_eq!((entries.len(), templates), (1, vec![now.clone()]));
        Ok(())
    };
    refuses_damage(&store, dbs.catalog, key, read);
    refuses_other_keys(&store, dbs.catalog, key, read);
    let mut txn = env.write_txn().unwrap();
    // A former page brings back a floor that was lower.
    dbs.catalog.put(&mut txn, key, &former.encode(key)).unwrap();
    assert_eq!(read(&txn), Err(ErrorKind::Corrupt));
    dbs.catalog.delete(&mut txn, key).unwrap();
    assert_eq!(read(&txn), Err(ErrorKind::Corrupt));
    txn.abort();
    assert!(store.check().unwrap().problems.is_empty());
}

fn counts_and_names(store: &Store) {
    let (env, dbs) = (&store.shared().environment.env, store.shared().environment.dbs);
    let counts = Counts { entities: 3, bytes: 1_000, digest: 0xfedc_ba98_7654_3210 };
    let mut txn = env.write_txn().unwrap();
    counts.write(dbs.main, &mut txn, 7).unwrap();
    is(
        dbs.main,
        &txn,
        "006e2300000007",
        "0300000000000000 e803000000000000 1032547698badcfe a60fa566fbf2e3af",
    );
    assert_eq!(Counts::read(dbs.main, &txn, 7).unwrap(), counts);
    commit(store, txn);
    refuses_damage(store, dbs.main, &counts::key(7), |txn| {
        Counts::read(dbs.main, txn, 7).map(drop).map_err(|e| e.kind())
    });

    let mut dict = Dict::default();
    dict.push_name("LastName".into());
    dict.push_name("Größe".into());
    dict.push_name("EntityType".into());
    dict.push_symbol("employee".into());
    let column = |id, of, optional| Column { id, of, optional };
    let columns = vec![column(0, ColumnType::Text, false), column(1, ColumnType::U32, true)];
    dict.shapes.extend(Shape::new(0, columns, 2));
    dict.shapes.extend(Shape::new(0, vec![], 2));
    let mut txn = env.write_txn().unwrap();
    names::write_new(&dict, Length::default(), &dbs, &mut txn, 1).unwrap();
    let entries = [
        ("00000001 00 0000", "4c6173744e616d65 49dd9962c9d187c1"),
        ("00000001 00 0001", "4772c3b6c39f65 e5b57bca75571665"),
        ("00000001 01 4772c3b6c39f65", "0100 0bd938e2731b53e4"),
        ("00000001 01 4c6173744e616d65", "0000 6049162a56d7fe03"),
        ("00000001 00 0002", "456e7469747954797065 9fb6a66eef46d262"),
        ("00000001 01 456e7469747954797065", "0200 5aa2ddd42d9f787a"),
        ("00000001 02 0000", "656d706c6f796565 f2c06c85f95a65ba"),
        ("00000001 03 656d706c6f796565", "0000 b6a3465bb6196d7a"),
        ("00000001 05 0000", "0000020000000b010086 0c379ae58dde2c92"),
        ("00000001 05 0001", "00000000 ff416da84db3ca02"),
    ];
    for (key, record) in entries {
        is(dbs.names, &txn, key, record);
    }
    assert_eq!(dbs.names.len(&txn).unwrap(), 10);
    let counted = RecordDigest::read(dbs.main, &txn, 1).unwrap();
    assert_eq!((counted.names, counted.symbols, counted.shapes), (3, 1, 2));
    commit(store, txn);
    for (key, _) in entries {
        let read = |txn: &heed::RwTxn<'_>| {
            let mut known = Dict::default();
            let read =
                names::read_new(&mut known, &dbs, txn, 1).and_then(|()| names::check(&known, &dbs, txn, 1));
            read.map_err(|e| e.kind())?;
            assert_eq!((known.id("Größe"), known.symbol_id("employee")), (Some(1), Some(0)));
            assert_eq!(known.shapes, dict.shapes);
            Ok(())
        };
        refuses_damage(store, dbs.names, &hex(key), read);
        refuses_other_keys(store, dbs.names, &hex(key), read);
    }
}

#[test]
fn no_table_has_more_shapes_than_it_may() {
    let scratch = in_memory();
    let store = Store::open(scratch.path().join("store")).unwrap();
    store.create_table("Company").unwrap();
    let dbs = store.shared().environment.dbs;
    let mut dict = Dict::default();
    dict.push_name("EntityType".into());
    dict.push_symbol("employee".into());
    let shape = Shape::new(0, Vec::new(), 0).unwrap();
    dict.shapes = vec![shape.clone(); MAX_SHAPES];
    let mut txn = store.shared().environment.env.write_txn().unwrap();
    names::write_new(&dict, Length::default(), &dbs, &mut txn, 1).unwrap();
    let mut known = Dict::default();
    names::read_new(&mut known, &dbs, &txn, 1).unwrap();
    assert!(known.shapes_full() && known.shapes == dict.shapes);
    // Of equal ones the first counts.
    assert_eq!(known.shape_id(0, &[]), Some(0));
    dict.shapes.push(shape);
    names::write_new(&dict, known.len(), &dbs, &mut txn, 1).unwrap();
    assert_eq!(names::read_new(&mut known, &dbs, &txn, 1).unwrap_err().kind(), ErrorKind::Corrupt);
    txn.abort();
}

fn tombstones(store: &Store, created: &Entry) {
    let (env, dbs) = (&store.shared().environment.env, store.shared().environment.dbs);
    let company = b"company";
    // Not committed: the store would begin to free its space.
    let mut txn = env.write_txn().unwrap();
    let mut meta = Meta::begin(dbs.main, &txn).unwrap();
    catalog::drop_table(&dbs, &mut txn, &mut meta, "company").unwrap();
    assert_eq!((meta.catalog, meta.tombstones.count), (SetDigest::default(), 1));
    assert_eq!(catalog::tombstones(&dbs, &txn, &meta).unwrap(), std::slice::from_ref(created));
    assert_eq!(dbs.catalog.get(&txn, company).unwrap(), None);
    assert_eq!(dbs.main.get(&txn, &counts::key(1)).unwrap(), None);
    assert_eq!(dbs.main.get(&txn, &record_digest::key(1)).unwrap(), None);
    let grave = hex("00000001");
    let mut record = dbs.tombstones.get(&txn, &grave).unwrap().unwrap().to_vec();
    for bit in 0..record.len() * 8 {
        record[bit / 8] ^= 1 << (bit % 8);
        dbs.tombstones.put(&mut txn, &grave, &record).unwrap();
        assert_eq!(
            catalog::tombstones(&dbs, &txn, &meta).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "bit {bit}"
        );
        record[bit / 8] ^= 1 << (bit % 8);
    }
    dbs.tombstones.delete(&mut txn, &grave).unwrap();
    assert_eq!(catalog::tombstones(&dbs, &txn, &meta).unwrap_err().kind(), ErrorKind::Corrupt, "none");
}

/// Commits as the store does, with its own record.
fn commit(store: &Store, mut txn: heed::RwTxn<'_>) {
    let main = store.shared().environment.dbs.main;
    Meta::begin(main, &txn).unwrap().write(main, &mut txn).unwrap();
    txn.commit().unwrap();
}

#[test]
fn counts_of_another_length_are_refused() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let main = store.shared().environment.dbs.main;
    let mut txn = store.shared().environment.env.write_txn().unwrap();
    for length in [16, 23, 25, 32] {
        let mut record = vec![0; length + meta::CHECKSUM];
        meta::seal(&counts::key(1), &mut record);
        main.put(&mut txn, &counts::key(1), &record).unwrap();
        assert_eq!(Counts::read(main, &txn, 1).unwrap_err().kind(), ErrorKind::Corrupt, "{length}");
    }
}

#[test]
fn tokens_are_these_texts() {
    let token = |partition, row, remaining, fingerprint| {
        Continuation::new(Position { partition, row, remaining }, fingerprint)
    };
    for (token, text) in [
        (
            token("Sales", "empid_000001", Some(5), 7),
            "AQcAAAAAAAAAAQUAAAAAAAAAU2FsZXMAZW1waWRfMDAwMDAx4h35Ul_JQP8",
        ),
        (token("\u{1f600}", "", None, u64::MAX), "Af__________APCfmIAA3qrhH8_1ux4"),
    ] {
        assert_eq!(token.to_string(), text);
        assert_eq!(text.parse::<Continuation>().unwrap(), token);
    }
    let filter = prop("Age").ge(40) & !prop("LastName").eq("Smith");
    let query = Query::new().partition("Sales").row_prefix("empid_").filter(filter).select(["A", "B"]).top(9);
    assert_eq!(fingerprint(&plan(&query).unwrap(), 7), 0xcb2f_5bec_6be5_6d34);
}
