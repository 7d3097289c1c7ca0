//! What helps who has never used it: examples, and remarks where a line was meant otherwise.

use std::fs;

use snapbox::str;
use table_cli::Cli;

use crate::fixture::copy;
use crate::run::{on, on_company, run, same, tables};

/// Returns the words of an example as a shell would give them.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" > ").next().unwrap();
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.into_iter().skip(1).filter(|word| !word.is_empty()).collect()
}

/// Returns the lines that stand under the examples of a help.
fn examples(help: &str) -> Vec<String> {
    let behind = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
    behind.take_while(|line| line.starts_with("  tables ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_command_has_an_example_that_works() {
    let (directory, place) = copy();
    let commands = tables(&["commands", "--format", "csv"]).out;
    let mut commands: Vec<_> =
        commands.lines().skip(1).map(|line| vec![line.split(',').next().unwrap()]).collect();
    for words in ["jobs resume", "jobs cancel", "outbox retry", "keys list", "keys rotate", "keys shred"] {
        commands.push(words.split(' ').collect());
    }
    for command in commands {
        let help = tables(&[&command[..], &["--help"]].concat());
        let lines = examples(&help.out);
        assert!(!lines.is_empty(), "{command:?} has no example: {}", help.out);
        // What waits, serves or draws a bar, takes another store, or destroys what others show.
        if ["copy", "diff", "export", "import", "sas", "studio", "serve", "shell"].contains(&command[0]) {
            continue;
        }
        for line in lines {
            if line.contains("--watch") || line.contains("jobs cancel") || line.contains("shred") {
                continue;
            }
            let line = line.replace("company.tables.keys", place.ring());
            let line = line.replace("company.backup", directory.path().join("b").to_str().unwrap());
            let mut words = words(&line);
            words.extend(["--store".to_owned(), place.store().to_owned()]);
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let ran = run(Cli::new(), &words, false);
            // The store has a wrong copy, which is told until it is mended; and what was changed is gone.
            let is_told = ran.code == 4 && command == ["check"];
            let is_gone = ran.code == 3 && ["merge", "delete", "rename", "jobs"].contains(&command[0]);
            assert!(ran.code == 0 || is_told || is_gone, "{line}: {}", ran.shown());
        }
    }
}

#[test]
fn a_line_that_lacks_something_gets_an_example() {
    let ran = tables(&[]);
    assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains("Begin with:"), "{}", ran.err);
    same(
        tables(&["peek"]).shown(),
        str![[r#"
[2]
error: the following required arguments were not provided:
  <QUEUE>

Usage: tables peek <QUEUE>

For more information, try '--help'.

Example:
  tables peek hires -n 5

"#]],
    );
    let ran = tables(&["lss"]);
    assert!(ran.code == 2 && ran.err.contains("`tables commands` lists"), "{}", ran.err);
    let ran = tables(&["jobs", "resume", "Tickets"]);
    assert!(ran.code == 2 && ran.err.contains("resume --write Tickets rebuild"), "{}", ran.err);
    let ran = tables(&["ls", "--store", ""]);
    assert!(ran.code == 2 && ran.err.contains("no store is named"), "{}", ran.err);
}

#[test]
fn a_query_that_finds_nothing_says_what_may_be_meant() {
    same(
        on_company(&["query", "Company", "age ge 40"]).shown(),
        str![[r#"
[0]
no kind in `Company` has a property `age`; there is `Age`

"#]],
    );
    same(
        on_company(&["query", "Company", "Age ge '40'"]).shown(),
        str![[r#"
[0]
`Age` is Edm.Int32, and is compared with a text: leave the quotes out

"#]],
    );
    same(
        on_company(&["query", "Company/employee", "Department eq 'Sales'"]).shown(),
        str![[r#"
[0]
`Department` of `employee` stands in the keys alone, so a filter asks for PartitionKey or RowKey: `tables schema Company/employee` shows them

"#]],
    );
    let ran = on_company(&["query", "Company", "--select", "age", "--top", "1"]);
    assert!(ran.code == 0 && ran.err.contains("there is `Age`"), "{}", ran.shown());
    // What is there is found without remarks, and so is what may have any names.
    let ran = on_company(&["query", "Company/employee", "Age ge 40", "--count"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("{\"count\":3}\n", ""));
    let ran = on_company(&["query", "Company", "Age ge 400"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), ("", "", 0));
    let ran = on_company(&["query", "Notes", "text eq 'x'"]);
    assert_eq!((ran.err.as_str(), ran.code), ("", 0));
    let ran = on_company(&["explain", "Company/employee", "Age ge 40"]);
    assert!(ran.code == 0 && ran.out.contains("EntityType eq 'employee'"), "{}", ran.shown());
    let ran = on_company(&["query", "Company/manager"]);
    assert!(ran.code == 3 && ran.err.contains("has no kind `manager`"), "{}", ran.shown());
}

#[test]
fn a_write_says_what_it_lacks_and_what_it_has_done() {
    let (_directory, place) = copy();
    let write = |arguments: &[&str]| on(place.store(), &[arguments, &["--write"]].concat());
    same(
        write(&["put", "Company/employee", "department=Sales", "id=9", "age=3"]).shown(),
        str![[r#"
[2]
tables: `put` takes a whole entity, and of `employee` it lacks FirstName=.. LastName=.. Email=.. Salary=.. Hired=..; `merge` sets some properties of one that is there

"#]],
    );
    let ran = write(&["merge", "Company", "Sales", "empid_000042", "Age=42"]);
    assert!(ran.code == 1 && ran.err.contains("write Age:i32=41, or name the kind"), "{}", ran.shown());
    for (arguments, said) in [
        (&["create", "Invoices"][..], "table `Invoices` is made\n"),
        (&["rename", "Invoices", "Bills"], "table `Invoices` is called `Bills` now\n"),
        (&["drop", "Bills"], "dropped: Bills\n"),
    ] {
        let ran = write(arguments);
        assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), ("", said, 0));
    }
    let ran = write(&["keys", "rotate", "--keys", place.ring()]);
    assert!(ran.err.contains("1 key has a new one in its place"), "{}", ran.err);
}

#[test]
fn what_was_not_taken_is_told_with_what_helps() {
    let (directory, place) = copy();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (file, other, rejects) = (path("Shop.jsonl"), path("other.tables"), path("rejects"));
    let export = ["export", "Shop", "-o", &file, "--entities-only"];
    assert_eq!(on(place.store(), &export).code, 0);
    let ran = on(place.store(), &["import", "--write", "Notes", &file]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let ran = on(place.store(), &["import", "--write", "Notes", &file]);
    assert!(ran.code == 1 && ran.err.contains("--mode skip leaves it as it is"), "{}", ran.shown());
    let copy = ["copy", "--write", place.store(), &other, "--table", "Notes", "--rejects", &rejects];
    assert_eq!(tables(&copy).code, 0);
    let ran = tables(&copy);
    assert!(ran.code == 1 && ran.err.contains("--mode replace takes its place"), "{}", ran.shown());
    // A directory without a store is none, as one that is not there.
    fs::create_dir(path("empty")).unwrap();
    let ran = on(&path("empty"), &["ls"]);
    assert!(ran.code == 3 && ran.err.contains("there is no store at"), "{}", ran.shown());
    assert_eq!(fs::read_dir(path("empty")).unwrap().count(), 0);
}

#[test]
fn a_blob_says_how_it_is_printed() {
    let ran = on_company(&["blobs", "photos", "notes/read-me.txt"]);
    assert_eq!(ran.err, "its contents: tables blobs photos --get notes/read-me.txt\n");
    let ran = on_company(&["blobs", "photos", "zebra"]);
    assert!(ran.code == 0 && ran.err.contains("no blob of `photos`"), "{}", ran.shown());
}
