//! A company over three releases of its program, each with the struct that it had then. The older program runs beside the
//! newer one for a while, as in a rolling release; what each of them may do is said and asserted.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, ErrorKind, Query, Store};

mod first {
    use super::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub email: String,
    }
}

/// New fields, which rows may lack.
mod second {
    use super::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        pub email: String,
        pub phone: Option<String>,
        #[property(default = "permanent")]
        pub contract: String,
    }
}

/// A property with another name, and a new index.
mod third {
    use super::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{mail}", unique)]
    #[index(by_contract, row = "contract_{contract:escaped}_{id:06}", copy = keys)]
    pub struct Employee {
        pub department: String,
        pub id: u32,
        #[property(was = "Email")]
        pub mail: String,
        pub phone: Option<String>,
        #[property(default = "permanent")]
        pub contract: String,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("changing");
    let store = Store::open(scratch.path())?;
    let mut out = stdout();

    writeln!(out, "The first release has two employees.\n")?;
    let before = store.table::<first::Employee>()?;
    for (id, email) in [(1, "jun@contoso.com"), (2, "kim@contoso.com")] {
        before.insert(&first::Employee { department: "Sales".into(), id, email: email.into() })?;
    }

    writeln!(out, "The second reads them, with a default for the contract, by which filters find them:\n")?;
    let staff = store.table::<second::Employee>()?;
    let permanent = || staff.rows().department("Sales").filter(|e| e.contract.eq("permanent"));
    for employee in permanent() {
        let employee = employee?;
        writeln!(out, "  {} {} {:?}", employee.id, employee.contract, employee.phone)?;
    }
    assert_eq!(permanent().count()?, 2);
    staff.update(second::Employee::key("Sales", 1), |e| {
        e.phone = Some("555-0100".into());
        e.contract = "until June".into();
    })?;

    writeln!(
        out,
        "\nThe first is still running, and changes the same employee. It carries along what it doesn't know:\n"
    )?;
    before.update(first::Employee::key("Sales", 1), |e| e.email = "cao@contoso.com".into())?;
    let jun = staff.get(second::Employee::by_email("Sales", "cao@contoso.com"))?.ok_or("gone")?;
    writeln!(out, "  {} {} {:?}", jun.email, jun.contract, jun.phone)?;
    assert_eq!((jun.contract.as_str(), jun.phone.as_deref()), ("until June", Some("555-0100")));

    writeln!(
        out,
        "\nThe third makes its index, while the others would be refused to write past it, and reads old rows:\n"
    )?;
    let now = store.table::<third::Employee>()?;
    let kim = now.get(third::Employee::key("Sales", 2))?.ok_or("gone")?;
    assert_eq!(kim.mail, "kim@contoso.com");
    let error = now.by_contract().department("Sales").count().unwrap_err();
    writeln!(out, "  {error}\n")?;
    assert_eq!(error.kind(), ErrorKind::IndexBuilding);
    now.update(third::Employee::key("Sales", 2), |_| {})?;
    let done = now.rebuild()?.run()?;
    writeln!(out, "  {done}\n")?;
    let until_june = now.by_contract().department("Sales").contract("until June");
    let found: Vec<_> = until_june.into_iter().map(|row| row.map(|row| row.id)).collect::<Result<_, _>>()?;
    assert_eq!(found, [1]);
    draw(&mut out, now.dynamic(), &Query::new().row_prefix("empid_"))?;

    writeln!(out, "\nWho doesn't know that `Email` is called `Mail` now writes no more, and hears why:\n")?;
    let error = staff.update(second::Employee::key("Sales", 2), |e| e.phone = None).unwrap_err();
    writeln!(out, "  {error}")?;
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert_eq!(now.get(third::Employee::key("Sales", 2))?.ok_or("gone")?, kim);
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
