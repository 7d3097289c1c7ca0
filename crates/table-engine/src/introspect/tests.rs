//! Kinds as tools see them.

use super::{KindInfo, RowOf};
use crate::error::{Error, ErrorKind};
use crate::model::{EdmType, Value};
use crate::schema::{Form, Layout};

const EMPLOYEE: &str = "\
version 2
partition Department:text
row \"empid_\" Id:u32:\"06\"
property Department String
property Id Int64
property LastName String
property Last_Name String
property Level Int32?
property Skills String
property Photo Binary part 1
property Salary encrypted by partition Int64?
series Cpu_00 24 Double? part 1
holder project
index by_name row \"name_\" LastName:text \"_\" Id:u32:\"06\" copy Level
index by_skill row \"skill_\" Skills[]:each(text) \"_\" Id:u32:\"06\" when copy keys
index by_level eventual in Levels partition Level:option(names(\"junior\" \"senior\")) row Department:text \"_\" Id:u32 unique copy all
index by_last row \"last_\" LastName:text list Id:u32:\"06\"
index payroll row \"payroll\" sums Employees:count Salaries:sum(Salary)";

fn employee() -> KindInfo {
    KindInfo::new("Company", Layout::parse(EMPLOYEE, "employee").unwrap(), None)
}

fn refused(found: crate::Result<(String, String)>) -> (ErrorKind, String) {
    let error: Error = found.unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn a_layout_says_what_a_tool_needs() {
    let employee = employee();
    assert_eq!(
        (employee.table(), employee.entities_table(), employee.lies_here()),
        ("Company", "Company", true)
    );
    assert_eq!((employee.kind(), employee.version()), ("employee", 2));
    assert_eq!(employee.entity_type(), "employee@2");
    assert_eq!(employee.layout(), EMPLOYEE);
    assert_eq!(employee.converting_from(), None);
    let properties = employee.properties();
    let photo = properties.iter().find(|property| property.name == "Photo").unwrap();
    assert_eq!((photo.edm, photo.part, photo.encrypted, photo.optional), (EdmType::Binary, 1, false, false));
    let salary = properties.iter().find(|property| property.name == "Salary").unwrap();
    assert!(salary.encrypted && salary.optional && salary.token.is_none());
    assert_eq!(properties.len(), 8 + 24);
    let indexes = employee.indexes();
    assert_eq!(indexes[2].table, "Levels");
    assert!(indexes[2].unique && indexes[2].eventual && indexes[1].sparse && indexes[4].shared);
    assert_eq!((&*indexes[0].entity_type, &*indexes[4].entity_type), ("employee@2.by_name", "payroll"));
}

#[test]
fn a_layout_is_drawn_with_its_properties() {
    assert_eq!(
        employee().design().drawn(Form::Markdown),
        "\
| Row | PartitionKey | RowKey | Properties |
| --- | --- | --- | --- |
| employee, copied into project | `{Department}` | `empid_{Id:06}` | LastName: String, Last_Name: String, Level: Int32?, Skills: String, Salary: encrypted by partition Int64? |
| employee, part 1 | `{Department}` | `empid_{Id:06}_01` | Photo: Binary, Cpu_00 .. Cpu_23: Double? |
| employee@2.by_name | `{Department}` | `name_{LastName}_{Id:06}` | Level: Int32? |
| employee@2.by_skill, not of every entity | `{Department}` | `skill_{Skills[]}_{Id:06}` |  |
| employee@2.by_level, unique, in table Levels, eventual | `{Level}` | `{Department}_{Id}` | LastName: String, Last_Name: String, Skills: String, Photo: Binary, Salary: encrypted by partition Int64?, Cpu_00 .. Cpu_23: Double? |
| employee@2.by_last, list | `{Department}` | `last_{LastName}` | Ids: list of Id |
| payroll, summary | `{Department}` | `payroll` | Employees: count, Salaries: sum of Salary |"
    );
    assert!(employee().access_patterns().iter().all(|pattern| pattern.call.is_none()));
}

#[test]
fn keys_are_printed_of_what_a_command_line_gives() {
    let employee = employee();
    let own = employee.keys(None).unwrap();
    let pair = |partition: &str, row: &str| (partition.to_owned(), row.to_owned());
    assert_eq!(
        own.print_text(&[("department", "Sales"), ("id", "42")]).unwrap(),
        pair("Sales", "empid_000042")
    );
    assert_eq!(
        own.print(&[("Id", Value::Int32(42)), ("Department", "Sales".into())]).unwrap(),
        pair("Sales", "empid_000042")
    );
    let by_level = employee.keys(Some("by_level")).unwrap();
    let given = [("level", "senior"), ("department", "Sales"), ("id", "7")];
    assert_eq!(by_level.print_text(&given).unwrap(), pair("senior", "Sales_0000000007"));
    let by_skill = employee.keys(Some("by_skill")).unwrap();
    let given = [("department", "Sales"), ("skills", "rust"), ("id", "7")];
    assert_eq!(by_skill.print_text(&given).unwrap(), pair("Sales", "skill_rust_000007"));
    let fields = by_skill.fields();
    assert_eq!((&*fields[1].name, fields[1].each, fields[1].in_partition), ("Skills", true, false));
    assert!(fields[0].in_partition && fields[0].is_whole);
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let employee = employee();
    let own = employee.keys(None).unwrap();
    let refused = |values: &[(&str, &str)]| refused(own.print_text(values));
    let (kind, said) = refused(&[("department", "Sales")]);
    assert_eq!(kind, ErrorKind::InvalidKey);
    assert!(said.contains("a key of `employee` is made of `Department` and `Id`: `Id` is missing"), "{said}");
    assert!(said.contains("`Company`"), "{said}");
    let (kind, said) = refused(&[("department", "Sales"), ("id", "1"), ("email", "x")]);
    assert_eq!(kind, ErrorKind::InvalidKey);
    assert!(said.contains("`email` stands in no key of `employee`"), "{said}");
    let (kind, said) = refused(&[("department", "Sales"), ("id", "1"), ("ID", "2")]);
    assert_eq!(kind, ErrorKind::InvalidKey);
    assert!(said.contains("`Id` is given twice"), "{said}");
    let (kind, said) = refused(&[("department", "Sales"), ("id", "seven")]);
    assert_eq!(kind, ErrorKind::ValueOutOfRange);
    assert!(said.contains("`Id` is a number from zero, which \"seven\" is not"), "{said}");
    let (kind, said) = refused(&[("department", "Sales"), ("id", "1234567")]);
    assert_eq!(kind, ErrorKind::ValueOutOfRange);
    assert!(said.contains("`{Id:06}` in the key `empid_{Id:06}` has 6 digits"), "{said}");
    let (kind, said) = refused(&[("department", "a/b"), ("id", "1")]);
    assert_eq!(kind, ErrorKind::InvalidKey);
    assert!(said.contains("`Department` holds '/'"), "{said}");
    let (kind, _) = refused(&[("department", &"x".repeat(600)), ("id", "1")]);
    assert_eq!(kind, ErrorKind::KeyTooLong);
    let (kind, said) = self::refused(own.print(&[("Department", "Sales".into()), ("Id", true.into())]));
    assert_eq!(kind, ErrorKind::ValueOutOfRange);
    assert!(said.contains("`Id` is of the type Int64, and was given as Boolean"), "{said}");
    // Two properties are alike, and the exact name is one of them.
    let by_name = employee.keys(Some("by_name")).unwrap();
    assert!(by_name.print_text(&[("department", "a"), ("LastName", "b"), ("id", "1")]).is_ok());
    let error = employee.keys(Some("by_email")).unwrap_err();
    assert!(error.to_string().contains("`employee` has no index `by_email`; it has `by_name`, "), "{error}");
    let level = employee.keys(Some("by_level")).unwrap();
    let (_, said) = self::refused(level.print_text(&[("level", "boss"), ("department", "a"), ("id", "1")]));
    assert!(said.contains("one of `junior`, `senior`"), "{said}");
}

#[test]
fn a_row_is_told_by_its_keys_and_by_its_type() {
    let employee = employee();
    let told = |partition: &str, row: &str| {
        let found = employee.read_keys(partition, row)?;
        let values: Vec<_> = found.values.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        Some((found.row, values.join(" ")))
    };
    let sales = "Department=\"Sales\"";
    let id = "Id=42L";
    let index = |name: &str| RowOf::Index(name.into());
    assert_eq!(told("Sales", "empid_000042"), Some((RowOf::Entity, format!("{sales} {id}"))));
    assert_eq!(told("Sales", "empid_000042_01"), Some((RowOf::Part(1), format!("{sales} {id}"))));
    assert_eq!(told("Sales", "empid_000042_02"), None);
    let name = "LastName=\"Jones\"";
    assert_eq!(told("Sales", "name_Jones_000042"), Some((index("by_name"), format!("{sales} {name} {id}"))));
    let skill = "Skills=\"rust\"";
    assert_eq!(
        told("Sales", "skill_rust_000042"),
        Some((index("by_skill"), format!("{sales} {skill} {id}")))
    );
    assert_eq!(told("Sales", "last_Jones"), Some((index("by_last"), format!("{sales} {name}"))));
    assert_eq!(told("Sales", "payroll"), Some((index("payroll"), sales.to_owned())));
    // The copies of this index lie in another table.
    assert_eq!(told("senior", "Sales_0000000042"), None);
    assert_eq!(told("Sales", "something"), None);
    let of_type = |kind: &str| employee.row_of_type(kind);
    assert_eq!(of_type("employee@2"), Some(RowOf::Entity));
    assert_eq!(of_type("employee@2.01"), Some(RowOf::Part(1)));
    assert_eq!(of_type("employee@2.by_name"), Some(index("by_name")));
    assert_eq!(of_type("payroll"), Some(index("payroll")));
    assert_eq!(of_type("employee"), None);
}

#[test]
fn what_is_noted_with_copies_is_told_where_they_lie() {
    let noted = Layout::parse(EMPLOYEE, "employee").unwrap().noted_elsewhere("Company");
    let levels = KindInfo::new("Levels", noted, None);
    assert_eq!((levels.table(), levels.entities_table(), levels.lies_here()), ("Levels", "Company", false));
    assert_eq!(levels.design().table, "Company");
    let found = levels.read_keys("senior", "Sales_0000000042").unwrap();
    assert_eq!(found.row, RowOf::Index("by_level".into()));
    assert_eq!(levels.read_keys("Sales", "empid_000042"), None);
    assert_eq!(levels.row_of_type("employee@2"), None);
    assert_eq!(levels.row_of_type("employee@2.by_level"), Some(RowOf::Index("by_level".into())));
}

#[test]
fn a_change_writes_the_rows_that_depend_on_it() {
    let employee = employee();
    let written = |property: &str| -> Vec<String> {
        let rows = employee.rows_written_by(property).unwrap();
        rows.into_iter()
            .map(|row| match row {
                RowOf::Entity => "entity".to_owned(),
                RowOf::Part(part) => part.to_string(),
                RowOf::Index(name) => name,
            })
            .collect()
    };
    assert_eq!(written("LastName"), ["entity", "by_name", "by_skill", "by_level", "by_last"]);
    assert_eq!(written("Level"), ["entity", "by_name", "by_skill", "by_level"]);
    assert_eq!(written("Salary"), ["entity", "by_skill", "by_level", "payroll"]);
    assert_eq!(written("Photo"), ["entity", "1", "by_skill", "by_level"]);
    assert_eq!(employee.rows_written_by("Nothing"), None);
    assert_eq!(employee.rows().len(), 7);
}
