//! The designs of all examples, drawn: `DESIGNS.md` has them as their declarations say, and `docs/employee.svg` that of the
//! README's entity.
//!
//! After a change, `UPDATE_SNAPSHOTS=1 cargo test -p examples --test designs` draws them anew. With `DRAW_INTO=directory` each
//! is also drawn into a file of its own, in SVG, to be looked at.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use table_core::schema::{Form, Schema};
use table_core::{Entity, Store};

mod all {
    include!(concat!(env!("OUT_DIR"), "/examples.rs"));
}

/// Returns every entity, with the example that it is of.
fn entities() -> impl Iterator<Item = (&'static str, &'static Schema)> {
    all::EXAMPLES.iter().flat_map(|(name, schemas)| schemas().into_iter().map(move |schema| (*name, schema)))
}

/// Holds a file to what it is to say.
fn is_as_noted(path: &Path, text: &str) {
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(path, text).unwrap();
    }
    let noted = fs::read_to_string(path).unwrap_or_default();
    assert!(noted == text, "the designs are no longer what {} says", path.display());
}

#[test]
fn every_design_is_drawn() {
    let mut text =
        "# The examples' designs\n\nDrawn by `SCHEMA.design()`, each with the ways to its entities.\n"
            .to_owned();
    let mut last = "";
    for (example, schema) in entities() {
        if example != last {
            write!(text, "\n## {example}\n").unwrap();
            last = example;
        }
        let design = schema.design();
        let (rows, ways) = (design.drawn(Form::Markdown), design.access_markdown());
        write!(text, "\n### {}, in table `{}`\n\n{rows}\n\n{ways}\n", design.title(), design.table).unwrap();
    }
    is_as_noted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("DESIGNS.md"), &text);
    if let Some(out) = std::env::var_os("DRAW_INTO") {
        for (at, (example, schema)) in entities().enumerate() {
            let name = format!("{at:02}_{example}_{}.svg", schema.entity);
            fs::write(Path::new(&out).join(name), schema.design().drawn(Form::Svg)).unwrap();
        }
    }
}

#[test]
fn the_readme_shows_its_entity() {
    let schemas = all::readme();
    let [employee] = schemas[..] else { panic!("{schemas:?}") };
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    is_as_noted(&docs.join("docs/employee.svg"), &employee.design().drawn(Form::Svg));
    let readme = fs::read_to_string(docs.join("README.md")).unwrap();
    assert!(readme.contains("](docs/employee.svg)"));
}

/// The ways that a picture shows are those that `explain` knows, in its words.
#[test]
fn classes_are_those_of_explain() -> table_core::Result<()> {
    let store = Store::temporary()?;
    let (staff, pages) = (store.table::<Employee>()?, store.table::<Page>()?);
    macro_rules! explained {
        ($($query:expr),* $(,)?) => {
            [$((stringify!($query), $query.explain()?.class().to_string())),*]
        };
    }
    let (x, y) = ("x", "y");
    let found = explained![
        staff.rows().department(x),
        staff.by_name().department(x).last_name(y),
        staff.by_name().department(x),
        staff.by_skill().department(x).skill(y),
        staff.by_skill().department(x),
        staff.by_office().office(x),
        staff.all(),
        pages.rows(),
        pages.all(),
    ];
    let patterns: Vec<_> =
        [Employee::SCHEMA, Page::SCHEMA].iter().flat_map(|schema| schema.access_patterns()).collect();
    for (query, class) in found {
        let call: String = query.chars().filter(|c| !c.is_whitespace()).collect();
        let call = call.replace("staff.", "table.").replace("pages.", "table.");
        // The schema doesn't know what queries call an element.
        let call = call.replace("(x)", "(..)").replace("(y)", "(..)").replace(".skill(", ".skills(");
        let pattern = patterns.iter().find(|pattern| pattern.call.as_deref() == Some(&*call));
        let pattern = pattern.unwrap_or_else(|| panic!("{call}"));
        if query != "pages.rows()" && query != "pages.all()" && query != "staff.all()" {
            assert_eq!(pattern.class.to_string(), class, "{query}");
        }
    }
    assert_eq!(pages.rows().explain()?.class().to_string(), "partition scan");
    assert_eq!(staff.all().explain()?.class().to_string(), "table scan");
    // What gives one row is a point read, and compiles.
    assert!(staff.get(Employee::key(x, 1))?.is_none());
    assert!(staff.get(Employee::by_name(x, y, 1))?.is_none());
    assert!(staff.get(Employee::by_office(x, y, 1))?.is_none());
    assert!(staff.list(Employee::by_city(x, y))?.is_empty());
    Ok(())
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}_{id:06}", copy = keys)]
#[index(by_skill, row = "skill_{skills[]}_{id:06}", copy = keys, as = skill)]
#[index(by_office, table = "Offices", partition = "{office}", row = "{department}_{id:06}", copy = keys, atomic)]
#[index_list(by_city, row = "city_{city}", of = id)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    office: String,
    city: String,
    #[property(json)]
    skills: Vec<String>,
}

#[derive(Entity)]
#[entity(table = "Pages", kind = "page", allow(hot_partition))]
#[key(partition = "all", row = "{path:escaped}")]
struct Page {
    path: String,
}
