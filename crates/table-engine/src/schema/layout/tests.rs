//! Layouts written, read back and compared.

use super::super::format::key_type::KeyType;
use super::super::index_states::IndexStates;
use super::super::tests::{EMPLOYEE, employee, with_row};
use super::super::{
    Blind, CharSet, Copies, Field, FieldPart, Index, KeyPart, KeyScope, Part, Place, Reads, Schema, Sum,
    SumOf, Summary, Template, TokenScope,
};
use super::{Differences, Layout, LayoutIndex, LayoutKey, Outdated, layout};
use crate::model::EdmType;

fn read(text: &str, kind: &str) -> Option<Layout> {
    Layout::parse(text, kind)
}

fn differences_in(table: &str, noted: &str, schema: &Schema) -> Option<Differences> {
    super::differences_in(table, &read(noted, schema.kind).unwrap(), schema)
}

fn differences(noted: &str, schema: &Schema) -> Option<Differences> {
    differences_in(schema.table(), noted, schema)
}

fn outdated(noted: &str, schema: &Schema) -> Option<Outdated> {
    super::outdated(&read(noted, schema.kind).unwrap(), schema)
}

const EMPLOYEES: &str = "\
version 1
partition Department:text
row \"empid_\" Id:u32:\"06\"
property Department String
property Id Int64
property FirstName String
property LastName String
property Email String
property Age Int32?
reads
reads Department other
reads Id other
reads FirstName other
reads LastName other
reads Email other
reads Age other
index by_email row \"email_\" Email:text unique copy all
index by_name row \"name_\" LastName:text \"_\" Id:u32:\"06\" copy FirstName";

#[test]
fn a_layout_is_text_for_people() {
    assert_eq!(layout(&EMPLOYEE), EMPLOYEES);
    assert_eq!(differences(EMPLOYEES, &EMPLOYEE), None);
}

/// Returns the employee with copies in another partition and another table.
fn spread() -> Schema {
    const ALL: Template = Template { source: "all", parts: &[Part::Literal("all")] };
    const NAME: Template =
        Template { source: "{last_name}", parts: &[Part::Field(FieldPart::new(3, String::KEY, ""))] };
    let by_email =
        Index { place: Place { partition: ALL, ..employee::BY_EMAIL.place }, ..employee::BY_EMAIL }.atomic();
    let by_name =
        Index { place: Place::new("Names", NAME, employee::BY_NAME.place.row), ..employee::BY_NAME }.atomic();
    Schema { indexes: Vec::leak(vec![by_email, by_name]), ..EMPLOYEE }
}

#[test]
fn a_layout_says_which_copies_lie_elsewhere_and_in_their_table_of_which_entities_they_are() {
    let schema = spread();
    assert_eq!(schema.other_tables().collect::<Vec<_>>(), ["Names"]);
    let (own, there) = (layout(&schema), Layout::of_in(&schema, "NAMES").to_string());
    let lines = "index by_email partition \"all\" row \"email_\" Email:text unique copy all\n\
                 index by_name in Names partition LastName:text row \"name_\" LastName:text \"_\" Id:u32:\"06\" copy FirstName";
    assert!(own.ends_with(lines), "{own}");
    assert_eq!(there, own.replace("version 1\n", "version 1\nof Company\n"));
    for (text, table) in [(&own, ""), (&there, "Company")] {
        let back = read(text, "employee").unwrap();
        assert_eq!((back.table(), back.indexes().all(LayoutIndex::is_elsewhere)), (table, true));
        let of = |index| back.table_of(index).unwrap_or_default();
        assert!(back.indexes().map(of).eq(["", "Names"]));
        for (index, declared) in back.indexes().zip(schema.indexes) {
            let [partition, _] = back.keys_of(Some(index));
            let names = partition.names();
            assert_eq!(partition.parts(&back, &names), declared.place.partition.parts);
        }
    }
    assert_eq!((differences(&own, &schema), differences_in("Names", &there, &schema)), (None, None));
    // Rows that would lie elsewhere than they do are another index, which is to be made, and till then keeps from writing.
    for noted in [&own.replace("Names", "Others"), &own.replace("\"all\"", "\"every\"")] {
        let found = differences(noted, &schema).unwrap();
        assert!(found.is_compatible && !found.adds, "{noted}");
        let noted = read(noted, "employee").unwrap();
        let (index_mask, refusal) = crate::schema::index_mask(Some(&noted), &IndexStates::default(), &schema);
        assert!(refusal.is_some() && !(index_mask.is_ready(0) && index_mask.is_ready(1)));
    }
    assert!(differences(EMPLOYEES, &schema).unwrap().is_compatible);
    assert!(!differences_in("Names", &there.replace("Company", "Branch"), &schema).unwrap().is_compatible);
    assert!(!differences_in("Names", &own, &schema).unwrap().is_compatible);
    // An optional field is, in both.
    let without = |text: &str| text.replace("\nproperty Age Int32?", "").replace("\nreads Age other", "");
    assert!(differences(&without(&own), &schema).unwrap().is_compatible);
    assert!(differences_in("Names", &without(&there), &schema).unwrap().is_compatible);
}

