//! Generated types in signatures, by the names that `types` gives them.

use integration_tests::Scratch;
use table_core::typed::{At, Columns, Ended, InPartition, Origin, OwnRows, Ready, TableIn};
use table_core::{Entity, Filter, IfMatch, Patch, Result, Table, View};

use company::{
    Change, Employee, EmployeeByEmail, EmployeeByEmailPath, EmployeeQuery, Listed, ListedPath, Seen, Ways,
};

/// The entity is declared elsewhere, and what it is seen by here has its visibility.
mod company {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[entity(types(patch = Change, query, view = Seen, columns, indexes = Ways, by_email, by_name = Listed))]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    #[index(by_name, row = "name_{last_name}_{id:06}", copy(age))]
    #[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
    pub(crate) struct Employee {
        pub(crate) department: String,
        pub(crate) id: u32,
        pub(crate) last_name: String,
        pub(crate) email: String,
        pub(crate) age: u32,
    }

    /// Private, and so are its types.
    #[derive(Entity)]
    #[entity(table = "Company", kind = "guest", types)]
    #[key(partition = "{department}", row = "guest_{id:06}")]
    #[index(by_name, row = "guest_name_{last_name}_{id:06}", copy = keys)]
    struct Guest {
        department: String,
        id: u32,
        last_name: String,
    }

    fn name(guest: &GuestByName) -> String {
        format!("{} {}", guest.last_name, guest.id)
    }

    pub(crate) fn guests(store: &table_core::Store) -> table_core::Result<Vec<String>> {
        let guests = store.table::<Guest>()?;
        guests.insert(&Guest { department: "Sales".into(), id: 7, last_name: "Ek".into() })?;
        let ways: &GuestIndexes = &guests;
        ways.by_name().department("Sales").into_iter().map(|row| Ok(name(&row?))).collect()
    }
}

fn employee(id: u32, last_name: &str, age: u32) -> Employee {
    let email = format!("{}@contoso.com", last_name.to_lowercase());
    Employee { department: "Sales".into(), id, last_name: last_name.into(), email, age }
}

fn staff(scratch: &Scratch) -> Table<Employee> {
    let staff = scratch.store().table::<Employee>().unwrap();
    for (id, name, age) in [(1, "Jones", 40), (2, "Ek", 30), (3, "Jones", 50)] {
        let mut employee = employee(id, name, age);
        employee.email = format!("{id}@contoso.com");
        staff.insert(&employee).unwrap();
    }
    staff
}

fn label(row: &Listed) -> String {
    format!("{} {}: {}", row.last_name, row.id, row.age)
}

fn email(copy: &EmployeeByEmail) -> &str {
    &copy.email
}

/// A query that has its partition, and may be narrowed further.
fn in_sales(staff: &Table<Employee>) -> EmployeeQuery<OwnRows<Employee>, At<1>> {
    staff.rows().department("Sales")
}

fn called(staff: &Table<Employee>, name: &str) -> EmployeeQuery<ListedPath, At<2>> {
    staff.by_name().department("Sales").last_name(name)
}

/// One that ends with a range, and one that has not begun.
fn first(staff: &Table<Employee>) -> EmployeeQuery<OwnRows<Employee>, Ended> {
    in_sales(staff).id(..=2)
}

fn begun<From: Origin>(
    query: EmployeeQuery<EmployeeByEmailPath, InPartition<0>, From>,
) -> EmployeeQuery<EmployeeByEmailPath, At<1>, From> {
    query.department("Sales")
}

/// Any query of the entity's own rows that can run.
fn adults<Step: Ready>(query: EmployeeQuery<OwnRows<Employee>, Step>) -> u64 {
    query.filter(is_adult).count().unwrap()
}

