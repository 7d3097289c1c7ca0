//! What is refused where a user's program goes wrong, and what the refusal says would be right.

use std::sync::Arc;

use integration_tests::Scratch;
use table_core::crypt::{MemoryKeys, Scope};
use table_core::{DynamicEntity, Entity, Error, ErrorKind, Result, Store};

/// Its copies by address lie in a table of their own.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, table = "Emails", partition = "{email}", row = "{department}_{id:06}", atomic)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Mails", kind = "mail")]
#[key(partition = "{to}", row = "mail_{id:06}")]
struct Mail {
    to: String,
    id: u32,
}

/// What a later release makes of it when the table was renamed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Letters", kind = "mail")]
#[key(partition = "{to}", row = "mail_{id:06}")]
struct Letter {
    to: String,
    id: u32,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com"), age: 20 + id }
}

fn mail(id: u32) -> Mail {
    Mail { to: "ann".into(), id }
}

fn refused<T>(result: Result<T>, kind: ErrorKind, words: &[&str]) -> Error {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    error
}

#[test]
fn a_former_name_of_a_table_makes_no_other() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mails = store.table::<Mail>().unwrap();
    mails.insert(&mail(1)).unwrap();
    store.rename_table("Mails", "Post").unwrap();
    store.rename_table("Post", "Letters").unwrap();
    let by_former_names = |store: &Store| {
        let words =
            ["open table `Mails`", "renamed", "`Letters`", "declare `#[entity(table = \"Letters\")]`"];
        refused(store.table::<Mail>(), ErrorKind::TableRenamed, &words);
        refused(store.dynamic_table("MAILS"), ErrorKind::TableRenamed, &["`Letters`"]);
        refused(store.create_table_if_missing("Post"), ErrorKind::TableRenamed, &["open table `Post`"]);
        let change = store.transaction().insert(&mail(2)).commit();
        let error = refused(change, ErrorKind::TableRenamed, &["`Letters`"]);
        assert_eq!((error.kind().code(), error.kind().status()), ("TableNotFound", 404));
        assert_eq!(store.tables().unwrap(), ["Letters"]);
    };
    by_former_names(&store);
    refused(mails.get(Mail::key("ann", 1)), ErrorKind::TableNotFound, &["the table is called `Letters` now"]);
    assert_eq!(store.table::<Letter>().unwrap().all().count().unwrap(), 1);
    drop((mails, store));
    let store = scratch.store();
    by_former_names(&store);

    // Another table may be meant to have the name.
    store.create_table("Mails").unwrap();
    assert!(store.dynamic_table("mails").is_ok());
    store.drop_table("Mails").unwrap();
    refused(store.dynamic_table("Mails"), ErrorKind::TableNotFound, &["create it first"]);
    refused(store.dynamic_table("Post"), ErrorKind::TableRenamed, &["`Letters`"]);
    store.create_table("Other").unwrap();
    store.rename_table("Other", "Post").unwrap();
    store.drop_table("Post").unwrap();
    refused(store.dynamic_table("Post"), ErrorKind::TableNotFound, &["create it first"]);

    // There and back, and by case alone.
    store.rename_table("Letters", "Mails").unwrap();
    refused(store.dynamic_table("Letters"), ErrorKind::TableRenamed, &["`Mails`"]);
    store.rename_table("Mails", "Letters").unwrap();
    store.rename_table("Letters", "LETTERS").unwrap();
    assert!(store.dynamic_table("letters").is_ok());
    store.rename_table("letters", "Letters").unwrap();
    for number in 0..20 {
        store.rename_table("Letters", &format!("Letters{number}")).unwrap();
        store.rename_table(&format!("Letters{number}"), "Letters").unwrap();
    }
    refused(store.dynamic_table("Letters19"), ErrorKind::TableRenamed, &["`Letters`"]);
    refused(store.dynamic_table("Letters1"), ErrorKind::TableNotFound, &["create it first"]);
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
    drop(store);
    assert_eq!(scratch.store().table::<Letter>().unwrap().all().count().unwrap(), 1);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Patients", kind = "patient", signed)]
#[key(partition = "{ward}", row = "patient_{id:06}")]
struct Patient {
    ward: String,
    id: u32,
    #[encrypt]
    finding: String,
}

#[test]
fn former_names_of_a_table_that_is_vouched_for_come_and_go() {
    let (scratch, keys) = (Scratch::new(), Arc::new(MemoryKeys::new().unwrap()));
    let open = || Store::options().encryption(keys.clone()).open(scratch.path().join("store")).unwrap();
    let store = open();
    let patient = Patient { ward: "north".into(), id: 1, finding: "well".into() };
    store.table::<Patient>().unwrap().insert(&patient).unwrap();
    store.rename_table("Patients", "Guests").unwrap();
    drop(store);
    let store = open();
    refused(store.table::<Patient>(), ErrorKind::TableRenamed, &["`Guests`"]);
    store.create_table("Patients").unwrap();
    drop(store);
    let store = open();
    store.drop_table("Patients").unwrap();
    store.rename_table("Guests", "Patients").unwrap();
    let found = store.table::<Patient>().unwrap().get(Patient::key("north", 1)).unwrap();
    assert_eq!(found.unwrap().finding, "well");
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
}