#[test]
fn lines_come_and_go_with_indexes_and_with_the_names_of_tables() {
    let schema = spread();
    let own = Layout::of(&schema);
    let bare = own.without_index("by_email");
    assert_eq!(bare.indexes().map(|index| &*index.name).collect::<Vec<_>>(), ["by_name"]);
    assert_eq!(bare.to_string().lines().count(), own.len() - 1);
    // One that is made anew comes last.
    let again = bare.with_index(&schema, "by_email");
    assert_eq!(again.indexes().map(|index| &*index.name).collect::<Vec<_>>(), ["by_name", "by_email"]);
    assert_eq!(again.index("by_email"), own.index("by_email"));

    let there = own.noted_elsewhere("Company");
    assert_eq!(there, Layout::of_in(&schema, "Names"));
    assert_eq!(there.without_table("company"), own);
    assert_eq!(there.without_table("Names"), there);
    let renamed = there.with_table_renamed("names", "People").with_table_renamed("company", "Firm");
    let expected = there.to_string().replace("in Names", "in People").replace("of Company", "of Firm");
    assert_eq!(renamed.to_string(), expected);
}

fn one(key: KeyType, format: &'static str, each: bool) -> Part {
    Part::Field(if each { FieldPart::each(1, key, format) } else { FieldPart::new(1, key, format) })
}

/// Returns every kind of part, behind a text with what quotes and sets apart.
fn parts() -> Vec<Part> {
    let keys = [
        KeyType::Unsigned { digits: 3, max: 255 },
        KeyType::Unsigned { digits: 20, max: u64::MAX },
        KeyType::Signed { bits: 64 },
        KeyType::Text(CharSet::ALL),
        KeyType::Text(CharSet::of("a \"(:\\")),
        KeyType::Text(CharSet::range('a', 'z').or(CharSet::BEYOND)),
        KeyType::Uuid,
        KeyType::Bool,
        KeyType::Time,
        KeyType::Names(&["a b", "\"", ")", ""]),
        KeyType::Names(&[]),
        KeyType::Optional(&KeyType::Each(&KeyType::Uuid)),
    ];
    let formats = [
        "",
        "06",
        "offset",
        "inverted",
        "020:inverted",
        "ticks",
        "%Y \"%j",
        "escaped",
        "lower",
        "shard(100)",
        "blind",
    ];
    let keys = keys.into_iter().flat_map(|key| formats.map(|format| one(key, format, key == KeyType::Uuid)));
    std::iter::once(Part::Literal("a \"b\": c(d)[]:x ")).chain(keys).collect()
}

fn of_one_value(part: &Part) -> Part {
    match *part {
        Part::Field(part) => {
            let printed = FieldPart::new(part.field, part.key.single(), part.source);
            Part::Field(FieldPart { each: part.each, ..printed })
        }
        literal => literal,
    }
}

