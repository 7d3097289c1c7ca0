use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}_{id:06}", copy(first_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    email: String,
    age: i32,
    nick: Option<String>,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Unknown {
    frist_name: String,
    salary: i32,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Types {
    first_name: i32,
    age: String,
    id: i32,
    nick: String,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Right {
    department: String,
    age: i64,
    #[property(default)]
    nick: String,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Words {
    #[property(rename = "Age")]
    age: i32,
}

struct Plain;

fn use_them(staff: &table_core::Table<Employee>) {
    let _ = staff.rows().department("Sales").select::<Right>();
    let _ = staff.rows().department("Sales").select::<Plain>();
}

fn by_key(staff: &table_core::Table<Employee>) {
    let _ = staff.get_as::<Plain>(Employee::key("Sales", 1));
}

fn main() {}
