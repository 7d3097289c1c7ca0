//! What the macro draws, and where that is not what the schema draws.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use syn::DeriveInput;
use table_words::picture::{Design, Form};

use super::{design, text};
use crate::ctxt::Ctxt;
use crate::{check, model};

fn drawn(declaration: &str) -> Design {
    let (cx, input): (_, DeriveInput) = (Ctxt::default(), syn::parse_str(declaration).unwrap());
    let model = model::Entity::read(&cx, &input).unwrap();
    check::entity(&cx, &model);
    let design = design(&model);
    cx.check().unwrap();
    design
}

/// Returns the declarations of entities in a program, without those of previous versions.
fn declarations(text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().collect();
    let mut declarations = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let words = line.trim_start();
        let Some(derives) = words.strip_prefix("#[derive(") else { continue };
        let mut derives = derives.trim_end_matches(")]").split(',').map(str::trim);
        if !derives.any(|derive| derive == "Entity" || derive == "table_core::Entity") {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - words.len()]);
        let behind = &lines[at..];
        let length = behind.iter().position(|line| *line == end).unwrap();
        let declaration = behind[..=length].join("\n");
        if !declaration.contains(", former)") {
            declarations.push(declaration);
        }
    }
    declarations
}

/// Returns all examples' designs, in the form of `DESIGNS.md`.
fn document(examples: &Path) -> String {
    let mut programs: Vec<_> =
        fs::read_dir(examples.join("src/bin")).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    let mut text =
        "# The examples' designs\n\nDrawn by `SCHEMA.design()`, each with the ways to its entities.\n"
            .to_owned();
    for program in programs {
        let declarations = declarations(&fs::read_to_string(&program).unwrap());
        if declarations.is_empty() {
            continue;
        }
        write!(text, "\n## {}\n", program.file_stem().unwrap().display()).unwrap();
        for design in declarations.iter().map(|declaration| drawn(declaration)) {
            let (rows, ways) = (design.drawn(Form::Markdown), design.access_markdown());
            write!(text, "\n### {}, in table `{}`\n\n{rows}\n\n{ways}\n", design.title(), design.table)
                .unwrap();
        }
    }
    text
}

/// What the macro can't know of the examples, and draws as it is written: the struct, the line of the schema's picture, the
/// macro's.
const DIFFERENCES: &[[&str; 3]] = &[
    // The kinds of other structs.
    [
        "Employee, in table `Company`",
        "| employee, copied into department and project | `{department}` | `empid_{id:06}` | Name: String, Email: String, Salary: Int64 |",
        "| employee, copied into Department and Project | `{department}` | `empid_{id:06}` | Name: String, Email: String, Salary: Int64 |",
    ],
    // The fields of other structs.
    [
        "Department, in table `Company`",
        "| department | `{name}` | `department` | ManagerId: Int64?, ManagerName: copied String?, ManagerEmail: copied String? |",
        r"| department | `{name}` | `department` | ManagerId: Int64?, Manager: copied Option\<Contact> |",
    ],
    [
        "Project, in table `Projects`",
        "| project | `all` | `project_{title}` | Department: String, LeadId: Int64, LeadName: copied String?, LeadEmail: copied String? |",
        r"| project | `all` | `project_{title}` | Department: String, LeadId: Int64, Lead: copied Option\<Contact> |",
    ],
    // Here the schema knows less: what queries call an element.
    [
        "Film, in table `Films`",
        "| catalogue and actors, by_actor | `table.by_actor().catalogue(..).actors(..)` | range | the rows that fit | id |",
        "| catalogue and actors, by_actor | `table.by_actor().catalogue(..).actor(..)` | range | the rows that fit | id |",
    ],
    // Summaries, which their own structs declare.
    [
        "Employee, in table `Company`",
        "| payroll, summary | `{department}` | `payroll` | Employees: count, Seniors: count of some, Salaries: sum of Salary |",
        "| Payroll, summary, as its struct says |  |  |  |",
    ],
    [
        "Employee, in table `Company`",
        "| level, summary, in table Levels, atomic | `all` | `level_{level:02}` | Employees: count |",
        "| Level, summary, as its struct says |  |  |  |",
    ],
    [
        "Employee, in table `Company`",
        "| department, payroll | `store.table::<Payroll>()?.get(Payroll::key(..))` | point read | 1 row |  |",
        "| its key, Payroll | `store.table::<Payroll>()?.get(Payroll::key(..))` | point read | 1 row |  |",
    ],
    [
        "Employee, in table `Company`",
        "| level, level | `store.table::<Level>()?.get(Level::key(..))` | point read | 1 row |  |",
        "| its key, Level | `store.table::<Level>()?.get(Level::key(..))` | point read | 1 row |  |",
    ],
];

