//! Two stores that differ outside an access alone: whatever is asked through it has equal answers, but for a unique key that is
//! taken.

use integration_tests::Scratch;
use proptest::prelude::*;
use table_core::access::Access;
use table_core::query::PageBudget;
use table_core::{ErrorKind, IfMatch, Query, Result, Store, Tables, prop};

use crate::world::{Employee, Office, Payroll, row_key};

/// Something that is asked of both.
#[derive(Clone, Debug)]
enum Ask {
    Insert(u32, u32),
    Put(u32, u32),
    Replace(u32, u32),
    Update(u32, u32),
    Move(u32, u32),
    Delete(u32),
    Bulk(u32, u32),
    Office(u32, bool),
    Both(u32, u32),
    Get(u32),
    ByEmail(u32),
    ByBadge(u32),
    ByCity(u32),
    Lists(u32),
    Query(bool, usize),
    Pages(usize),
    Raw(u32, bool),
}

fn asks() -> impl Strategy<Value = Ask> {
    let (id, other) = (0..7_u32, 0..9_u32);
    let pair = (id.clone(), other.clone());
    prop_oneof![
        pair.clone().prop_map(|(id, other)| Ask::Insert(id, other)),
        pair.clone().prop_map(|(id, other)| Ask::Put(id, other)),
        pair.clone().prop_map(|(id, other)| Ask::Replace(id, other)),
        pair.clone().prop_map(|(id, other)| Ask::Update(id, other)),
        pair.clone().prop_map(|(id, other)| Ask::Move(id, other)),
        id.clone().prop_map(Ask::Delete),
        pair.clone().prop_map(|(id, other)| Ask::Bulk(id, other)),
        (id.clone(), any::<bool>()).prop_map(|(id, is_inside)| Ask::Office(id, is_inside)),
        pair.prop_map(|(id, other)| Ask::Both(id, other)),
        id.clone().prop_map(Ask::Get),
        other.clone().prop_map(Ask::ByEmail),
        other.clone().prop_map(Ask::ByBadge),
        id.clone().prop_map(Ask::ByCity),
        other.prop_map(Ask::Lists),
        (any::<bool>(), 0..4_usize).prop_map(|(is_reverse, top)| Ask::Query(is_reverse, top)),
        (1..4_usize).prop_map(Ask::Pages),
        (id, any::<bool>()).prop_map(|(id, deletes)| Ask::Raw(id, deletes)),
    ]
}

