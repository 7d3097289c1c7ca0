//! Three versions of a struct, their migrations, kills and dropped tables in random order: every answer is right for the
//! version that asks, or a typed error; at the end everything is of the last version, and its copies are what they are to be.

use std::collections::BTreeMap;

use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::typed::{InOneTable, Job};
use table_core::{Entity, Error, ErrorKind, Key, Store, Table};

use super::{v1, v2};

/// Steps: `TABLE_CORE_VERSIONS`.
fn steps() -> u64 {
    std::env::var("TABLE_CORE_VERSIONS").map_or(6_000, |text| text.parse().expect("a number"))
}

/// The second version, frozen.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(kind = "employee", version = 2, former, from = super::EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct EmployeeV2 {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    age: u8,
    email: String,
    #[property(default = 1)]
    level: i32,
}

impl TryFrom<super::EmployeeV1> for EmployeeV2 {
    type Error = String;

    fn try_from(former: super::EmployeeV1) -> Result<Self, String> {
        let v2::Employee { department, id, first_name, last_name, age, email, level } = former.try_into()?;
        Ok(Self { department, id, first_name, last_name, age, email, level })
    }
}

mod v3 {
    use table_core::Entity;

    /// Its key has another template.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee", version = 3, from = super::EmployeeV2)]
    #[key(partition = "{department}", row = "staff_{id:08}")]
    #[index(by_email, row = "email_{email}", unique)]
    #[index(by_age, row = "years_{age:03}_{id:08}", copy(last_name))]
    pub(super) struct Employee {
        pub department: String,
        pub id: u32,
        pub first_name: String,
        pub last_name: String,
        pub age: u8,
        pub email: String,
    }

    impl From<super::EmployeeV2> for Employee {
        fn from(former: super::EmployeeV2) -> Self {
            let super::EmployeeV2 { department, id, first_name, last_name, age, email, .. } = former;
            Self { department, id, first_name, last_name, age, email }
        }
    }
}

/// What a release shows of an employee.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    last: String,
    age: u8,
    email: String,
}

/// An entity of each version.
trait Release: InOneTable + Clone + 'static {
    fn made(id: u32, one: &Shown) -> Self;
    fn seen(&self) -> (u32, Shown);
    fn key(id: u32) -> Key<Self>;
    fn by_email(table: &Table<Self>, email: &str) -> Result<Option<(u32, Shown)>, Error>;
    fn change(&mut self, one: &Shown);
    fn of_age(table: &Table<Self>, age: u8) -> Result<Vec<u32>, Error>;
    fn held(world: &mut World) -> &mut Option<Table<Self>>;
}

macro_rules! two_names {
    ($module:ident, $($level:ident)?) => {
        impl Release for $module::Employee {
            fn made(id: u32, one: &Shown) -> Self {
                let (department, first_name) = ("Sales".into(), "Jun".into());
                let Shown { last: last_name, age, email } = one.clone();
                Self { department, id, first_name, last_name, age, email, $($level: 1)? }
            }

            fn seen(&self) -> (u32, Shown) {
                assert_eq!((&*self.department, &*self.first_name), ("Sales", "Jun"));
                let (last, email) = (self.last_name.clone(), self.email.clone());
                (self.id, Shown { last, age: self.age, email })
            }

            fn key(id: u32) -> Key<Self> {
                Self::key("Sales", id)
            }

            fn by_email(table: &Table<Self>, email: &str) -> Result<Option<(u32, Shown)>, Error> {
                let found = table.get(Self::by_email("Sales", email))?;
                Ok(found.map(|found| found.seen()))
            }

            fn change(&mut self, one: &Shown) {
                (self.last_name, self.age, self.email) = (one.last.clone(), one.age, one.email.clone());
            }

            fn of_age(table: &Table<Self>, age: u8) -> Result<Vec<u32>, Error> {
                let found = table.rows().department("Sales").filter(|e| e.age.eq(age));
                found.into_iter().map(|row| row.map(|row| row.id)).collect()
            }

            fn held(world: &mut World) -> &mut Option<Table<Self>> {
                &mut world.held.$module
            }
        }
    };
}

two_names!(v2, level);
two_names!(v3,);

impl Release for v1::Employee {
    fn made(id: u32, Shown { last, age, email }: &Shown) -> Self {
        let (department, age, email) = ("Sales".into(), u32::from(*age), email.clone());
        Self { department, id, name: format!("Jun {last}"), age, email }
    }

