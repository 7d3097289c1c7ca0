//! Writes the guide's example programs as modules of one file, which open the store that the command line names in the place of
//! one in a directory of their own.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

const PROGRAMS: &str = "../src/bin";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={PROGRAMS}");
    let mut paths: Vec<_> =
        fs::read_dir(PROGRAMS)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    paths.sort();
    let (mut modules, mut all) = (String::new(), String::new());
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        // One that runs itself again is no module: it would run all of them.
        if text.contains("current_exe") {
            let _ = writeln!(all, "    (\"{name}\", None),");
            continue;
        }
        modules.push_str(&module(&name, &text));
        let _ = writeln!(all, "    (\"{name}\", Some({name}::main)),");
    }
    let list = "/// The programs by their names; `None` of one that runs itself again.\n\
                pub const PROGRAMS: &[(&str, Option<crate::Program>)] = &[";
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&out).join("programs.rs"), format!("{modules}\n{list}\n{all}];\n"))
}

/// Returns a program as a module.
fn module(name: &str, text: &str) -> String {
    let mut module = format!("mod {name} {{\n    use crate::store::Store;\n");
    for line in text.lines().filter(|line| !line.starts_with("//!")) {
        let line = match line.strip_prefix("use table_core::{").and_then(|rest| rest.strip_suffix("};")) {
            Some(names) => {
                let others: Vec<_> = names.split(", ").filter(|name| *name != "Store").collect();
                format!("use table_core::{{{}}};", others.join(", "))
            }
            None => line.replace("fn main() ->", "pub fn main() ->"),
        };
        let _ = writeln!(module, "    {line}");
    }
    module + "}\n\n"
}
