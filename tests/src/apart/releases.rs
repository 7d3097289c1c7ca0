//! A program of three releases of a kind, with jobs of its own: each line says as which release it acts.

use std::cell::Cell;

use table_core::typed::{InOneTable, Job};
use table_core::{Continuation, Error, ErrorKind, Key, Partition, Projection, Query, Store, Table};

use super::{Program, number, told, words};
use crate::begun::Begun;
use crate::releases::{first, second, third};

/// An employee as a release has it.
trait Release: InOneTable + Clone + 'static {
    fn made(department: &str, id: u32, email: &str, age: u8) -> Self;
    fn seen(&self) -> (u32, &str, u8);
    fn set(&mut self, email: &str, age: u8);
    fn key(department: &str, id: u32) -> Key<Self>;
    fn partition(department: &str) -> Partition<Self>;
    fn held(held: &mut Held) -> &mut Option<Table<Self>>;
    /// By the index of ages: how many there are, and a page of them.
    fn of_age(table: &Table<Self>, department: &str, age: u8) -> Result<u64, Error>;
    fn page(
        table: &Table<Self>,
        department: &str,
        age: u8,
        size: usize,
        after: Option<&Continuation>,
    ) -> Result<(Vec<u32>, Option<Continuation>), Error>;
    /// By the index of e-mails, if the release has it.
    fn of_email(table: &Table<Self>, department: &str, email: &str) -> Result<Option<Vec<u32>>, Error>;
    /// By a filter on all of a department.
    fn filtered(table: &Table<Self>, department: &str, age: u8) -> Result<Vec<u32>, Error>;
    /// What one reads in place.
    fn viewed(table: &Table<Self>, department: &str, id: u32) -> Result<Option<u8>, Error>;
    /// A job that deletes those of an age.
    fn delete(table: &Table<Self>, department: &str, age: u8) -> Result<Job<'static>, Error>;
}

macro_rules! release {
    ($module:ident, $of_email:expr) => {
        impl Release for $module::Employee {
            fn made(department: &str, id: u32, email: &str, age: u8) -> Self {
                Self { department: department.to_owned(), id, email: email.to_owned(), age }
            }

            fn seen(&self) -> (u32, &str, u8) {
                (self.id, &self.email, self.age)
            }

            fn set(&mut self, email: &str, age: u8) {
                (self.email, self.age) = (email.to_owned(), age);
            }

            fn key(department: &str, id: u32) -> Key<Self> {
                Self::key(department, id)
            }

            fn partition(department: &str) -> Partition<Self> {
                Self::partition(department)
            }

            fn held(held: &mut Held) -> &mut Option<Table<Self>> {
                &mut held.$module
            }

            fn of_age(table: &Table<Self>, department: &str, age: u8) -> Result<u64, Error> {
                table.by_age().department(department).age(age).count()
            }

            fn page(
                table: &Table<Self>,
                department: &str,
                age: u8,
                size: usize,
                after: Option<&Continuation>,
            ) -> Result<(Vec<u32>, Option<Continuation>), Error> {
                let page = table.by_age().department(department).age(age).entities().page(size, after)?;
                Ok((page.entities.iter().map(|e| e.id).collect(), page.next))
            }

            fn of_email(
                table: &Table<Self>,
                department: &str,
                email: &str,
            ) -> Result<Option<Vec<u32>>, Error> {
                let of_email: fn(&Table<Self>, &str, &str) -> Result<Option<Vec<u32>>, Error> = $of_email;
                of_email(table, department, email)
            }

            fn filtered(table: &Table<Self>, department: &str, age: u8) -> Result<Vec<u32>, Error> {
                let found = table.rows().department(department).filter(|e| e.age.eq(age));
                found.into_iter().map(|row| row.map(|row| row.id)).collect()
            }

            fn viewed(table: &Table<Self>, department: &str, id: u32) -> Result<Option<u8>, Error> {
                table.view(Self::key(department, id), |e| e.age())
            }

            fn delete(table: &Table<Self>, department: &str, age: u8) -> Result<Job<'static>, Error> {
                table.delete_where(table.rows().department(department).filter(|e| e.age.eq(age)).entities())
            }
        }
    };
}

release!(first, |_, _, _| Ok(None));
release!(second, |table, department, email| {
    let found = table.get(second::Employee::by_email(department, email))?;
    Ok(Some(found.iter().map(|found| found.id).collect()))
});
release!(third, |table, department, email| {
    let found = table.by_email().department(department).email(email);
    found.into_iter().map(|row| row.map(|row| row.id)).collect::<Result<_, _>>().map(Some)
});

