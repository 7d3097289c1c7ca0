use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, partition = "all", row = "email_{email}", unique)]
struct SaysNeither {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, table = "Emails", row = "email_{email}", unique, atomic, eventual)]
struct SaysBoth {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, partition = "{department}", row = "email_{email}", unique, atomic)]
struct NeedsNeither {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_skill, table = "a-b", partition = "{skills[]}", row = "{id}", atomic, as = skill)]
struct NoSuchPlace {
    department: String,
    id: u32,
    #[property(json)]
    skills: Vec<String>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{name}", row = "{id:06}", atomic)]
struct Forgets {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, partition = "all", row = "{email}", atomic, unique)]
struct MeetsItsEntity {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, table = "Found", partition = "{email}", row = "{department}_{id:06}", atomic)]
#[index(by_name, table = "FOUND", partition = "{name}", row = "{department}_{id:06}", atomic)]
struct MeetInAnotherTable {
    department: String,
    id: u32,
    email: String,
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{name}", row = "{id:06}_{width}", unique, atomic)]
struct Mistaken {
    department: String,
    id: u32,
    name: Vec<u8>,
    width: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{name}", row = "{id:06}", eventual)]
struct ForgetsAndFollows {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, partition = "all", row = "email_{email}", unique, eventual)]
struct UniqueLater {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, partition = "{department}", row = "name_{name}_{id:06}", eventual)]
struct FollowsBeside {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{name}", row = "{department}_{id:06}", eventual)]
#[index(by_ssn, partition = "ssn", row = "{ssn:blind}_{department}_{id:06}", copy = keys, eventual)]
struct SealedAndFollows {
    department: String,
    id: u32,
    name: String,
    #[encrypt(blind, tokens = table)]
    ssn: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{name}", row = "{department}_{id:06}", atomic)]
#[index(by_ssn, partition = "ssn", row = "{ssn:blind}", copy = keys, unique, atomic)]
struct Sealed {
    department: String,
    id: u32,
    name: String,
    #[encrypt(blind, tokens = table)]
    ssn: String,
}

fn main() {}
