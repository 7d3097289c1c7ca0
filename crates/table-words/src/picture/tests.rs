//! Pictures as they are drawn, of designs that are plain and of names that mean something to a format.

use super::{AccessClass, Design, DesignKey, DesignRow, FieldPiece, Form, Held, KeyPiece, RowRole};

fn employee() -> Design {
    let department = DesignKey::new().field("department", "");
    let keys = |row: DesignKey| [department.clone(), row];
    let own = keys(DesignKey::new().text("empid_").field("id", "06"));
    let mut own = DesignRow::new(RowRole::Entity, "key", "employee", own)
        .holding([Held::new("Email", "String"), Held::new("Age", "Int32?")]);
    own.words.push("copied into project".into());
    let mut by_email = keys(DesignKey::new().text("email_").field("email", ""));
    by_email[0] = DesignKey::new().text("emails");
    let mut by_email = DesignRow::new(RowRole::Copy, "by_email", "employee.by_email", by_email)
        .holding([Held::new("Department", "String"), Held::new("Id", "Int64")]);
    by_email.words.extend(["unique".into(), "atomic".into()]);
    by_email.table = Some("Emails".into());
    let by_name = keys(DesignKey::new().text("name_").field("name", "").text("_").field("id", "inverted"));
    let by_name = DesignRow::new(RowRole::Copy, "by_name", "employee.by_name", by_name);
    Design::new("employee", "Company").of("Employee").with(own).with(by_email).with(by_name)
}

#[test]
fn a_design_is_drawn_as_text() {
    assert_eq!(
        employee().drawn(Form::Text),
        "\
Employee in table Company
Row                                                 PartitionKey  RowKey                     Properties
employee, copied into project                       {department}  empid_{id:06}              Email: String, Age: Int32?
employee.by_email, unique, in table Emails, atomic  emails        email_{email}              Department: String, Id: Int64
employee.by_name                                    {department}  name_{name}_{id:inverted}"
    );
}

#[test]
fn a_design_is_drawn_in_markdown() {
    assert_eq!(
        employee().drawn(Form::Markdown),
        "\
| Row | PartitionKey | RowKey | Properties |
| --- | --- | --- | --- |
| employee, copied into project | `{department}` | `empid_{id:06}` | Email: String, Age: Int32? |
| employee.by_email, unique, in table Emails, atomic | `emails` | `email_{email}` | Department: String, Id: Int64 |
| employee.by_name | `{department}` | `name_{name}_{id:inverted}` |  |"
    );
}

#[test]
fn a_design_is_drawn_in_mermaid() {
    assert_eq!(
        employee().drawn(Form::Mermaid),
        "\
erDiagram
    employee[\"employee, copied into project\"] {
        key PartitionKey PK \"{department}\"
        key RowKey PK \"empid_{id:06}\"
        String Email
        Int32 Age \"Int32?\"
    }
    employee_by_email[\"employee.by_email, unique, in table Emails, atomic\"] {
        key PartitionKey PK \"emails\"
        key RowKey PK \"email_{email}\"
        String Department
        Int64 Id
    }
    employee_by_name[\"employee.by_name\"] {
        key PartitionKey PK \"{department}\"
        key RowKey PK \"name_{name}_{id:inverted}\"
    }
    employee ||--o| employee_by_email : \"by_email\"
    employee ||--o| employee_by_name : \"by_name\""
    );
}

#[test]
fn a_design_is_drawn_in_json() {
    let drawn = employee().drawn(Form::Json);
    for part in [
        "{\"entity\":\"Employee\",\"kind\":\"employee\",\"version\":1,\"table\":\"Company\",\"inPeriods\":false,\"rows\":[{",
        "\"rowKey\":{\"template\":\"empid_{id:06}\",\"parts\":[{\"text\":\"empid_\"},{\"field\":\"id\",\"format\":\"06\",\"each\":false}]}",
        "\"table\":\"Emails\",\"words\":[\"unique\",\"atomic\"]",
        "\"properties\":[]",
        "{\"by\":\"department and id\",\"call\":\"table.get(Employee::key(.., ..))\",\"index\":null,\"given\":[\"department\",\"id\"],\"narrowedBy\":null,\"class\":\"point\",\"reads\":\"1 row\",\"order\":\"\"}",
    ] {
        assert!(drawn.contains(part), "{part}\n{drawn}");
    }
}

