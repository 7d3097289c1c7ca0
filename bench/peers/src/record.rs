//! An employee as the value of a key-value store: postcard, without what the key holds.

use serde::{Deserialize, Serialize};
use table_bench::company::Employee;
use table_bench::{Digest, Result};

#[derive(Serialize, Deserialize)]
pub(crate) struct Record<'a> {
    first_name: &'a str,
    last_name: &'a str,
    email: &'a str,
    age: i32,
    salary: f64,
}

pub(crate) fn encode(e: &Employee) -> Result<Vec<u8>> {
    Ok(postcard::to_allocvec(&Record {
        first_name: &e.first_name,
        last_name: &e.last_name,
        email: &e.email,
        age: e.age,
        salary: e.salary,
    })?)
}

pub(crate) fn decode(department: &str, id: u32, value: &[u8]) -> Result<Employee> {
    let record: Record<'_> = postcard::from_bytes(value)?;
    Ok(Employee {
        department: department.to_owned(),
        id,
        first_name: record.first_name.to_owned(),
        last_name: record.last_name.to_owned(),
        email: record.email.to_owned(),
        age: record.age,
        salary: record.salary,
    })
}

pub(crate) fn add(digest: &mut Digest, e: Employee) {
    let e = std::hint::black_box(e);
    digest.employee(&e.department, e.id, &e.first_name, &e.last_name, &e.email, e.age, e.salary);
}
