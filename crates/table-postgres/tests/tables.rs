//! Tables that get another name, and tables of periods that come and go beside others who have them open.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

use support::server;
use table_core::{DynamicEntity, Entity, ErrorKind, Query, Ticks};
use table_postgres::{PostgresOptions, PostgresTables};

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, table = "Emails", partition = "all", row = "email_{email}", atomic, unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

mod renamed {
    use table_core::Entity;

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, table = "Addresses", partition = "all", row = "email_{email}", atomic, unique)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) email: String,
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins{at:%Y%m}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Monthly {
    user: String,
    at: Ticks,
}

fn at(time: &str) -> Ticks {
    time.parse().unwrap()
}

fn login(time: &str) -> Login {
    Login { user: "ann".into(), at: at(time) }
}

fn connect(options: &PostgresOptions) -> PostgresTables {
    options.connect(&server()).unwrap()
}

#[test]
fn a_renamed_table_is_found_by_its_name_alone_whoever_has_it_open() {
    let options = support::options();
    let (ours, theirs) = (connect(&options), connect(&options));
    let table = ours.create_table("Staff").unwrap();
    let same = theirs.dynamic_table("Staff").unwrap();
    for name in ["Team", "TEAM", "Staff", "People"] {
        let former = ours.tables().unwrap();
        ours.rename_table(&former[0], name).unwrap();
        assert_eq!(theirs.tables().unwrap(), [name]);
        theirs.dynamic_table(name).unwrap().insert(&DynamicEntity::new("p", name)).unwrap();
        for held in [&table, &same] {
            let gone = held.get("p", "a").unwrap_err();
            assert_eq!(gone.kind(), ErrorKind::TableNotFound);
            let gone = held.insert(&DynamicEntity::new("p", "b")).unwrap_err();
            assert_eq!(gone.kind(), ErrorKind::TableNotFound);
        }
        let said = table.get("p", "a").unwrap_err().to_string();
        assert!(name == "Staff" || said.contains(&format!("`{name}`")), "{said}");
    }
    for former in ["Staff", "team"] {
        assert_eq!(theirs.dynamic_table(former).unwrap_err().kind(), ErrorKind::TableRenamed);
    }
    // A name is free for another table, which then has it alone.
    theirs.create_table("Team").unwrap();
    assert!(ours.dynamic_table("TEAM").unwrap().get("p", "People").unwrap().is_none());
    assert!(ours.dynamic_table("People").unwrap().get("p", "People").unwrap().is_some());
    let taken = ours.rename_table("People", "team").unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::TableAlreadyExists, "{taken}");
    assert_eq!(ours.rename_table("Nobody", "Else").unwrap_err().kind(), ErrorKind::TableNotFound);
    assert_eq!(ours.rename_table("People", "no name").unwrap_err().kind(), ErrorKind::InvalidTableName);
    theirs.drop_tables(&["Team", "People"]).unwrap();
    assert_eq!(ours.dynamic_table("Staff").unwrap_err().kind(), ErrorKind::TableNotFound);
}

#[test]
fn a_drop_that_the_server_gives_up_for_another_transaction_is_made_again() {
    let schema = support::schema();
    let tables = connect(&PostgresTables::options().schema(&schema));
    for name in ["First", "Second"] {
        tables.create_table(name).unwrap();
    }
    let [first, second] = ["1", "2"].map(|number| format!("{schema}.rows_{number}"));
    let mut holder = support::hold(&second);
    std::thread::scope(|scope| {
        let dropping = scope.spawn(|| tables.drop_tables(&["First", "Second"]));
        // The one that has waited for longer is given up, which is the drop: it has the first table, and waits for the second.
        std::thread::sleep(std::time::Duration::from_millis(400));
        let ends = format!("LOCK TABLE {first} IN ROW EXCLUSIVE MODE; SELECT pg_sleep(0.2); COMMIT;\n");
        std::io::Write::write_all(holder.stdin.as_mut().unwrap(), ends.as_bytes()).unwrap();
        dropping.join().unwrap().unwrap();
    });
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    assert!(tables.tables().unwrap().is_empty());
}