#[test]
fn a_layout_is_read_back() {
    for part in parts() {
        let row = Template {
            source: "",
            parts: vec![Part::Literal("row "), part, Part::Literal(" unique")].leak(),
        };
        let index =
            Index { place: employee::at(row), sparse: true, copies: Copies::Keys, ..employee::BY_EMAIL };
        let schema = Schema { indexes: Vec::leak(vec![index, employee::BY_NAME]), ..with_row(row) };
        let text = layout(&schema);
        let back = read(&text, "employee").unwrap_or_else(|| panic!("{text}"));
        assert_eq!(back.to_string(), text);
        assert_eq!(back, Layout::of(&schema));
        assert_eq!((&*back.kind, back.version(), back.indexes().count()), ("employee", 1, 2));
        // Keys are lent as they are declared, but for the types: a key is printed of one value.
        let declared: Vec<_> = row.parts.iter().map(of_one_value).collect();
        for keys in [back.keys_of(None), back.keys_of(back.index("by_email"))] {
            let [of_partition, of_row] = keys.map(LayoutKey::names);
            let [partition, row] = keys;
            assert_eq!(partition.parts(&back, &of_partition), EMPLOYEE.place().partition.parts);
            assert_eq!(row.parts(&back, &of_row), declared);
        }
        assert_eq!(differences(&text, &schema), None);
    }
    let damaged = [
        "x",
        "version one",
        "row \"",
        "row Id:",
        "row Id:u32:\"0x\"",
        "index a row b copy c",
        "property Age",
    ];
    for damaged in damaged {
        assert!(read(damaged, "employee").is_none(), "{damaged}");
    }
    let many = |first: usize| {
        format!("version 1\npartition\nrow\nseries Cpu_0 {first} Int32?\nseries Memory_0 200 Int32?")
    };
    assert!(read(&many(25_000), "employee").is_some());
    assert!(read(&many(25_001), "employee").is_none(), "no entity has as many properties");
}

fn changed(fields: &[Field]) -> Schema {
    Schema { fields: Vec::leak(fields.to_vec()), ..EMPLOYEE }
}

#[test]
fn what_needs_no_migration_is_compatible() {
    let fields = EMPLOYEE.fields;
    let note = Field { name: "note", property: "Note", edm: EdmType::String, optional: true, ..Field::PLAIN };
    let mut more = fields.to_vec();
    more.push(note);
    let found = differences(EMPLOYEES, &changed(&more)).unwrap();
    assert_eq!((found.lines, found.is_compatible), (vec!["+ property Note String?".to_owned()], true));

    more[6].optional = false;
    assert!(!differences(EMPLOYEES, &changed(&more)).unwrap().is_compatible);

    // Wider, and absent too; but not back again.
    let mut wide = fields.to_vec();
    wide[5].edm = EdmType::Int64;
    wide[2].optional = true;
    let wide = changed(&wide);
    let found = differences(EMPLOYEES, &wide).unwrap();
    assert!(found.is_compatible, "{found:?}");
    assert_eq!(found.lines[..2], ["- property Age Int32?", "+ property Age Int64?"]);
    assert!(!differences(&layout(&wide), &EMPLOYEE).unwrap().is_compatible);

    let gone = differences(EMPLOYEES, &changed(&fields[..5])).unwrap();
    // A program that lacks what is optional carries it along; its declaration is not noted.
    let lines = vec!["- property Age Int32?".to_owned()];
    assert_eq!((gone.lines, gone.is_compatible, gone.adds), (lines, true, false));
    let gone = differences(EMPLOYEES, &changed(&fields[..4])).unwrap();
    assert!(!gone.is_compatible, "{gone:?}");
}

#[test]
fn what_is_sealed_reads_otherwise_than_what_is_not() {
    let mut fields = EMPLOYEE.fields.to_vec();
    fields[5].encrypted = true;
    let sealed = changed(&fields);
    let text = layout(&sealed);
    assert!(text.contains("\nproperty Age encrypted Int32?\n"), "{text}");
    assert_eq!(read(&text, "employee").unwrap().to_string(), text);
    let lines = ["- property Age Int32?", "+ property Age encrypted Int32?"];
    let found = differences(EMPLOYEES, &sealed).unwrap();
    assert_eq!((&found.lines[..], found.is_compatible), (&lines.map(str::to_owned)[..], false));
    assert!(!differences(&text, &EMPLOYEE).unwrap().is_compatible);
}

