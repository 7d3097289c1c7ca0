//! That `cargo test` builds the core once.
//!
//! Cargo unifies the features of what a macro depends on apart from the others', and `table-derive` has the core for its
//! documentation. Where the two differ, in a dependency of the core as well, all of it is compiled a second time.

use crate::command::Command;

/// Fails if `cargo test` compiles a crate of the core twice. It is to have run before: what is there is not built.
pub(crate) fn check() -> Result<(), String> {
    let output = Command::cargo("test --locked --no-run --message-format=json").output()?;
    if !output.is_success {
        return Err(output.errors);
    }
    match twice(&output.standard) {
        Some(name) => Err(format!(
            "`cargo test` builds {name} twice: give the dev-dependencies of table-derive the features that those of \
             integration-tests have"
        )),
        None => Ok(()),
    }
}

/// How the profile of a library ends that is no program of its own tests. The target has a `test` as well.
const NO_TESTS: &str = r#""test":false},"features""#;

/// Returns the first crate of the core of which cargo tells two libraries.
fn twice(messages: &str) -> Option<&'static str> {
    ["table_words", "table_engine", "table_lmdb", "table_core"].into_iter().find(|name| {
        let name = format!(r#""name":"{name}""#);
        let is_library = |line: &&str| {
            [&*name, r#""reason":"compiler-artifact""#, r#""kind":["lib"]"#, NO_TESTS]
                .iter()
                .all(|part| line.contains(part))
        };
        messages.lines().filter(is_library).count() > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"table_lmdb","test":true},"profile":{"opt_level":"1","test":false},"features":[]}"#;

    #[test]
    fn a_library_and_its_tests_are_one_build_of_it() {
        let tests = LIBRARY.replace("\"test\":false}", "\"test\":true}");
        assert_eq!(twice(&format!("{LIBRARY}\n{tests}\n")), None);
    }

    #[test]
    fn a_second_library_is_found() {
        assert_eq!(twice(&format!("{LIBRARY}\n{LIBRARY}\n")), Some("table_lmdb"));
    }
}
