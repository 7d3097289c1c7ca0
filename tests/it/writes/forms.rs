//! The form of the rows that typed writes leave: the one that their properties have, however it was come by.

use integration_tests::Scratch;
use table_core::{DynamicEntity, Entity, IfMatch};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Papers", kind = "paper")]
#[key(partition = "{shelf}", row = "paper_{number:03}")]
#[index(by_title, row = "title_{title}_{number:03}")]
#[index(by_year, row = "year_{year:04}_{number:03}", copy(title))]
struct Paper {
    shelf: String,
    number: u16,
    year: u16,
    note: Option<String>,
    body: String,
    scan: Vec<u8>,
    pages: Option<i32>,
    title: String,
}

fn paper(number: u16, body: usize, scan: usize) -> Paper {
    let is_odd = number % 2 == 1;
    Paper {
        shelf: "a".to_owned(),
        number,
        year: 1990 + number,
        note: is_odd.then(|| "é".repeat(body / 2)),
        body: "b".repeat(body),
        scan: vec![7; scan],
        pages: (!is_odd).then_some(-i32::from(number)),
        title: format!("t{number}"),
    }
}

/// Around what a value may have without a checksum of its own, and a row with narrow slots.
const SIZES: [usize; 9] = [0, 1, 255, 256, 257, 1_300, 4_080, 5_000, 30_000];

#[test]
fn rows_are_in_the_one_form_whatever_is_absent_long_or_unknown() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let papers = store.table::<Paper>().unwrap();
    let sizes = SIZES.iter().flat_map(|body| SIZES.iter().map(move |scan| (*body, *scan)));
    let all: Vec<_> = (0..).zip(sizes).map(|(number, (body, scan))| paper(number, body, scan)).collect();
    for paper in &all {
        papers.insert(paper).unwrap();
    }
    let rows_are_sound = |store: &table_core::Store| {
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        assert_eq!(report.rows, 3 * u64::try_from(all.len()).unwrap());
    };
    rows_are_sound(&store);
    // What is written by its names and what is written by its numbers is the same.
    let stored = || store.dynamic_table("Papers").unwrap().query(&table_core::Query::new()).unwrap();
    let bytes = || store.stats().unwrap().tables[0].bytes;
    let (before, typed) = (bytes(), stored().map(Result::unwrap).collect::<Vec<_>>());
    for row in &typed {
        papers.dynamic().raw().replace(row, IfMatch::Any).unwrap();
    }
    assert_eq!((bytes(), stored().map(Result::unwrap).collect::<Vec<_>>()), (before, typed));
    rows_are_sound(&store);
    // A property that no field has stays.
    let extra = DynamicEntity::new("a", "paper_003").with("Extra", 1);
    papers.dynamic().raw().merge(&extra, IfMatch::Any).unwrap();
    for paper in &all {
        let changed = papers.update(Paper::key("a", paper.number), |paper| paper.body.push('c')).unwrap();
        assert_eq!(changed.body.len(), paper.body.len() + 1);
    }
    rows_are_sound(&store);
    let row = papers.dynamic().get("a", "paper_003").unwrap().unwrap();
    assert_eq!(row.get("Extra").and_then(table_core::Value::as_i32), Some(1));
    for paper in &all {
        papers.delete(Paper::key("a", paper.number)).unwrap();
    }
    assert_eq!(store.check().unwrap().rows, 0);
}
