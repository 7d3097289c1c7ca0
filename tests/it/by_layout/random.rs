//! Writers with the struct and without it, at random, over one store: the same rows as with the struct alone.

use integration_tests::executors::Executor;
use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, DynamicTable, ErrorKind, IfMatch, Result, Stored, Table, Tables};

use super::{Age, Contract, Employee, Payroll, assert_same, company, dynamic, employee};

const DEPARTMENTS: [&str; 2] = ["Sales", "Legal"];

/// One write of one entity.
#[derive(Clone, Debug)]
enum Step {
    Insert(Employee),
    Put(Employee),
    Replace(Employee),
    Merge(Change),
    InsertOrMerge(Employee),
    Delete(&'static str, u32),
}

/// Some of an entity's properties, set anew.
#[derive(Clone, Debug)]
struct Change {
    department: &'static str,
    id: u32,
    email: Option<String>,
    last_name: Option<String>,
    contract: Option<Contract>,
    desk: Option<u16>,
    age: Option<u8>,
    salary: Option<i64>,
    bonus: Option<i32>,
    hours: Option<u8>,
}

impl Change {
    fn random(random: &mut Random) -> Self {
        let (department, id) = key(random);
        let mut some = |most: u64| (random.below(3) == 0).then(|| random.below(most));
        Self {
            department,
            id,
            email: some(4).map(|mail| format!("{mail}@contoso.com")),
            last_name: some(3).map(|name| format!("n{name}")),
            contract: some(2).map(|number| if number == 0 { Contract::Fixed } else { Contract::Open }),
            desk: some(6).map(|desk| desk as u16),
            age: some(3).map(|age| 30 + age as u8),
            salary: some(9).map(|salary| salary as i64 - 4),
            bonus: some(9).map(|bonus| bonus as i32),
            hours: some(9).map(|hours| hours as u8),
        }
    }

    fn of(&self, entity: &mut Employee) {
        fn set<T: Clone>(field: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                *field = value.clone();
            }
        }
        set(&mut entity.email, &self.email);
        set(&mut entity.last_name, &self.last_name);
        set(&mut entity.contract, &self.contract);
        entity.desk = self.desk.or(entity.desk);
        set(&mut entity.age, &self.age);
        set(&mut entity.salary, &self.salary);
        entity.bonus = self.bonus.or(entity.bonus);
        entity.hours[1] = self.hours.or(entity.hours[1]);
    }

    fn dynamic(&self) -> DynamicEntity {
        let mut entity = DynamicEntity::new(self.department, format!("empid_{:06}", self.id));
        let contract =
            self.contract.map(|contract| if contract == Contract::Fixed { "Fixed" } else { "Open" });
        for (name, text) in [
            ("Email", self.email.as_deref()),
            ("LastName", self.last_name.as_deref()),
            ("Contract", contract),
        ] {
            if let Some(text) = text {
                entity.set(name, text);
            }
        }
        let numbers = [
            ("Desk", self.desk.map(i64::from)),
            ("Age", self.age.map(i64::from)),
            ("Salary", self.salary),
            ("Bonus", self.bonus.map(i64::from)),
            ("Hours_01", self.hours.map(i64::from)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                entity.set(name, number);
            }
        }
        entity
    }
}

fn key(random: &mut Random) -> (&'static str, u32) {
    (DEPARTMENTS[random.below(2) as usize], random.below(4) as u32)
}

fn entity(random: &mut Random) -> Employee {
    let (department, id) = key(random);
    let mut entity = employee(department, id);
    entity.desk = None;
    for _ in 0..2 {
        Change { department, id, ..Change::random(random) }.of(&mut entity);
    }
    entity
}

impl Step {
    fn random(random: &mut Random) -> Self {
        match random.below(8) {
            0 | 1 => Self::Insert(entity(random)),
            2 => Self::Put(entity(random)),
            3 => Self::Replace(entity(random)),
            4 | 5 => Self::Merge(Change::random(random)),
            6 => Self::InsertOrMerge(entity(random)),
            _ => {
                let (department, id) = key(random);
                Self::Delete(department, id)
            }
        }
    }

