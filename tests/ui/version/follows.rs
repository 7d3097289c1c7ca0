use table_core::Entity;

#[derive(Entity)]
#[entity(kind = "employee", version = 1, former)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct EmployeeV1 {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(kind = "guest", version = 1, former)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct GuestV1 {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 3, from = EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Leaps {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 2, from = GuestV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct OfAnotherKind {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1, signed)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Signed {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Sealed {
    department: String,
    id: u32,
    #[encrypt]
    salary: i64,
}

macro_rules! made {
    ($($name:ident from $former:ident: $($more:ident)?;)+) => {$(
        impl From<$former> for $name {
            fn from(former: $former) -> Self {
                Self { department: former.department, id: former.id, $($more: 0)? }
            }
        }
    )+};
}

made! {
    Leaps from EmployeeV1:;
    OfAnotherKind from GuestV1:;
    Signed from EmployeeV1:;
    Sealed from EmployeeV1: salary;
}

fn main() {}
