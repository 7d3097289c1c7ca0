//! A payroll whose files don't show what people earn: properties that are sealed, found by a token, kept through a change
//! of keys, and made unreadable for good when somebody leaves.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use examples::{Scratch, stdout};
use table_core::crypt::{MemoryKeys, Secret};
use table_core::{DynamicTable, Entity, ErrorKind, Query, Store};

/// An employee of a company. Each has a partition, and so keys, of their own.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{company}_{id:04}", row = "employee")]
struct Employee {
    company: String,
    id: u32,
    #[encrypt(scope = partition)]
    name: Secret<String>,
    #[encrypt(scope = partition)]
    salary: i64,
}

/// The holder of a social security number: one partition for each company, so that a number leads to one employee.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Numbers", kind = "number")]
#[key(partition = "{company}", row = "empid_{id:04}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique, copy = keys)]
struct Number {
    company: String,
    id: u32,
    #[encrypt(blind)]
    ssn: Secret<String>,
}

fn hire(store: &Store, id: u32, name: &str, ssn: &str, salary: i64) -> table_core::Result<()> {
    let company = || "contoso".to_owned();
    store.table::<Number>()?.insert(&Number { company: company(), id, ssn: ssn.into() })?;
    store.table::<Employee>()?.insert(&Employee { company: company(), id, name: name.into(), salary })?;
    Ok(())
}

/// Keys, and each property as a thief of the file sees it: sealed values by their length.
fn draw(out: &mut impl Write, table: &DynamicTable) -> Result<(), Box<dyn Error>> {
    for row in table.query(&Query::new())? {
        let row = row?;
        write!(out, "  {:12} | {:38}", row.partition_key(), row.row_key())?;
        for (name, value) in row.properties() {
            match value.as_bytes() {
                Some([version, rest @ ..]) if name.ends_with("Token") => {
                    write!(out, " | {name} {version:02x}..{:02x}", rest.last().copied().unwrap_or_default())?;
                }
                Some(bytes) => write!(out, " | {name} {} bytes", bytes.len())?,
                None => {}
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("encrypted_properties");
    // A program keeps them by `KeyRing` in a file away from the data, or by a provider of its own in a key service.
    let keys = Arc::new(MemoryKeys::new()?);
    let store = Store::options().encryption(keys).open(scratch.path())?;
    let (staff, numbers) = (store.table::<Employee>()?, store.table::<Number>()?);
    let encryption = store.encryption()?;
    let mut out = stdout();

    writeln!(out, "Two employees, as the file has them:\n")?;
    hire(&store, 1, "Ann Hall", "078-05-1120", 90_000)?;
    hire(&store, 2, "Ken Kwok", "219-09-9999", 70_000)?;
    draw(&mut out, staff.dynamic())?;
    draw(&mut out, numbers.dynamic())?;

    writeln!(out, "\nA number is looked up by its token, which only who has the keys can make:\n")?;
    let query = numbers.by_ssn().company("contoso").ssn("219-09-9999");
    writeln!(out, "  {}", query.explain()?)?;
    let found = numbers.get(Number::by_ssn("contoso", "219-09-9999"))?.ok_or("the number is there")?;
    let ken = staff.get(Employee::key("contoso", found.id))?.ok_or("and so is who has it")?;
    writeln!(out, "  employee {}, {:?}, earns {}", ken.id, ken.name, ken.salary)?;
    assert_eq!((ken.name.expose().as_str(), ken.salary), ("Ken Kwok", 70_000));
    assert_eq!(query.count()?, 1);

    writeln!(
        out,
        "\nKeys are rotated. Old values open still, new ones have new keys, and both are found:\n"
    )?;
    let rotated = encryption.rotate_all()?;
    hire(&store, 3, "Jo Jones", "457-55-5462", 80_000)?;
    writeln!(out, "  {rotated} keys got successors")?;
    draw(&mut out, numbers.dynamic())?;
    for (ssn, id) in [("078-05-1120", 1), ("457-55-5462", 3)] {
        assert_eq!(numbers.get(Number::by_ssn("contoso", ssn))?.map(|number| number.id), Some(id));
    }
    let of_ann = |number: &Number| number.ssn.expose() == "078-05-1120";
    let filtered = numbers.rows().company("contoso").filter(|number| number.ssn.eq("078-05-1120"));
    assert!(filtered.into_iter().all(|number| number.is_ok_and(|number| of_ann(&number))));

    writeln!(out, "\nA number is given once, whichever key it was filed under:\n")?;
    let refused = hire(&store, 4, "Another Ann", "078-05-1120", 1).unwrap_err();
    writeln!(out, "  {refused}")?;
    assert_eq!(refused.kind(), ErrorKind::UniqueConflict);
    assert!(staff.get(Employee::key("contoso", 4))?.is_none());

    writeln!(out, "\nA job seals anew what is left under the old keys, and files it anew; then they go:\n")?;
    let numbered = numbers.reencrypt()?.run()?;
    let mut job = staff.reencrypt()?;
    while job.step()? {}
    writeln!(out, "  {numbered}\n  {}", job.report())?;
    writeln!(out, "  {} old keys destroyed", encryption.destroy_unused()?)?;
    draw(&mut out, numbers.dynamic())?;
    assert_eq!((numbered.changed, job.report().changed, job.report().failed), (2, 2, 0));
    assert!(encryption.keys()?.iter().all(|key| key.current));
    assert_eq!(numbers.get(Number::by_ssn("contoso", "078-05-1120"))?.map(|number| number.id), Some(1));

    writeln!(out, "\nKen leaves. His keys are destroyed, and with them every copy of what they sealed:\n")?;
    numbers.delete(Number::key("contoso", 2))?;
    let destroyed = encryption.shred(&staff.dynamic().partition_key_scope("contoso_0002")?)?;
    let gone = staff.get(Employee::key("contoso", 2)).unwrap_err();
    writeln!(out, "  {destroyed} keys destroyed\n  {gone}")?;
    assert_eq!(gone.kind(), ErrorKind::KeyShredded);
    assert_eq!(staff.get(Employee::key("contoso", 1))?.map(|ann| ann.salary), Some(90_000));
    assert!(numbers.get(Number::by_ssn("contoso", "219-09-9999"))?.is_none());
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
