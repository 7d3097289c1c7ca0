//! Wide entities in and out: rows that are one entity.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use table_core::{DynamicEntity, Entity, Store, Stored};

use crate::run::{Ran, tables};
use crate::store::rows;

/// A year of a station, with an index and two parts.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{number:05}")]
#[index(by_rain, row = "rain_{rain:05}_{number:05}", copy = keys)]
struct Year {
    station: String,
    number: u32,
    rain: u32,
    #[part]
    diary: String,
    #[part]
    notes: Option<String>,
}

fn year(number: u32, text: &str) -> Year {
    let notes = number.is_multiple_of(2).then(|| format!("{text} notes"));
    Year { station: "Oslo".into(), number, rain: 700 + number % 9, diary: format!("{text} {number}"), notes }
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Makes a store with years of these numbers, and a row that no struct declares.
    fn fill(&self, name: &str, years: impl IntoIterator<Item = u32>, text: &str) {
        let store = Store::open(self.path(name)).unwrap();
        let weather = store.table::<Year>().unwrap();
        let years = years.into_iter().map(|number| year(number, text));
        weather.bulk_insert(years).unwrap().into_result().unwrap();
        weather.dynamic().put(&DynamicEntity::new("Oslo", "a note").with("Text", text)).unwrap();
        drop(weather);
        store.close().unwrap();
    }

    fn years(&self, name: &str) -> Vec<Year> {
        let store = Store::open(self.path(name)).unwrap();
        let weather = store.table::<Year>().unwrap();
        let found = weather.all().into_iter().map(|found| Stored::into_inner(found.unwrap())).collect();
        assert!(weather.check().unwrap().is_sound());
        drop(weather);
        store.close().unwrap();
        found
    }

    fn copy(&self, from: &str, to: &str, more: &[&str]) -> Ran {
        let (from, to, rejects) = (self.text(from), self.text(to), self.text("rejects"));
        tables(&[&["copy", "--write", &from, &to, "--rejects", &rejects], more].concat())
    }
}

#[test]
fn each_mode_takes_a_wide_entity_as_one() {
    for (mode, code, written, text) in
        [("insert", 1, 9, "old"), ("skip", 0, 9, "old"), ("merge", 0, 19, "new"), ("replace", 0, 19, "new")]
    {
        let place = Place::new();
        place.fill("from.tables", 1..=6, "new");
        place.fill("to.tables", 1..=3, "old");
        let ran = place.copy("from.tables", "to.tables", &["--mode", mode, "--no-verify"]);
        assert_eq!(ran.code, code, "{mode}: {} {}", ran.out, ran.err);
        let counted = format!("\"read\":25,\"written\":{written},");
        assert!(ran.out.contains(&counted), "{mode}: {}", ran.out);
        let rejects = fs::read_to_string(place.path("rejects")).unwrap_or_default();
        assert_eq!(rejects.lines().count(), if code == 0 { 0 } else { 4 }, "{mode}: {rejects}");
        let expected: Vec<_> =
            (1..=6).map(|number| year(number, if number > 3 { "new" } else { text })).collect();
        assert_eq!(place.years("to.tables"), expected, "{mode}");
    }
}

