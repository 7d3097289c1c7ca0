//! References that are not written as such.

use table_core::typed::Ref;
use table_core::Entity;

type Boss = Ref<Employee>;
type MaybeBoss = Option<Ref<Employee>>;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    manager: Boss,
    deputy: MaybeBoss,
}

fn main() {}