fn someone(department: &str, id: u32, number: u32) -> Employee {
    Employee {
        department: department.into(),
        id,
        email: format!("{number}@contoso.com"),
        city: if number.is_multiple_of(2) { "Oslo" } else { "Pisa" }.into(),
        badge: number,
        salary: i64::from(number),
    }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

/// Returns what there is to compare of a call: what it found, or the error's words.
fn told<T>(done: Result<T>, tell: impl FnOnce(T) -> String) -> String {
    match done {
        Ok(found) => tell(found),
        Err(error) => format!("{:?} {error}", error.kind()),
    }
}

fn answer(tables: &Tables, ask: &Ask) -> String {
    let staff = tables.table::<Employee>().unwrap();
    let wrote = |done: Result<table_core::ETag>| told(done, |_| "written".to_owned());
    let shown = |done: Result<table_core::Stored<Employee>>| told(done, |found| format!("{:?}", *found));
    match *ask {
        Ask::Insert(id, number) => wrote(staff.insert(&someone("Sales", id, number))),
        Ask::Put(id, number) => wrote(staff.put(&someone("Sales", id, number))),
        Ask::Replace(id, number) => wrote(staff.replace(&someone("Sales", id, number), IfMatch::Any)),
        Ask::Update(id, number) => shown(staff.update(key(id), |one| *one = someone("Sales", id, number))),
        Ask::Move(id, other) => shown(staff.move_to(key(id), |one| one.id = other)),
        Ask::Delete(id) => told(staff.delete(key(id)), |()| "deleted".to_owned()),
        Ask::Bulk(id, number) => {
            let done =
                staff.bulk_insert([someone("Sales", id, number)]).and_then(|report| report.into_result());
            told(done, |count| format!("{count}"))
        }
        Ask::Office(id, is_inside) => {
            let department = if is_inside { "Sales" } else { "Legal" }.to_owned();
            let office = Office { house: "Sales".into(), room: 1, department, id, tenant: None };
            let offices = tables.table::<Office>().unwrap();
            let done = wrote(offices.put(&office));
            let found = offices.get(Office::key("Sales", 1));
            done + &told(found, |found| format!("{:?}", found.map(|found| found.tenant.clone())))
        }
        Ask::Both(id, other) => {
            let done = tables.transaction().delete(key(id)).insert(&someone("Sales", other, other)).commit();
            told(done, |_| "both".to_owned())
        }
        Ask::Get(id) => {
            told(staff.get(key(id)), |found| format!("{:?}", found.map(|found| (*found).clone())))
        }
        Ask::ByEmail(number) => {
            let found = ["Sales", "Legal"].map(|department| {
                told(staff.exists(Employee::by_email(department, format!("{number}@contoso.com"))), |found| {
                    format!("{found}")
                })
            });
            found.join(" ")
        }
        Ask::ByBadge(number) => told(staff.get(Employee::by_badge(number)), |found| {
            format!("{:?}", found.map(|found| (*found).clone()))
        }),
        Ask::ByCity(id) => {
            let found = ["Sales", "Legal"].map(|department| {
                told(staff.exists(Employee::by_city("Oslo", department, id)), |found| format!("{found}"))
            });
            let all = staff.by_city().city("Oslo").count();
            format!("{} {}", found.join(" "), told(all, |count| format!("{count}")))
        }
        Ask::Lists(number) => {
            let city = if number.is_multiple_of(2) { "Oslo" } else { "Pisa" };
            let list = staff.list(Employee::by_city_here("Sales", city)).map(|list| list.len());
            let pay = tables.table::<Payroll>().unwrap();
            let pay = ["Sales", "Legal"].map(|department| {
                told(pay.get(Payroll::key(department)), |found| {
                    format!("{:?}", found.map(|found| (found.employees, found.salaries)))
                })
            });
            format!("{} {}", told(list, |count| format!("{count}")), pay.join(" "))
        }
        Ask::Query(is_reverse, top) => {
            let mut query = Query::new().filter(prop("Salary").ge(1_i64));
            if is_reverse {
                query = query.rev();
            }
            if top > 0 {
                query = query.top(top);
            }
            let found = tables
                .dynamic_table("Company")
                .and_then(|table| table.query(&query)?.collect::<Result<Vec<_>>>());
            told(found, |rows| {
                rows.iter().map(|row| format!("{}/{} ", row.partition_key(), row.row_key())).collect()
            })
        }
        Ask::Pages(size) => {
            // Neither a budget of rows that are read nor the last page tells of rows that are hidden.
            let filtered = Query::new().filter(prop("Salary").ge(3_i64));
            let budgets = [PageBudget::new(size), PageBudget::new(size).rows_read(2)];
            let mut pages = String::new();
            for (table, query) in
                [("Company", &Query::new()), ("Cities", &Query::new()), ("Company", &filtered)]
            {
                for budget in budgets {
                    pages += &paged(tables, table, query, budget);
                }
            }
            pages
        }
        Ask::Raw(id, deletes) => {
            let table = tables.dynamic_table("Company").unwrap();
            let row = row_key(id);
            let done = if deletes {
                table.delete("Legal", &row)
            } else {
                table.put(&table_core::DynamicEntity::new("Legal", &row)).map(drop)
            };
            told(done, |()| "written".to_owned())
        }
    }
}

/// Reads a table by pages: how many entities each has, or the error.
fn paged(tables: &Tables, table: &str, query: &Query, budget: PageBudget) -> String {
    let (mut pages, mut after) = (format!("{table}: "), None);
    loop {
        let page = tables.dynamic_table(table).and_then(|table| table.page(query, budget, after.as_ref()));
        match page {
            Err(error) => return pages + &error.to_string(),
            Ok(page) => {
                pages += &format!("{} ", page.entities.len());
                after = page.next;
            }
        }
        if after.is_none() {
            return pages;
        }
    }
}

fn store(scratch: &Scratch, outside: &[(u32, u32)]) -> Store {
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    store.table::<Office>().unwrap();
    for (id, number) in outside {
        // Some can't be, since another has the badge.
        let _ = staff.insert(&someone("Legal", *id, *number));
    }
    store
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_outside_makes_no_difference_but_for_a_unique_key(
        one in proptest::collection::vec((0..7_u32, 0..9_u32), 0..6),
        other in proptest::collection::vec((0..7_u32, 0..9_u32), 0..6),
        asks in proptest::collection::vec(asks(), 1..25),
        reads_cities in any::<bool>(),
    ) {
        let tables: &[&str] = if reads_cities { &["Company", "Badges", "Cities"] } else { &["Company", "Badges"] };
        // The cities and badges lie inside, if they are named; the other department does not.
        let access = Access::to_tables(tables).everything();
        let access = if reads_cities {
            access.from_partition("Oslo").through_partition("Sales")
        } else {
            access.partition("Sales")
        };
        let scratches = [(); 2].map(|()| Scratch::new());
        let stores = [store(&scratches[0], &one), store(&scratches[1], &other)];
        let [a, b] = stores.each_ref().map(|store| store.restricted(&access));
        for ask in &asks {
            let (here, there) = (answer(&a, ask), answer(&b, ask));
            if here == there {
                continue;
            }
            // The one bit: a badge that somebody outside has. What was written in the one store alone is taken back.
            let is_taken = |told: &str| told.contains(&format!("{:?} ", ErrorKind::UniqueConflict));
            prop_assert!(is_taken(&here) != is_taken(&there), "{:?}: {} | {}", ask, here, there);
            return Ok(());
        }
    }
}