    fn typed(&self, table: &Table<Employee>) -> Result<()> {
        match self {
            Self::Insert(entity) => table.insert(entity).map(drop_tag),
            Self::Put(entity) => table.put(entity).map(drop_tag),
            Self::Replace(entity) => table.replace(entity, IfMatch::Any).map(drop_tag),
            Self::Merge(change) => table
                .update(Employee::key(change.department, change.id), |entity| change.of(entity))
                .map(|_| ()),
            // What the entity there has and this one lacks, stays.
            Self::InsertOrMerge(new) => match table.get(Employee::key(&*new.department, new.id))? {
                None => table.insert(new).map(drop_tag),
                Some(old) => {
                    let mut merged = new.clone();
                    merged.desk = new.desk.or(old.desk);
                    merged.bonus = new.bonus.or(old.bonus);
                    for (slot, hours) in merged.hours.iter_mut().enumerate() {
                        *hours = hours.or(old.hours[slot]);
                    }
                    table.put(&merged).map(drop_tag)
                }
            },
            Self::Delete(department, id) => table.delete(Employee::key(*department, *id)),
        }
    }

    fn dynamic(&self, table: &DynamicTable) -> Result<()> {
        match self {
            Self::Insert(entity) => table.insert(&dynamic(entity)).map(drop_tag),
            Self::Put(entity) => table.put(&dynamic(entity)).map(drop_tag),
            Self::Replace(entity) => table.replace(&dynamic(entity), IfMatch::Any).map(drop_tag),
            Self::Merge(change) => table.merge(&change.dynamic(), IfMatch::Any).map(drop_tag),
            Self::InsertOrMerge(entity) => table.insert_or_merge(&dynamic(entity)).map(drop_tag),
            Self::Delete(department, id) => table.delete(department, &format!("empid_{id:06}")),
        }
    }
}

fn drop_tag(_: table_core::ETag) {}

/// Writes several entities of one department together.
fn together(random: &mut Random, typed: &Table<Employee>, table: &DynamicTable) -> [Result<()>; 2] {
    let department = DEPARTMENTS[random.below(2) as usize];
    let entities: Vec<_> =
        (0..3).map(|_| Employee { department: department.into(), ..entity(random) }).collect();
    let changes: Vec<_> = (0..3).map(|_| Change { department, ..Change::random(random) }).collect();
    let mut egt = typed.egt(Employee::partition(department));
    let mut batch = table.batch(department);
    for (entity, change) in entities.iter().zip(&changes) {
        let id = change.id;
        (egt, batch) = match random.below(4) {
            0 => (egt.insert(entity), batch.insert(dynamic(entity))),
            1 => (egt.put(entity), batch.put(dynamic(entity))),
            2 => (
                egt.update(Employee::key(department, id), |entity| change.of(entity)),
                batch.merge(change.dynamic(), IfMatch::Any),
            ),
            _ => (egt.delete(Employee::key(department, id)), batch.delete(format!("empid_{id:06}"))),
        };
    }
    [egt.commit().map(drop), batch.commit().map(drop)]
}

fn kind(done: &Result<()>) -> Option<ErrorKind> {
    done.as_ref().err().map(table_core::Error::kind)
}

/// Makes sure that what the struct reads is what it wrote.
fn assert_read(store: &Tables, staff: &Table<Employee>) {
    let all: Vec<_> = staff.all().into_iter().map(|one| Stored::into_inner(one.unwrap())).collect();
    for one in &all {
        let found = staff.get(Employee::by_email(&*one.department, &*one.email)).unwrap().unwrap();
        assert_eq!(*found, *one);
    }
    for department in DEPARTMENTS {
        let of: Vec<_> = all.iter().filter(|one| one.department == department).collect();
        let payroll = store.table::<Payroll>().unwrap().get(Payroll::key(department)).unwrap();
        assert_eq!(payroll.as_ref().map_or(0, |payroll| payroll.employees), of.len() as u64);
        let salaries: i64 = of.iter().map(|one| one.salary).sum();
        assert_eq!(payroll.map_or(0, |payroll| payroll.salaries), salaries);
    }
    let thirty = store.table::<Age>().unwrap().get(Age::key(30)).unwrap().map_or(0, |age| age.employees);
    assert_eq!(thirty, all.iter().filter(|one| one.age == 30).count() as u64);
}

