//! A store with entities inside an access, at its edges and outside.

use std::sync::Arc;
use std::time::Duration;

use integration_tests::Scratch;
use table_core::access::Access;
use table_core::crypt::MemoryKeys;
use table_core::{Durability, DynamicEntity, Entity, EntitySet, Projection, Query, Store, Tables};

/// An employee, with copies in the partition and elsewhere, on lists, and counted.
#[expect(clippy::duplicated_attributes, reason = "each index says for itself what it is")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_city, table = "Cities", partition = "{city}", row = "{department}_{id:06}", atomic)]
#[index(by_badge, table = "Badges", partition = "{badge}", row = "badge", unique, atomic)]
#[index_list(by_city_here, row = "city_{city}", of = id)]
#[summarized_in(Payroll, Board)]
#[copied_into(Office)]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) email: String,
    pub(crate) city: String,
    pub(crate) badge: u32,
    pub(crate) salary: i64,
}

/// What a department pays.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "payroll")]
#[key(partition = "{department}", row = "payroll")]
#[summary(of = Employee)]
pub(crate) struct Payroll {
    pub(crate) department: String,
    #[summary(count)]
    pub(crate) employees: u64,
    #[summary(sum = salary)]
    pub(crate) salaries: i64,
}

/// How many are in a city, in whatever department.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Cities", kind = "board")]
#[key(partition = "{city}", row = "board")]
#[summary(of = Employee, atomic)]
pub(crate) struct Board {
    pub(crate) city: String,
    #[summary(count)]
    pub(crate) employees: u64,
}

/// What an office holds of whom it belongs to.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Employee)]
pub(crate) struct Tenant {
    pub(crate) email: String,
}

/// The room of an employee, who need not be of the department that it is in.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "office")]
#[key(partition = "{house}", row = "office_{room:03}")]
#[index(by_tenant, partition = "{department}", row = "tenant_{id:06}_{house}_{room:03}", copy = keys, atomic)]
pub(crate) struct Office {
    pub(crate) house: String,
    pub(crate) room: u32,
    pub(crate) department: String,
    pub(crate) id: u32,
    #[copy_of(Employee, key(department, id), atomic)]
    pub(crate) tenant: Option<Tenant>,
}

#[derive(EntitySet)]
pub(crate) enum Company {
    Employee(Employee),
    #[expect(dead_code, reason = "the set has it")]
    Office(Office),
}

/// Where an entity lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Inside,
    First,
    Last,
    Before,
    Behind,
    Elsewhere,
}

impl Place {
    pub(crate) const ALL: [Self; 6] =
        [Self::Inside, Self::First, Self::Last, Self::Before, Self::Behind, Self::Elsewhere];

    /// Returns the department and the number of the employee that lies there.
    pub(crate) fn key(self) -> (&'static str, u32) {
        match self {
            Self::Inside => ("Sales", 4),
            Self::First => ("Sales", 2),
            Self::Last => ("Sales", 6),
            Self::Before => ("Sales", 1),
            Self::Behind => ("Sales", 7),
            Self::Elsewhere => ("Legal", 4),
        }
    }

    pub(crate) fn is_inside(self) -> bool {
        matches!(self, Self::Inside | Self::First | Self::Last)
    }
}

/// A number inside that no employee has.
pub(crate) const FREE: u32 = 5;

pub(crate) fn employee(department: &str, id: u32) -> Employee {
    let number = if department == "Sales" { id } else { 100 + id };
    Employee {
        department: department.into(),
        id,
        email: format!("{number}@contoso.com"),
        city: "Oslo".into(),
        badge: number,
        salary: 1_000,
    }
}

pub(crate) fn row_key(id: u32) -> String {
    format!("empid_{id:06}")
}

/// An entity of the table without a kind.
pub(crate) fn note(department: &str, id: u32) -> DynamicEntity {
    DynamicEntity::new(department, row_key(id)).with("Text", "a")
}

