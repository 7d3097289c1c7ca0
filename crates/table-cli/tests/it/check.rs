//! `tables check` and `tables repair`, and what is seen of a damaged store.

use std::fs;
use std::path::Path;

use snapbox::str;
use table_cli::Cli;
use table_core::{DynamicEntity, IfMatch, Store};

use crate::fixture::copy;
use crate::kinds::Product;
use crate::run::{on, run, same, to_people};

#[test]
fn what_is_wrong_is_listed() {
    same(
        to_people(&["check"]).shown(),
        str![[r#"
tables            9
rows              337
copies compared   15
queues            3
messages          6
containers        2
blobs             4
copies to follow  1
damage            0
wrong copies      1

problem     table  partition  row              what
wrong copy  Shop   home       name_chair_0002  the row is a copy in the index `by_name`, and not what its entity says: in partition `home`, row `product_0002`
[4]
which copies are missing could not be told of: contract.by_number, employee.by_name, employee.by_project, headcount, product.by_price, ticket.by_state; only their structs say that, or they are being made

"#]],
    );
}

#[test]
fn a_sound_store_passes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sound.tables");
    Store::open(&path).unwrap().create_table("Notes").unwrap();
    let ran = on(path.to_str().unwrap(), &["check"]);
    same(
        ran.shown(),
        str![[r#"
{"tables":1,"rows":0,"copies compared":0,"queues":0,"messages":0,"containers":0,"blobs":0,"copies to follow":0,"damage":0,"wrong copies":0}
[0]

"#]],
    );
}

/// Changes a letter of a text wherever a store's file has it: pages that are free may, too.
fn damage(store: &str, text: &[u8]) {
    let path = Path::new(store).join("data.mdb");
    let mut bytes = fs::read(&path).unwrap();
    let at: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(text)).collect();
    assert!(!at.is_empty());
    for at in at {
        bytes[at] ^= 0x20;
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn of_a_damaged_store_the_rest_is_seen() {
    let (_directory, place) = copy();
    damage(place.store(), b"Rows need no declaration.");
    let ran = on(place.store(), &["query", "Notes"]);
    same(
        ran.shown(),
        str![[r#"
{"PartitionKey":"2014","RowKey":"one","unreadable":"the row's checksum does not fit"}
[4]
rows behind the damaged one may be read from the other end: --rev
tables: cannot query table `Notes`, partition `2014`, row `one`: the row's checksum does not fit

"#]],
    );
    let ran = on(place.store(), &["get", "Notes", "2014", "one"]);
    assert_eq!((ran.out.as_str(), ran.code), ("", 4), "{}", ran.err);
    let ran = on(place.store(), &["get", "Notes", "2014", "two"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = on(place.store(), &["ls"]);
    assert!(ran.out.contains("\"table\":\"Shop\",\"kind\":\"product\"") && ran.code == 0, "{}", ran.shown());
    let ran = on(place.store(), &["check"]);
    assert!(
        ran.code == 4 && ran.out.contains("\"problem\":\"damage\",\"table\":\"Notes\""),
        "{}",
        ran.shown()
    );
    // Nothing mends damage, and nothing is tried.
    let ran = on(place.store(), &["repair", "--write"]);
    assert!(ran.code == 1 && ran.err.contains("damage"), "{}", ran.shown());
}

#[test]
fn a_wrong_copy_is_written_anew() {
    let (_directory, place) = copy();
    let store = Store::open(place.store()).unwrap();
    let company = store.dynamic_table("Company").unwrap().raw();
    let key = ("Sales", "email_mia@contoso.com");
    company.merge(&DynamicEntity::new(key.0, key.1).with("Age", 99), IfMatch::Any).unwrap();
    company.delete("Sales", "email_jun@contoso.com").unwrap();
    let ken = company.get("Sales", "email_ken@contoso.com").unwrap().unwrap();
    let orphan = ken
        .properties()
        .fold(DynamicEntity::new("Sales", "email_nobody@contoso.com"), |row, (name, value)| {
            row.with(name, value.clone())
        });
    company.put(&orphan.with("Id", 77_i64)).unwrap();
    let shop = store.dynamic_table("Shop").unwrap().raw();
    shop.merge(&DynamicEntity::new("home", "price_00004990_0001").with("Stock", 5), IfMatch::Any).unwrap();
    drop((company, shop));
    store.close().unwrap();

    let ran = on(place.store(), &["repair"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    // Which products have a row by price only their struct says.
    same(
        on(place.store(), &["repair", "--write"]).shown(),
        str![[r#"
{"mended":4,"left":1}
[4]
`product.by_price` is left as it is: a function of the struct says which entities have a row there
what is left takes the struct of its kind: a program that adds it by `Cli::new().kind::<..>()`

"#]],
    );
    for email in ["mia@contoso.com", "jun@contoso.com"] {
        let ran = on(place.store(), &["get", "Company", "Sales", &format!("email_{email}"), "--with-copies"]);
        assert_eq!(ran.code, 0, "{}", ran.shown());
    }
    assert_eq!(on(place.store(), &["get", "Company", "Sales", "email_nobody@contoso.com"]).code, 3);

    let arguments = ["repair", "--write", "--store", place.store()];
    let ran = run(Cli::new().kind::<Product>(), &arguments, false);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"mended\":1,\"left\":0}\n", 0), "{}", ran.err);
}

#[test]
fn a_repair_goes_on_without_the_struct_and_says_what_takes_it() {
    let (_directory, place) = copy();
    let store = Store::open(place.store()).unwrap();
    let company = store.dynamic_table("Company").unwrap().raw();
    company
        .merge(&DynamicEntity::new("Sales", "email_mia@contoso.com").with("Age", 99), IfMatch::Any)
        .unwrap();
    let products = store.table::<Product>().unwrap();
    let mut job = products.repair().unwrap().steps_of(1);
    job.step().unwrap();
    drop((company, job, products));
    let job = store.jobs().unwrap().into_iter().find(|job| job.table == "Shop").unwrap();
    // The wrong copy of a chair is one that a repair by the struct mends.
    let shop = store.dynamic_table("Shop").unwrap().raw();
    shop.merge(&DynamicEntity::new("home", "price_00004990_0001").with("Stock", 5), IfMatch::Any).unwrap();
    drop(shop);
    store.close().unwrap();
    let resume: Vec<_> =
        ["jobs", "resume", "--write", "Shop"].into_iter().chain(job.name.split(' ')).collect();
    let ran = on(place.store(), &resume);
    assert_eq!(ran.code, 1, "{}", ran.shown());
    assert!(ran.err.contains("has not ended") && ran.err.contains("kind::<..>()"), "{}", ran.err);
    assert!(ran.err.contains("`product.by_price` is left as it is"), "{}", ran.err);
    let arguments = ["repair", "--write", "--store", place.store()];
    assert_eq!(run(Cli::new().kind::<Product>(), &arguments, false).code, 0);
    let ran = on(place.store(), &resume);
    assert!(ran.code == 3 || ran.err.contains("has ended"), "{}", ran.shown());
    let jobs = on(place.store(), &["jobs"]).out;
    assert!(!jobs.contains("\"table\":\"Shop\""), "{jobs}");
}
