//! What does not compile, and what the compiler says about it: a folder for each rule of the design.
//!
//! After a change of a message, `TRYBUILD=overwrite cargo test -p integration-tests --test ui` writes what is said now.
//! Read it then: is it on the smallest token, is it true, is it alone?

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    // No case that passes among them: then a check is enough, and the store is not built once more.
    for folder in ["c[0-9]*", "queries", "projections", "later", "many"] {
        cases.compile_fail(format!("ui/{folder}/*.rs"));
    }
}
