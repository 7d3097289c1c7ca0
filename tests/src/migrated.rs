//! A struct in two versions with everything that a change brings about, for tests that convert it: copies in other partitions
//! and tables, at once and later, lists and summaries.

use std::collections::BTreeMap;

use table_core::{DynamicEntity, Entity, Query, Store};

/// The entities as they were first declared.
pub mod first {
    use super::Entity;

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, partition = "all", row = "email_{email}", atomic, unique)]
    #[index(
        by_name,
        table = "Names",
        partition = "name_{name}",
        row = "{department}_{id:06}",
        copy(email),
        eventual
    )]
    #[index(by_team, table = "Teams", partition = "team_{team}", row = "{department}_{id:06}", copy = keys, atomic)]
    #[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
    #[index_list(of_team, row = "team_{team}", of = id)]
    #[index_list(in_team, table = "Teams", partition = "lists", row = "{team}", of(department, id), atomic)]
    #[summarized_in(Payroll, Total)]
    pub struct Employee {
        /// The partition.
        pub department: String,
        /// The number.
        pub id: u32,
        /// Both names.
        pub name: String,
        /// The team.
        pub team: String,
        /// Unique over all departments.
        pub email: String,
        /// The age.
        pub age: u32,
    }

    /// The ages of a department's employees, added up.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "payroll")]
    #[key(partition = "{department}", row = "payroll")]
    #[summary(of = Employee)]
    pub struct Payroll {
        /// The department.
        pub department: String,
        /// How many.
        #[summary(count)]
        pub employees: u64,
        /// How old together.
        #[summary(sum = age)]
        pub ages: i64,
    }

    /// The employees of a team, counted.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Totals", kind = "total")]
    #[key(partition = "{team}", row = "total")]
    #[summary(of = Employee, atomic)]
    pub struct Total {
        /// The team.
        pub team: String,
        /// How many.
        #[summary(count)]
        pub employees: u64,
    }
}

/// The entities as they are declared now: a name in two parts, an age of a byte; one table is left, another one comes, one stays.
pub mod second {
    use super::Entity;

    /// What it was.
    #[derive(Entity)]
    #[entity(kind = "employee", version = 1, former)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    pub struct EmployeeV1 {
        department: String,
        id: u32,
        name: String,
        team: String,
        email: String,
        age: u32,
    }

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, partition = "all", row = "email_{email}", atomic, unique)]
    #[index(
        by_name,
        table = "Names",
        partition = "last_{last_name}",
        row = "{department}_{id:06}",
        copy(email),
        eventual
    )]
    #[index(by_first, table = "Firsts", partition = "first_{first_name}", row = "{department}_{id:06}", copy = keys, atomic)]
    #[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
    #[index_list(of_team, row = "team_{team}", of = id)]
    #[index_list(in_team, table = "Firsts", partition = "lists", row = "{team}", of(department, id), atomic)]
    #[summarized_in(Payroll, Total)]
    pub struct Employee {
        /// The partition.
        pub department: String,
        /// The number.
        pub id: u32,
        /// The first name.
        pub first_name: String,
        /// The last name.
        pub last_name: String,
        /// The team.
        pub team: String,
        /// Unique over all departments.
        pub email: String,
        /// The age.
        pub age: u8,
    }

    /// The ages of a department's employees, added up.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "payroll")]
    #[key(partition = "{department}", row = "payroll")]
    #[summary(of = Employee)]
    pub struct Payroll {
        /// The department.
        pub department: String,
        /// How many.
        #[summary(count)]
        pub employees: u64,
        /// How old together.
        #[summary(sum = age)]
        pub ages: i64,
    }

    /// The employees of a team, counted.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Totals", kind = "total")]
    #[key(partition = "{team}", row = "total")]
    #[summary(of = Employee, atomic)]
    pub struct Total {
        /// The team.
        pub team: String,
        /// How many.
        #[summary(count)]
        pub employees: u64,
    }

    impl TryFrom<EmployeeV1> for Employee {
        type Error = &'static str;

        fn try_from(former: EmployeeV1) -> Result<Self, &'static str> {
            let EmployeeV1 { department, id, name, team, email, age } = former;
            let (first, last) = name.split_once(' ').ok_or("it is one name")?;
            let age = u8::try_from(age).map_err(|_| "nobody is so old")?;
            let (first_name, last_name) = (first.to_owned(), last.to_owned());
            Ok(Self { department, id, first_name, last_name, team, email, age })
        }
    }
}

/// One as both versions know it, by department and number: the first name, the last name, the team, the e-mail, the age.
pub type Staff = BTreeMap<(String, u32), [String; 4]>;

/// The ages go by the last names.
#[must_use]
pub fn age(last: &str) -> u8 {
    20 + last.bytes().last().unwrap_or_default() % 30
}

/// By the first version.
#[must_use]
pub fn before(at: &(String, u32), [first, last, team, email]: &[String; 4]) -> first::Employee {
    let (department, id) = at;
    let (department, team, email) = (department.clone(), team.clone(), email.clone());
    first::Employee {
        department,
        id: *id,
        name: format!("{first} {last}"),
        team,
        email,
        age: age(last).into(),
    }
}