/// The store, which is put back as it was before each call.
pub(crate) struct World {
    pub(crate) store: Store,
    /// Where it lies; it goes when the store is closed.
    _scratch: Scratch,
}

impl World {
    pub(crate) fn new() -> Self {
        let keys = Arc::new(MemoryKeys::new().unwrap());
        let scratch = Scratch::new();
        let store = scratch.store_with(&Store::options().encryption(keys).durability(Durability::Relaxed));
        for name in ["Notes", "Other"] {
            store.create_table(name).unwrap();
        }
        store.table::<Employee>().unwrap();
        store.table::<Office>().unwrap();
        let world = Self { store, _scratch: scratch };
        world.reset(None);
        world
    }

    /// Puts the entities back; that of `absent` is left out.
    pub(crate) fn reset(&self, absent: Option<Place>) {
        let staff = self.store.table::<Employee>().unwrap();
        let notes = self.store.dynamic_table("Notes").unwrap();
        for entity in staff.all() {
            let entity = entity.unwrap();
            staff.delete(Employee::key(&entity.department, entity.id)).unwrap();
        }
        for entity in notes.query(&Query::new()).unwrap() {
            let entity = entity.unwrap();
            notes.delete(entity.partition_key(), entity.row_key()).unwrap();
        }
        for place in Place::ALL.into_iter().filter(|place| Some(*place) != absent) {
            let (department, id) = place.key();
            staff.insert(&employee(department, id)).unwrap();
            notes.insert(&note(department, id)).unwrap();
        }
        for queue in ["jobs", "secret"] {
            let queue = self.store.queue::<String>(queue).unwrap();
            queue.resume().unwrap();
            queue.clear().unwrap();
            queue.send(&"hello".to_owned()).unwrap();
        }
        for container in ["reports", "secret"] {
            let container = self.store.container(container).unwrap();
            container.delete("new").unwrap();
            container.put("report", b"hello").unwrap();
        }
    }

    /// Returns everything that tables hold, but for times.
    pub(crate) fn dump(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for name in self.store.tables().unwrap() {
            rows.push(name.clone());
            for entity in self.store.dynamic_table(&name).unwrap().query(&Query::new()).unwrap() {
                let entity = entity.unwrap();
                let keys = (entity.partition_key().to_owned(), entity.row_key().to_owned());
                rows.push(format!("{name} {keys:?} {:?}", entity.properties().collect::<Vec<_>>()));
            }
        }
        rows
    }
}

/// Returns the access to the rows from the first one through the last, with these permissions.
pub(crate) fn access(letters: &str) -> Access {
    let access = Access::to_tables(["Company", "Notes"])
        .from_row("Sales", &row_key(2))
        .through_row("Sales", &row_key(6))
        .queues(["jobs"])
        .containers(["reports"]);
    permitting(access, letters)
}

/// Adds the permissions of these letters.
pub(crate) fn permitting(access: Access, letters: &str) -> Access {
    letters.chars().fold(access, |access, letter| match letter {
        'r' => access.read(),
        'a' => access.add(),
        'u' => access.update(),
        _ => access.delete(),
    })
}

/// What a call is made with.
pub(crate) struct Call<'w> {
    /// The restricted handle.
    pub(crate) tables: &'w Tables,
    /// The key of the entity that it is about.
    pub(crate) department: &'static str,
    pub(crate) id: u32,
    /// Whether it lies inside: of what has no keys, whether it is named.
    pub(crate) is_inside: bool,
}

impl Call<'_> {
    pub(crate) fn row(&self) -> String {
        row_key(self.id)
    }

    pub(crate) fn queue(&self) -> &'static str {
        if self.is_inside { "jobs" } else { "secret" }
    }

    pub(crate) fn container(&self) -> &'static str {
        if self.is_inside { "reports" } else { "secret" }
    }
}

pub(crate) const MINUTE: Duration = Duration::from_secs(60);
