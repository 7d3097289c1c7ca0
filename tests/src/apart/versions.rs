//! A program of two versions of a struct, with jobs of its own: each line says as which version it acts.

use table_core::typed::{InOneTable, Job};
use table_core::{Error, ErrorKind, Key, Store, Table};

use super::{Program, number, told, words};
use crate::versions::{first, second};

/// What is known of an employee: the last name, without which an entity can't be converted, and the age.
pub type One = (Option<String>, u8);

/// An employee as a version has it.
trait Version: InOneTable + Clone + 'static {
    fn made(id: u32, one: &One) -> Self;
    fn seen(&self) -> (u32, One);
    fn key(id: u32) -> Key<Self>;
    fn of_age(table: &Table<Self>, age: u8) -> Vec<Result<u32, Error>>;
    fn of_name(table: &Table<Self>, last: &str) -> Result<Vec<u32>, Error>;
    fn held(held: &mut Held) -> &mut Option<Table<Self>>;
}

impl Version for first::Employee {
    fn made(id: u32, one: &One) -> Self {
        let (last, age) = one;
        let name = last.as_ref().map_or_else(|| "Jun".to_owned(), |last| format!("Jun {last}"));
        Self { department: "Sales".into(), id, name, age: u32::from(*age) }
    }

    fn seen(&self) -> (u32, One) {
        let last = self.name.strip_prefix("Jun ").map(ToOwned::to_owned);
        (self.id, (last, u8::try_from(self.age).expect("an age")))
    }

    fn key(id: u32) -> Key<Self> {
        Self::key("Sales", id)
    }

    fn of_age(table: &Table<Self>, age: u8) -> Vec<Result<u32, Error>> {
        let found = table.rows().department("Sales").filter(|e| e.age.eq(u32::from(age)));
        found.into_iter().map(|row| row.map(|row| row.id)).collect()
    }

    fn of_name(table: &Table<Self>, last: &str) -> Result<Vec<u32>, Error> {
        let found = table.by_name().department("Sales").name(format!("Jun {last}"));
        found.into_iter().map(|row| row.map(|row| row.id)).collect()
    }

    fn held(held: &mut Held) -> &mut Option<Table<Self>> {
        &mut held.first
    }
}

impl Version for second::Employee {
    fn made(id: u32, one: &One) -> Self {
        let (last, age) = one;
        let (first_name, last_name) = ("Jun".into(), last.clone().expect("a last name"));
        Self { department: "Sales".into(), id, first_name, last_name, age: *age }
    }

    fn seen(&self) -> (u32, One) {
        assert_eq!((&*self.department, &*self.first_name), ("Sales", "Jun"));
        (self.id, (Some(self.last_name.clone()), self.age))
    }

    fn key(id: u32) -> Key<Self> {
        Self::key("Sales", id)
    }

    fn of_age(table: &Table<Self>, age: u8) -> Vec<Result<u32, Error>> {
        let found = table.rows().department("Sales").filter(|e| e.age.eq(age));
        found.into_iter().map(|row| row.map(|row| row.id)).collect()
    }

    fn of_name(table: &Table<Self>, last: &str) -> Result<Vec<u32>, Error> {
        let found = table.by_last_name().department("Sales").last_name(last);
        found.into_iter().map(|row| row.map(|row| row.id)).collect()
    }

    fn held(held: &mut Held) -> &mut Option<Table<Self>> {
        &mut held.second
    }
}

/// Tables that have been open for a while.
#[derive(Debug, Default)]
struct Held {
    first: Option<Table<first::Employee>>,
    second: Option<Table<second::Employee>>,
}

/// The program.
#[derive(Debug)]
pub struct Versions {
    store: Store,
    jobs: Vec<Job<'static>>,
    held: Held,
    /// How often it has done something.
    acts: u64,
}

impl Versions {
    /// A program that has just opened the store.
    pub fn new(store: Store) -> Self {
        Self { store, jobs: Vec::new(), held: Held::default(), acts: 0 }
    }

    /// Lends the table as a version has it: one that it has held for a while, every other time.
    fn with<V: Version, T>(&mut self, does: impl Fn(&Table<V>) -> Result<T, Error>) -> Result<T, Error> {
        if let Some(held) = V::held(&mut self.held).as_ref().filter(|_| self.acts.is_multiple_of(2)) {
            match does(held) {
                // It was dropped, and made anew.
                Err(error) if error.kind() == ErrorKind::TableNotFound => {}
                done => return done,
            }
        }
        let table = self.store.table::<V>()?;
        *V::held(&mut self.held) = Some(table.clone());
        does(&table)
    }