#[test]
fn types_are_drawn_as_properties_or_as_they_are_written() {
    let design = drawn(
        r#"
        #[entity(table = "Things", kind = "thing")]
        #[key(partition = "{owner}", row = "{id:06}")]
        #[index(by_tag, row = "tag_{tags[]}_{id:06}", as = tag, copy = keys, name = tagged)]
        struct Thing {
            owner: String,
            id: u32,
            #[property(json)]
            tags: Vec<String>,
            level: Level,
            seen: Option<crate::times::Ticks>,
            #[property(default)]
            size: u16,
            #[property(skip)]
            cache: Option<u8>,
            raw: Vec<u8>,
            #[encrypt(blind, scope = partition)]
            pin: Secret<String>,
            pair: BTreeMap<String, (u8, [u8; 4])>,
            manager: Option<Ref<Employee>>,
            #[series]
            loads: [Option<f64>; 24],
            #[series]
            many: [i32; COUNT],
            #[flatten]
            address: home::Address,
        }
        "#,
    );
    let held: Vec<Vec<String>> = design
        .rows
        .iter()
        .map(|row| row.holds.iter().map(|held| format!("{}: {}", held.name, held.what)).collect())
        .collect();
    assert_eq!(
        held[0],
        [
            "Tags: String",
            "Level: Level",
            "Seen: DateTime?",
            "Size: Int32?",
            "Raw: Binary",
            "Pin: encrypted by partition blind String",
            "Pair: BTreeMap<String, (u8, [u8; 4])>",
            "ManagerPartition: String?",
            "ManagerRow: String?",
            "Loads_00 .. Loads_23: Double?",
            "Many: [i32; COUNT]",
            "address: home::Address",
        ]
    );
    assert!(held[1].is_empty());
    let calls: Vec<_> = design.access_patterns().into_iter().filter_map(|pattern| pattern.call).collect();
    assert_eq!(calls[2..4], ["table.get(Thing::tagged(.., .., ..))", "table.by_tag().owner(..).tag(..)"]);
}

#[test]
fn what_a_page_says_is_a_block_of_html_and_a_table() {
    let text = text(&drawn(
        r#"
        #[entity(table = "Company", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        struct Employee { department: String, id: u32, tags: Vec<u8> }
        "#,
    ));
    let (html, table) = text.split_once("\n\n").unwrap();
    assert!(
        html.starts_with("<div><svg ") && html.ends_with("</svg></div>") && !html.contains('\n'),
        "{html}"
    );
    assert!(table.starts_with("| By | Call | Class | Reads | In the order of |\n"), "{table}");
    // Nothing that rustdoc would run.
    assert!(!text.contains("```") && !text.contains("\n    "), "{text}");
}

#[test]
fn what_is_written_is_drawn_as_the_schema_is_but_for_what_only_the_compiler_knows() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let by_schema = fs::read_to_string(examples.join("DESIGNS.md")).unwrap();
    let by_macro = document(&examples);
    let (mut of, mut differences) = ("", Vec::new());
    for (schema, written) in by_schema.lines().zip(by_macro.lines()) {
        if let Some(heading) = schema.strip_prefix("## ").or_else(|| schema.strip_prefix("### ")) {
            of = heading;
        }
        if schema != written {
            differences.push([of, schema, written]);
        }
    }
    assert_eq!(by_schema.lines().count(), by_macro.lines().count());
    assert_eq!(differences, DIFFERENCES);
}