#[test]
fn a_dropped_table_of_an_index_is_named_beside_that_of_the_entities() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee(1)).unwrap();
    store.drop_table("Emails").unwrap();
    let words = [
        "table `Company`",
        "index",
        "lies in table `Emails`: the table was dropped",
        "open `Company` anew, and run `Table::rebuild`",
    ];
    for _ in 0..2 {
        refused(staff.insert(&employee(2)), ErrorKind::TableNotFound, &words);
        let change = staff.egt(Employee::partition("Sales")).insert(&employee(2)).commit();
        refused(change, ErrorKind::TableNotFound, &words);
    }
    let query = staff.by_email().email("1@contoso.com").count();
    refused(
        query,
        ErrorKind::IndexBuilding,
        &["no job is at it", "was dropped", "`Table::rebuild` makes it"],
    );
    let update = staff.update(Employee::key("Sales", 1), |employee| employee.email = "x".into());
    refused(update, ErrorKind::TableNotFound, &["table `Company`", "`Emails`"]);

    // What the refusal says to do.
    let staff = store.table::<Employee>().unwrap();
    let snapshot = store.snapshot().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    staff.insert(&employee(3)).unwrap();
    assert_eq!(staff.by_email().email("1@contoso.com").count().unwrap(), 1);
    let before = staff.at(&snapshot).by_email().email("1@contoso.com").count();
    refused(
        before,
        ErrorKind::IndexBuilding,
        &["is ready; it was made after the snapshot was taken", "take a new one"],
    );
}

#[test]
fn an_index_of_another_name_is_not_dropped() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee(1)).unwrap();
    let words = ["drop an index of table `Company`", "no index `by_agee`", "it has `by_email`, `by_age`"];
    refused(staff.drop_index("by_agee"), ErrorKind::EntityNotFound, &words);
    let mails = store.table::<Mail>().unwrap();
    mails.insert(&mail(1)).unwrap();
    refused(mails.drop_index("by_age"), ErrorKind::EntityNotFound, &["it has none"]);
}

#[test]
fn two_changes_of_one_entity_in_one_transaction_are_told_as_such() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee(1)).unwrap();
    let key = |id| Employee::key("Sales", id);
    let (new, old) = (employee(7), employee(1));
    let twice = |result: Result<_>, of: &str| {
        let words =
            ["write to table `Company`, partition `Sales`", "operation 1", of, "is on the same entity"];
        refused(result, ErrorKind::DuplicateRow, &words);
    };
    let of = "another operation of the transaction";
    twice(store.transaction().insert(&new).delete(key(7)).commit(), of);
    twice(store.transaction().put(&new).delete(key(7)).commit(), of);
    twice(store.transaction().delete(key(7)).insert(&new).commit(), of);
    twice(store.transaction().insert(&new).update(key(7), |employee| employee.age = 1).commit(), of);
    twice(store.transaction().insert(&old).delete(key(1)).commit(), of);
    let batch = || staff.egt(Employee::partition("Sales"));
    twice(batch().insert(&new).delete(key(7)).commit(), "another operation of the batch");
    // One that is not there is not, beside another that is.
    let missing = store.transaction().insert(&new).delete(key(8)).commit();
    refused(
        missing,
        ErrorKind::EntityNotFound,
        &["delete from table `Company`", "row `empid_000008`", "operation 1"],
    );
    assert_eq!(staff.all().count().unwrap(), 1);
}

#[test]
fn a_copy_lies_outside_of_the_store() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.create_table("Mails").unwrap();
    let own = store.path().to_owned();
    let files = || std::fs::read_dir(&own).unwrap().count();
    let before = files();
    for target in
        [own.join("backup"), own.join("a/b"), own.join("../").join(own.file_name().unwrap()).join("c")]
    {
        refused(
            store.copy_to(&target),
            ErrorKind::TargetExists,
            &["copy the store", "own directory", "outside"],
        );
        assert!(!target.exists());
    }
    refused(store.copy_to(&own), ErrorKind::TargetExists, &["holds a store already"]);
    assert_eq!(files(), before);
    #[cfg(unix)]
    {
        let link = scratch.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        refused(store.copy_to(link.join("backup")), ErrorKind::TargetExists, &["own directory"]);
    }
    store.copy_to(own.parent().unwrap().join("beside")).unwrap();
}

