//! Guide, pattern 6: an employee and the yearly reviews side by side, so that one range query brings both.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, Query, Store};

/// An employee.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Reviews", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
}

/// The review of an employee for a year.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Reviews", kind = "review")]
#[key(partition = "{department}", row = "empid_{id:06}_{year:04}")]
struct Review {
    department: String,
    id: u32,
    year: u16,
    manager_rating: i32,
    comments: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("compound_key");
    let store = Store::open(scratch.path())?;
    let (staff, reviews) = (store.table::<Employee>()?, store.table::<Review>()?);
    let mut out = stdout();

    for (id, last_name) in [(123, "Jones"), (124, "Hall")] {
        staff.insert(&Employee { department: "Sales".into(), id, last_name: last_name.into() })?;
        for (year, manager_rating) in [(2010, 2), (2011, 4), (2012, 5)] {
            let (department, comments) = ("Sales".into(), format!("a good {year}"));
            reviews.insert(&Review { department, id, year, manager_rating, comments })?;
        }
    }

    writeln!(out, "One range query brings an employee with all the reviews, and of them what is wanted:\n")?;
    let everything = Query::new()
        .partition("Sales")
        .rows("empid_000123".."empid_000124")
        .select(["LastName", "ManagerRating"]);
    writeln!(out, "  {}\n", staff.dynamic().explain(&everything)?)?;
    draw(&mut out, staff.dynamic(), &everything)?;
    assert_eq!(staff.dynamic().query(&everything)?.count(), 4);

    writeln!(out, "\nTyped, the reviews of some years:\n")?;
    let mut ratings = Vec::new();
    for review in reviews.rows().department("Sales").id(123).year(2011..=2012) {
        let review = review?;
        writeln!(out, "  {}: {} ({})", review.year, review.manager_rating, review.comments)?;
        ratings.push(review.manager_rating);
    }
    assert_eq!(ratings, [4, 5]);

    // The kinds don't mix: a query of employees passes over their reviews.
    let names: Result<Vec<_>, _> =
        staff.rows().department("Sales").into_iter().map(|e| e.map(|e| e.last_name.clone())).collect();
    assert_eq!(names?, ["Jones", "Hall"]);
    Ok(())
}
