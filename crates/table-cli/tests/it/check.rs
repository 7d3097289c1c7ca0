//! `tables check` and `tables repair`, and what is seen of a damaged store.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use snapbox::str;
use table_cli::Cli;
use table_core::{DynamicEntity, Entity, IfMatch, Store};

use crate::fixture::{company, copy};
use crate::kinds::{Employee, Product};
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
which copies are missing could not be told of: contract.by_number, employee.by_name, employee.by_project, headcount, product.by_price, ticket.by_state; `tables repair` finds and writes them where no code is needed, unless they are being made

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
`contract` is looked at in part: what is noted of the kind `contract` is not enough: `property Salary encrypted Int64`: the store is open without the keys that seal it; give --keys FILE
`product` is looked at in part: what is noted of the kind `product` is not enough: `index by_price row "price_" Cents:u32:"08" "_" Id:u32:"04" when copy all`: whether an entity has a copy there only a function of its struct says; a program of yours with the struct does it: `table_cli::Cli::new().kind::<Product>().run()`

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
fn a_repair_goes_on_without_the_struct_or_says_what_takes_it() {
    let (_directory, place) = copy();
    let store = Store::open(place.store()).unwrap();
    let company = store.dynamic_table("Company").unwrap().raw();
    company
        .merge(&DynamicEntity::new("Sales", "email_mia@contoso.com").with("Age", 99), IfMatch::Any)
        .unwrap();
    store.table::<Employee>().unwrap().repair().unwrap().steps_of(1).step().unwrap();
    store.table::<Product>().unwrap().repair().unwrap().steps_of(1).step().unwrap();
    drop(company);
    store.close().unwrap();
    let ran = on(place.store(), &["jobs", "resume", "--write", "Company", "repair", "employee"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let ran = on(place.store(), &["get", "Company/employee", "department=Sales", "id=42", "--with-copies"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());

    let product = ["jobs", "resume", "--write", "Shop", "repair", "product"];
    let ran = on(place.store(), &product);
    assert_eq!(ran.code, 1, "{}", ran.shown());
    assert!(ran.err.contains("`repair product` can't go on") && ran.err.contains(" when "), "{}", ran.err);
    assert!(ran.err.contains("kind::<Product>()"), "{}", ran.err);
    let ran = run(Cli::new().kind::<Product>(), &[&product[..], &["--store", place.store()]].concat(), false);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let jobs = on(place.store(), &["jobs"]).out;
    assert!(!jobs.contains("repair"), "{jobs}");
}

#[test]
fn all_that_a_command_lists_is_one_array() {
    let employee = ["get", "Company", "Sales", "empid_000042", "--with-copies"];
    for (arguments, lines) in
        [(&["check"][..], 2), (&employee, 5), (&["queues"], 3), (&["jobs", "--quiet"], 1)]
    {
        let ran = on(company().store(), &[arguments, &["--format", "json"]].concat());
        let array: Vec<serde_json::Value> =
            serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out));
        assert_eq!(array.len(), lines, "{}", ran.out);
    }
}

/// What prints to a reader who has gone: at once, or when it is told to send on what it has.
struct Gone {
    at_once: bool,
    printed: usize,
}

impl Write for Gone {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.at_once && self.printed > 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.printed += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn what_a_command_came_to_is_told_to_who_has_read_enough() {
    let directory = tempfile::tempdir().unwrap();
    let [one, other] = ["one.tables", "other.tables"].map(|name| directory.path().join(name));
    for (path, age) in [(&one, 1), (&other, 2)] {
        let store = Store::open(path).unwrap();
        let notes = store.create_table("Notes").unwrap();
        for row in ["1", "2", "3"] {
            notes.insert(&DynamicEntity::new("p", row).with("Age", age)).unwrap();
        }
        drop(notes);
        store.close().unwrap();
    }
    let diff = ["diff", one.to_str().unwrap(), other.to_str().unwrap()];
    let check = ["check", "--store", company().store()];
    for (arguments, at_once, code) in [(&check[..], false, 4), (&diff, false, 1), (&diff, true, 1)] {
        let mut gone = Gone { at_once, printed: 0 };
        let arguments = ["tables"].iter().chain(arguments);
        let exit = Cli::new().run_with(arguments, &mut gone, &mut Vec::new(), false);
        assert_eq!(exit.code(), code, "at once: {at_once}");
    }
}

#[derive(Entity, Clone)]
#[entity(table = "Staff", kind = "member")]
#[key(partition = "{team}", row = "member_{id:04}")]
#[index(by_skill, row = "skill_{skills[]}_{id:04}")]
#[index(by_age, row = "age_{age:03}_{id:04}", when = Member::is_old)]
struct Member {
    team: String,
    id: u32,
    age: u32,
    #[property(json)]
    skills: Vec<String>,
}

impl Member {
    fn is_old(&self) -> bool {
        self.age > 60
    }
}

#[test]
fn a_repair_leaves_a_copy_of_which_only_the_struct_tells_the_keys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("staff.tables");
    let store = Store::open(&path).unwrap();
    let skills = vec!["rust".to_owned(), "tea".to_owned()];
    store.table::<Member>().unwrap().insert(&Member { team: "a".into(), id: 1, age: 30, skills }).unwrap();
    let raw = store.dynamic_table("Staff").unwrap().raw();
    raw.merge(&DynamicEntity::new("a", "skill_tea_0001").with("Age", 99_i64), IfMatch::Any).unwrap();
    drop(raw);
    store.close().unwrap();
    let path = path.to_str().unwrap();
    let ran = on(path, &["repair", "--write"]);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"mended\":0,\"left\":1}\n", 4), "{}", ran.err);
    let ran = run(Cli::new().kind::<Member>(), &["repair", "--write", "--store", path], false);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"mended\":1,\"left\":0}\n", 0), "{}", ran.err);
    assert_eq!(on(path, &["get", "Staff", "a", "skill_tea_0001"]).code, 0);
}