#[test]
fn whose_key_seals_and_which_tokens_there_are_is_part_of_the_layout() {
    let mut seen = vec![layout(&EMPLOYEE)];
    for scope in [KeyScope::Store, KeyScope::Table, KeyScope::Partition] {
        let tokens = [TokenScope::Partition, TokenScope::Table];
        let blind = tokens.map(|tokens| Some(Blind { property: "AgeToken", tokens }));
        for blind in [None].into_iter().chain(blind) {
            let mut fields = EMPLOYEE.fields.to_vec();
            (fields[5].encrypted, fields[5].scope, fields[5].blind) = (true, scope, blind);
            let schema = changed(&fields);
            let text = layout(&schema);
            let back = read(&text, "employee").unwrap();
            let (property, tokens) = (&back.properties[5], blind.map(|blind| blind.tokens));
            assert_eq!((property.scope(), property.tokens()), (scope, tokens), "{text}");
            assert_eq!(property.token(), tokens.map(|_| "AgeToken".to_owned()));
            assert_eq!(
                (property.is_token("AgeToken"), property.is_token("Token")),
                (tokens.is_some(), false)
            );
            assert_eq!(back.to_string(), text);
            for other in &seen {
                assert!(!differences(other, &schema).unwrap().is_compatible, "{other}\n{text}");
            }
            seen.push(text);
        }
    }
    assert!(seen[9].contains("\nproperty Age encrypted by partition blind by table Int32?\n"), "{}", seen[9]);
}

#[test]
fn what_is_plain_comes_to_be_sealed_in_two_steps_and_never_back() {
    let with = |encrypted, dual| {
        let mut fields = EMPLOYEE.fields.to_vec();
        (fields[5].encrypted, fields[5].dual) = (encrypted, dual);
        changed(&fields)
    };
    let (plain, dual, sealed) = (EMPLOYEE, with(true, true), with(true, false));
    let text = layout(&dual);
    assert!(text.contains("\nproperty Age encrypted(dual) Int32?\n"), "{text}");
    assert_eq!(read(&text, "employee").unwrap().to_string(), text);

    let step = |old: &Schema, new: &Schema| differences(&layout(old), new).unwrap();
    let begins = step(&plain, &dual);
    assert!(begins.is_compatible && begins.begins_to_seal && begins.no_longer_plain.is_empty(), "{begins:?}");
    let ends = step(&dual, &sealed);
    assert!(ends.is_compatible && !ends.begins_to_seal, "{ends:?}");
    assert_eq!(ends.no_longer_plain, ["Age"]);
    for (old, new) in [(&plain, &sealed), (&sealed, &plain), (&sealed, &dual), (&dual, &plain)] {
        let jump = step(old, new);
        assert!(!jump.is_compatible && jump.jumps, "{jump:?}");
    }
    // Tokens come with the first step, or never: what was sealed without has none.
    let with_tokens = |schema: &Schema| {
        let mut fields = schema.fields.to_vec();
        fields[5].blind = Some(Blind { property: "AgeToken", tokens: TokenScope::Partition });
        changed(&fields)
    };
    let (dual_blind, sealed_blind) = (with_tokens(&dual), with_tokens(&sealed));
    let text = layout(&dual_blind);
    assert!(text.contains("\nproperty Age encrypted(dual) blind Int32?\n"), "{text}");
    assert_eq!(read(&text, "employee").unwrap().to_string(), text);
    assert!(step(&plain, &dual_blind).is_compatible && step(&dual_blind, &sealed_blind).is_compatible);
    for (old, new) in [(&dual, &dual_blind), (&dual, &sealed_blind), (&dual_blind, &sealed)] {
        assert!(!step(old, new).is_compatible);
    }
    // With another change beside it that is none to make, it is not made.
    let mut fields = dual.fields.to_vec();
    fields[2].edm = EdmType::Binary;
    assert!(!step(&plain, &changed(&fields)).is_compatible);

    let bares = |noted: &Schema, schema: &Schema| outdated(&layout(noted), schema) == Some(Outdated::Bare);
    assert!(bares(&dual, &plain) && bares(&sealed, &plain));
    assert!(
        !bares(&dual, &dual) && !bares(&dual, &sealed) && !bares(&sealed, &dual) && !bares(&plain, &dual)
    );
}

