use table_core::typed::Ref;
use table_core::{Entity, Result, Table};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    manager: Option<Ref<Employee>>,
}

// An entity or its key, and no text.
fn ann() -> [Option<Ref<Employee>>; 3] {
    let anna = Employee { department: "Sales".into(), id: 1, name: "Anna".into(), manager: None };
    [Some(Ref::to(&anna)), Some(Ref::to(Employee::key("Sales", 1))), Some(Ref::to("empid_000001"))]
}

// What holds the entity, and no row of an index that holds a part of it.
fn found(staff: &Table<Employee>) -> Result<Vec<Ref<Employee>>> {
    let mut all = Vec::new();
    for employee in staff.rows().department("Sales") {
        all.push(Ref::to(&employee?));
    }
    for row in staff.by_name().department("Sales") {
        all.push(Ref::to(&row?));
    }
    Ok(all)
}

// Any entity.
fn any<E: Entity>(entity: &E) -> Ref<E> {
    Ref::to(entity)
}

fn main() {}
