//! A company over three releases of its program: a field more, then a name in two parts, and in between the old program
//! beside the new one.
//!
//! ```text
//! release 1   Employee { department, id, name, email }
//! release 2   + phone: Option<String>                       nothing to do
//! release 3   version 2: first_name, last_name for name     converted when read, rewritten by a migration
//! ```

use std::error::Error;
use std::io::Write;

use examples::{Scratch, stdout};
use table_core::{ErrorKind, Key, Store, Table};

mod first {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub name: String,
        pub email: String,
    }
}

mod second {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub name: String,
        pub email: String,
        /// New, and optional: rows without it are read as they are, and the first release carries it along.
        pub phone: Option<String>,
    }
}

mod third {
    use table_core::Entity;

    /// What the struct was, by which rows are read that are not converted yet.
    #[derive(Entity, Debug)]
    #[entity(kind = "employee", version = 1, former)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    pub struct EmployeeV1 {
        department: String,
        id: u32,
        name: String,
        email: String,
        phone: Option<String>,
    }

    #[derive(Entity, Debug)]
    #[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    #[index(by_name, row = "name_{last_name}_{id:06}", copy(first_name))]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub first_name: String,
        pub last_name: String,
        pub email: String,
        pub phone: Option<String>,
    }

    impl From<EmployeeV1> for Employee {
        fn from(former: EmployeeV1) -> Self {
            let EmployeeV1 { department, id, name, email, phone } = former;
            let (first, last) = name.split_once(' ').unwrap_or(("", &name));
            Self { department, id, first_name: first.into(), last_name: last.into(), email, phone }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("migration");
    let store = Store::open(scratch.path())?;
    let mut out = stdout();

    // The first release.
    let one: Table<first::Employee> = store.table()?;
    one.bulk_insert((0..1_000).map(|id| first::Employee {
        department: "Sales".into(),
        id,
        name: format!("Jun Cao{}", id % 10),
        email: format!("{id}@contoso.com"),
    }))?
    .into_result()?;

    // The second beside it: each reads what the other writes, and the first loses no phone.
    let two: Table<second::Employee> = store.table()?;
    two.update(second::Employee::key("Sales", 7), |jun| jun.phone = Some("555-0007".into()))?;
    one.update(first::Employee::key("Sales", 7), |jun| jun.name = "Jun Jones".into())?;
    let jun = two.get(second::Employee::key("Sales", 7))?.ok_or("she is there")?;
    assert_eq!((&*jun.name, jun.phone.as_deref()), ("Jun Jones", Some("555-0007")));

    // The third is deployed. It reads every row as what it becomes, in filters too; the others go on as ever.
    let three: Table<third::Employee> = store.table()?;
    let key = |id| -> Key<third::Employee> { third::Employee::key("Sales", id) };
    assert_eq!(three.get(key(7))?.ok_or("she is there")?.last_name, "Jones");
    assert_eq!(three.rows().department("Sales").filter(|e| e.last_name.eq("Cao3")).count()?, 100);
    one.update(first::Employee::key("Sales", 8), |e| e.name = "Ann Smith".into())?;
    // It writes nothing before somebody begins the migration: up to here, rolling back is starting the old program again.
    let refused = three.update(key(8), |e| e.last_name = "Miller".into()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::MigrationPending);

    let migration = store.migration::<third::Employee>()?;
    writeln!(out, "{migration}\n")?;
    let mut job = migration.steps()?;
    job.step()?;
    // From now on the new program writes, and the old one can't: it reads what it knows, and says so of the rest.
    three.update(key(8), |e| e.last_name = "Miller".into())?;
    let refused = one.update(first::Employee::key("Sales", 999), |e| e.name.clear()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LayoutChanged);
    assert_eq!(one.get(first::Employee::key("Sales", 999))?.ok_or("not converted yet")?.name, "Jun Cao9");
    assert!(one.get(first::Employee::key("Sales", 8)).is_err());

    // The next handle of the job goes on with it, in this process or another.
    drop(job);
    let mut job = store.migration::<third::Employee>()?.steps()?;
    while job.step()? {
        writeln!(out, "{}", job.progress())?;
    }
    assert_eq!(three.by_name().department("Sales").last_name("Miller").count()?, 1);
    let jun = three.get(third::Employee::by_email("Sales", "7@contoso.com"))?.ok_or("she is there")?;
    assert_eq!((&*jun.first_name, jun.phone.as_deref()), ("Jun", Some("555-0007")));
    assert!(three.check()?.is_sound() && store.jobs()?.is_empty());
    Ok(())
}
