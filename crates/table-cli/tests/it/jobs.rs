//! `tables jobs` and `tables outbox`.

use snapbox::str;
use table_cli::Cli;
use table_core::Store;

use crate::fixture::copy;
use crate::kinds::{Employee, Ticket, before};
use crate::run::{on, on_company, run, same, to_people};

#[test]
fn jobs_that_have_not_ended_are_listed() {
    same(
        to_people(&["jobs"]).shown(),
        str![[r#"
table    job                      begun                         done  total  changed  deletes
Tickets  rebuild ticket by_state  <time>   300    300        0
[0]

"#]],
    );
}

#[test]
fn a_job_goes_on_with_its_struct_and_without() {
    for cli in [Cli::new, || Cli::new().kind::<Ticket>()] {
        let (_directory, place) = copy();
        let resume = ["jobs", "resume", "Tickets", "rebuild", "ticket", "by_state", "--store", place.store()];
        assert_eq!(run(Cli::new(), &resume, false).code, 2);
        let resume = [&resume[..], &["--write"]].concat();
        same(
            run(cli(), &resume, false).shown(),
            str![[r#"
[0]
`rebuild ticket by_state` has ended: 300 changed

"#]],
        );
        assert_eq!(on(place.store(), &["jobs"]).out, "");
        let ran = on(place.store(), &["ls"]);
        assert!(
            ran.out.contains("\"kind\":\"ticket\",\"version\":1,\"indexes\":\"by_state\",\"rows\":600"),
            "{}",
            ran.out
        );
        let store = Store::open(place.store()).unwrap();
        assert!(store.table::<Ticket>().unwrap().check().unwrap().is_sound());
        store.close().unwrap();
        let ran = run(cli(), &resume, false);
        assert_eq!(ran.code, 3, "{}", ran.err);
    }
}

#[test]
fn a_job_is_given_up_where_that_can_be() {
    let store = Store::temporary().unwrap();
    let tickets = store.table::<before::Ticket>().unwrap();
    let ticket = |id| before::Ticket { queue: "support".into(), id, state: "open".into() };
    tickets.bulk_insert((0..300).map(ticket)).unwrap().into_result().unwrap();
    let mut job = tickets.delete_where(tickets.rows().queue("support").entities()).unwrap().steps_of(100);
    job.step().unwrap();
    drop((job, tickets));
    let job = store.jobs().unwrap().remove(0);
    let copied = tempfile::tempdir().unwrap();
    let path = copied.path().join("copied.tables");
    store.copy_to(&path).unwrap();
    let path = path.to_str().unwrap();
    let cancel: Vec<_> =
        ["jobs", "cancel", "--write", "Tickets"].into_iter().chain(job.name.split(' ')).collect();
    let ran = on(path, &cancel);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(on(path, &["jobs"]).out, "");
    assert_eq!(on(path, &cancel).code, 3);
}

#[test]
fn copies_that_are_to_follow_are_told_and_follow() {
    same(
        on_company(&["outbox"]).shown(),
        str![[r#"
{"entities":1,"set aside":0,"oldest":"<time>","failure":null}
[0]
these wait for a program with their structs, such as `table_cli::Cli::new().kind::<..>().run()`: employee

"#]],
    );
    let (_directory, place) = copy();
    let retry = ["outbox", "retry", "--store", place.store()];
    assert_eq!(run(Cli::new(), &retry, false).code, 2);
    let retry = [&retry[..], &["--write"]].concat();
    same(
        run(Cli::new(), &retry, false).shown(),
        str![[r#"
{"entities":1,"set aside":0,"oldest":"<time>","failure":null}
[0]
0 that had failed are tried again
these wait for a program with their structs, such as `table_cli::Cli::new().kind::<..>().run()`: employee

"#]],
    );
    same(
        run(Cli::new().kind::<Employee>(), &retry, false).shown(),
        str![[r#"
{"entities":0,"set aside":0,"oldest":null,"failure":null}
[0]
0 that had failed are tried again

"#]],
    );
    let ran = on(place.store(), &["get", "Names", "Kwok-Berg", "Sales_000008"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}
