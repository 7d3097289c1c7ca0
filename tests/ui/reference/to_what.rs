use table_core::Entity;
use table_core::typed::Ref;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    manager: Option<Ref<Employee>>,
}

// An entity or its key, and no text.
fn ann() -> [Option<Ref<Employee>>; 3] {
    let anna = Employee { department: "Sales".into(), id: 1, manager: None };
    [Some(Ref::to(&anna)), Some(Ref::to(Employee::key("Sales", 1))), Some(Ref::to("empid_000001"))]
}

fn main() {}
