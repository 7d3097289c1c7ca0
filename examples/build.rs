//! Writes the examples as modules of one file, each with the declarations of its entities, for the test that draws them: a
//! program's structs are its own, and no test outside of it can name them.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

const README: &str = "../README.md";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/bin");
    println!("cargo::rerun-if-changed={README}");
    let mut programs: Vec<_> =
        fs::read_dir("src/bin")?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    programs.sort();
    let (mut modules, mut all) = (String::new(), String::new());
    for program in programs {
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&program)?;
        if !entities(&text).is_empty() {
            modules.push_str(&module(&name, &text));
            let _ = writeln!(all, "    (\"{name}\", {name}::schemas as fn() -> _),");
        }
    }
    // The first program of the README, too.
    let readme = fs::read_to_string(README)?;
    let (_, program) = readme.split_once("```rust\n").unwrap_or_default();
    let (program, _) = program.split_once("```").unwrap_or_default();
    modules.push_str(&module("readme", program));
    let list = "Vec<&'static table_core::schema::Schema>";
    let all = format!(
        "{modules}\n#[allow(clippy::type_complexity, reason = \"what a script writes\")]
pub(crate) const EXAMPLES: &[(&str, fn() -> {list})] = &[\n{all}];\n\
         pub(crate) fn readme() -> {list} {{ readme::schemas() }}\n"
    );
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&out).join("examples.rs"), all)
}

/// Returns a program as a module with the declarations of its entities.
fn module(name: &str, program: &str) -> String {
    let schemas: Vec<_> =
        entities(program).iter().map(|entity| format!("<{entity} as table_core::Entity>::SCHEMA")).collect();
    // Only a file of its own begins with documentation of itself.
    let lines: Vec<_> = program.lines().filter(|line| !line.starts_with("//!")).collect();
    format!(
        "#[allow(dead_code, unused, clippy::all, clippy::pedantic)]\nmod {name} {{\n{}\n\
         pub(super) fn schemas() -> Vec<&'static table_core::schema::Schema> {{ vec![{}] }}\n}}\n",
        lines.join("\n"),
        schemas.join(", ")
    )
}

/// Returns the paths of the entities in a program, without those of previous versions, which no table has.
fn entities(text: &str) -> Vec<String> {
    let mut entities = Vec::new();
    let (mut module, mut is_entity) = (String::new(), false);
    for line in text.lines() {
        let words = line.trim_start();
        if let Some(name) = line.strip_prefix("mod ") {
            module = format!("{}::", name.trim_end_matches(" {"));
        } else if line == "}" {
            module.clear();
        }
        if let Some(derives) = words.strip_prefix("#[derive(") {
            let mut derives = derives.trim_end_matches(")]").split(',').map(str::trim);
            is_entity = derives.any(|derive| derive == "Entity" || derive == "table_core::Entity");
        } else if words.starts_with("#[entity(") && words.contains(", former)") {
            is_entity = false;
        }
        let rest = words.strip_prefix("pub ").unwrap_or(words);
        if let Some(name) = rest.strip_prefix("struct ") {
            let name = name.split([' ', '{', ';']).next().unwrap_or_default();
            if std::mem::take(&mut is_entity) {
                entities.push(format!("{module}{name}"));
            }
        }
    }
    entities
}
