//! Documentation.

use crate::command::{Command, find};
use crate::workspace::root;

/// Builds the API's pages, with warnings as errors, and the guide where mdBook is installed.
pub(crate) fn build() -> Result<(), String> {
    let rustdoc = |arguments| Command::cargo("doc --no-deps --locked").arguments(arguments);
    let strict = |command: Command| command.variable("RUSTDOCFLAGS", "-D warnings");
    strict(rustdoc("--workspace --all-features")).run()?;
    // With the default features alone: what is always there may not link to what a feature adds.
    strict(rustdoc("-p table-core")).run()?;

    let guide = "docs/guide";
    if !root().join(guide).join("book.toml").is_file() {
        eprintln!("There is no {guide}/book.toml: no guide was built.");
        return Ok(());
    }
    if find("mdbook").is_none() {
        eprintln!("mdBook is not installed: the guide was not built (`cargo install mdbook`).");
        return Ok(());
    }
    Command::new("mdbook").arguments("build").argument(guide).run()
}