/// By the second version.
#[must_use]
pub fn after(at: &(String, u32), [first, last, team, email]: &[String; 4]) -> second::Employee {
    let (department, id) = at;
    let (department, team, email) = (department.clone(), team.clone(), email.clone());
    let (first_name, last_name) = (first.clone(), last.clone());
    second::Employee { department, id: *id, first_name, last_name, team, email, age: age(last) }
}

/// The tables of both versions.
pub const TABLES: [&str; 5] = ["Company", "Firsts", "Names", "Teams", "Totals"];

/// A row by its table, keys and kind, with what tells a wrong one.
type Rows = BTreeMap<[String; 4], String>;

/// Every row that is to be there once all is of this version and propagated.
fn expected(staff: &Staff, version: u32) -> Rows {
    let mut rows = Rows::new();
    let kind = if version == 1 { "employee".to_owned() } else { format!("employee@{version}") };
    let mut lists = BTreeMap::<[String; 4], Vec<String>>::new();
    let mut sums = BTreeMap::<[String; 4], (i64, i64)>::new();
    for ((department, id), [first, last, team, email]) in staff {
        let age = age(last);
        let at = |table: &str, partition: &str, row: String, of: &str| {
            let kind = if of.is_empty() { kind.clone() } else { format!("{kind}.{of}") };
            [table.to_owned(), partition.to_owned(), row, kind]
        };
        let elsewhere = || format!("{department}_{id:06}");
        let mut put = |at: [String; 4], what: &str| {
            let twice = rows.insert(at, what.to_owned());
            assert!(twice.is_none(), "{twice:?}");
        };
        put(at("Company", department, format!("empid_{id:06}"), ""), email);
        put(at("Company", "all", format!("email_{email}"), "by_email"), "");
        put(at("Company", department, format!("age_{age:03}_{id:06}"), "by_age"), "");
        let lists_in = if version == 1 {
            put(at("Names", &format!("name_{first} {last}"), elsewhere(), "by_name"), email);
            put(at("Teams", &format!("team_{team}"), elsewhere(), "by_team"), "");
            "Teams"
        } else {
            put(at("Names", &format!("last_{last}"), elsewhere(), "by_name"), email);
            put(at("Firsts", &format!("first_{first}"), elsewhere(), "by_first"), "");
            "Firsts"
        };
        let beside = at("Company", department, format!("team_{team}"), "of_team");
        lists.entry(beside).or_default().push(format!("{id:06}"));
        let all = at(lists_in, "lists", team.clone(), "in_team");
        lists.entry(all).or_default().push(format!("{department};{id:06}"));
        let summary = |table: &str, partition: &str, row: &str, kind: &str| {
            [table, partition, row, kind].map(str::to_owned)
        };
        let sum = sums.entry(summary("Company", department, "payroll", "payroll")).or_default();
        *sum = (sum.0 + 1, sum.1 + i64::from(age));
        sums.entry(summary("Totals", team, "total", "total")).or_default().0 += 1;
    }
    rows.extend(lists.into_iter().map(|(at, mut ids)| {
        ids.sort();
        (at, ids.join(","))
    }));
    rows.extend(sums.into_iter().map(|(at, (count, sum))| (at, format!("{count} {sum}"))));
    rows
}

/// What is there, as it is stored.
fn found(store: &Store) -> Rows {
    let mut rows = Rows::new();
    let there = store.tables().expect("the tables are listed");
    for table in TABLES.into_iter().filter(|table| there.iter().any(|known| known == table)) {
        let all = store.dynamic_table(table).and_then(|table| table.query(&Query::new()));
        for row in all.expect("the table is read") {
            let row: DynamicEntity = row.expect("the row is sound");
            let text =
                |name: &str| row.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
            let number = |name: &str| row.get(name).and_then(|value| value.as_i64()).unwrap_or_default();
            let kind = text("EntityType");
            let what = match kind.rsplit('.').next().unwrap_or_default() {
                "of_team" | "in_team" => text("Ids"),
                "payroll" | "total" => format!("{} {}", number("Employees"), number("Ages")),
                "by_email" => String::new(),
                _ => text("Email"),
            };
            rows.insert([table.to_owned(), row.partition_key().into(), row.row_key().into(), kind], what);
        }
    }
    rows
}

/// Looks at each row of each table: it must be what the staff implies in this version, and none may be missing.
///
/// # Panics
///
/// If one is wrong.
pub fn assert_rows(store: &Store, staff: &Staff, version: u32) {
    let (found, expected) = (found(store), expected(staff, version));
    for (at, what) in &expected {
        assert_eq!(found.get(at), Some(what), "{at:?}");
    }
    for (at, what) in &found {
        assert!(expected.contains_key(at), "{at:?} {what} is nobody's");
    }
}

/// Hires as many, by the first version.
///
/// # Panics
///
/// If one is refused.
pub fn fill(store: &Store, many: u32) -> Staff {
    let one = |id: u32| {
        let department = if id.is_multiple_of(2) { "Legal" } else { "Sales" };
        let [first, last, team] = [format!("f{}", id % 3), format!("l{}", id % 7), format!("t{}", id % 5)];
        ((department.to_owned(), id), [first, last, team, format!("{id}@contoso.com")])
    };
    let staff: Staff = (0..many).map(one).collect();
    let table = store.table::<first::Employee>().expect("the table is there");
    let report = table.bulk_insert(staff.iter().map(|(at, one)| before(at, one))).expect("the store goes on");
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    staff
}
