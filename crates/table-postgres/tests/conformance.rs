//! The store passes what every backend must, against the server that the variable `TABLE_POSTGRES` names.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

/// As behind a pooler: nothing stays prepared on a connection.
#[test]
fn without_prepared_statements() {
    for check in table_conformance::CHECKS {
        let options = support::options().prepare_statements(false);
        let server = std::env::var("TABLE_POSTGRES_POOLER").unwrap_or_else(|_| support::server());
        (check.run)(options.connect(&server).unwrap().backend());
    }
}

table_conformance::conformance!(support::backend());
