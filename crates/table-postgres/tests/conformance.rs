//! The store passes what every backend must, against the server that the variable `TABLE_POSTGRES` names.

mod support;

table_conformance::conformance!(support::backend());
