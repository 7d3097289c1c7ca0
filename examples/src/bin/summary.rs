//! The guide's materialised view: a row that says what a department pays, so that nobody adds up its employees to know.
//! Every change of an employee keeps it, in the same transaction, and no two of them are in each other's way.

use std::error::Error;
use std::io::Write;
use std::thread;

use examples::{Scratch, draw, stdout};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Store};

/// An employee, in the partition of the department.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[summarized_in(Payroll, Level)]
struct Employee {
    department: String,
    id: u32,
    level: u8,
    salary: i64,
}

impl Employee {
    fn is_senior(&self) -> bool {
        self.level > 4
    }
}

/// What a department pays, beside its employees.
#[derive(Entity, Debug)]
#[entity(table = "Company", kind = "payroll")]
#[key(partition = "{department}", row = "payroll")]
#[summary(of = Employee)]
struct Payroll {
    department: String,
    #[summary(count)]
    employees: u64,
    #[summary(count, when = Employee::is_senior)]
    seniors: u64,
    #[summary(sum = salary)]
    salaries: i64,
}

/// The employees of a level in all departments, in a table of their own: in the same transaction, too.
#[derive(Entity, Debug)]
#[entity(table = "Levels", kind = "level")]
#[key(partition = "all", row = "level_{level:02}")]
#[summary(of = Employee, atomic)]
struct Level {
    level: u8,
    #[summary(count)]
    employees: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("summary");
    let store = Store::open(scratch.path())?;
    let (staff, payrolls) = (store.table::<Employee>()?, store.table::<Payroll>()?);
    let levels = store.table::<Level>()?;
    let mut out = stdout();

    writeln!(out, "Three are hired:\n")?;
    for (department, id, level, salary) in
        [("Sales", 1, 5, 5_000), ("Sales", 2, 3, 3_000), ("Legal", 3, 5, 6_000)]
    {
        staff.insert(&Employee { department: department.into(), id, level, salary })?;
    }
    draw(&mut out, staff.dynamic(), &Query::new())?;
    draw(&mut out, levels.dynamic(), &Query::new())?;
    assert_eq!(payrolls.get(Payroll::key("Sales"))?.map(|sales| sales.salaries), Some(8_000));

    writeln!(out, "\nOne moves to another department. What is done:\n")?;
    let moved = Employee { department: "Legal".into(), id: 2, level: 3, salary: 3_200 };
    let moves = || store.transaction().delete(Employee::key("Sales", 2)).insert(&moved);
    writeln!(out, "{}\n", moves().explain()?)?;
    moves().commit()?;
    draw(&mut out, payrolls.dynamic(), &Query::new().row("payroll"))?;
    let legal = payrolls.get(Payroll::key("Legal"))?.ok_or("it has employees")?;
    assert_eq!((legal.employees, legal.seniors, legal.salaries), (2, 1, 9_200));

    writeln!(out, "\nSixteen threads hire for one department, each 25 people:\n")?;
    thread::scope(|scope| {
        for thread in 0..16 {
            let staff = &staff;
            scope.spawn(move || {
                for id in 0..25 {
                    let id = 1_000 + 25 * thread + id;
                    staff.insert(&Employee { department: "Sales".into(), id, level: 1, salary: 10 })?;
                }
                Ok::<(), table_core::Error>(())
            });
        }
    });
    let sales = payrolls.get(Payroll::key("Sales"))?.ok_or("it has employees")?;
    writeln!(out, "  {} employees of {}, {} a month", sales.employees, sales.department, sales.salaries)?;
    assert_eq!((sales.employees, sales.salaries), (401, 9_000));
    let first = levels.get(Level::key(1))?.ok_or("there are such")?;
    assert_eq!((first.level, first.employees), (1, 400));

    writeln!(out, "\nNobody writes a summary by hand:\n")?;
    let refused = payrolls.update(Payroll::key("Sales"), |sales| sales.employees += 1).unwrap_err();
    writeln!(out, "  {refused}")?;
    assert_eq!(refused.kind(), ErrorKind::DeclaredKind);

    writeln!(out, "\nUnless the handle is raw. Then a check finds it:\n")?;
    let wrong = DynamicEntity::new("Sales", "payroll").with("Employees", 7_i64);
    staff.dynamic().raw().merge(&wrong, IfMatch::Any)?;
    let report = staff.check()?;
    writeln!(out, "  {report}")?;
    assert_eq!(report.miscounted, 1);
    staff.repair()?.run()?;
    assert!(staff.check()?.is_sound());
    assert_eq!(payrolls.get(Payroll::key("Sales"))?.map(|sales| sales.employees), Some(401));
    Ok(())
}