fn run(seed: u64, steps: usize) {
    let (here, there) = (Scratch::new(), Scratch::new());
    let ((store, staff, table), (typed, other, _)) = (company(&here), company(&there));
    let mut random = Random::new(seed);
    let mut done = [0; 2];
    for at in 0..steps {
        let (expected, found, what) = if random.below(5) == 0 {
            let [expected, found] = together(&mut random, &other, &table);
            (expected, found, "batch".to_owned())
        } else {
            let step = Step::random(&mut random);
            let expected = step.typed(&other);
            let is_dynamic = random.below(3) > 0;
            let found = if is_dynamic { step.dynamic(&table) } else { step.typed(&staff) };
            (expected, found, format!("{step:?}"))
        };
        // Of a batch in which several things are wrong, either tells another first.
        let is_same =
            if what == "batch" { expected.is_ok() == found.is_ok() } else { kind(&expected) == kind(&found) };
        assert!(is_same, "seed {seed}, step {at}, {what}: {expected:?}, {found:?}");
        done[usize::from(found.is_ok())] += 1;
        if at % 20 == 0 {
            assert_same(&typed, &store);
        }
    }
    assert!(done.iter().all(|done| *done > steps / 20), "{done:?}");
    assert_same(&typed, &store);
    assert_read(&store, &staff);
    assert_sound(&store);
}

#[test]
fn rows_are_those_of_the_struct_with_and_without_it() {
    for seed in 0..6 {
        run(seed, 200);
    }
}

#[test]
fn rows_are_those_of_the_struct_on_a_map() {
    Executor::Map.run(|| {
        for seed in 6..12 {
            run(seed, 200);
        }
    });
}

/// Threads that write the same entities, some with the struct and some without.
#[test]
fn writers_at_one_time_leave_nothing_behind() {
    let scratch = Scratch::new();
    let (store, staff, table) = company(&scratch);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (staff, table) = (staff.clone(), table.clone());
            scope.spawn(move || {
                let mut random = Random::new(100 + seed);
                for _ in 0..60 {
                    let step = Step::random(&mut random);
                    let done = if seed % 2 == 0 { step.typed(&staff) } else { step.dynamic(&table) };
                    let known = [
                        None,
                        Some(ErrorKind::EntityAlreadyExists),
                        Some(ErrorKind::EntityNotFound),
                        Some(ErrorKind::UniqueConflict),
                    ];
                    assert!(known.contains(&kind(&done)), "{done:?}");
                }
            });
        }
    });
    assert_read(&store, &staff);
    assert!(staff.check().unwrap().is_sound());
    assert_sound(&store);
}

/// What a thread meets that writes the entity of another one, which comes and goes.
#[test]
fn a_row_that_goes_meanwhile_is_not_found_and_nothing_else_fails() {
    let scratch = Scratch::new();
    let (store, staff, table) = company(&scratch);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3_000 {
                drop(staff.put(&employee("Legal", 3)));
                drop(staff.delete(Employee::key("Legal", 3)));
            }
        });
        let age = DynamicEntity::new("Legal", "empid_000003").with("Age", 50);
        for _ in 0..1_000 {
            let merged = table.merge(&age, IfMatch::Any);
            let deleted = table.delete("Legal", "empid_000003");
            let batch = table.batch("Legal").delete("empid_000003").commit();
            for met in [merged.err(), deleted.err(), batch.err()].into_iter().flatten() {
                assert_eq!(met.kind(), ErrorKind::EntityNotFound, "{met}");
            }
        }
    });
    assert_sound(&store);
}