#[test]
fn what_lacks_a_readers_slot_says_where_more_are_had() {
    let scratch = Scratch::new();
    let store = Store::options().max_readers(2).open(scratch.path().join("store")).unwrap();
    let mails = store.table::<Mail>().unwrap();
    mails.insert(&mail(1)).unwrap();
    let held = [(); 2].map(|()| store.snapshot().unwrap());
    let words = ["no reader slot is free", "a change takes one for as long as it reads", "max_readers(..)"];
    refused(store.snapshot(), ErrorKind::TooManyReaders, &words);
    refused(mails.put(&mail(1)), ErrorKind::TooManyReaders, &words);
    refused(mails.delete(Mail::key("ann", 1)), ErrorKind::TooManyReaders, &words);
    // What reads nothing is written.
    mails.insert(&mail(2)).unwrap();
    store.create_table("Other").unwrap().insert(&DynamicEntity::new("p", "r")).unwrap();
    drop(held);
    mails.put(&mail(1)).unwrap();
    assert_eq!(mails.all().count().unwrap(), 2);
}

#[test]
fn the_last_of_a_scopes_keys_names_what_makes_room() {
    let scratch = Scratch::new();
    let keys = Arc::new(MemoryKeys::new().unwrap());
    let store = Store::options().encryption(keys).open(scratch.path().join("store")).unwrap();
    let scope = Scope::store();
    let encryption = store.encryption().unwrap();
    let error = (0..300).find_map(|_| encryption.rotate(&scope).err()).unwrap();
    refused::<()>(Err(error), ErrorKind::KeyUnavailable, &["256 keys", "`Encryption::destroy_unused`"]);
    assert!(encryption.destroy_unused().unwrap() > 0);
    encryption.rotate(&scope).unwrap();
}

#[test]
fn a_logs_name_is_told_as_one() {
    let scratch = Scratch::new();
    let store = scratch.store();
    refused(
        store.log::<u32>("ab"),
        ErrorKind::InvalidLogName,
        &["`ab` is no log's name", "2 characters", "3 to 63"],
    );
    refused(store.log::<u32>(&"é\n".repeat(99)), ErrorKind::InvalidLogName, &["is no log's name", "\\n"]);
    refused(store.log::<u32>("Nos"), ErrorKind::InvalidLogName, &["`N`"]);
}

/// How long a store may take to find out that it was removed, and some.
#[cfg(unix)]
const FOUND_OUT: std::time::Duration = std::time::Duration::from_millis(1_200);

#[cfg(unix)]
#[test]
fn a_store_that_was_removed_refuses_writes() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = Store::open(&path).unwrap();
    let mails = store.table::<Mail>().unwrap();
    mails.insert(&mail(1)).unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    std::thread::sleep(FOUND_OUT);
    for id in 2..5 {
        refused(
            mails.insert(&mail(id)),
            ErrorKind::StoreRemoved,
            &["data.mdb` was removed", "let go of the handles and open the store again"],
        );
    }
    refused(store.create_table("Other"), ErrorKind::StoreRemoved, &["create table `Other`"]);
    assert_eq!(mails.all().count().unwrap(), 1);

    // What is opened there is another store.
    refused(Store::open(&path), ErrorKind::OptionsConflict, &["files since replaced"]);
    drop((mails, store));
    let other = Store::open(&path).unwrap();
    other.table::<Mail>().unwrap().insert(&mail(7)).unwrap();
    std::thread::sleep(FOUND_OUT);
    other.table::<Mail>().unwrap().insert(&mail(8)).unwrap();
    assert_eq!(other.table::<Mail>().unwrap().all().count().unwrap(), 2);
}

#[cfg(unix)]
#[test]
fn a_store_whose_directory_was_moved_is_written_on() {
    let scratch = Scratch::new();
    let store = Store::open(scratch.path().join("store")).unwrap();
    let mails = store.table::<Mail>().unwrap();
    mails.insert(&mail(1)).unwrap();
    std::fs::rename(scratch.path().join("store"), scratch.path().join("moved")).unwrap();
    std::thread::sleep(FOUND_OUT);
    mails.insert(&mail(2)).unwrap();
    drop((mails, store));
    let moved = Store::open(scratch.path().join("moved")).unwrap();
    assert_eq!(moved.table::<Mail>().unwrap().all().count().unwrap(), 2);
}

#[test]
fn what_a_load_failed_at_becomes_an_error() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mails = store.table::<Mail>().unwrap();
    assert_eq!(mails.bulk_insert((0..4).map(mail)).unwrap().into_result().unwrap(), 4);
    let report = mails.bulk_insert((0..10).map(mail)).unwrap();
    assert_eq!((report.committed, report.failures.len()), (6, 4));
    let words = [
        "cannot commit all: 4 of 10 failed: number 0: cannot insert into table `Mails`, partition `ann`, row `mail_000000`",
        "; number 1: ",
        "; number 2: ",
        "; and 1 more",
    ];
    let error = refused(report.into_result(), ErrorKind::EntityAlreadyExists, &words);
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Error>()).unwrap();
    assert_eq!(source.row_key(), Some("mail_000000"));
}