/// `for` takes a query at a known step; whatever the step, it is asked for its rows.
fn ages<Step: Ready, From: Origin>(query: EmployeeQuery<OwnRows<Employee>, Step, From>) -> Vec<u32> {
    let mut ages = Vec::new();
    for employee in query.into_iter() {
        ages.push(employee.unwrap().age);
    }
    ages
}

fn is_adult(employee: &Columns<Employee>) -> Filter {
    employee.age.ge(40)
}

fn older(age: u32) -> Change {
    Employee::patch().age(age)
}

fn age(seen: &Seen<'_>) -> Result<u32> {
    seen.age()
}

fn is_old(seen: &View<'_, Employee>) -> Result<bool> {
    Ok(age(seen)? >= 50)
}

fn everybody(ways: &Ways) -> EmployeeQuery<OwnRows<Employee>, Ended> {
    ways.rows().across_partitions()
}

#[test]
fn rows_of_indexes_stand_in_signatures() {
    let scratch = Scratch::new();
    let staff = staff(&scratch);
    let rows: Vec<_> = called(&staff, "Jones").into_iter().map(|row| label(&row.unwrap())).collect();
    assert_eq!(rows, ["Jones 1: 40", "Jones 3: 50"]);
    let copies = begun(staff.by_email()).into_iter().map(|copy| email(&copy.unwrap()).to_owned());
    assert_eq!(copies.collect::<Vec<_>>(), ["1@contoso.com", "2@contoso.com", "3@contoso.com"]);
    assert_eq!(company::guests(&scratch.store()).unwrap(), ["Ek 7"]);
}

#[test]
fn queries_stand_in_signatures() {
    let scratch = Scratch::new();
    let staff = staff(&scratch);
    assert_eq!((adults(in_sales(&staff)), adults(first(&staff))), (2, 1));
    assert_eq!(adults(everybody(&staff)), 2);
    assert_eq!((ages(in_sales(&staff)), ages(first(&staff))), (vec![40, 30, 50], vec![40, 30]));
    let store = scratch.store();
    let snapshot = store.snapshot().unwrap();
    fn old(query: EmployeeQuery<OwnRows<Employee>, At<1>, TableIn<'_>>) -> u64 {
        query.filter(is_adult).count().unwrap()
    }
    assert_eq!(old(staff.at(&snapshot).rows().department("Sales")), 2);
}

#[test]
fn patches_and_views_stand_in_signatures() {
    let scratch = Scratch::new();
    let staff = staff(&scratch);
    // The alias of the core and the name beside the struct are one type.
    let patch: Patch<Employee> = older(41);
    staff.merge(Employee::key("Sales", 1), patch, IfMatch::Any).unwrap();
    assert_eq!(staff.view(Employee::key("Sales", 1), |seen| age(&seen)).unwrap(), Some(41));
    assert_eq!(staff.view(Employee::key("Sales", 3), |seen| is_old(&seen)).unwrap(), Some(true));
}

/// In a function no path leads to the struct; its types lie beside it all the same.
#[test]
fn types_of_an_entity_in_a_function_have_names() {
    #[derive(Entity)]
    #[entity(table = "Rooms", kind = "room", types)]
    #[key(partition = "{house}", row = "room_{id:03}")]
    #[index(by_floor, row = "floor_{floor:02}_{id:03}", copy = keys)]
    struct Room {
        house: String,
        id: u32,
        floor: u32,
    }
    fn floor(row: &RoomByFloor) -> u32 {
        row.floor
    }
    fn empty() -> RoomPatch {
        Room::patch()
    }
    let scratch = Scratch::new();
    let rooms = scratch.store().table::<Room>().unwrap();
    rooms.insert(&Room { house: "A".into(), id: 1, floor: 2 }).unwrap();
    rooms.merge(Room::key("A", 1), empty().floor(3), IfMatch::Any).unwrap();
    let floors: Vec<_> = rooms.by_floor().house("A").into_iter().map(|row| floor(&row.unwrap())).collect();
    assert_eq!(floors, [3]);
}