#[test]
fn a_table_of_a_long_name_keeps_its_view() {
    let schema = support::schema();
    let tables = connect(&PostgresTables::options().schema(&schema));
    let name = "a".repeat(63);
    let table = tables.create_table(&name).unwrap();
    table.raw().insert(&DynamicEntity::new("p", "1")).unwrap();
    // Of a kind whose view would have a name that is too long.
    let note = format!(
        "INSERT INTO {schema}._kinds SELECT id, 'kind', '', 0, NULL, '{{}}', '{{}}', '{{}}', '{{}}' FROM {schema}._tables"
    );
    support::execute(&note);
    tables.rename_table(&name, &name.to_uppercase()).unwrap();
    assert_eq!(support::ask(&format!("SELECT count(*) FROM {schema}.{name}")), "1");
}

#[test]
fn a_store_that_is_not_to_be_made_is_opened_where_there_is_one() {
    let schema = support::schema();
    let options = PostgresTables::options().schema(&schema);
    let only_opened = options.clone().create(false);
    let refused = only_opened.connect(&server()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Io);
    assert!(
        refused.to_string().contains(&format!("there is no store in the schema `{schema}`")),
        "{refused}"
    );
    let count = format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{schema}'");
    assert_eq!(support::ask(&count), "0", "nothing was made");
    connect(&options).create_table("Company").unwrap();
    assert_eq!(connect(&only_opened).tables().unwrap(), ["Company"]);
}

#[test]
fn a_view_shows_times_to_the_microsecond() {
    let schema = support::schema();
    let tables = connect(&PostgresTables::options().schema(&schema));
    tables.create_table("Company").unwrap().insert(&DynamicEntity::new("p", "1")).unwrap();
    support::execute(&format!("UPDATE {schema}.rows_1 SET ts = 638000000012345678"));
    let shown = support::ask(&format!(
        "SELECT \"Timestamp\" AT TIME ZONE 'UTC' = '2022-09-28 22:13:21.234567' FROM {schema}.company"
    ));
    assert_eq!(shown, "t");
}

#[test]
fn a_key_with_nul_is_no_rows() {
    let tables = support::tables();
    let company = tables.create_table("Company").unwrap();
    company.insert(&DynamicEntity::new("p", "a")).unwrap();
    for (partition, row) in [("p", "a\0"), ("p\0", "a"), ("\0", "\0")] {
        assert!(company.get(partition, row).unwrap().is_none());
        let query = Query::new().partition(partition).rows(row..);
        assert_eq!(company.query(&query).unwrap().count(), 0);
    }
}

#[test]
fn the_last_eight_names_are_kept() {
    let tables = support::tables();
    tables.create_table("Table0").unwrap();
    for number in 0..12 {
        tables.rename_table(&format!("Table{number}"), &format!("Table{}", number + 1)).unwrap();
    }
    for number in 0..12 {
        let kind = if number < 4 { ErrorKind::TableNotFound } else { ErrorKind::TableRenamed };
        assert_eq!(tables.dynamic_table(&format!("Table{number}")).unwrap_err().kind(), kind, "{number}");
    }
}

#[test]
fn what_is_noted_of_copies_follows_their_table() {
    let options = support::options();
    let tables = connect(&options);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&Employee { department: "Sales".into(), id: 1, email: "a@example.com".into() }).unwrap();
    tables.rename_table("Emails", "Addresses").unwrap();
    let staff = connect(&options).table::<renamed::Employee>().unwrap();
    let found = staff.by_email().email("a@example.com").first().unwrap().unwrap();
    assert_eq!(found.id, 1);
    let other = renamed::Employee { department: "Sales".into(), id: 2, email: "a@example.com".into() };
    assert_eq!(staff.insert(&other).unwrap_err().kind(), ErrorKind::UniqueConflict);
    // The struct that names the former table is refused before it writes.
    let refused = connect(&options).table::<Employee>().map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TableRenamed, "{refused}");
}