#[test]
fn a_key_that_prints_otherwise_is_no_longer_the_same() {
    let with_id = |key, format| {
        let part = Part::Field(FieldPart::new(1, key, format));
        let parts = vec![Part::Literal("empid_"), part].leak();
        with_row(Template { source: "", parts })
    };
    let (small, large) =
        (KeyType::Unsigned { digits: 5, max: 0xffff }, KeyType::Unsigned { digits: 20, max: u64::MAX });
    let is_compatible = |old: &Schema, new: &Schema| differences(&layout(old), new).unwrap().is_compatible;
    let padded = |key| with_id(key, "06");
    assert!(is_compatible(&padded(small), &padded(large)));
    assert!(!is_compatible(&padded(large), &padded(small)));
    assert!(!is_compatible(&with_id(small, ""), &with_id(large, "")));
    assert!(!is_compatible(&padded(small), &with_id(small, "07")));

    let names = |names| with_id(KeyType::Names(names), "");
    assert!(is_compatible(&names(&["new", "old"]), &names(&["old", "hot", "new"])));
    assert!(!is_compatible(&names(&["new", "old"]), &names(&["new", "hot"])));
    assert!(!is_compatible(&names(&["new", "old"]), &names(&["new", "old", "gone"])));
}

#[test]
fn a_changed_index_is_no_longer_the_same() {
    let with = |index: Index| Schema { indexes: Vec::leak(vec![index, employee::BY_NAME]), ..EMPLOYEE };
    for index in [
        Index { unique: false, ..employee::BY_EMAIL },
        Index { sparse: true, ..employee::BY_EMAIL },
        Index { copies: Copies::Keys, ..employee::BY_EMAIL },
        Index { name: "by_mail", ..employee::BY_EMAIL },
    ] {
        // The entities read as they did. What becomes of the index is a matter of its state.
        let found = differences(EMPLOYEES, &with(index)).unwrap();
        assert!(found.is_compatible && !found.lines.is_empty(), "{index:?}");
    }
    let found = differences(EMPLOYEES, &Schema { indexes: &[], version: 2, ..EMPLOYEE }).unwrap();
    assert_eq!(found.lines.len(), 4);
    assert!(!found.is_compatible);
}