    fn of<V: Version>(&mut self, line: &str, meanwhile: &mut dyn FnMut()) -> Result<String, Error> {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let listed = |mut ids: Vec<u32>| {
            ids.sort_unstable();
            format!("{ids:?}")
        };
        match what {
            "insert" | "put" | "update" => {
                let [id, last, age] = words(rest);
                let (id, one) = (number(id), ((last != "-").then(|| last.to_owned()), number(age)));
                let (is_told, times) = (std::cell::RefCell::new(Some(meanwhile)), std::cell::Cell::new(0));
                self.with::<V, _>(|table| {
                    let changed = match what {
                        "insert" => table.insert(&V::made(id, &one)).map(drop),
                        "put" => table.put(&V::made(id, &one)).map(drop),
                        _ => table
                            .update(V::key(id), |e| {
                                times.set(times.get() + 1);
                                if let Some(meanwhile) = is_told.borrow_mut().take() {
                                    meanwhile();
                                }
                                *e = V::made(id, &one);
                            })
                            .map(drop),
                    };
                    changed.map(|()| times.get().to_string())
                })
            }
            "delete" => {
                let [id] = words(rest);
                let deleted = self.with::<V, _>(|table| table.delete(V::key(number(id))));
                deleted.map(|()| String::new())
            }
            "get" => {
                let [id] = words(rest);
                let found = self.with::<V, _>(|table| table.get(V::key(number(id))))?;
                let shown = found.map(|found| {
                    let (_, (last, age)) = found.seen();
                    format!("{} {age}", last.as_deref().unwrap_or("-"))
                });
                Ok(shown.unwrap_or_else(|| "nobody".to_owned()))
            }
            // Those that can't be converted are reported among the others.
            "of-age" => {
                let [age] = words(rest);
                self.with::<V, _>(|table| {
                    let (mut found, mut failed) = (Vec::new(), 0);
                    for row in V::of_age(table, number(age)) {
                        match row {
                            Ok(id) => found.push(id),
                            Err(error) if error.kind() == ErrorKind::NotConverted => failed += 1,
                            Err(error) => return Err(error),
                        }
                    }
                    Ok(format!("{failed} {}", listed(found)))
                })
            }
            "of-name" => {
                let [last] = words(rest);
                self.with::<V, _>(|table| V::of_name(table, last)).map(listed)
            }
            "check" => self
                .with::<V, _>(Table::check)
                .map(|report| if report.is_sound() { "sound".to_owned() } else { report.to_string() }),
            "migrate" => {
                let [size] = words(rest);
                let job = self.store.migration::<V>()?.steps()?;
                self.jobs.push(job.steps_of(number(size)));
                Ok(self.jobs.len().to_string())
            }
            "finish" => self.store.migration::<V>()?.run().map(|_| String::new()),
            what => panic!("no such act: {what}"),
        }
    }

    /// What no version knows of.
    fn common(&mut self, line: &str) -> Result<String, Error> {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "step" => {
                let [which, times] = words::<2>(rest).map(number::<usize>);
                let Some(at) = which.checked_rem(self.jobs.len()) else { return Ok("none".into()) };
                let mut job = self.jobs.swap_remove(at);
                for _ in 0..times {
                    // An error ends it.
                    if !job.step()? {
                        return Ok("over".into());
                    }
                }
                self.jobs.push(job);
                Ok("more".into())
            }
            "forget" => {
                self.jobs.clear();
                Ok(String::new())
            }
            "anew" => {
                self.store.drop_table("Company")?;
                self.store.create_table("Company").map(|_| String::new())
            }
            // So many, by the first version.
            "fill" => {
                let table = self.store.table::<first::Employee>()?;
                let one = |id: u32| first::Employee::made(id, &filled(id));
                let report = table.bulk_insert((0..number(rest)).map(one))?;
                assert!(report.failures.is_empty(), "{:?}", report.failures);
                Ok(String::new())
            }
            what => panic!("no such act: {what}"),
        }
    }
}

/// Whom a table is filled with.
pub fn filled(id: u32) -> One {
    (Some(format!("Cao{}", id % 4)), 20 + u8::try_from(id % 9).unwrap_or_default())
}

impl Program for Versions {
    fn act(&mut self, line: &str, meanwhile: &mut dyn FnMut()) -> String {
        self.acts += 1;
        told(match line.split_once(' ') {
            Some(("1", line)) => self.of::<first::Employee>(line, meanwhile),
            Some(("2", line)) => self.of::<second::Employee>(line, meanwhile),
            _ => self.common(line),
        })
    }
}
