//! Where a reference can't stand, and the words that say nothing on one.

use table_core::Entity;
use table_core::typed::Ref;

#[derive(Entity)]
#[entity(table = "Company", kind = "in_keys")]
#[key(partition = "{department}", row = "{manager}")]
#[index(by_deputy, row = "deputy_{deputy}_{id:06}")]
#[index(by_id, row = "id_{id:06}", unique, copy(deputy))]
struct InKeys {
    department: String,
    id: u32,
    manager: Ref<InKeys>,
    deputy: Option<Ref<InKeys>>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "words")]
#[key(partition = "{department}", row = "{id:06}")]
struct Words {
    department: String,
    id: u32,
    #[property(default)]
    manager: Option<Ref<Words>>,
    #[property(was = "Boss")]
    chief: Ref<Words>,
    #[encrypt]
    secret: Ref<Words>,
}

// Another field has the name of one of its properties.
#[derive(Entity)]
#[entity(table = "Company", kind = "taken")]
#[key(partition = "{department}", row = "{id:06}")]
struct Taken {
    department: String,
    id: u32,
    manager: Ref<Taken>,
    manager_row: String,
}

fn main() {}