#[test]
fn there_and_back_nothing_is_lost() {
    let place = Place::new();
    place.fill("from.tables", 1..=40, "there");
    place.fill("to.tables", [1], "there");
    place.fill("back.tables", [1], "there");
    for (file, form) in [("Weather.jsonl", "odata"), ("Weather.csv", "azure-csv")] {
        let (from, to, back) =
            (place.text("from.tables"), place.text("to.tables"), place.text("back.tables"));
        let file = place.text(file);
        let export = |store: &str| {
            tables(&["export", "Weather", "--store", store, "-o", &file, "--as", form, "--entities-only"])
        };
        let import = |store: &str| {
            tables(&["import", "--write", "Weather", &file, "--store", store, "--mode", "replace"])
        };
        assert_eq!(export(&from).code, 0);
        let ran = import(&to);
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        assert_eq!(export(&to).code, 0);
        assert_eq!(import(&back).code, 0);
        let ran = tables(&["diff", &from, &back]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    }
    assert_eq!(place.years("back.tables"), place.years("from.tables"));
}

#[test]
fn chunks_end_between_entities() {
    // Three rows each, and one before them: ends of chunks fall among the rows of an entity.
    let place = Place::new();
    place.fill("from.tables", 1..=8_001, "many");
    place.fill("to.tables", [1], "other");
    let ran = place.copy("from.tables", "to.tables", &["--mode", "replace"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("\"read\":32005,\"written\":24004,"), "{}", ran.out);
    let (from, file) = (place.text("from.tables"), place.text("Weather.jsonl"));
    let ran = tables(&["export", "Weather", "--store", &from, "-o", &file, "--entities-only"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    place.fill("filed.tables", [1], "other");
    let import = ["import", "--write", "Weather", &file, "--mode", "replace", "--store"];
    let filed = place.text("filed.tables");
    let ran = tables(&[&import[..], &[filed.as_str()]].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!(rows(Path::new(&filed), "Weather").len(), 24_004 + 8_001);
    let ran = tables(&["diff", &from, &filed]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
}

/// Readings of two instruments: more properties than one row may have.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings", kind = "readings", wide)]
#[key(partition = "{station}", row = "readings_{number:04}")]
struct Readings {
    station: String,
    number: u32,
    #[part]
    #[series]
    inside: [Option<f64>; 200],
    #[part]
    #[series]
    outside: [Option<f64>; 200],
}

#[test]
fn an_entity_may_have_more_than_a_row_takes() {
    let place = Place::new();
    let readings = |number, value| Readings {
        station: "Oslo".into(),
        number,
        inside: [Some(value); 200],
        outside: [Some(-value); 200],
    };
    for (name, value) in [("from.tables", 20.5), ("to.tables", 1.0)] {
        let store = Store::open(place.path(name)).unwrap();
        let all = (1..=30).map(|number| readings(number, value));
        store.table::<Readings>().unwrap().bulk_insert(all).unwrap().into_result().unwrap();
        store.close().unwrap();
    }
    let ran = place.copy("from.tables", "to.tables", &["--mode", "replace"]);
    let rejects = fs::read_to_string(place.path("rejects")).unwrap_or_default();
    assert_eq!(ran.code, 0, "{} {rejects}", ran.out);
    let store = Store::open(place.path("to.tables")).unwrap();
    let table = store.table::<Readings>().unwrap();
    for number in 1..=30 {
        let found = table.get(Readings::key("Oslo", number)).unwrap().unwrap();
        assert!(Stored::into_inner(found) == readings(number, 20.5));
    }
}

#[test]
fn rows_that_are_no_whole_entity_are_rejected_and_nothing_is_written() {
    let place = Place::new();
    place.fill("to.tables", [1], "old");
    let mut text = String::new();
    for (row, properties) in [
        // The second part of two is missing.
        (
            "year_00001",
            "\"EntityType\":\"year\",\"EntityParts\":2,\"Rain\":705,\"Rain@odata.type\":\"Edm.Int64\"",
        ),
        ("year_00001_01", "\"EntityType\":\"year.01\",\"Diary\":\"new\""),
        // A part without a head.
        ("year_00002_01", "\"EntityType\":\"year.01\",\"Diary\":\"new\""),
        // A head that says less than its struct asks for.
        (
            "year_00003",
            "\"EntityType\":\"year\",\"EntityParts\":0,\"Rain\":705,\"Rain@odata.type\":\"Edm.Int64\"",
        ),
    ] {
        writeln!(text, "{{\"PartitionKey\":\"Oslo\",\"RowKey\":\"{row}\",{properties}}}").unwrap();
    }
    let file = place.text("data.jsonl");
    fs::write(&file, text).unwrap();
    let to = place.text("to.tables");
    let ran = tables(&["import", "--write", "Weather", &file, "--store", &to, "--mode", "replace"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(
        ran.out.contains("\"read\":4,\"written\":0,") && ran.out.contains("\"rejected\":4,"),
        "{}",
        ran.out
    );
    let rejects = fs::read_to_string(place.path("data.jsonl.rejects.jsonl")).unwrap();
    let said: Vec<_> = rejects.lines().collect();
    assert!(said[0].contains("part 2 of 2 of the wide entity `year` is missing"), "{rejects}");
    assert!(said[1].contains("part 2 of 2"), "{rejects}");
    assert!(said[2].contains("whose head is missing"), "{rejects}");
    assert!(said[3].contains("`Diary` does not fit"), "{rejects}");
    assert_eq!(place.years("to.tables"), [year(1, "old")]);
}

#[test]
fn an_entity_in_one_line_is_taken_whole() {
    let place = Place::new();
    place.fill("to.tables", [1], "old");
    let file = place.text("data.jsonl");
    let line = "{\"PartitionKey\":\"Oslo\",\"RowKey\":\"year_00002\",\"EntityType\":\"year\",\"Rain\":702,\
                \"Diary\":\"one line\",\"Notes\":null}\n";
    fs::write(&file, line.replace(",\"Notes\":null", "")).unwrap();
    let ran = tables(&["import", "--write", "Weather", &file, "--store", &place.text("to.tables")]);
    let rejects = fs::read_to_string(place.path("data.jsonl.rejects.jsonl")).unwrap_or_default();
    assert_eq!(ran.code, 0, "{} {rejects}", ran.out);
    let found = place.years("to.tables");
    assert_eq!((found[1].diary.as_str(), &found[1].notes), ("one line", &None));
}

#[test]
fn get_prints_a_wide_entity_with_its_parts() {
    let place = Place::new();
    place.fill("from.tables", [2], "whole");
    let ran =
        tables(&["get", "Weather/year", "station=Oslo", "number=2", "--store", &place.text("from.tables")]);
    assert!(ran.out.contains("\"Diary\":\"whole 2\",\"Notes\":\"whole notes\""), "{}", ran.shown());
    assert_eq!(ran.out.matches("RowKey").count(), 1, "{}", ran.out);
}

#[test]
fn what_was_begun_before_a_kill_counts_as_written() {
    let place = Place::new();
    place.fill("from.tables", 1..=4, "same");
    place.fill("to.tables", 1..=4, "same");
    let (from, to, file) = (place.text("from.tables"), place.text("to.tables"), place.text("Weather.jsonl"));
    let export = ["export", "Weather", "--kind", "year", "--store", &from, "-o", &file];
    assert_eq!(tables(&export).code, 0);
    let store = Store::open(&to).unwrap();
    // The part of one of them says another thing.
    let weather = store.table::<Year>().unwrap();
    weather.update(Year::key("Oslo", 3), |year| year.diary = "other".into()).unwrap();
    drop(weather);
    store.close().unwrap();
    let bytes = fs::metadata(&file).unwrap().len();
    let target = format!("{to} Weather insert ");
    let digest = Sha256::digest(target).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    fs::write(
        place.path("Weather.jsonl.journal"),
        format!("tables-import 1\t{bytes}\t{digest}\nbegin\t{bytes}\t13\n"),
    )
    .unwrap();
    let ran = tables(&["import", "--write", "Weather", &file, "--store", &to, "--resume"]);
    let rejects = fs::read_to_string(place.path("Weather.jsonl.rejects.jsonl")).unwrap();
    assert_eq!(ran.code, 1, "{} {rejects}", ran.err);
    assert!(
        ran.out.contains("\"read\":12,\"written\":9,") && ran.out.contains("\"rejected\":3,"),
        "{}",
        ran.out
    );
    assert!(rejects.lines().count() == 1 && rejects.contains("year_00003"), "{rejects}");
}

#[test]
fn a_filter_that_keeps_the_rows_of_an_entity_apart_is_told_of() {
    let place = Place::new();
    place.fill("from.tables", 1..=4, "apart");
    let from = place.text("from.tables");
    let export =
        |filter: &str| tables(&["export", "Weather", "--kind", "year", "--store", &from, "--filter", filter]);
    let ran = export("Rain ge 702");
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("rows of wide entities were left out"), "{}", ran.err);
    let ran = export("PartitionKey eq 'Oslo' and RowKey ge 'year_00003' and RowKey lt 'year_00005'");
    assert_eq!((ran.code, ran.out.lines().count()), (0, 6), "{}", ran.err);
}
