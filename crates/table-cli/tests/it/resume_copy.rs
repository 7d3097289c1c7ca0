//! A copy that is killed, and resumed.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use table_core::{DynamicEntity, Store};

use crate::copy_whole::{assert_alike, fill};
use crate::run::tables;
use crate::store::{Page, Random, company, rows};

fn start(from: &Path, to: &Path, rejects: &Path, resume: bool) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    command.args(["copy", "--write", "--relaxed"]).arg(from).arg(to).arg("--rejects").arg(rejects);
    if resume {
        command.arg("--resume");
    }
    command.env_remove("TABLES_STORE").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Makes a store with something of all that is copied, and a target where a few keys and a name are taken.
fn stores(from: &Path, to: &Path) {
    company(from, 12_000);
    fill(from, 6_000);
    let store = Store::open(from).unwrap();
    let pages = store.table::<Page>().unwrap();
    for number in 0..20 {
        let picture = store.upload("image/png", &*vec![u8::try_from(number).unwrap(); 70_000]).unwrap();
        pages.insert(&Page { album: "a".into(), number, picture }).unwrap();
    }
    drop(pages);
    store.close().unwrap();
    let store = Store::open(to).unwrap();
    let notes = store.create_table("Notes").unwrap();
    for row in ["000100", "005900"] {
        notes.insert(&DynamicEntity::new("p", row).with("Mine", true)).unwrap();
    }
    drop(notes);
    store.container("photos").unwrap().put("small/000400", b"mine").unwrap();
    store.close().unwrap();
}

#[test]
fn what_is_killed_at_any_place_is_resumed_to_the_same_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (from, once, often) = (path("from.tables"), path("once.tables"), path("often.tables"));
    let (rejects, resumed) = (path("once.rejects"), path("often.rejects"));
    stores(&from, &once);
    copy_directory(&once, &often);
    let done = start(&from, &once, &rejects, false).wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let wanted = String::from_utf8(done.stdout).unwrap();
    assert_eq!(fs::read_to_string(&rejects).unwrap().lines().count(), 3, "{wanted}");

    let mut random = Random(7);
    let (mut kills, mut found) = (0, None);
    for run in 0..400 {
        let mut child = start(&from, &often, &resumed, run > 0);
        thread::sleep(Duration::from_millis(20 + random.below(120)));
        if run < 399 && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        let done = child.wait_with_output().unwrap();
        if done.status.code().is_some() {
            assert_eq!(done.status.code(), Some(1));
            found = Some(String::from_utf8(done.stdout).unwrap());
            break;
        }
    }
    assert!(kills > 0, "no run was killed");
    assert_eq!(found.unwrap(), wanted);
    assert_eq!(fs::read_to_string(&resumed).unwrap(), fs::read_to_string(&rejects).unwrap());
    assert!(!path("often.rejects.journal").exists());
    for table in ["Company", "Notes"] {
        assert_eq!(rows(&once, table), rows(&often, table));
    }
    assert_alike(&once, &often);
    let [once, often] = [&once, &often].map(|path| path.to_str().unwrap());
    let ran = tables(&["diff", once, often]);
    assert_eq!((ran.code, &*ran.out), (0, ""), "{}", ran.err);
    let ran = tables(&["check", "--store", often]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "lock.mdb" {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn a_copy_that_was_cut_short_is_not_begun_anew_unasked_and_no_other_goes_on_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (from, to, rejects) = (path("from.tables"), path("to.tables"), path("rejects"));
    company(from.as_ref(), 10);
    let journal = path("rejects.journal");
    let copy = ["copy", "--write", &*from, &*to, "--rejects", &*rejects];
    fs::write(&journal, "tables-copy 1\tof another\n").unwrap();
    let ran = tables(&copy);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--resume"), "{}", ran.err);
    let ran = tables(&[&copy[..], &["--resume"]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is of another copy"), "{}", ran.err);
    assert!(!Path::new(&rejects).exists());
    // A journal that was cut off in its first line says nothing.
    fs::write(&journal, "tables-co").unwrap();
    let ran = tables(&[&copy[..], &["--resume"]].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!(rows(from.as_ref(), "Company"), rows(to.as_ref(), "Company"));
}
