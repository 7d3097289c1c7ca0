//! What is fuzzed: where inputs start, how they are made to look sound again, and who judges them.

use table_core::{DynamicEntity, Store, fuzzing};

use crate::odata;
use crate::random::Random;
use crate::server_wire;

pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Sound inputs to start from.
    pub(crate) corpus: fn(&mut Random) -> Vec<Vec<u8>>,
    /// Makes the checksums fit again.
    pub(crate) seal: Option<fn(&mut Vec<u8>)>,
    /// Panics where an oracle fails; otherwise whether the input was taken for sound.
    pub(crate) judge: fn(&[u8]) -> bool,
    pub(crate) words: &'static [&'static [u8]],
    /// The longest input worth trying.
    pub(crate) most: usize,
}

pub(crate) const ALL: [Target; 14] = [
    Target {
        name: "record",
        corpus: |_| fuzzing::sample_record(),
        // Its checksum is that of every small record.
        seal: None,
        judge: fuzzing::record,
        words: &[b"\0\0", b"\x01\0\0\0", b"\xff\xff", b"\x01\0a", b"\xf0\x9f\x98\x80"],
        most: 1_024,
    },
    Target {
        name: "layout",
        corpus: |_| fuzzing::sample_layout(),
        seal: None,
        judge: |input| fuzzing::layout(&String::from_utf8_lossy(input)),
        words: LAYOUT_WORDS,
        most: 1_024,
    },
    Target {
        name: "list",
        corpus: |_| fuzzing::sample_list(),
        seal: None,
        judge: |input| fuzzing::list(&String::from_utf8_lossy(input)),
        words: &[b",", b";", b"%25", b"%2C", b"%3B", b"%2c", b"000001;", b"4294967295;", b"\xf0\x9f\x98\x80"],
        most: 512,
    },
    Target {
        name: "row",
        corpus: |random| (0..300).map(|_| fuzzing::sample_row(&mut |limit| random.below(limit))).collect(),
        seal: Some(|input| fuzzing::seal_row(input)),
        judge: fuzzing::row,
        words: &[b"\xff\xff", b"\xff\xff\x00\x40", b"\x01\x00a", b"\xf0\x9f\x98\x80"],
        most: 16_384,
    },
    Target {
        name: "shape",
        corpus: |random| (0..300).map(|_| fuzzing::sample_shape(&mut |limit| random.below(limit))).collect(),
        // Its checksum is that of every small record.
        seal: None,
        judge: fuzzing::shape,
        words: &[b"\x00\x00", b"\x8b\x00", b"\x0c", b"\x8d"],
        most: 1_024,
    },
    Target {
        name: "key",
        corpus: keys,
        seal: None,
        judge: fuzzing::key,
        words: &[
            b"\0",
            b"\0\0\0\x07",
            b"\x01",
            b"\xed\x9f\xbf",
            b"\xed\xa0\x80",
            b"\xee\x90\x80\x80",
            b"\xf2\x8f\xbf\xbf",
            b"\xf3\x80\x80",
            b"\xf4\xbf\xbf",
            b"\xf5\x80\x80\x80",
            b"\xc2\x80",
        ],
        most: 2_048,
    },
    Target {
        name: "filter",
        corpus: filters,
        seal: None,
        judge: |input| fuzzing::filter(&String::from_utf8_lossy(input)),
        words: FILTER_WORDS,
        most: 1_024,
    },
    Target {
        name: "token",
        corpus: tokens,
        // A token is text; what is damaged is its bytes.
        seal: Some(|input| {
            let sum = fuzzing::checksum(input, u64::from_be_bytes(*b"continue"));
            input.extend(sum.to_le_bytes());
            *input = base64url(input);
        }),
        judge: |input| fuzzing::token(&String::from_utf8_lossy(input)),
        words: &[b"\0", b"\x01", b"AAAA", b"\xc2\x9f", b"/", b"\xf0\x9f\x98\x80"],
        most: 4_096,
    },
    Target {
        name: "time",
        corpus: |_| TIMES.iter().map(|text| text.as_bytes().to_vec()).collect(),
        seal: None,
        judge: |input| fuzzing::time(&String::from_utf8_lossy(input)),
        words: &[
            b"T",
            b"Z",
            b":",
            b"%3A",
            b"%3a",
            b".",
            b"0000000",
            b"9999",
            b"-02-29",
            b"W/\"datetime'",
            b"'\"",
        ],
        most: 96,
    },
    Target {
        name: "meta",
        corpus: |_| vec![fuzzing::sample_meta()],
        seal: Some(|input| fuzzing::seal_meta(input)),
        judge: fuzzing::meta,
        words: &[],
        most: 96,
    },
    Target {
        name: "leaves",
        corpus: |random| (0..300).map(|_| fuzzing::sample_leaves(&mut |limit| random.below(limit))).collect(),
        seal: None,
        judge: fuzzing::leaves,
        // Bytes to be changed: each by a flipped bit, in the first pages.
        words: &[
            b"\x0a\x02\0\x01",
            b"\x0c\x03\0\x02",
            b"\x0e\x05\0\x10",
            b"\x20\x07\0\x40",
            b"\x33\x08\0\x80",
        ],
        most: 64,
    },
    Target {
        name: "walk",
        corpus: |_| data_files().unwrap_or_default(),
        seal: None,
        judge: fuzzing::walk,
        words: &[b"\x02\0\0\0\0\0\0\0", b"\x01\0\x02\0", b"\xff\xff\xff\xff\xff\xff\xff\xff"],
        most: 1 << 17,
    },
    Target {
        name: "odata",
        corpus: odata::corpus,
        seal: None,
        judge: odata::judge,
        words: odata::WORDS,
        most: 4_096,
    },
    Target {
        name: "server_wire",
        corpus: server_wire::corpus,
        seal: None,
        judge: server_wire::judge,
        words: server_wire::WORDS,
        most: 4_096,
    },
];