/// Some of the fields of an employee.
#[derive(Projection)]
#[projection(of = second::Employee)]
struct Badge {
    id: u32,
    age: u8,
}

/// Tables that have been open for a while.
#[derive(Debug, Default)]
struct Held {
    first: Option<Table<first::Employee>>,
    second: Option<Table<second::Employee>>,
    third: Option<Table<third::Employee>>,
}

/// The program.
#[derive(Debug)]
pub struct Releases {
    store: Store,
    jobs: Vec<Begun>,
    held: Held,
    /// How often it has done something.
    acts: u64,
}

impl Releases {
    /// A program that has just opened the store.
    pub fn new(store: Store) -> Self {
        Self { store, jobs: Vec::new(), held: Held::default(), acts: 0 }
    }

    /// Lends the table as a release has it: one that it has held for a while, every other time.
    fn with<R: Release, T>(&mut self, does: impl Fn(&Table<R>) -> Result<T, Error>) -> Result<T, Error> {
        let held = R::held(&mut self.held).as_ref().filter(|_| self.acts.is_multiple_of(2));
        if let Some(held) = held {
            match does(held) {
                // It was dropped, and made anew.
                Err(error) if error.kind() == ErrorKind::TableNotFound => {}
                done => return done,
            }
        }
        let table = self.store.table::<R>()?;
        *R::held(&mut self.held) = Some(table.clone());
        does(&table)
    }