    fn seen(&self) -> (u32, Shown) {
        let last = self.name.strip_prefix("Jun ").unwrap().to_owned();
        (self.id, Shown { last, age: u8::try_from(self.age).unwrap(), email: self.email.clone() })
    }

    fn key(id: u32) -> Key<Self> {
        Self::key("Sales", id)
    }

    fn by_email(table: &Table<Self>, email: &str) -> Result<Option<(u32, Shown)>, Error> {
        let found = table.get(Self::by_email("Sales", email))?;
        Ok(found.map(|found| found.seen()))
    }

    fn change(&mut self, Shown { last, age, email }: &Shown) {
        (self.name, self.age, self.email) = (format!("Jun {last}"), u32::from(*age), email.clone());
    }

    fn of_age(table: &Table<Self>, age: u8) -> Result<Vec<u32>, Error> {
        let found = table.rows().department("Sales").filter(|e| e.age.eq(u32::from(age)));
        found.into_iter().map(|row| row.map(|row| row.id)).collect()
    }

    fn held(world: &mut World) -> &mut Option<Table<Self>> {
        &mut world.held.v1
    }
}

/// So many that a step is not all of the work.
const MANY: u64 = 300;

/// The tables that programs of the versions have had open since the first was made.
#[derive(Default)]
struct Held {
    v1: Option<Table<v1::Employee>>,
    v2: Option<Table<v2::Employee>>,
    v3: Option<Table<v3::Employee>>,
}

struct World {
    store: Store,
    staff: BTreeMap<u32, Shown>,
    random: Random,
    jobs: Vec<Job<'static>>,
    held: Held,
    seen: BTreeMap<String, u64>,
}

macro_rules! with_release {
    ($release:expr, |$entity:ident| $body:expr) => {
        match $release {
            0 => {
                type $entity = v1::Employee;
                $body
            }
            1 => {
                type $entity = v2::Employee;
                $body
            }
            _ => {
                type $entity = v3::Employee;
                $body
            }
        }
    };
}

impl World {
    fn note(&mut self, what: &str, release: u64, outcome: Result<(), ErrorKind>) {
        let kind = outcome.map_or_else(|kind| format!("{kind:?}"), |()| "done".into());
        *self.seen.entry(format!("{what} by {}: {kind}", release + 1)).or_default() += 1;
    }

    fn is_taken(&self, id: u32, email: &str) -> bool {
        self.staff.iter().any(|(other, one)| *other != id && one.email == email)
    }

    /// The table as a program has it that has been running for a while, or is started now.
    fn table<R: Release>(&mut self) -> Result<Table<R>, Error> {
        if self.random.below(2) == 0
            && let Some(held) = R::held(self)
        {
            return Ok(held.clone());
        }
        let table = self.store.table::<R>()?;
        *R::held(self) = Some(table.clone());
        Ok(table)
    }