#[test]
fn a_property_that_was_renamed_is_compared_with_what_it_was() {
    const BOTH: &[Field] =
        &[TEXT.named("team", "Team"), TEXT.named("mail", "Mail"), TEXT.named("old", "Email").or_default()];
    const TEXT: Field = Field { column: super::super::ColumnType::Text, ..Field::PLAIN };
    const BEFORE: &[Field] = &[TEXT.named("team", "Team"), TEXT.named("mail", "Email")];
    const NOW: &[Field] = &[TEXT.named("team", "Team"), TEXT.named("mail", "Mail").was("Email")];
    const LATER: &[Field] = &[TEXT.named("team", "Team"), TEXT.named("mail", "Mail")];
    const OTHER: &[Field] = &[TEXT.named("team", "Team"), TEXT.named("mail", "Mail").was("Address")];
    const MAYBE: &[Field] =
        &[TEXT.named("team", "Team"), TEXT.named("mail", "Mail").was("Email").or_default()];
    const THIRD: &[Field] =
        &[TEXT.named("team", "Team"), TEXT.named("mail", "Post").was("Mail").or_default()];
    let of = |fields: &'static [Field]| {
        let part = |field| Part::Field(FieldPart::new(field, KeyType::Text(CharSet::ALL), ""));
        let template = |field| Template::new("{}", vec![part(field)].leak());
        let place = Place::new("Club", template(0), template(1));
        let index = Index::new("by_mail", "member.by_mail", place).copies(Copies::Some(&[1]));
        Schema::new(["Member", "member"], fields, vec![place].leak()).indexes(vec![index].leak())
    };
    let (before, now, later, other, maybe) = (of(BEFORE), of(NOW), of(LATER), of(OTHER), of(MAYBE));
    assert!(layout(&now).contains("\nproperty Mail String was Email\n"));
    for (schema, is_optional) in [(&now, false), (&maybe, true)] {
        let back = read(&layout(schema), "member").unwrap();
        let mail = &back.properties[1];
        assert_eq!((mail.was.as_deref(), mail.optional), (Some("Email"), is_optional));
        assert_eq!(back, Layout::of(schema));
    }

    let compared = |noted: &Schema, schema: &Schema| differences(&layout(noted), schema).unwrap();
    for new in [&now, &maybe] {
        let found = compared(&before, new);
        assert!(found.is_compatible && found.adds, "{found:?}");
        assert_eq!(super::united("Club", &Layout::of(&before), new), Layout::of(new));
    }
    // No program may go back, or forget what it was, as long as that is noted.
    for previous in [&before, &later, &other] {
        assert!(!compared(&now, previous).is_compatible);
        assert!(!compared(&maybe, previous).is_compatible);
        let misnamed = Outdated::Misnamed { is: "Mail".to_owned(), was: "Email".to_owned() };
        assert_eq!(outdated(&layout(&now), previous), Some(misnamed));
    }
    assert!(!compared(&later, &before).is_compatible);
    assert!(!compared(&before, &other).is_compatible);
    assert_eq!(outdated(&layout(&before), &now), None);
    assert_eq!(outdated(&layout(&now), &maybe), None);
    // Rows that have the first name would read as if they had none.
    for noted in [&now, &maybe] {
        assert!(!compared(noted, &of(THIRD)).is_compatible);
    }
    // Two properties can't become one.
    assert!(!compared(&of(BOTH), &now).is_compatible);
}

#[test]
fn a_layout_says_which_numbers_a_summary_has() {
    const SUMS: &[Sum] = &[
        Sum::new("People", SumOf::Count),
        Sum::new("Old", SumOf::CountWhen),
        Sum::new("Ages", SumOf::Field(3)),
    ];
    const fn summed(sums: &'static [Sum]) -> Index {
        let row = Template::new("total", &[Part::Literal("total")]);
        Index::new("total", "total", EMPLOYEE.place().beside(row))
            .summary(Summary::new(&Schema::NOTHING, sums))
    }
    const TOTAL: &[Index] = &[summed(SUMS)];
    const FEW: &[Sum] = &[SUMS[0], SUMS[2]];
    const FEWER: &[Index] = &[summed(FEW)];
    let schema = Schema { indexes: TOTAL, ..EMPLOYEE };
    let noted = layout(&schema);
    let summed = schema.fields[3].property;
    let line = format!("\nindex total row \"total\" sums People:count Old:count(when) Ages:sum({summed})");
    assert!(noted.ends_with(&line), "{noted}");
    let read = read(&noted, "employee").unwrap();
    let total = read.index("total").unwrap();
    assert_eq!(read.index_kind(total), "total");
    let is_same =
        |declared: &Layout| super::same_index(&read, total, declared, declared.index("total").unwrap());
    assert!(is_same(&Layout::of(&schema)));
    assert_eq!(differences(&noted, &schema), None);
    // One with other numbers is another, and keeps a program that doesn't know it from writing.
    let other = Schema { indexes: FEWER, ..EMPLOYEE };
    assert!(!is_same(&Layout::of(&other)));
    for declared in [&other, &EMPLOYEE] {
        let (index_mask, refusal) = crate::schema::index_mask(Some(&read), &IndexStates::default(), declared);
        assert!(refusal.is_some() && (declared.indexes != FEWER || !index_mask.is_ready(0)));
    }
    // What is no number of a summary is no layout.
    for wrong in ["Ages:sum(Nothing)", "Ages:sum", "Ages:most", "Ages"] {
        let wrong = noted.replace(&format!("Ages:sum({summed})"), wrong);
        assert!(Layout::parse(&wrong, "employee").is_none(), "{wrong}");
    }
}

