use table_derive::EntitySet;

struct Employee;
struct Department;
struct Entity;

#[derive(EntitySet)]
enum Twice {
    Employee(Employee),
    Department(Department),
    Other(Employee),
}

#[derive(EntitySet)]
enum Unknown {
    Employee(Employee),
    #[entity_set(unknown)]
    Other(Entity),
    #[entity_set(unknown)]
    More(Entity),
}

#[derive(EntitySet)]
enum Shapes {
    Employee(Employee),
    Department,
    Pair(Employee, Department),
    #[entity_set(unknwn)]
    Named { entity: Entity },
}

#[derive(EntitySet)]
enum Empty {}

#[derive(EntitySet)]
struct Struct {
    employee: Employee,
}

fn main() {}
