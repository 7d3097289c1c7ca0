use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}", when = Employee::by_value)]
#[index(by_age, row = "age_{age}_{id:06}", when = Employee::no_truth)]
#[index(by_level, row = "level_{level}_{id:06}", when = Employee::missing)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: u8,
    level: u8,
}

impl Employee {
    fn by_value(self) -> bool {
        self.age > 40
    }

    fn no_truth(&self) -> u8 {
        self.age
    }
}

fn main() {}
