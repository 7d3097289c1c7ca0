//! An import that is killed, and resumed.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};
use table_core::{DynamicEntity, Store};

use crate::run::tables;
use crate::store::{Random, rows};

fn start(store: &Path, file: &Path, resume: bool) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    command.args(["import", "--write", "--relaxed", "--store"]).arg(store).arg("Any").arg(file);
    if resume {
        command.arg("--resume");
    }
    command.env_remove("TABLES_STORE").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Writes entities of a few partitions, two lines that are none, and one whose key is taken.
fn write(file: &Path) -> usize {
    let (mut text, entities) = (String::new(), 60_000);
    for number in 0..entities {
        if number == 20_000 || number == 40_000 {
            text.push_str("{\"PartitionKey\":\"p\",\"RowKey\":\n");
        }
        writeln!(
            text,
            "{{\"PartitionKey\":\"p{}\",\"RowKey\":\"{number:06}\",\"Age\":{number}}}",
            number % 7
        )
        .unwrap();
    }
    text.push_str("{\"PartitionKey\":\"p0\",\"RowKey\":\"000000\",\"Age\":-1}\n");
    fs::write(file, text).unwrap();
    entities
}

#[test]
fn what_is_killed_at_any_place_is_resumed_to_the_same_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (once, often, file) = (path("once.tables"), path("often.tables"), path("data.jsonl"));
    let entities = write(&file);
    for store in [&once, &often] {
        Store::open(store).unwrap().close().unwrap();
    }
    assert_eq!(start(&once, &file, false).wait().unwrap().code(), Some(1));
    let rejects = fs::read_to_string(path("data.jsonl.rejects.jsonl")).unwrap();
    assert_eq!(rejects.lines().count(), 3, "{rejects}");

    let mut random = Random(3);
    let (mut kills, mut code) = (0, None);
    for run in 0..400 {
        let mut child = start(&often, &file, run > 0);
        thread::sleep(Duration::from_millis(30 + random.below(150)));
        if run < 399 && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        code = child.wait().unwrap().code();
        if code.is_some() {
            break;
        }
    }
    assert!(kills > 0, "no run was killed");
    assert_eq!(code, Some(1));
    assert_eq!(fs::read_to_string(path("data.jsonl.rejects.jsonl")).unwrap(), rejects);
    let found = rows(&often, "Any");
    assert_eq!(found.len(), entities);
    assert_eq!(found, rows(&once, "Any"));
    assert!(!path("data.jsonl.journal").exists());
}

#[test]
fn an_import_that_was_cut_short_is_not_begun_anew_unasked() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (store, file, journal) = (path("to.tables"), path("data.jsonl"), path("data.jsonl.journal"));
    Store::open(&store).unwrap().close().unwrap();
    let line = |row: u32| format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"Age\":1}}\n");
    fs::write(&file, [line(1), line(2), line(3)].concat()).unwrap();
    let (store, file) = (store.to_str().unwrap(), file.to_str().unwrap());
    let import = ["import", "--write", "--store", store, "Any", file];
    let resume = [&import[..], &["--resume"]].concat();

    // As it is after a kill between the commit and the note of it.
    let ran = tables(&[&import[..], &["--mode", "skip"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let of = |target: &str| {
        let digest =
            Sha256::digest(target).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        format!("tables-import 1\t{}\t{digest}\n", 3 * line(1).len())
    };
    let head = of(&format!("{store} Any insert "));
    fs::write(&journal, format!("{head}begin\t{}\t3\nbegi", 2 * line(1).len())).unwrap();
    let ran = tables(&import);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--resume"), "{}", ran.err);
    let ran = tables(&resume);
    assert!(
        ran.out.contains("\"written\":2,") && ran.out.contains("\"rejected\":1,"),
        "{} {}",
        ran.out,
        ran.err
    );

    // Of another import, or damaged.
    for (text, word) in [
        (of(&format!("{store} Other insert ")), "another import"),
        (format!("{head}done\tx\n"), "line 2"),
        (format!("{head}what\t1\n"), "line 2"),
    ] {
        fs::write(&journal, text).unwrap();
        let ran = tables(&resume);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    let wanted: Vec<_> =
        (1..=3).map(|row: u32| DynamicEntity::new("p", row.to_string()).with("Age", 1)).collect();
    assert_eq!(rows(Path::new(store), "Any"), wanted);
}

/// The first line of the journal of an import into the table `Any`.
fn head(store: &str, bytes: usize) -> String {
    let target = format!("{store} Any insert ");
    let digest = Sha256::digest(target).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    format!("tables-import 1\t{bytes}\t{digest}\n")
}

#[test]
fn entities_that_stand_in_one_line_are_resumed_by_their_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (store, file) = (path("to.tables"), path("data.json"));
    Store::open(&store).unwrap().close().unwrap();
    let object = |row: u32| format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"Age\":1}}");
    let text = format!("[{},{},{}]", object(1), object(2), object(3));
    fs::write(&file, &text).unwrap();
    let import = ["import", "--write", "--store", &store, "Any", &file];
    assert_eq!(tables(&[&import[..], &["--mode", "skip"]].concat()).code, 0);
    // Two of them were begun.
    let begun = 1 + 2 * object(1).len() + 1;
    fs::write(path("data.json.journal"), format!("{}begin\t{begun}\t1\n", head(&store, text.len()))).unwrap();
    let ran = tables(&[&import[..], &["--resume"]].concat());
    assert!(
        ran.out.contains("\"written\":2,") && ran.out.contains("\"rejected\":1,"),
        "{} {}",
        ran.out,
        ran.err
    );
}

#[test]
fn a_journal_says_nothing_without_a_whole_line_and_is_of_one_run_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (store, file, journal) = (path("to.tables"), path("data.jsonl"), path("data.jsonl.journal"));
    Store::open(&store).unwrap().close().unwrap();
    let text = "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n";
    fs::write(&file, text).unwrap();
    let import = ["import", "--write", "--store", &store, "Any", &file];
    let resume = [&import[..], &["--resume"]].concat();

    fs::write(&journal, head(&store, text.len())).unwrap();
    let other = fs::File::options().write(true).open(&journal).unwrap();
    other.lock().unwrap();
    for arguments in [&import[..], &resume] {
        let ran = tables(arguments);
        assert_eq!(ran.code, 5, "{}", ran.err);
        assert!(ran.err.contains("in use by another run"), "{}", ran.err);
    }
    drop(other);
    fs::write(&journal, "tables-imp").unwrap();
    let ran = tables(&resume);
    assert!(ran.code == 0 && ran.out.contains("\"written\":1,"), "{} {}", ran.out, ran.err);
}