#[test]
fn a_design_is_drawn_in_svg() {
    let drawn = employee().drawn(Form::Svg);
    assert!(drawn.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{drawn}");
    for part in [
        "<title>The rows of Employee in table Company</title>",
        "@media(prefers-color-scheme:dark)",
        ">{department}</tspan>",
        ">empid_</tspan>",
        ">table Emails</tspan>",
        ">the key alone</tspan>",
        ">unique</text>",
    ] {
        assert!(drawn.contains(part), "{part}\n{drawn}");
    }
    // The table is said once.
    assert!(!drawn.contains("in table Emails"), "{drawn}");
    let inline = employee().inline_svg();
    assert!(!inline.contains("<style") && !inline.contains("class="), "{inline}");
    for drawn in [&drawn, &inline] {
        is_well_formed(drawn);
        assert!(!drawn.contains("<script") && !drawn.contains("href"), "{drawn}");
    }
}

/// What is no name of a declaration that compiles, or of a sane layout, but of one that somebody has written.
const HOSTILE: [&str; 12] = [
    "</svg><script>alert(1)</script>",
    "\" onload=\"x",
    "a|b`c``d*e_f_[g](h)<i>&amp;",
    "a\n\n# b\r\n",
    "\u{0}\u{1b}\u{7f}\u{85}\u{ffff}",
    "\u{202e}evil\u{2066}",
    "名前がとても長いので二行になる名前がとても長いので二行になる",
    "{{}}{x}",
    "}",
    "",
    "\\\" \\u0000",
    "a very long name that does not fit into one line of any column and has to be broken, more than once, where it is no word",
];

fn hostile(name: &str) -> Design {
    let mut field = FieldPiece::new(name, name).of_each(Some(name.to_owned()));
    field.each = true;
    let key = || {
        let mut key = DesignKey::new().text(name).field(name, "06");
        key.pieces.push(KeyPiece::Field(field.clone()));
        key
    };
    let roles = [RowRole::Entity, RowRole::Part(1), RowRole::Copy, RowRole::List, RowRole::Summary];
    let mut design = Design::new(name, name).of(name);
    for role in roles {
        let mut row = DesignRow::new(role, name, name, [key(), key()]).holding([Held::new(name, name)]);
        row.words.extend([name.to_owned(), name.to_owned()]);
        row.table = Some(name.to_owned());
        row.function = Some(name.to_owned());
        design.rows.push(row);
    }
    design
}

#[test]
fn names_that_mean_something_to_a_form_mean_nothing_in_it() {
    for name in HOSTILE {
        let design = hostile(name);
        for drawn in [design.drawn(Form::Svg), design.inline_svg()] {
            is_well_formed(&drawn);
            // One line: an empty one would end the block of HTML that it is on a page.
            assert!(!drawn.trim_end().contains('\n'), "{drawn}");
            assert!(!drawn.contains("<script") && !drawn.contains("\" onload"), "{drawn}");
            assert!(!drawn.contains(['\u{202e}', '\0', '\u{1b}']), "{drawn}");
        }
        for drawn in [design.drawn(Form::Markdown), design.access_markdown()] {
            let lines: Vec<_> = drawn.lines().collect();
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            assert!(lines.iter().all(|line| bars(line) == bars(lines[0])), "{name:?}\n{drawn}");
            let mut cells = lines.iter().skip(2).flat_map(|line| line.split(" | "));
            assert!(
                cells.all(|cell| cell.contains('`') || !cell.replace("\\<", "").contains('<')),
                "{drawn}"
            );
        }
        let mermaid = design.drawn(Form::Mermaid);
        let is_line = |line: &str| line == "erDiagram" || line.matches('"').count().is_multiple_of(2);
        assert!(mermaid.lines().all(is_line) && !mermaid.contains('\u{1b}'), "{mermaid}");
        let json = design.drawn(Form::Json);
        assert!(!json.contains(char::is_control), "{json:?}");
        assert_eq!(braces(&json), 0, "{json}");
    }
}

/// Returns how many braces and brackets of a JSON text are open at its end, without those in strings.
fn braces(json: &str) -> i32 {
    let (mut open, mut in_text, mut is_escaped) = (0, false, false);
    for c in json.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            '{' | '[' if !in_text => open += 1,
            '}' | ']' if !in_text => open -= 1,
            _ => {}
        }
    }
    open
}

/// Takes XML apart: each tag ends, and texts and attributes hold nothing that begins one.
fn is_well_formed(xml: &str) {
    let (mut open, mut rest) = (Vec::new(), xml.trim_end());
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        assert!(!text.contains('>') || open == ["svg", "style"], "{text}");
        let mut in_quotes = false;
        let end = tag.find(|c| {
            in_quotes ^= c == '"';
            c == '>' && !in_quotes
        });
        let (tag, behind) = tag.split_at(end.expect("a tag ends") + 1);
        assert!(!tag[1..].contains('<'), "{tag}");
        let name = tag[1..].split([' ', '>']).next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{xml}");
        } else if !tag.ends_with("/>") {
            open.push(name);
        }
        rest = behind;
    }
    assert_eq!((open.len(), rest), (0, ""), "{xml}");
    let entities = xml
        .split('&')
        .skip(1)
        .all(|entity| ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|known| entity.starts_with(known)));
    assert!(entities, "{xml}");
}

#[test]
fn each_key_and_each_part_of_it_is_a_way() {
    let patterns = employee().access_patterns();
    let ways: Vec<_> = patterns
        .iter()
        .map(|pattern| (pattern.call.as_deref().unwrap(), pattern.class, pattern.order.as_str()))
        .collect();
    assert_eq!(
        ways,
        [
            ("table.get(Employee::key(.., ..))", AccessClass::Point, ""),
            ("table.rows().department(..)", AccessClass::Range, "id"),
            ("table.get(Employee::by_email(..))", AccessClass::Point, ""),
            ("table.by_email()", AccessClass::Range, "email"),
            ("table.get(Employee::by_name(.., .., ..))", AccessClass::Point, ""),
            ("table.by_name().department(..).name(..)", AccessClass::Range, "id from the last"),
            ("table.by_name().department(..)", AccessClass::Range, "name, id from the last"),
            ("table.all()", AccessClass::TableScan, "department, id"),
        ]
    );
    assert_eq!(patterns[1].narrowed_by.as_deref(), Some("id"));
    assert_eq!(patterns[5].given, ["department", "name"]);
    let text = employee().access_text();
    assert!(text.starts_with("By                                Call  "), "{text}");
}

#[test]
fn forms_are_named_and_found_by_their_names() {
    for form in Form::ALL {
        assert_eq!(form.to_string().parse(), Ok(form));
    }
    assert!("png".parse::<Form>().is_err());
    assert!(Form::ALL.map(|form| employee().drawn(form)).iter().all(|drawn| drawn.contains("empid_")));
}
