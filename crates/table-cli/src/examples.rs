//! Command lines that show how commands are meant: they stand in the help of each, and where a line can't be read.
//!
//! They are for the store that `cargo run -p table-cli --example company company.tables` makes, and a test runs them on it.

/// The commands, by their words, and lines for each.
pub(crate) const EXAMPLES: &[(&str, &[&str])] = &[
    ("ls", &["tables ls", "tables ls --count --format csv"]),
    ("schema", &["tables schema Company/employee", "tables schema Company --as markdown"]),
    (
        "get",
        &[
            "tables get Company/employee department=Sales id=42 --with-copies",
            "tables get Company/employee.by_email department=Sales email=mia@contoso.com",
            "tables get Company Sales empid_000042",
        ],
    ),
    (
        "query",
        &[
            "tables query Company \"PartitionKey eq 'Sales' and Age ge 40\" --select Age,Email",
            "tables query Company/employee --top 20",
            "tables query Company --count",
        ],
    ),
    ("explain", &["tables explain Company \"Age ge 40\" --run"]),
    ("stats", &["tables stats", "tables stats --watch 1s"]),
    ("check", &["tables check"]),
    ("jobs", &["tables jobs", "tables jobs resume --write Tickets rebuild ticket by_state"]),
    ("jobs resume", &["tables jobs resume --write Tickets rebuild ticket by_state"]),
    ("jobs cancel", &["tables jobs cancel --write Tickets rebuild ticket by_state"]),
    ("outbox", &["tables outbox", "tables outbox retry --write"]),
    ("outbox retry", &["tables outbox retry --write"]),
    ("repair", &["tables repair --write", "tables repair --write --keys company.tables.keys"]),
    ("compact", &["tables compact --write"]),
    ("reclaim", &["tables reclaim --write"]),
    ("backup", &["tables backup company.backup"]),
    (
        "put",
        &[
            "tables put --write Tickets/ticket queue=support id=301 state=open",
            "tables put --write Notes 2016 four Text=hello Age:i32=41",
        ],
    ),
    (
        "merge",
        &[
            "tables merge --write Company/employee department=Sales id=42 age=42",
            "tables merge --write Notes 2014 one Text=changed",
        ],
    ),
    (
        "delete",
        &[
            "tables delete --write Company/employee department=Sales id=42",
            "tables delete --write Notes 2014 one",
        ],
    ),
    ("create", &["tables create --write Invoices"]),
    ("drop", &["tables drop --write Notes"]),
    ("rename", &["tables rename --write Notes Remarks"]),
    ("queues", &["tables queues"]),
    ("peek", &["tables peek hires -n 5"]),
    ("poison", &["tables poison hires"]),
    ("requeue", &["tables requeue --write hires"]),
    ("blobs", &["tables blobs photos", "tables blobs photos --get notes/read-me.txt"]),
    ("logs", &["tables logs requests --since 1h"]),
    ("keys", &["tables keys --keys company.tables.keys"]),
    ("keys list", &["tables keys list --keys company.tables.keys"]),
    ("keys rotate", &["tables keys rotate --write --keys company.tables.keys"]),
    ("keys shred", &["tables keys shred --write --keys company.tables.keys Payroll --for-ever"]),
    ("sas", &["tables sas Company --read --partition Sales --until 2027-01-01T00:00:00Z"]),
    ("commands", &["tables commands"]),
    ("shell", &["tables shell"]),
    ("man", &["tables man query > tables-query.1"]),
    ("completions", &["tables completions zsh > _tables"]),
    ("design", &["tables design > design.html"]),
    ("studio", &["tables studio --open"]),
    ("serve", &["tables serve --help"]),
];

/// Returns the lines for the command of these words.
pub(crate) fn of(command: &str) -> &'static [&'static str] {
    EXAMPLES.iter().find(|(known, _)| *known == command).map_or(&[], |(_, lines)| lines)
}