    /// A job of a program, which takes more or less in a step.
    fn steps_of(&mut self, job: Job<'static>) -> Job<'static> {
        job.steps_of([20, 100, 500][self.random.below(3) as usize])
    }

    fn one(&mut self) -> Shown {
        let (last, age) = (format!("Cao{}", self.random.below(4)), 20 + self.random.below(9) as u8);
        Shown { last, age, email: format!("{}@contoso.com", self.random.below(3 * MANY)) }
    }

    fn write(&mut self) {
        let (id, one, what) = (self.random.below(MANY) as u32, self.one(), self.random.below(4));
        let (release, moves) = (self.random.below(3), 1 + self.random.below(200));
        let mut overtakes = if self.random.below(4) == 0 { self.jobs.pop() } else { None };
        let mut overtook = None;
        let outcome = with_release!(release, |Of| {
            self.table::<Of>().and_then(|table| match what {
                0 => table.insert(&<Of as Release>::made(id, &one)).map(drop),
                1 => table.put(&<Of as Release>::made(id, &one)).map(drop),
                2 => table
                    .update(<Of as Release>::key(id), |e| {
                        // A job moves after the entity was read, and before the change is carried out. An error is told
                        // again by the step that comes next.
                        if let Some(mut job) = overtakes.take() {
                            let _ = (0..moves).all(|_| job.step().unwrap_or(false));
                            overtook = Some(job);
                        }
                        e.change(&one);
                    })
                    .map(drop),
                _ => table.delete(<Of as Release>::key(id)),
            })
        });
        let was_overtaken = overtook.is_some();
        self.jobs.extend(overtakes.into_iter().chain(overtook));
        let outcome = outcome.map_err(|error| (error.kind(), error));
        match &outcome {
            Ok(()) if what == 3 => drop(self.staff.remove(&id).unwrap()),
            Ok(()) => {
                assert!(what != 0 || !self.staff.contains_key(&id));
                drop(self.staff.insert(id, one));
            }
            Err((ErrorKind::LayoutChanged | ErrorKind::MigrationPending, _)) => {}
            Err((ErrorKind::UniqueConflict, _)) => assert!(self.is_taken(id, &one.email)),
            Err((ErrorKind::EntityAlreadyExists, _)) => assert!(self.staff.contains_key(&id)),
            Err((ErrorKind::EntityNotFound, _)) => assert!(!self.staff.contains_key(&id)),
            Err((_, error)) => panic!("{what} {id} by {release}: {error}"),
        }
        self.note("write", release, outcome.map_err(|(kind, _)| kind));
        if was_overtaken && let Some(one) = self.staff.get(&id).cloned() {
            self.look(release, id, &one.email);
        }
    }

    /// Whether a release may say so instead of answering.
    fn judge<T>(&mut self, what: &str, release: u64, found: Result<T, Error>) -> Option<T> {
        let outcome = found.as_ref().map(drop).map_err(Error::kind);
        self.note(what, release, outcome);
        match found {
            Ok(found) => Some(found),
            Err(error) => {
                let kinds = [ErrorKind::LayoutChanged, ErrorKind::MigrationPending, ErrorKind::IndexBuilding];
                assert!(kinds.contains(&error.kind()), "{what} by {release}: {error}");
                None
            }
        }
    }

    fn read(&mut self) {
        let (id, age) = (self.random.below(MANY) as u32, 20 + self.random.below(9) as u8);
        let email = format!("{}@contoso.com", self.random.below(3 * MANY));
        let release = self.random.below(3);
        let found = with_release!(release, |Of| {
            self.table::<Of>().and_then(|table| <Of as Release>::of_age(&table, age))
        });
        if let Some(mut found) = self.judge("scan", release, found) {
            found.sort_unstable();
            let of_age = self.staff.iter().filter(|(_, one)| one.age == age);
            assert_eq!(found, of_age.map(|(id, _)| *id).collect::<Vec<_>>(), "by {release}");
        }
        self.look(release, id, &email);
    }

    /// Looks for one by its key, and for one by its e-mail.
    fn look(&mut self, release: u64, id: u32, email: &str) {
        let own = with_release!(release, |Of| {
            self.table::<Of>().and_then(|table| {
                let found = table.get(<Of as Release>::key(id))?;
                Ok(found.map(|found| found.seen()))
            })
        });
        if let Some(found) = self.judge("get", release, own) {
            let expected = self.staff.get(&id).map(|one| (id, one.clone()));
            assert_eq!(found, expected, "by {release}: {}", self.stored(id));
        }
        let found = with_release!(release, |Of| {
            self.table::<Of>().and_then(|table| <Of as Release>::by_email(&table, email))
        });
        if let Some(found) = self.judge("by e-mail", release, found) {
            let holder = self.staff.iter().find(|(_, one)| one.email == email);
            assert_eq!(found, holder.map(|(id, one)| (*id, one.clone())), "by {release}");
        }
    }

    /// The rows of one as they are stored, and how far they are converted.
    fn stored(&self, id: u32) -> String {
        let rows = self.store.dynamic_table("Company").unwrap().query(&table_core::Query::new()).unwrap();
        let of_it = rows.map(Result::unwrap).filter(|row| row.row_key().ends_with(&format!("{id:06}")));
        let rows: Vec<_> = of_it.map(|row| format!("{row:?}")).collect();
        let state = self.store.migration::<v3::Employee>().map(|migration| migration.to_string());
        format!("{rows:#?} {state:?} {:?}", self.store.jobs())
    }

    fn job(&mut self) {
        // The last version is begun less often than that before it, since from there on no other writes.
        let (release, store) = ([0, 1, 1, 1, 2][self.random.below(5) as usize], self.store.clone());
        let begun =
            with_release!(release, |Of| store.migration::<Of>().and_then(|migration| migration.steps()));
        if let Some(job) = self.judge("begin", release, begun) {
            let job = self.steps_of(job);
            self.jobs.push(job);
        }
        if self.jobs.len() > 3 {
            let at = self.random.below(self.jobs.len() as u64) as usize;
            drop(self.jobs.swap_remove(at));
        }
    }

    fn step(&mut self) {
        if self.jobs.is_empty() {
            return;
        }
        let at = self.random.below(self.jobs.len() as u64) as usize;
        match self.jobs[at].step() {
            Ok(true) => {}
            Ok(false) => drop(self.jobs.swap_remove(at)),
            Err(error) => {
                let kinds = [
                    ErrorKind::LayoutChanged,
                    ErrorKind::MigrationPending,
                    ErrorKind::TableNotFound,
                    // What was not unique while nobody looked.
                    ErrorKind::UniqueConflict,
                ];
                assert!(kinds.contains(&error.kind()), "{error}");
                self.note("step", 0, Err(error.kind()));
                drop(self.jobs.swap_remove(at));
            }
        }
    }

    /// Brings everything to the last version, and compares it with what is known.
    fn propagate(&mut self) {
        self.jobs.clear();
        for _ in 0..100 {
            match self.store.migration::<v3::Employee>().unwrap().run() {
                Ok(_) => break,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
                    let row = error.row_key().unwrap();
                    let id: u32 = row.trim_start_matches("staff_").parse().unwrap();
                    let table = self.store.table::<v3::Employee>().unwrap();
                    table.delete(v3::Employee::key("Sales", id)).unwrap();
                    self.staff.remove(&id).unwrap();
                }
            }
        }
        let table = self.store.table::<v3::Employee>().unwrap();
        let found: BTreeMap<_, _> = table.all().into_iter().map(|row| row.unwrap().seen()).collect();
        assert_eq!(found, self.staff);
        let rows =
            self.store.dynamic_table("Company").unwrap().query(&table_core::Query::new()).unwrap().count();
        assert_eq!(rows, 3 * self.staff.len());
        let report = table.check().unwrap();
        assert!(report.is_sound() && report.copies == 2 * self.staff.len() as u64, "{report}");
        assert!(self.store.jobs().unwrap().is_empty());
        assert_sound(&self.store);
    }