#[test]
fn rejects_that_were_cut_off_by_hand_are_gone_on_with_where_they_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (store, file, rejects) = (path("to.tables"), path("data.jsonl"), path("data.jsonl.rejects.jsonl"));
    Store::open(&store).unwrap().close().unwrap();
    let text = "{\"Name\"\n{\"Name\"\n";
    fs::write(&file, text).unwrap();
    fs::write(
        path("data.jsonl.journal"),
        format!("{}done\t8\t2\t1\t0\t0\t0\t1\t5000\n", head(&store, text.len())),
    )
    .unwrap();
    fs::write(&rejects, "{\"line\":1}\n").unwrap();
    let ran = tables(&["import", "--write", "--store", &store, "Any", &file, "--resume"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    let text = fs::read_to_string(&rejects).unwrap();
    assert!(text.starts_with("{\"line\":1}\n{\"line\":2,") && text.lines().count() == 2, "{text:?}");
}

#[test]
fn values_that_were_taken_as_text_are_not_gone_on_with_as_what_they_look_like() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (store, file) = (path("to.tables"), path("data.csv"));
    Store::open(&store).unwrap().close().unwrap();
    let text = "PartitionKey,RowKey,Zip\np,1,10115\n";
    fs::write(&file, text).unwrap();
    fs::write(path("data.csv.journal"), head(&store, text.len())).unwrap();
    let import = ["import", "--write", "--store", &store, "Any", &file, "--resume"];
    let ran = tables(&[&import[..], &["--as-text"]].concat());
    assert!(ran.code == 2 && ran.err.contains("of another import"), "{} {}", ran.out, ran.err);
    assert_eq!(tables(&import).code, 0);
}

#[test]
fn what_an_earlier_run_has_begun_is_known_after_one_that_began_less() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (store, file) = (path("to.tables"), path("data.jsonl"));
    Store::open(&store).unwrap().close().unwrap();
    let line = |row: u32| format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"Age\":1}}\n");
    let text = [line(1), line(2), line(3)].concat();
    fs::write(&file, &text).unwrap();
    let import = ["import", "--write", "--store", &store, "Any", &file];
    assert_eq!(tables(&[&import[..], &["--mode", "skip"]].concat()).code, 0);
    let begun = format!("begin\t{}\t3\nbegin\t{}\t2\n", 2 * line(1).len(), line(1).len());
    fs::write(path("data.jsonl.journal"), head(&store, text.len()) + &begun).unwrap();
    let ran = tables(&[&import[..], &["--resume"]].concat());
    assert!(
        ran.out.contains("\"written\":2,") && ran.out.contains("\"rejected\":1,"),
        "{} {}",
        ran.out,
        ran.err
    );
}
