//! Stores that are open for reading only.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use integration_tests::child::Child;
use integration_tests::{Scratch, relaxed};
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, Entity, Error, ErrorKind, IfMatch, Query, Store};

use super::PROGRAM;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes", kind = "note")]
#[key(partition = "{owner}", row = "{id:04}")]
struct Note {
    owner: String,
    id: u32,
    text: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Absent", kind = "absent")]
#[key(partition = "{owner}", row = "{id:04}")]
struct Absent {
    owner: String,
    id: u32,
}

/// Another kind of the same table, which nobody has noted.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes", kind = "mark")]
#[key(partition = "marks of {owner}", row = "{id:04}")]
struct Mark {
    owner: String,
    id: u32,
}

fn note(id: u32) -> Note {
    Note { owner: "Ann".into(), id, text: "text".into() }
}

/// A store with a few notes, closed.
fn made(path: &Path) {
    let store = relaxed().open(path).unwrap();
    let notes = store.table::<Note>().unwrap();
    for id in 0..20 {
        notes.put(&note(id)).unwrap();
    }
    drop(notes);
    store.create_table("Gone").unwrap();
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path.join("data.mdb")).unwrap()
}

#[test]
fn everything_is_read_and_every_write_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    made(&path);
    let before = bytes(&path);
    let store = Store::options().read_only(true).open(&path).unwrap();

    let notes = store.table::<Note>().unwrap();
    assert_eq!(*notes.get(Note::key("Ann", 7)).unwrap().unwrap(), note(7));
    assert_eq!(notes.rows().owner("Ann").into_iter().count(), 20);
    assert_eq!(store.table::<Mark>().unwrap().get(Mark::key("Ann", 1)).unwrap().map(|mark| mark.id), None);
    assert_eq!(store.tables().unwrap(), ["Gone", "Notes"]);
    assert!(store.check().unwrap().problems.is_empty());
    assert_eq!(store.stats().unwrap().tables[1].entities, 20);
    let snapshot = store.snapshot().unwrap();
    let table = store.dynamic_table("Notes").unwrap();
    assert_eq!(snapshot.query(&table, &Query::new()).unwrap().count(), 20);
    store.copy_to(scratch.path().join("copy")).unwrap();
    assert_eq!(store.clear_stale_readers().unwrap(), 0);

    let row = || DynamicEntity::new("Ann", "0001");
    let refusals: Vec<(Option<&str>, &str, Error)> = vec![
        (Some("Notes"), "replace in", notes.put(&note(1)).unwrap_err()),
        (Some("Notes"), "insert into", notes.insert(&note(100)).unwrap_err()),
        (
            Some("Notes"),
            "replace in",
            notes.update(Note::key("Ann", 1), |note| note.text.clear()).unwrap_err(),
        ),
        (Some("Notes"), "delete from", notes.delete(Note::key("Ann", 1)).unwrap_err()),
        (Some("Notes"), "insert into", table.insert(&DynamicEntity::new("x", "y")).unwrap_err()),
        (Some("Notes"), "merge into", table.merge(&row(), IfMatch::Any).unwrap_err()),
        (Some("Notes"), "delete from", table.delete("Ann", "0001").unwrap_err()),
        (Some("Notes"), "commit a batch to", table.batch("Ann").insert_or_merge(row()).commit().unwrap_err()),
        (Some("New"), "create", store.create_table("New").unwrap_err()),
        (Some("New"), "create", store.create_table_if_missing("New").unwrap_err()),
        (Some("Gone"), "drop", store.drop_table("Gone").unwrap_err()),
        (None, "reclaim", store.reclaim().unwrap_err()),
    ];
    for (table, attempted, error) in refusals {
        assert_eq!((error.kind(), error.table_name()), (ErrorKind::ReadOnly, table), "{error}");
        assert!(error.to_string().starts_with(&format!("cannot {attempted} ")), "{error}");
        assert!(error.to_string().contains("open it without"), "{error}");
    }
    let error = store.table::<Absent>().unwrap_err();
    assert_eq!((error.kind(), error.table_name()), (ErrorKind::TableNotFound, Some("Absent")));
    let text = store.create_table("New").unwrap_err().to_string();
    assert!(text.contains("cannot create table `New`") && text.contains("without"), "{text}");
    assert_eq!(bytes(&path), before);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 2);
}

#[test]
fn a_missing_store_is_not_made() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let error = Store::options().read_only(true).open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("there is no store at"), "{error}");
    assert!(!path.exists());
}

#[test]
fn a_process_has_a_store_open_for_one_or_the_other() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    made(&path);
    let reading = Store::options().read_only(true).open(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OptionsConflict);
    assert!(error.to_string().contains("`read_only` true, not false"), "{error}");
    drop(reading);
    let writing = Store::open(&path).unwrap();
    let error = Store::options().read_only(true).open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OptionsConflict);
    drop(writing);
}

