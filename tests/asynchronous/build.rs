//! Takes from each example what it declares, so that its awaited form is of the same entities: `tests/examples` includes it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const EXAMPLES: &str = "../../examples/src/bin";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={EXAMPLES}");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for entry in fs::read_dir(EXAMPLES)? {
        let path = entry?.path();
        if let Some(name) = path.file_name() {
            fs::write(Path::new(&out).join(name), declarations(&fs::read_to_string(&path)?))?;
        }
    }
    Ok(())
}

/// Returns an example without `main`, its documentation, and its scratch directory.
fn declarations(program: &str) -> String {
    let mut is_main = false;
    let is_kept = |line: &&str| {
        is_main |= line.starts_with("fn main()");
        let is_kept = !is_main && !line.starts_with("//!") && !line.starts_with("use examples::");
        is_main &= *line != "}";
        is_kept
    };
    program.lines().filter(is_kept).fold(String::new(), |text, line| text + line + "\n")
}
