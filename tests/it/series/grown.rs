//! A series that has other slots in the next release.

use integration_tests::{Scratch, assert_sound};
use table_core::{Entity, ErrorKind, IfMatch};

macro_rules! release {
    ($module:ident, $($series:tt)*) => {
        mod $module {
            use super::Entity;

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Load", kind = "day")]
            #[key(partition = "{host}", row = "day_{day:06}")]
            pub(super) struct Day {
                pub(super) host: String,
                pub(super) day: u32,
                $($series)*
            }
        }
    };
}

release!(first, #[series] pub(super) cpu: [Option<i32>; 24]);
release!(grown, #[series] pub(super) cpu: [Option<i32>; 48]);
release!(counted, #[series] #[property(default)] pub(super) cpu: [i32; 48]);
release!(demanding, #[series] pub(super) cpu: [i32; 24]);
release!(named, #[series] #[property(rename = "Load")] pub(super) cpu: [Option<i32>; 24]);
release!(wide, #[series] pub(super) cpu: [Option<i32>; 200]);
release!(kept, #[series(width = 2)] pub(super) cpu: [Option<i32>; 200]);
release!(texts, #[series] pub(super) cpu: [Option<String>; 24]);
release!(long, #[series] pub(super) cpu: [Option<i64>; 24]);
release!(
    apart,
    pub(super) cpu_00: Option<i32>,
    #[property(rename = "Cpu_00")]
    pub(super) first: Option<i32>
);

fn day() -> first::Day {
    first::Day {
        host: "web1".into(),
        day: 1,
        cpu: std::array::from_fn(|hour| (hour % 2 == 0).then_some(hour as i32)),
    }
}

#[test]
fn one_that_grows_reads_what_was_written_before() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<first::Day>().unwrap().insert(&day()).unwrap();
    let days = store.table::<grown::Day>().unwrap();
    let read = days.get(grown::Day::key("web1", 1)).unwrap().unwrap();
    assert_eq!((&read.cpu[..24], &read.cpu[24..]), (&day().cpu[..], &[None; 24][..]));
    assert_eq!(days.rows().host("web1").filter(|d| d.cpu.at(40).is_none()).count().unwrap(), 1);
    days.merge(grown::Day::key("web1", 1), grown::Day::patch().cpu(40, Some(-1)), IfMatch::Any).unwrap();
    assert_eq!(days.rows().host("web1").filter(|d| d.cpu.at(40).eq(-1)).count().unwrap(), 1);

    // The first release goes on beside it, and loses nothing of what it doesn't know.
    let before = store.table::<first::Day>().unwrap();
    before.merge(first::Day::key("web1", 1), first::Day::patch().cpu(3, Some(33)), IfMatch::Any).unwrap();
    let read = days.get(grown::Day::key("web1", 1)).unwrap().unwrap();
    assert_eq!((read.cpu[3], read.cpu[40]), (Some(33), Some(-1)));
    // What rows lack is the default where the slots are no `Option`s.
    let counted = store.table::<counted::Day>().unwrap();
    let read = counted.get(counted::Day::key("web1", 1)).unwrap().unwrap();
    assert_eq!((read.cpu[1], read.cpu[2], read.cpu[40], read.cpu[47]), (0, 2, -1, 0));
    // Numbers that are wider read narrower ones.
    drop((before, counted, days));
    assert_sound(&store);
}

#[test]
fn a_width_that_is_kept_keeps_the_names() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<first::Day>().unwrap().insert(&day()).unwrap();
    let error = store.table::<wide::Day>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert_eq!(
        error.to_string(),
        "cannot open table `Load`: say `#[series(width = 2)]` of `Cpu`, whose slots are properties like `Cpu_00`: that \
         keeps their names\n\
         the struct `Day` declares `day` otherwise than it was last written (- stored, + declared):\n  \
         - series Cpu_00 24 Int32?\n  \
         + series Cpu_000 200 Int32?"
    );
    let days = store.table::<kept::Day>().unwrap();
    let key = || kept::Day::key("web1", 1);
    days.merge(key(), kept::Day::patch().cpu(150, Some(7)), IfMatch::Any).unwrap();
    let row = days.dynamic().get("web1", "day_000001").unwrap().unwrap();
    assert_eq!(
        (row.get("Cpu_150").and_then(|cpu| cpu.as_i64()), row.get("Cpu_150").is_some()),
        (Some(7), true)
    );
    let read = days.get(key()).unwrap().unwrap();
    assert_eq!((read.cpu[22], read.cpu[150], read.cpu[100]), (Some(22), Some(7), None));
}

#[test]
fn what_can_not_be_read_is_refused_with_what_would_be_right() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<first::Day>().unwrap().insert(&day()).unwrap();
    let refused = |error: table_core::Error, words: &[&str]| {
        assert_eq!(error.kind(), ErrorKind::LayoutChanged);
        for word in words {
            assert!(error.to_string().contains(word), "{error}");
        }
    };
    let demanding = store.table::<demanding::Day>().unwrap_err();
    let make = "make the slots of `cpu` `Option`s, or give it `#[property(default)]`: rows may lack `Cpu_00`";
    refused(demanding, &["- series Cpu_00 24 Int32?\n  + series Cpu_00 24 Int32", make]);
    let texts = store.table::<texts::Day>().unwrap_err();
    refused(
        texts,
        &["keep the type of the slots of `Cpu`: rows hold Edm.Int32, which is not read as Edm.String"],
    );
    // A series of another name is another one, and an integer widens.
    let days = store.table::<named::Day>().unwrap();
    assert_eq!(days.get(named::Day::key("web1", 1)).unwrap().unwrap().cpu, [None; 24]);
    let long = store.table::<long::Day>().unwrap();
    assert_eq!(long.get(long::Day::key("web1", 1)).unwrap().unwrap().cpu[22], Some(22));
    // One property of it can be declared by itself.
    let apart = store.table::<apart::Day>().unwrap().get(apart::Day::key("web1", 1)).unwrap().unwrap();
    assert_eq!((apart.first, apart.cpu_00), (Some(0), None));
}

#[test]
fn a_kept_layout_says_what_a_change_takes() {
    use std::panic;
    use table_core::assert_layouts;

    assert_layouts!("layouts", first::Day);
    let told = |kept: Result<(), Box<dyn std::any::Any + Send>>| -> String {
        kept.unwrap_err().downcast::<String>().map(|told| *told).unwrap()
    };
    let grows = told(panic::catch_unwind(|| assert_layouts!("layouts", grown::Day)));
    for line in [
        "  - series Cpu_00 24 Int32?\n  + series Cpu_00 48 Int32?\n",
        "the series `Cpu` grows from 24 slots to 48: rows that are there lack the new ones, and get them when they are set",
    ] {
        assert!(grows.contains(line), "{grows}");
    }
    assert!(!grows.contains("Cpu_24"), "{grows}");
}