#[test]
fn a_reader_sees_what_another_process_writes_and_holds_its_pages() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    made(&path);
    let store = Store::options().read_only(true).open(&path).unwrap();
    let table = store.dynamic_table("Notes").unwrap();
    let snapshot = store.snapshot().unwrap();
    // The first to come: what it makes of the lock file must do for those that write.
    let mut child = Child::start(PROGRAM, "overwrite", &[path.to_str().unwrap(), "Notes"]);
    child.expect("done");
    assert_eq!(table.query(&Query::new()).unwrap().count(), 120);
    assert_eq!(snapshot.query(&table, &Query::new()).unwrap().count(), 20);
    let stats = store.stats().unwrap();
    assert!(stats.space.held_back_bytes > 0, "{stats:?}");
    drop(snapshot);
    assert!(store.check().unwrap().problems.is_empty());
    child.finish();
}

#[test]
fn encrypted_values_are_read_and_no_key_is_made() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let keys = Arc::new(MemoryKeys::new().unwrap());
    {
        let store = relaxed().encryption(keys.clone()).open(&path).unwrap();
        let table = store.create_table("Table").unwrap();
        let sealed = table.encrypting(|_, _, name| name == "Ssn");
        sealed.insert(&DynamicEntity::new("p", "r").with("Ssn", "078-05-1120")).unwrap();
    }
    let before = [bytes(&path), bytes(&path.join("keys"))];
    let store =
        Store::options().read_only(true).verify_first(true).encryption(keys.clone()).open(&path).unwrap();
    let table = store.dynamic_table("Table").unwrap();
    let sealed = table.encrypting(|_, _, name| name == "Ssn");
    let row = sealed.get("p", "r").unwrap().unwrap();
    assert_eq!(row.get("Ssn").and_then(|value| value.as_str()), Some("078-05-1120"));

    let encryption = store.encryption().unwrap();
    let scope = table_core::crypt::Scope::store();
    let other = table.partition_key_scope("another").unwrap();
    let refusals = [
        ("insert into", sealed.insert(&DynamicEntity::new("p", "s").with("Ssn", "1")).unwrap_err()),
        ("rotate", encryption.rotate(&scope).unwrap_err()),
        ("rotate", encryption.rotate(&other).unwrap_err()),
        ("shred", encryption.shred(&scope).unwrap_err()),
        ("rewrap", encryption.rewrap().unwrap_err()),
        ("save", encryption.save_progress("job", None).unwrap_err()),
    ];
    for (attempted, error) in refusals {
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
        assert!(error.to_string().starts_with(&format!("cannot {attempted} ")), "{error}");
    }
    store.copy_to(scratch.path().join("copy")).unwrap();
    drop((sealed, table, row, store));
    assert_eq!([bytes(&path), bytes(&path.join("keys"))], before);

    // A store without keys gets none.
    let plain = scratch.path().join("plain");
    made(&plain);
    let opened = Store::options().read_only(true).encryption(keys).open(&plain);
    opened.map(drop).unwrap_err();
    assert!(!plain.join("keys").exists());
}

/// Runs a child in a mount namespace of its own, in which `mount` has been run; `None` where that is not allowed.
fn in_namespace(mount: &str, store: &Path) -> Option<Vec<String>> {
    let script = format!(r#"{mount} || exit 77; exec "$@""#);
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script, "sh", PROGRAM, "read-only"]).arg(store);
    if Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success()) {
        let (status, lines) = Child::spawn(&mut command).end();
        if status.code() != Some(77) {
            assert!(status.success(), "{lines:?}");
            return Some(lines);
        }
    }
    println!("no mount can be made here: nothing was tried");
    None
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "Linux alone gives a process mounts of its own")]
fn a_store_on_a_read_only_medium_is_read_and_one_on_a_read_only_mount_is_not() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    made(&path);
    let medium = scratch.path().join("medium");
    fs::create_dir_all(&medium).unwrap();
    let at = medium.display();
    // A file system of its own, filled and then made read-only.
    let mount = format!(
        "mount -t tmpfs none {at} && cp -r {} {at}/store && rm {at}/store/lock.mdb && mount -o remount,ro {at}",
        path.display()
    );
    if let Some(lines) = in_namespace(&mount, &medium.join("store")) {
        assert_eq!(lines, ["20 0"]);
    }
    // One file under two names, as some media have what is twice on them: nobody writes by either.
    let linked = mount
        .replace("&& mount -o remount", &format!("&& ln {at}/store/data.mdb {at}/twin && mount -o remount"));
    assert_ne!(linked, mount);
    if let Some(lines) = in_namespace(&linked, &medium.join("store")) {
        assert_eq!(lines, ["20 0"]);
    }
    let mount = format!("mount --bind {0} {0} && mount -o remount,bind,ro {0}", path.display());
    if let Some(lines) = in_namespace(&mount, &path) {
        assert!(
            lines[0].starts_with("UnsupportedFileSystem ") && lines[0].contains("may be written elsewhere"),
            "{lines:?}"
        );
    }
}