const LAYOUT_WORDS: &[&[u8]] = &[
    b"\n",
    b"version 2\n",
    b"partition",
    b"\nrow ",
    b"\nproperty ",
    b"\nindex ",
    b"\nseries Cpu_0 9 Int32?",
    b" String",
    b" Int64?",
    b" encrypted ",
    b" encrypted(dual) ",
    b" by table ",
    b" by partition ",
    b" blind ",
    b" was ",
    b" part 2",
    b" in ",
    b" eventual",
    b" unique",
    b" when(2)",
    b" copy all",
    b" copy keys",
    b" list ",
    b" sums ",
    b":count(when)",
    b":sum(",
    b":text",
    b":u32:\"06\"",
    b":i64:\"inverted\"",
    b"\"",
    b"\\",
    b"{",
    b"[]",
    b"#2",
];

fn keys(random: &mut Random) -> Vec<Vec<u8>> {
    let pieces = [
        "",
        "Sales",
        "empid_000001",
        "a",
        " ",
        "名",
        "\u{d7ff}",
        "\u{e000}",
        "\u{ffff}",
        "\u{10000}",
        "\u{1f600}",
    ];
    let mut text =
        || -> String { (0..random.index(4)).filter_map(|_| random.choose::<str>(&pieces)).collect() };
    (0..200).map(|_| fuzzing::sample_key(7, &text(), &text())).collect()
}

/// The bytes of tokens, without their checksum.
fn tokens(random: &mut Random) -> Vec<Vec<u8>> {
    let mut bodies: Vec<Vec<u8>> = Vec::new();
    for key in ["", "Sales", "empid_000001", "\u{1f600}", "a'b"] {
        let mut body = vec![1];
        body.extend(random.next().to_le_bytes());
        if random.one_in(2) {
            body.push(0);
        } else {
            body.push(1);
            body.extend(random.next().to_le_bytes());
        }
        body.extend(key.bytes().chain([0]).chain(key.bytes()));
        bodies.push(body);
    }
    bodies
}

/// As RFC 4648 has it, without padding.
fn base64url(bytes: &[u8]) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = Vec::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| chunk.get(index).copied().unwrap_or(0);
        let sextets =
            [at(0) >> 2, at(0) << 4 & 0x3f | at(1) >> 4, at(1) << 2 & 0x3f | at(2) >> 6, at(2) & 0x3f];
        text.extend(sextets.iter().take(chunk.len() + 1).map(|sextet| LETTERS[usize::from(*sextet)]));
    }
    text
}