#[test]
fn a_dropped_period_is_there_as_long_as_a_snapshot_may_read_it() {
    let options = support::options();
    let (ours, theirs) = (connect(&options), connect(&options));
    let (logins, same) = (ours.periods::<Login>().unwrap(), theirs.periods::<Login>().unwrap());
    for day in 1..=4 {
        logins.insert(&login(&format!("2026-01-0{day}T10:00"))).unwrap();
    }
    // A handle on the period's table can't write to it any more.
    same.insert(&login("2026-01-01T11:00")).unwrap();
    let open = theirs.dynamic_table("Logins20260101").unwrap();
    let before = theirs.snapshot().unwrap();
    let of_days = |logins: &table_core::typed::Periods<Login>| {
        logins.all_periods().rows().user("ann").into_iter().map(Result::unwrap).count()
    };
    assert_eq!(logins.drop_before(at("2026-01-03")).unwrap().tables, 2);
    assert_eq!((of_days(&logins), of_days(&same)), (2, 2));
    assert_eq!(same.at(&before).all_periods().rows().user("ann").count().unwrap(), 5);
    assert_eq!(same.insert(&login("2026-01-01T12:00")).unwrap_err().kind(), ErrorKind::PeriodDropped);
    let late = open.raw().insert(&DynamicEntity::new("ann", "x")).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::TableNotFound, "{late}");
    assert_eq!(same.at(&before).all_periods().rows().user("ann").count().unwrap(), 5);
    drop(before);
    // The next drop finds that nobody can read them.
    assert_eq!(same.drop_before(at("2026-01-03")).unwrap().tables, 0);
    assert_eq!(open.get("ann", "x").unwrap_err().kind(), ErrorKind::TableNotFound);
    assert_eq!(same.floor().unwrap(), at("2026-01-03"));
}

#[test]
fn names_of_periods_and_of_tables_are_kept_apart() {
    let tables = support::tables();
    tables.create_table("Logins20260101").unwrap();
    let logins = tables.periods::<Login>().unwrap();
    let refused = logins.insert(&login("2026-01-02T10:00")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TableAlreadyExists, "{refused}");
    tables.rename_table("Logins20260101", "Other").unwrap();
    logins.insert(&login("2026-01-02T10:00")).unwrap();
    let refused =
        [tables.create_table("logins20260101").map(drop), tables.rename_table("Other", "Logins20260103")];
    for refused in refused {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidTableName);
    }
    // The template with another period has no tables as long as there are some of the first.
    let refused = tables.periods::<Monthly>().map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LayoutChanged, "{refused}");
    logins.drop_before(at("2026-02-01")).unwrap();
    let monthly = tables.periods::<Monthly>().unwrap();
    let early = Monthly { user: "ann".into(), at: "2026-01-31T00:00".parse().unwrap() };
    assert_eq!(monthly.insert(&early).unwrap_err().kind(), ErrorKind::PeriodDropped);
    let late = Monthly { user: "ann".into(), at: "2026-02-01T00:00".parse().unwrap() };
    monthly.insert(&late).unwrap();
    assert_eq!(tables.tables().unwrap(), ["Logins202602", "Other"]);
}

#[test]
fn a_page_goes_on_in_the_next_period() {
    let tables = support::tables();
    let logins = tables.periods::<Login>().unwrap();
    for day in 1..=5 {
        for hour in 0..7 {
            logins.insert(&login(&format!("2026-01-0{day}T0{hour}:00"))).unwrap();
        }
    }
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = logins.all_periods().rows().user("ann").page(4, after.as_ref());
        let page = page.unwrap();
        seen.extend(page.entities.iter().map(|login| login.at));
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    assert_eq!(seen.len(), 35);
    assert!(seen.is_sorted());
}
