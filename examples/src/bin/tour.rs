//! The design guide's company in one walk: what is declared, the rows that it becomes, and what each question costs.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, EntitySet, ErrorKind, Query, Store, Stored, prefix};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(email))]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    email: String,
    age: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: u32,
}

#[derive(EntitySet)]
enum Company {
    Department(Department),
    Employee(Employee),
}

fn employee(id: u32, last_name: &str, age: i32) -> Employee {
    let email = format!("{}@contoso.com", last_name.to_lowercase());
    Employee { department: "Sales".into(), id, last_name: last_name.into(), email, age }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("tour");
    let store = Store::open(scratch.path())?;
    let staff = store.table::<Employee>()?;
    let mut out = stdout();
    let all = Query::new();
    let key = || Employee::key("Sales", 2);

    writeln!(out, "A struct is declared once. Each entity is a row, and a row for each index:\n")?;
    writeln!(out, "{}\n\n{}", Employee::SCHEMA, Department::SCHEMA)?;

    writeln!(out, "\n1. Two employees, three rows each. All rows of one come in one transaction.\n")?;
    staff.insert(&employee(1, "Hall", 34))?;
    staff.insert(&employee(2, "Kwok", 23))?;
    draw(&mut out, staff.dynamic(), &all)?;

    writeln!(out, "\n2. An address changes: its row goes, another comes, and the other copies follow.\n")?;
    let change = |employee: &mut Employee| employee.email = "ken@contoso.com".into();
    let plan = staff.egt(Employee::partition("Sales")).update(key(), change).explain()?;
    writeln!(out, "  {plan}\n")?;
    staff.update(key(), change)?;
    draw(&mut out, staff.dynamic(), &all)?;
    assert!(staff.get(Employee::by_email("Sales", "kwok@contoso.com"))?.is_none());

    writeln!(out, "\n3. What is declared unique stays so, and what fails leaves nothing behind.\n")?;
    let clash = Employee { email: "hall@contoso.com".into(), ..employee(3, "Jones", 41) };
    let refused = staff.insert(&clash).unwrap_err();
    writeln!(out, "  {refused}")?;
    assert_eq!(refused.kind(), ErrorKind::UniqueConflict);
    assert_eq!(staff.dynamic().query(&all)?.count(), 6);

    writeln!(out, "\n4. Another kind in the partition: who is hired is counted, in one transaction.\n")?;
    store.table::<Department>()?.insert(&Department { name: "Sales".into(), head_count: 2 })?;
    store
        .egt::<Company>(Employee::partition("Sales"))
        .insert(&employee(3, "Jones", 41))
        .update(Department::key("Sales"), |department| department.head_count += 1)
        .commit()?;
    for entity in store.set::<Company>()?.partition(Department::partition("Sales")) {
        match Stored::into_inner(entity?) {
            Company::Department(department) => writeln!(out, "  {department:?}")?,
            Company::Employee(employee) => writeln!(out, "  {employee:?}")?,
        }
    }

    writeln!(out, "\n5. Questions, from the cheapest to the dearest:\n")?;
    let sales = || staff.rows().department("Sales");
    writeln!(out, "  {}", sales().id(2).explain()?)?;
    assert_eq!(staff.get(key())?.map(|e| e.age), Some(23));
    writeln!(out, "  {}", staff.by_email().department("Sales").email("ken@contoso.com").explain()?)?;
    assert_eq!(staff.get(Employee::by_email("Sales", "ken@contoso.com"))?.map(|e| e.id), Some(2));
    writeln!(out, "  {}", sales().id(2..=3).explain()?)?;
    assert_eq!(sales().id(2..=3).count()?, 2);
    let names = || staff.by_name().department("Sales").last_name(prefix("J"));
    writeln!(out, "  {}", names().explain()?)?;
    assert_eq!(names().into_iter().map(|row| row.map(|row| row.id)).collect::<Result<Vec<_>, _>>()?, [3]);
    writeln!(out, "  {}", sales().filter(|e| e.age.ge(40)).explain()?)?;
    assert_eq!(sales().filter(|e| e.age.ge(40)).count()?, 1);

    writeln!(out, "\n6. Two editors read one employee; the second to write is told that he is late.\n")?;
    let ann = staff.get(key())?.ok_or("the employee is there")?;
    let version = Stored::etag(&ann);
    staff.merge(key(), Employee::patch().age(24), version)?;
    let late = staff.merge(key(), Employee::patch().age(25), version).unwrap_err();
    writeln!(out, "  {late}")?;
    assert_eq!(late.kind(), ErrorKind::ConditionNotMet);

    writeln!(out, "\n7. Who leaves takes all rows along, whatever they were called.\n")?;
    store
        .egt::<Company>(Employee::partition("Sales"))
        .delete(key())
        .update(Department::key("Sales"), |department| department.head_count -= 1)
        .commit()?;
    draw(&mut out, staff.dynamic(), &all)?;
    assert_eq!(staff.dynamic().query(&all)?.count(), 7);

    writeln!(out, "\n8. Dropping a table takes one small transaction, whatever it held.")?;
    store.drop_table("Company")?;
    assert_eq!(staff.get(key()).unwrap_err().kind(), ErrorKind::TableNotFound);
    store.reclaim()?; // it would happen by itself, in the background
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
