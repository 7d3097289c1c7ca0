//! `tables export --as parquet`, read again by a reader of that form.

use std::fs::File;
use std::path::Path;

use parquet::basic::{LogicalType, Repetition, TimeUnit};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use table_core::{Entity, Store, Ticks, Uuid};

use crate::run::tables;
use crate::store::{company, employee};

/// A reading, with a value of each type.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings", kind = "reading")]
#[key(partition = "{place}", row = "at_{number:06}")]
#[index(by_label, row = "label_{label}_{number:06}")]
struct Reading {
    place: String,
    number: u32,
    label: String,
    bytes: Vec<u8>,
    is_good: bool,
    small: i32,
    large: i64,
    value: f64,
    sensor: Uuid,
    taken: Ticks,
    checked: Option<Ticks>,
    remark: Option<String>,
}

fn ticks(text: &str) -> Ticks {
    text.parse().unwrap()
}

fn reading(number: u32) -> Reading {
    let is_even = number.is_multiple_of(2);
    Reading {
        place: ["Harbour", "Hill"][usize::from(is_even)].into(),
        number,
        label: format!("漢 {number}, \"x\""),
        bytes: number.to_be_bytes().to_vec(),
        is_good: is_even,
        small: -i32::try_from(number).unwrap(),
        large: i64::from(number) - (1 << 60),
        value: f64::from(number) / 3.0,
        sensor: Uuid::from_u128(u128::from(number) << 64 | 7),
        taken: ticks("1601-01-01T00:00:00.000001Z"),
        checked: is_even.then(|| ticks("2014-07-31T18:00:00.1234567Z")),
        remark: (!is_even).then(String::new),
    }
}

fn rows(path: &Path) -> (SerializedFileReader<File>, Vec<Row>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().collect::<Result<_, _>>().unwrap();
    (reader, rows)
}

fn field<'r>(row: &'r Row, name: &str) -> &'r Field {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap().1
}

fn names(reader: &impl FileReader) -> Vec<String> {
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    schema.columns().iter().map(|column| column.name().to_owned()).collect()
}

#[test]
fn a_kind_is_written_with_its_types_and_what_its_keys_say() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("readings.tables");
    let store = Store::open(&path).unwrap();
    let table = store.table::<Reading>().unwrap();
    for number in 1..=50 {
        table.insert(&reading(number)).unwrap();
    }
    drop(table);
    store.close().unwrap();
    let file = directory.path().join("readings.parquet");
    let export = |more: &[&str]| {
        let (path, file) = (path.to_str().unwrap(), file.to_str().unwrap());
        let base = ["export", "--store", path, "Readings", "--as", "parquet", "-o", file];
        tables(&[&base[..], more].concat())
    };
    let ran = export(&["--kind", "reading"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("\"entities\":50,"), "{}", ran.out);

    let (reader, found) = rows(&file);
    assert_eq!(found.len(), 50);
    for row in &found {
        let number = match field(row, "Number") {
            Field::Int(number) => u32::try_from(*number).unwrap(),
            Field::Long(number) => u32::try_from(*number).unwrap(),
            other => panic!("{other}"),
        };
        let wanted = reading(number);
        assert_eq!(*field(row, "PartitionKey"), Field::Str(wanted.place.clone()));
        assert_eq!(*field(row, "Place"), Field::Str(wanted.place));
        assert_eq!(*field(row, "RowKey"), Field::Str(format!("at_{number:06}")));
        assert_eq!(*field(row, "Label"), Field::Str(wanted.label));
        assert_eq!(*field(row, "Bytes"), Field::Bytes(wanted.bytes.into()));
        assert_eq!(*field(row, "IsGood"), Field::Bool(wanted.is_good));
        assert_eq!(*field(row, "Small"), Field::Int(wanted.small));
        assert_eq!(*field(row, "Large"), Field::Long(wanted.large));
        assert_eq!(*field(row, "Value"), Field::Double(wanted.value));
        assert_eq!(*field(row, "Sensor"), Field::Bytes(wanted.sensor.as_bytes().to_vec().into()));
        // 369 years before Unix's epoch, in microseconds; and nanoseconds where a tick is needed.
        assert_eq!(*field(row, "Taken"), Field::TimestampMicros(-11_644_473_600_000_000 + 1));
        let checked = wanted.checked.map_or(Field::Null, |_| Field::Long(1_406_829_600_123_456_700));
        assert_eq!(*field(row, "Checked"), checked);
        assert_eq!(*field(row, "Remark"), wanted.remark.map_or(Field::Null, Field::Str));
    }
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let column = |name: &str| {
        let column = schema.columns().iter().find(|column| column.name() == name).unwrap();
        let info = column.self_type().get_basic_info();
        (info.repetition(), column.logical_type_ref().cloned())
    };
    assert_eq!(column("RowKey"), (Repetition::REQUIRED, Some(LogicalType::String)));
    assert_eq!(column("Sensor"), (Repetition::OPTIONAL, Some(LogicalType::Uuid)));
    let nanoseconds = Some(LogicalType::timestamp(true, TimeUnit::NANOS));
    assert_eq!(column("Checked"), (Repetition::OPTIONAL, nanoseconds));

    let ran = export(&["--kind", "reading", "--filter", "Small lt -48", "--select", "Number,Label"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (reader, found) = rows(&file);
    assert_eq!(names(&reader), ["PartitionKey", "RowKey", "Number", "Label"]);
    assert_eq!(found.len(), 2);
    let ran = export(&["--kind", "reading", "--filter", "Small gt 0"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (reader, found) = rows(&file);
    assert_eq!((names(&reader).len(), found.len()), (2, 0), "no entity has come, and no column with it");
}

#[test]
fn many_entities_are_written_in_groups() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 150_000);
    let path = path.to_str().unwrap();
    let file = directory.path().join("staff.parquet");
    let ran = tables(&[
        "export",
        "--store",
        path,
        "Company",
        "--kind",
        "employee",
        "--as",
        "parquet",
        "-o",
        file.to_str().unwrap(),
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (reader, found) = rows(&file);
    assert!(reader.num_row_groups() > 1);
    let mut emails: Vec<_> = found.iter().map(|row| field(row, "Email").to_string()).collect();
    let mut wanted: Vec<_> = (1..=150_000).map(|id| format!("\"{}\"", employee(id).email)).collect();
    emails.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(emails.len(), wanted.len());
    assert!(emails == wanted, "an entity is missing, or there twice");
}

#[test]
fn what_has_no_columns_is_refused_and_no_file_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 3);
    let file = directory.path().join("out");
    let file = file.to_str().unwrap();
    for (arguments, code, word) in [
        (&["Company", "-o", file][..], 2, "--kind"),
        (&["--all", "-o", file], 2, "--kind"),
        (&["Company", "--kind", "customer", "-o", file], 3, "it has `employee`"),
    ] {
        let base = ["export", "--as", "parquet", "--store", path.to_str().unwrap()];
        let ran = tables(&[&base[..], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?} {}", ran.err);
        assert!(ran.err.contains(word), "{arguments:?} {}", ran.err);
        assert!(!Path::new(file).exists());
    }
}
