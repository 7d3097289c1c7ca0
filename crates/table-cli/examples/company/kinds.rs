//! What the store holds, kind by kind.

use serde::{Deserialize, Serialize};
use table_core::blob::Blob;
use table_core::crypt::Secret;
use table_core::{Entity, Ticks};

/// A department, in the partition of its employees.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
pub(crate) struct Department {
    pub(crate) name: String,
    pub(crate) city: String,
    pub(crate) seal: Blob,
}

/// An employee: found by address within the department, by last name in a table of its own, and counted.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(
    by_name,
    table = "Names",
    partition = "{last_name}",
    row = "{department}_{id:06}",
    copy(first_name),
    eventual
)]
#[index_list(by_project, row = "project_{project}", of = id)]
#[summarized_in(Headcount)]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) email: String,
    pub(crate) age: i32,
    pub(crate) salary: i64,
    pub(crate) hired: Ticks,
    pub(crate) project: Option<String>,
}

/// How many employees a department has, and what it pays.
#[derive(Entity, Debug)]
#[entity(table = "Company", kind = "headcount")]
#[key(partition = "{department}", row = "headcount")]
#[summary(of = Employee)]
pub(crate) struct Headcount {
    pub(crate) department: String,
    #[summary(count)]
    pub(crate) employees: u64,
    #[summary(sum = salary)]
    pub(crate) salaries: i64,
}

/// A product; those that are for sale are listed by price, which a function of the struct says.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Shop", kind = "product")]
#[key(partition = "{shelf}", row = "product_{id:04}")]
#[index(by_price, row = "price_{cents:08}_{id:04}", when = Product::is_for_sale)]
#[index(by_name, row = "name_{name}_{id:04}")]
pub(crate) struct Product {
    pub(crate) shelf: String,
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) cents: u32,
    pub(crate) stock: i32,
}

impl Product {
    fn is_for_sale(&self) -> bool {
        self.stock > 0
    }
}

/// A contract, whose salary and number are sealed; the number is looked up by a token.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "contract")]
#[key(partition = "{company}", row = "contract_{id:04}")]
#[index(by_number, row = "number_{number:blind}", unique, copy = keys)]
pub(crate) struct Contract {
    pub(crate) company: String,
    pub(crate) id: u32,
    pub(crate) title: String,
    #[encrypt]
    pub(crate) salary: i64,
    #[encrypt(blind)]
    pub(crate) number: Secret<String>,
}

/// A year at a weather station, in a head and a part.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{year:04}")]
pub(crate) struct Weather {
    pub(crate) station: String,
    pub(crate) year: u32,
    pub(crate) rain: Option<f64>,
    #[part]
    #[series]
    pub(crate) months: [Option<f64>; 12],
}

/// A login; those of a day have a table of their own.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) at: Ticks,
    pub(crate) succeeded: bool,
}

/// A ticket, before anybody wanted them by state.
pub(crate) mod before {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Tickets", kind = "ticket")]
    #[key(partition = "{queue}", row = "ticket_{id:06}")]
    pub(crate) struct Ticket {
        pub(crate) queue: String,
        pub(crate) id: u32,
        pub(crate) state: String,
    }
}

/// A ticket, with an index that is still being made.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Tickets", kind = "ticket")]
#[key(partition = "{queue}", row = "ticket_{id:06}")]
#[index(by_state, row = "state_{state}_{id:06}", copy = keys)]
pub(crate) struct Ticket {
    pub(crate) queue: String,
    pub(crate) id: u32,
    pub(crate) state: String,
}

/// A message of the queue `hires`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Hire {
    pub(crate) department: String,
    pub(crate) id: u32,
}

/// An entry of the log `requests`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) status: u16,
}
