//! What the guide shows of SQL and pandas: its own words, run on a store, print what stands there.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test that fails panics")]

mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use support::{schema, server};
use table_core::{Entity, Ticks, Uuid};
use table_postgres::PostgresTables;

const CHAPTER: &str = include_str!("../../../table-core/guide/tools.md");
/// The packages that the guide's program takes, in the versions that it is tested with.
const PACKAGES: &str = include_str!("support/requirements.txt");
/// Names the variable that says whether this is the long form, in which everything is tested.
const LONG: &str = "TABLE_POSTGRES_LONG";

/// The employee of the guide's chapter.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

/// A reading, with a property of each type.
#[derive(Entity)]
#[entity(table = "Readings", kind = "reading")]
#[key(partition = "{station}", row = "{number:06}")]
struct Reading {
    station: String,
    number: u32,
    small: i32,
    large: i64,
    value: f64,
    at: Ticks,
    device: Uuid,
    raw: Vec<u8>,
    is_valid: bool,
    note: Option<String>,
}

/// Returns what the chapter shows in blocks of a language below the heading of its part on SQL.
fn shown(language: &str) -> Vec<&'static str> {
    let (_, part) = CHAPTER.split_once("## SQL and pandas\n").unwrap();
    let part = part.split("\n## ").next().unwrap();
    let fence = format!("```{language}\n");
    part.split(&fence).skip(1).map(|block| block.split_once("```").unwrap().0).collect()
}

/// Returns a program of the guide as it is for the test: with the address of its server, and its own schema.
fn for_test(program: &str, schema: &str) -> String {
    let server = server();
    let (_, place) = server.split_once("//").unwrap();
    program.replace("tables.", &format!("{schema}.")).replace("app@localhost/app", place)
}

/// Returns what a command prints that reads a program.
fn printed(command: &mut Command, program: &str) -> String {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    // A warning is for the reader of the guide to see, too.
    assert!(done.status.success() && errors.is_empty(), "{errors}");
    // No editor keeps the spaces at the ends of lines, nor the empty line at the end.
    let text = String::from_utf8(done.stdout).unwrap();
    text.trim_end().lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn psql(program: &str) -> String {
    let mut psql = Command::new("psql");
    printed(psql.args([&*server(), "-X", "-v", "ON_ERROR_STOP=1"]), program)
}

/// Returns what a program of Python prints; `None` where its packages can't be installed.
fn python(program: &str) -> Option<String> {
    let python = with_packages();
    if python.is_none() {
        let is_long = std::env::var(LONG).is_ok_and(|long| !long.is_empty());
        assert!(!is_long, "Python, its `venv` or the packages are missing");
        eprintln!("==== Python, its `venv` or the packages are missing: NOTHING IS TESTED WITH PANDAS ====");
    }
    Some(printed(Command::new(python?).arg("-"), program))
}

/// Returns a Python that has the packages, which are installed once for each version of their list.
fn with_packages() -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let (python, ready) = (folder.join("bin/python"), folder.join("ready"));
    if fs::read_to_string(&ready).is_ok_and(|installed| installed == PACKAGES) {
        return Some(python);
    }
    let run = |command: &mut Command| command.status().ok().filter(std::process::ExitStatus::success);
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/requirements.txt");
    run(Command::new(&python).args(["-m", "pip", "-q", "install", "-r"]).arg(list))?;
    fs::write(ready, PACKAGES).unwrap();
    Some(python)
}

#[test]
fn psql_and_pandas_print_what_the_guide_shows() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    for (department, id, name) in [("Sales", 42, "Mia"), ("Sales", 43, "Ken"), ("Legal", 7, "Ann")] {
        staff.insert(&Employee { department: department.into(), id, name: name.into() }).unwrap();
    }
    let [sql] = shown("sql")[..] else { panic!("the part has one block of SQL") };
    let [program] = shown("python")[..] else { panic!("the part has one program") };
    let [of_sql, of_program] = shown("text")[..] else { panic!("the part has two answers") };
    assert_eq!(psql(&for_test(sql, &schema)), of_sql);
    if let Some(printed) = python(&for_test(program, &schema)) {
        assert_eq!(printed, of_program);
    }
}

#[test]
fn pandas_reads_each_type_as_what_it_is() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let readings = tables.table::<Reading>().unwrap();
    for (number, value) in [(1, 1.5), (2, f64::NAN), (3, f64::INFINITY)] {
        // A time as early as the service has any, and one whose last digit the server rounds.
        let at = if number == 1 { "1601-01-01T00:00:00Z" } else { "2026-05-04T03:02:01.0000015Z" };
        readings
            .insert(&Reading {
                station: "North".into(),
                number,
                small: -7,
                large: i64::MAX,
                value,
                at: at.parse().unwrap(),
                device: Uuid::from_u128(7),
                raw: vec![1, 255],
                is_valid: number == 1,
                note: (number == 1).then(|| "x".to_owned()),
            })
            .unwrap();
    }
    let program = r#"
import pandas as pd
all = pd.read_sql('SELECT * FROM tables."readings.reading" ORDER BY "RowKey"', "postgresql+psycopg://app@localhost/app")
for name in all.columns[3:]:
    print(name, all[name].dtype, *all[name], sep=" | ")
"#;
    let expected = [
        "Station | str | North | North | North",
        "Number | int64 | 1 | 2 | 3",
        "Small | int64 | -7 | -7 | -7",
        "Large | int64 | 9223372036854775807 | 9223372036854775807 | 9223372036854775807",
        "Value | float64 | 1.5 | nan | inf",
        "At | datetime64[us, UTC] | 1601-01-01 00:00:00+00:00 | 2026-05-04 03:02:01.000002+00:00 | \
         2026-05-04 03:02:01.000002+00:00",
        "Device | object | 00000000-0000-0000-0000-000000000007 | 00000000-0000-0000-0000-000000000007 | \
         00000000-0000-0000-0000-000000000007",
        r"Raw | object | b'\x01\xff' | b'\x01\xff' | b'\x01\xff'",
        "IsValid | bool | True | False | False",
        "Note | str | x | nan | nan",
    ];
    if let Some(printed) = python(&for_test(program, &schema)) {
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    }
}