    fn of<R: Release>(&mut self, line: &str, meanwhile: &mut dyn FnMut()) -> Result<String, Error> {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "insert" | "put" | "update" | "age" | "both" | "exchange" | "delete" => {
                self.write::<R>(what, rest, meanwhile)
            }
            "rebuild" => {
                let [size] = words(rest);
                let job = self.with::<R, _>(Table::rebuild)?;
                Ok(self.begun(Begun::Job(job), size))
            }
            "repair" => {
                let [size] = words(rest);
                let job = self.with::<R, _>(Table::repair)?;
                Ok(self.begun(Begun::Repair(job), size))
            }
            "drop-index" => {
                let [index, size] = words(rest);
                let job = self.with::<R, _>(|table| table.drop_index(index))?;
                Ok(self.begun(Begun::Job(job), size))
            }
            "delete-where" => {
                let [department, age, size] = words(rest);
                let job = self.with::<R, _>(|table| R::delete(table, department, number(age)))?;
                Ok(self.begun(Begun::Job(job), size))
            }
            "finish" => self.with::<R, _>(|table| table.rebuild()?.run()).map(|_| String::new()),
            what => self.read::<R>(what, rest),
        }
    }

    fn begun(&mut self, job: Begun, size: &str) -> String {
        self.jobs.push(job.steps_of(number(size)));
        self.jobs.len().to_string()
    }

    fn write<R: Release>(
        &mut self,
        what: &str,
        rest: &str,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<String, Error> {
        // The parent is asked once, though the change may be planned again.
        let (meanwhile, times) = (Cell::new(Some(meanwhile)), Cell::new(0));
        let done = |()| times.get().to_string();
        self.with::<R, _>(|table| match what {
            "exchange" => {
                let [department, a, b, email_a, email_b, age_a, age_b] = words(rest);
                let to = |email: &str, age: &str| (email.to_owned(), number(age));
                let (to_a, to_b) = (to(email_b, age_a), to(email_a, age_b));
                let changed = table
                    .egt(R::partition(department))
                    .update(R::key(department, number(a)), |e| e.set(&to_a.0, to_a.1))
                    .update(R::key(department, number(b)), |e| e.set(&to_b.0, to_b.1))
                    .commit();
                changed.map(drop).map(done)
            }
            "delete" => {
                let [department, id] = words(rest);
                table.delete(R::key(department, number(id))).map(done)
            }
            _ => {
                let [department, id, email, age] = words(rest);
                let (id, age) = (number(id), number(age));
                let (one, key) = (R::made(department, id, email, age), R::key(department, id));
                let changed = match what {
                    "insert" => table.insert(&one).map(drop),
                    "put" => table.put(&one).map(drop),
                    "update" => table
                        .update(key, |e| {
                            let age = e.seen().2;
                            e.set(email, age);
                        })
                        .map(drop),
                    "age" => table
                        .update(key, |e| {
                            let email = e.seen().1.to_owned();
                            e.set(&email, age);
                        })
                        .map(drop),
                    _ => table
                        .update(key, |e| {
                            times.set(times.get() + 1);
                            if let Some(meanwhile) = meanwhile.take() {
                                meanwhile();
                            }
                            e.set(email, age);
                        })
                        .map(drop),
                };
                changed.map(done)
            }
        })
    }

    fn read<R: Release>(&mut self, what: &str, rest: &str) -> Result<String, Error> {
        let listed = |mut ids: Vec<u32>| {
            ids.sort_unstable();
            format!("{ids:?}")
        };
        let store = self.store.clone();
        self.with::<R, _>(|table| match what {
            "get" => {
                let [department, id] = words(rest);
                let key = || R::key(department, number(id));
                let found = table.get(key())?;
                assert_eq!(table.exists(key())?, found.is_some());
                assert_eq!(R::viewed(table, department, number(id))?, found.as_ref().map(|e| e.seen().2));
                let snapshot = store.snapshot()?;
                let then = table.at(&snapshot).get(key())?;
                assert_eq!(then.map(|e| e.seen().2), found.as_ref().map(|e| e.seen().2));
                Ok(found.map_or_else(|| "-".to_owned(), |e| format!("{} {}", e.seen().1, e.seen().2)))
            }
            "of-age" => {
                let [department, age] = words(rest);
                R::of_age(table, department, number(age)).map(|count| count.to_string())
            }
            "page" => {
                let [department, age, size, after] = words(rest);
                let after = if after == "-" { None } else { Some(after.parse()?) };
                let (ids, next) = R::page(table, department, number(age), number(size), after.as_ref())?;
                let next = next.map_or_else(|| "-".to_owned(), |next| next.to_string());
                Ok(format!("{next} {}", listed(ids)))
            }
            "of-email" => {
                let [department, email] = words(rest);
                let found = R::of_email(table, department, email)?;
                Ok(found.map_or_else(|| "-".to_owned(), listed))
            }
            "filtered" => {
                let [department, age] = words(rest);
                R::filtered(table, department, number(age)).map(listed)
            }
            "check" => table
                .check()
                .map(|report| if report.is_sound() { "sound".into() } else { format!("{report}") }),
            what => panic!("no such read: {what}"),
        })
    }

    /// What no release knows of.
    fn common(&mut self, line: &str) -> Result<String, Error> {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            // How many more steps it may make, what became of it, and how many it has changed.
            "step" => {
                let [which, times] = words::<2>(rest).map(number::<usize>);
                let Some(at) = which.checked_rem(self.jobs.len()) else { return Ok("none 0".into()) };
                let mut job = self.jobs.swap_remove(at);
                let before = job.progress().changed;
                for _ in 0..times {
                    // An error ends it.
                    if !job.step()? {
                        return Ok("over 0".into());
                    }
                }
                let changed = job.progress().changed.saturating_sub(before);
                self.jobs.push(job);
                Ok(format!("more {changed}"))
            }
            "cancel" => {
                let Some(job) = self.jobs.pop() else { return Ok(String::new()) };
                job.cancel().map(|()| String::new())
            }
            "forget" => {
                self.jobs.clear();
                Ok(String::new())
            }
            "badges" => {
                let table = self.store.table::<second::Employee>()?;
                let badges = table.rows().department(rest).select::<Badge>().into_iter();
                let badges = badges.map(|badge| badge.map(|Badge { id, age }| (id, age)));
                Ok(format!("{:?}", badges.collect::<Result<Vec<_>, _>>()?))
            }
            "rows" => {
                let rows = self.store.dynamic_table("Company")?.query(&Query::new())?;
                let own = rows.filter(|row| {
                    row.as_ref().map_or(true, |row| {
                        row.get("EntityType").and_then(|kind| kind.as_str()) == Some("employee")
                    })
                });
                own.map(|row| row.map(drop)).collect::<Result<Vec<_>, _>>().map(|own| own.len().to_string())
            }
            "anew" => {
                self.store.drop_table("Company")?;
                self.store.create_table("Company").map(|_| String::new())
            }
            what => panic!("no such act: {what}"),
        }
    }
}

impl Program for Releases {
    fn act(&mut self, line: &str, meanwhile: &mut dyn FnMut()) -> String {
        self.acts += 1;
        told(match line.split_once(' ') {
            Some(("0", line)) => self.of::<first::Employee>(line, meanwhile),
            Some(("1", line)) => self.of::<second::Employee>(line, meanwhile),
            Some(("2", line)) => self.of::<third::Employee>(line, meanwhile),
            _ => self.common(line),
        })
    }
}