/// Returns the employee with an age that is read so.
fn reading(reads: Reads) -> Schema {
    let mut fields: Vec<_> =
        EMPLOYEE.fields.iter().map(|field| Field { reads: Reads::Any, ..*field }).collect();
    fields[5].reads = reads;
    changed(&fields)
}

#[test]
fn a_layout_says_what_is_read_of_a_property_and_what_stands_for_it() {
    let small = Reads::Integers(0, 255);
    let mut fields = reading(small).fields.to_vec();
    fields[3].reads = Reads::Names(&["b \"c\"", "a"]);
    fields[2].defaults = true;
    let text = layout(&changed(&fields));
    let lines = "\nreads\nreads FirstName any or default\nreads LastName names(\"a\" \"b \\\"c\\\"\")\nreads Age u8\nindex";
    assert!(text.contains(lines), "{text}");
    assert_eq!(read(&text, "employee").unwrap().to_string(), text);
    for damaged in
        ["reads Age", "reads Age u9", "reads Age names", "reads Age names(\"a\" x)", "reads Nothing u8"]
    {
        assert!(read(&text.replace("reads Age u8", damaged), "employee").is_none(), "{damaged}");
    }
    // A former release noted nothing of it: the next write does.
    let former: Vec<_> = text.lines().filter(|line| !line.starts_with("reads")).collect();
    let found = differences(&former.join("\n"), &changed(&fields)).unwrap();
    assert_eq!((found.lines.is_empty(), found.is_compatible, found.adds), (true, true, true));
    let noted = read(&former.join("\n"), "employee").unwrap();
    assert!(noted.obstacle().is_some());
    assert_eq!(super::united("Company", &noted, &changed(&fields)).to_string(), text);
}

/// Programs that follow one another, in whatever order, come to one layout, which none of them changes again.
#[test]
fn what_either_of_two_declarations_reads_is_noted() {
    let names = |names: &'static [&'static str]| Reads::Names(names);
    for (one, other, both) in [
        (Reads::Integers(0, 255), Reads::Integers(0, 0xffff), "reads Age u16"),
        (Reads::Integers(-0x80, 0x7f), Reads::Integers(0, 255), ""),
        (Reads::Any, Reads::Integers(0, 255), ""),
        (names(&["a", "b"]), names(&["c", "b"]), "reads Age names(\"a\" \"b\" \"c\")"),
        (Reads::Json, Reads::Any, "reads Age other"),
        (names(&["a"]), Reads::Any, "reads Age other"),
        (Reads::Other, Reads::Integers(0, 255), "reads Age other"),
    ] {
        for (first, second) in [(reading(one), reading(other)), (reading(other), reading(one))] {
            let noted = Layout::of(&first);
            let united = super::united("Company", &noted, &second);
            let line = united
                .to_string()
                .lines()
                .find(|line| line.starts_with("reads Age"))
                .unwrap_or("")
                .to_owned();
            assert_eq!(line, both);
            for declared in [&first, &second] {
                let found = super::differences_in("Company", &united, declared);
                assert!(found.is_none_or(|found| found.is_compatible && !found.adds), "{line}");
            }
        }
    }
}

#[test]
fn a_layout_declares_what_it_was_made_of() {
    let schema = Schema { indexes: spread().indexes, ..reading(Reads::Integers(0, 255)) };
    for declared in [reading(Reads::Any), schema] {
        let noted = Layout::of(&declared);
        let made = noted.declare("Company").unwrap();
        assert_eq!(Layout::of(made), noted);
        assert!(noted.obstacle().is_none());
        let fields = |schema: &Schema| -> Vec<_> {
            schema
                .fields
                .iter()
                .map(|field| (field.property, field.edm, field.optional, field.reads))
                .collect()
        };
        assert_eq!(fields(made), fields(&declared));
        for (made, declared) in made.indexes.iter().zip(declared.indexes) {
            assert_eq!(
                (made.kind, made.copies, made.unique),
                (declared.kind, declared.copies, declared.unique)
            );
            assert_eq!(made.place.table.source(), declared.place.table.source());
            assert_eq!(made.place.row.parts, declared.place.row.parts);
        }
    }
}