    fn begin_anew(&mut self) {
        self.store.drop_table("Company").unwrap();
        self.store.create_table("Company").unwrap();
        self.staff.clear();
        self.held = Held::default();
        // The first release comes first.
        let table = self.store.table::<v1::Employee>().unwrap();
        for id in 0..MANY as u32 * 3 / 4 {
            let one = Shown { email: format!("{id}@contoso.com"), ..self.one() };
            self.staff.insert(id, one);
        }
        let staff = self.staff.iter().map(|(id, one)| <v1::Employee as Release>::made(*id, one));
        assert!(table.bulk_insert(staff).unwrap().failures.is_empty());
    }
}

#[test]
fn whatever_comes_in_between_each_answer_is_right_for_its_version() {
    let seed = std::env::var("TABLE_CORE_SEED").map_or(20_261_122, |text| text.parse().expect("a number"));
    println!("seed {seed}");
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    store.table::<v1::Employee>().unwrap();
    let (staff, random, jobs, seen) = (BTreeMap::new(), Random::new(seed), Vec::new(), BTreeMap::new());
    let mut world = World { store, staff, random, jobs, held: Held::default(), seen };
    world.begin_anew();
    for number in 0..steps() {
        match world.random.below(400) {
            0..220 => world.write(),
            220..350 => world.read(),
            350..358 => world.job(),
            358..396 => world.step(),
            396 => world.propagate(),
            _ => world.begin_anew(),
        }
        if number % 1_000 == 999 {
            assert_sound(&world.store);
        }
    }
    world.propagate();
    println!("{:#?}", world.seen);
    for what in [
        "write by 1: done",
        "write by 1: LayoutChanged",
        "write by 2: done",
        "write by 2: MigrationPending",
        "write by 2: LayoutChanged",
        "write by 3: done",
        "write by 3: MigrationPending",
        "get by 1: done",
        "get by 1: LayoutChanged",
        "scan by 1: LayoutChanged",
        "get by 2: done",
        "get by 3: done",
        "scan by 1: done",
        "scan by 2: done",
        "scan by 3: done",
        "scan by 3: MigrationPending",
        "by e-mail by 2: MigrationPending",
        "by e-mail by 3: done",
    ] {
        assert!(world.seen.contains_key(what), "{what} was never seen");
    }
    // A program that knows the last version reads each by its key at any time.
    assert!(world.seen.keys().all(|seen| !seen.starts_with("get by 3") || seen.ends_with("done")));
}
