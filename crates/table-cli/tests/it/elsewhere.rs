//! Each command on stores that are no directories: it does what it does on one, or is refused by the name of the ability that the
//! store has not.

use std::path::Path;

use crate::run::{Ran, on, tables};
use crate::store::company;

/// Runs the commands on a store that has a copy of the company.
fn commands(store: &str, directory: &Path) {
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let (from, rejects, file) = (path("from.tables"), path("rejects"), path("Company.jsonl"));
    company(from.as_ref(), 20);
    let copy = ["copy", "--write", &from, store, "--mode", "replace", "--rejects", &rejects];
    let ran = tables(&copy);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);

    let sales = "PartitionKey eq 'Sales'";
    for (arguments, part) in [
        (&["ls"][..], "Company"),
        (&["schema", "Company"], "employee"),
        (&["get", "Company", "Sales", "empid_000002"], "e2@contoso.com"),
        (&["get", "Company/employee.by_email", "department=Sales", "email=e2@contoso.com"], "e2@contoso.com"),
        (&["get", "Company", "Sales", "empid_000002", "--with-copies"], "agrees"),
        (&["query", "Company", sales, "--select", "Age"], "empid_000004"),
        (&["query", "Company", "--count"], "21"),
        (&["explain", "Company", sales, "--run"], "Sales"),
        (&["design"], "employee"),
        (&["export", "Company", "--kind", "employee"], "e2@contoso.com"),
        (
            &[
                "put",
                "--write",
                "Company/employee",
                "department=Sales",
                "id=99",
                "email=new@contoso.com",
                "age=30",
            ],
            "",
        ),
        (&["get", "Company", "Sales", "email_new@contoso.com"], "new@contoso.com"),
        (&["merge", "--write", "Company/employee", "department=Sales", "id=99", "age=31"], ""),
        (&["get", "Company", "Sales", "email_new@contoso.com"], "31"),
        (&["delete", "--write", "Company/employee", "department=Sales", "id=99"], ""),
        (&["create", "--write", "Another"], ""),
        (&["export", "Company", "-o", &file], "41"),
        (&["import", "--write", "Another", &file, "--raw"], "\"written\":41,"),
        (&["drop", "--write", "Another"], ""),
    ] {
        let ran = on(store, arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.shown());
        assert!(ran.out.contains(part), "{arguments:?}: {}", ran.shown());
    }
    for (arguments, code) in [
        (&["get", "Company", "Sales", "email_new@contoso.com"][..], 3),
        (&["get", "Company", "Sales", "nobody"], 3),
        (&["query", "Nothing"], 3),
        (&["query", "Company", "Age gee 3"], 1),
        (&["put", "Company/employee", "department=Sales"], 2),
        (&["import", "Company", &file], 2),
        (&["peek", "nothing"], 3),
        (&["blobs", "nothing"], 3),
    ] {
        let ran = on(store, arguments);
        let is_lacking = is_refused_by_ability(&ran);
        assert!(ran.code == code || is_lacking, "{arguments:?}: {}", ran.shown());
        assert!(!ran.err.is_empty(), "{arguments:?}");
    }
    for arguments in [
        &["stats"][..],
        &["check"],
        &["repair", "--write"],
        &["compact", "--write"],
        &["reclaim", "--write"],
        &["backup", &path("backup")],
    ] {
        let ran = on(store, arguments);
        assert!(is_refused_by_ability(&ran), "{arguments:?}: {}", ran.shown());
    }
    for arguments in [&["jobs"][..], &["outbox"], &["queues"], &["blobs"], &["logs"]] {
        let ran = on(store, arguments);
        // What takes a store of another kind altogether is said so.
        let is_refused = ran.code == 1 && ran.out.is_empty() && ran.err.contains("that takes ");
        assert!(ran.code == 0 || is_refused, "{arguments:?}: {}", ran.shown());
    }
    let ran = on(store, &["drop", "--write", "Company"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
}

fn is_refused_by_ability(ran: &Ran) -> bool {
    ran.code == 1 && ran.out.is_empty() && ran.err.contains("ability `")
}

#[cfg(feature = "azure")]
#[test]
fn each_command_does_its_work_on_the_own_server_or_says_what_it_takes() {
    let own = crate::azure_server::Own::start();
    let directory = tempfile::tempdir().unwrap();
    commands(&format!("azure:{}", crate::azure_server::connection(own.address)), directory.path());
}

#[cfg(feature = "postgres")]
#[test]
fn each_command_does_its_work_on_postgresql_or_says_what_it_takes() {
    let Some(server) = crate::on_postgres::server() else { return };
    let directory = tempfile::tempdir().unwrap();
    commands(&server.address, directory.path());
}