const TIMES: [&str; 10] = [
    "2014-07-31T18:00:00Z",
    "2014-07-31T18:00:00.1234567Z",
    "2014-07-31T18:00",
    "2014-07-31",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.9999999Z",
    "2000-02-29T00:00:00Z",
    "1900-02-28T23:59:59Z",
    "W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"",
    "W/\"datetime'0001-01-01T00%3A00%3A00.0000000Z'\"",
];

const FILTER_WORDS: &[&[u8]] = &[
    b" eq ",
    b" ne ",
    b" gt ",
    b" ge ",
    b" lt ",
    b" le ",
    b" and ",
    b" or ",
    b"not ",
    b"(",
    b")",
    b"((((((((",
    b"))))))))",
    b"not not ",
    b"not (not (",
    b"'",
    b"''",
    b"PartitionKey",
    b"RowKey",
    b"Timestamp",
    b"A",
    b"Age",
    b"1",
    b"-1L",
    b"1e9",
    b"9223372036854775807L",
    b"NaN",
    b"INF",
    b"-INF",
    b"true",
    b"null",
    b"X'",
    b"binary'",
    b"guid'",
    b"datetime'",
    b"datetime'1970-01-01T00:00:00Z'",
    b"+01:00'",
    b"-23:59'",
    b"guid'00000000-0000-0000-0000-000000000000'",
    b"\xee\x80\x80",
    b"\xf0\x90\x80\x80",
    b"(A eq 1) and (B or not Age le 2)",
    b"PartitionKey eq 'a' and ",
    b" and not RowKey lt 'b'",
];

fn filters(random: &mut Random) -> Vec<Vec<u8>> {
    let mut filters: Vec<_> = (0..400).map(|_| filter(random, 0).into_bytes()).collect();
    // At the border of what may be nested.
    for depth in 56..=64 {
        let text = format!("{}A eq 1{}", "B and (A or ".repeat(depth), ")".repeat(depth));
        filters.push(text.into_bytes());
    }
    filters
}

/// A random filter, with names and constants that the sample rows have something to say about.
fn filter(random: &mut Random, depth: u64) -> String {
    const NAMES: [&str; 6] = ["A", "B", "Age", "PartitionKey", "RowKey", "Timestamp"];
    const CONSTANTS: [&str; 22] = [
        "''",
        "'a'",
        "'a '",
        "'\u{e000}'",
        "'\u{10000}'",
        "X''",
        "X'c0'",
        "true",
        "false",
        "1",
        "0",
        "1L",
        "-1L",
        "1.0",
        "NaN",
        "-INF",
        "1e300",
        "datetime'1970-01-01T00:00:00Z'",
        "datetime'1970-01-01T01:00:00+01:00'",
        "datetime'1969-12-31T00:01-23:59'",
        "guid'00000000-0000-0000-0000-000000000000'",
        "'it''s'",
    ];
    const OPERATORS: [&str; 6] = ["eq", "ne", "gt", "ge", "lt", "le"];
    let mut of = |texts: &[&'static str]| random.choose::<str>(texts).unwrap_or_default();
    let (name, operator, constant) = (of(&NAMES), of(&OPERATORS), of(&CONSTANTS));
    match random.below(if depth < 4 { 8 } else { 4 }) {
        0 => name.into(),
        1 => format!("{constant} {operator} {name}"),
        2 | 3 => format!("{name} {operator} {constant}"),
        4 => format!("not {}", filter(random, depth + 1)),
        5 => format!("({})", filter(random, depth + 1)),
        6 => format!("{} and {}", filter(random, depth + 1), filter(random, depth + 1)),
        _ => format!("{} or {}", filter(random, depth + 1), filter(random, depth + 1)),
    }
}

/// Data files as LMDB leaves them: a new one, one with a tree of two levels, and one with values on
/// pages of their own.
fn data_files() -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
    let dir = std::env::temp_dir().join(format!("table-fuzz-{}", std::process::id()));
    let mut files = Vec::new();
    for (rows, bytes) in [(0, 0), (40, 200), (3, 9_000)] {
        let path = dir.join(format!("{rows}"));
        let store = Store::open(&path)?;
        let table = store.create_table("Company")?;
        for row in 0..rows {
            table.insert(&DynamicEntity::new("p", format!("{row:04}")).with("A", "x".repeat(bytes)))?;
        }
        drop((table, store));
        files.push(std::fs::read(path.join("data.mdb"))?);
    }
    std::fs::remove_dir_all(dir)?;
    Ok(files)
}
