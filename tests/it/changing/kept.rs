//! Layouts that tests keep as files.

use std::fs;
use std::panic;

use table_core::{Entity, assert_layouts};

#[derive(Entity)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    #[property(was = "Heads")]
    head_count: u32,
    note: Option<String>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: i32,
}

#[test]
fn layouts_lie_beside_the_source() {
    assert_layouts!("layouts", Department, Employee);
}

#[test]
fn a_difference_says_what_it_takes() {
    mod next {
        use super::Entity;

        #[derive(Entity)]
        #[entity(table = "Company", kind = "department")]
        #[key(partition = "{name}", row = "department")]
        pub(super) struct Department {
            name: String,
            #[property(was = "Heads")]
            head_count: u32,
            note: Option<String>,
            budget: Option<i64>,
        }

        #[derive(Entity)]
        #[entity(table = "Company", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        #[index(by_age, row = "age_{years:010}_{id:06}")]
        pub(super) struct Employee {
            department: String,
            id: u32,
            email: String,
            years: u32,
            level: i32,
        }
    }
    #[derive(Entity)]
    #[entity(table = "Company", kind = "room")]
    #[key(partition = "{building}", row = "room_{number}")]
    struct Room {
        building: String,
        number: u32,
    }

    let told = panic::catch_unwind(|| assert_layouts!("layouts", next::Department, next::Employee, Room));
    let told = told.unwrap_err();
    let told = told.downcast_ref::<String>().unwrap();
    // Paths differ from machine to machine.
    let folder = told.split(" in ").nth(1).unwrap().split("department.layout").next().unwrap();
    let told = told.replace(folder, "");
    assert_eq!(told, include_str!("kept.txt").trim_end(), "{told}");
}

#[test]
fn layouts_are_written_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let (package, folder) = (dir.path().to_str().unwrap(), "layouts");
    fs::write(dir.path().join("lib.rs"), "").unwrap();
    let schemas = [Employee::SCHEMA];
    let compare = || table_core::__private::kept_layouts(package, "lib.rs", folder, &schemas);
    assert!(compare().unwrap_err().contains("has no layout in"));
    // The variable is the process's, which other tests share: a file is what it would have written.
    let kept =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/it/changing/layouts/employee.layout"))
            .unwrap();
    fs::create_dir(dir.path().join(folder)).unwrap();
    fs::write(dir.path().join(folder).join("employee.layout"), kept.replace('\n', "\r\n")).unwrap();
    compare().unwrap();
    fs::write(dir.path().join(folder).join("employee.layout"), "nonsense").unwrap();
    assert!(compare().unwrap_err().contains("the text is no layout: write it anew"));
}

/// The folder of a child that was started to write layouts.
const FOLDER: &str = "TABLE_CORE_LAYOUTS";

/// What a child process does, in a folder of its own: the variable is a process's, which other tests share.
#[test]
fn a_child_keeps_layouts() {
    let Some(package) = std::env::var_os(FOLDER) else { return };
    let package = package.to_str().unwrap();
    let schemas = [Department::SCHEMA, Employee::SCHEMA];
    if let Err(told) = table_core::__private::kept_layouts(package, "lib.rs", "layouts", &schemas) {
        println!("told: {told}");
        std::process::exit(3);
    }
}

#[test]
fn the_variable_writes_layouts_and_nothing_else_does() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("lib.rs"), "").unwrap();
    let run = |update: Option<&str>| {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["changing::kept::a_child_keeps_layouts", "--exact", "--nocapture"]);
        child.env(FOLDER, dir.path()).env_remove("UPDATE_LAYOUTS");
        update.map(|value| child.env("UPDATE_LAYOUTS", value));
        let output = child.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let path = |kind: &str| dir.path().join("layouts").join(format!("{kind}.layout"));
    for none in [None, Some(""), Some("0")] {
        let (code, told) = run(none);
        assert!(
            code == Some(3) && told.contains("has no layout in") && told.contains("UPDATE_LAYOUTS=1"),
            "{told}"
        );
        assert!(!dir.path().join("layouts").exists());
    }
    assert_eq!(run(Some("1")).0, Some(0));
    let kept = |kind: &str| fs::read_to_string(path(kind)).unwrap();
    let right = concat!(env!("CARGO_MANIFEST_DIR"), "/it/changing/layouts/employee.layout");
    assert_eq!(kept("employee"), fs::read_to_string(right).unwrap());
    assert_eq!(run(None).0, Some(0));
    // One that differs is told, and written when asked; the other stays untouched.
    let of_department = kept("department");
    fs::write(path("department"), of_department.replace("Heads", "Chiefs")).unwrap();
    assert_eq!(run(None).0, Some(3));
    let untouched = fs::metadata(path("employee")).unwrap().modified().unwrap();
    assert_eq!(run(Some("1")).0, Some(0));
    assert_eq!(kept("department"), of_department);
    assert_eq!(fs::metadata(path("employee")).unwrap().modified().unwrap(), untouched);
    // What can't be written is told.
    fs::remove_file(path("employee")).unwrap();
    fs::create_dir(path("employee")).unwrap();
    let (code, told) = run(Some("1"));
    assert!(code == Some(3) && told.contains("cannot read"), "{told}");
}
