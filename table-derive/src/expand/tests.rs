//! What four declarations expand to, for people to read.
//!
//! After a change of the expansion, `UPDATE_SNAPSHOTS=1 cargo test -p table-derive` writes what it is now. Read it then:
//! is it what one would write by hand?

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::ctxt::Ctxt;
use crate::{check, model};

fn input(text: &str) -> DeriveInput {
    syn::parse_str(text).unwrap()
}

fn is_as_noted(name: &str, expansion: &TokenStream) {
    let text = formatted(expansion);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/expand/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let noted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == noted, "the expansion is no longer what {} says", path.display());
}

/// Returns the expansion as `cargo fmt` would have it.
fn formatted(expansion: &TokenStream) -> String {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "max_width=110"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt is a component of the toolchain");
    rustfmt.stdin.take().unwrap().write_all(expansion.to_string().as_bytes()).unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    assert!(output.status.success(), "the expansion can't be parsed:\n{expansion}");
    String::from_utf8(output.stdout).unwrap()
}

fn entity(text: &str) -> TokenStream {
    let (cx, input) = (Ctxt::default(), input(text));
    let model = model::Entity::read(&cx, &input).unwrap();
    check::entity(&cx, &model);
    cx.check().unwrap();
    super::entity(&model)
}

#[test]
fn an_entity_without_indexes() {
    let expansion = entity(
        r#"
        #[entity(table = "Company", kind = "department", types(query, columns = Known))]
        #[key(partition = "{name}", row = "department")]
        struct Department {
            name: String,
            head_count: u32,
        }
        "#,
    );
    is_as_noted("department.rs", &expansion);
}

#[test]
fn an_entity_with_indexes() {
    let expansion = entity(
        r#"
        #[entity(table = "Company", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        #[index(by_email, row = "email_{email}", unique)]
        #[index(by_name, row = "name_{last_name}_{id:06}", copy(email), when = Employee::is_listed)]
        pub struct Employee {
            /// Where they work.
            pub department: String,
            pub id: u32,
            pub last_name: String,
            /** Where letters go,
             as they are now.

             What is said after the first paragraph stays here. */
            pub email: String,
            ///
            /// In years.
            /// ```
            /// assert!(true);
            /// ```
            #[property(default)]
            pub age: i32,
        }
        "#,
    );
    is_as_noted("employee.rs", &expansion);
}

#[test]
fn an_entity_with_sealed_fields() {
    let expansion = entity(
        r#"
        #[entity(table = "Payroll", kind = "employee", types(patch, by_ssn = Found))]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        #[index(by_ssn, row = "ssn_{ssn:blind}", unique, copy = keys)]
        pub struct Sealed {
            pub department: String,
            pub id: u32,
            #[encrypt(blind, tokens = table, scope = partition)]
            pub ssn: String,
            #[encrypt]
            pub salary: Option<i64>,
            #[encrypt(dual)]
            pub note: String,
            #[encrypt(blind, dual, scope = table)]
            pub card: String,
        }
        "#,
    );
    is_as_noted("sealed.rs", &expansion);
}

#[test]
fn a_set_of_entities() {
    let (cx, input) = (
        Ctxt::default(),
        input(
            "
            enum Company {
                Department(Department),
                Employee(Employee),
                #[entity_set(unknown)]
                Other(DynamicEntity),
            }
            ",
        ),
    );
    let model = model::EntitySet::read(&cx, &input).unwrap();
    check::entity_set(&cx, &model);
    cx.check().unwrap();
    is_as_noted("company.rs", &super::entity_set(&model));
}
