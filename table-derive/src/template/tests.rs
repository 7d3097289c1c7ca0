use super::*;

fn parsed(text: &str) -> (Vec<Part>, Vec<String>) {
    parse(text, "Employee", &["department", "id", "at", "tags", "odd"])
}

fn good(text: &str) -> Vec<Part> {
    let (parts, errors) = parsed(text);
    assert_eq!(errors, [""; 0], "{text}");
    parts
}

fn literal(text: &str) -> Part {
    Part::Literal(text.to_owned())
}

fn field(field: usize, piece: &str, column: usize, source: &str) -> Part {
    let (piece, source) = (piece.to_owned(), source.to_owned());
    Part::Field(FieldPart { field, each: piece.contains("[]"), source, piece, column })
}

#[test]
fn a_template_is_literals_and_fields() {
    assert_eq!(good(""), []);
    assert_eq!(good("all"), [literal("all")]);
    assert_eq!(good("{department}"), [field(0, "{department}", 1, "")]);
    assert_eq!(
        good("é_{id:06}_{tags[]}!"),
        [
            literal("é_"),
            field(1, "{id:06}", 3, "06"),
            literal("_"),
            field(3, "{tags[]}", 11, ""),
            literal("!"),
        ]
    );
    assert_eq!(good("{odd}{id}").len(), 2);
}

#[test]
fn doubled_braces_stand_for_themselves() {
    assert_eq!(good("a{{b}}c"), [literal("a{b}c")]);
    assert_eq!(
        good("{{{id}}}"),
        [literal("{"), field(1, "{id}", 3, ""), literal("}")],
        "a field between braces"
    );
    assert_eq!(good("{{id}}"), [literal("{id}")]);
}

#[test]
fn a_format_is_what_stands_behind_the_colon() {
    for source in ["020", "06:inverted", "shard(16)", "%Y-%m-%dT%H:%M", "blind"] {
        let piece = format!("{{id:{source}}}");
        assert_eq!(good(&piece), [field(1, &piece, 1, source)]);
    }
    assert_eq!(good("{id:shard(016)}"), [field(1, "{id:shard(016)}", 1, "shard(16)")]);
}

#[test]
fn only_one_value_in_a_format_that_keeps_it_is_given_back() {
    for (text, gives_back) in [("{id:06}", true), ("{tags[]}", false), ("{id:lower}", false)] {
        let parts = good(text);
        assert!(
            matches!(parts.first(), Some(Part::Field(part)) if part.gives_back() == gives_back),
            "{text}"
        );
    }
}

#[test]
fn what_is_wrong_is_quoted_with_its_column() {
    let time = "a time is written with `%Y`, `%m`, `%d`, `%H`, `%M`, `%S` or `%j`";
    let cases = [
        ("a{", "`{` at column 2 is never closed; a brace that stands for itself is written `{{`"),
        ("a{id", "`{` at column 2 is never closed; a brace that stands for itself is written `{{`"),
        ("{a{id}", "`{` at column 1 is never closed; a brace that stands for itself is written `{{`"),
        ("éé}", "`}` at column 3 was never opened; a brace that stands for itself is written `}}`"),
        ("{id}}", "`}` at column 5 was never opened; a brace that stands for itself is written `}}`"),
        ("{}", "`{}` at column 1: a part names a field of the struct"),
        ("{:06}", "`{:06}` at column 1: a part names a field of the struct"),
        ("{ id }", "`{ id }` at column 1: a part has no spaces"),
        ("{id.x}", "`{id.x}` at column 1: a part names a field of the struct itself, not one inside a field"),
        ("{0}", "`{0}` at column 1: `Employee` has no field `0`"),
        (
            "x_{departmnt}",
            "`{departmnt}` at column 3: `Employee` has no field `departmnt`; did you mean `department`?",
        ),
        (
            "{Department}",
            "`{Department}` at column 1: `Employee` has no field `Department`; did you mean `department`?",
        ),
        ("{tags[0]}", "`{tags[0]}` at column 1: a row for each element is written `{tags[]}`"),
        ("{tags[}", "`{tags[}` at column 1: a row for each element is written `{tags[]}`"),
        (
            "{id:}",
            "`{id:}` at column 1: a format is missing after the colon: write `{id}`, or a width as in `{id:06}`",
        ),
        (
            "{id:06:}",
            "`{id:06:}` at column 1: a format is missing after the colon: write `{id}`, or a width as in `{id:06}`",
        ),
        ("{id:invertd}", "`{id:invertd}` at column 1: unknown format `invertd`; did you mean `inverted`?"),
        (
            "{id:x}",
            "`{id:x}` at column 1: unknown format `x`; there are `06` (a width), `offset`, `inverted`, `ticks`, `escaped`, `lower`, `shard(16)`, `blind` and the parts of a time, as in `%Y-%m-%d`",
        ),
        (
            "{id:>6}",
            "`{id:>6}` at column 1: unknown format `>6`; there are `06` (a width), `offset`, `inverted`, `ticks`, `escaped`, `lower`, `shard(16)`, `blind` and the parts of a time, as in `%Y-%m-%d`",
        ),
        ("{id:inverted:06}", "`{id:inverted:06}` at column 1: write `{id:06:inverted}`"),
        (
            "{id:06:offset}",
            "`{id:06:offset}` at column 1: `offset` has a width of its own: write `{id:offset}` of a signed integer, and a width of an unsigned one",
        ),
        (
            "{id:06:lower}",
            "`{id:06:lower}` at column 1: `06` and `lower` don't go together: write one of them, `{id:06}` or `{id:lower}`; `inverted` can follow a width",
        ),
        ("{self.id}", "`{self.id}` at column 1: a part names a field without `self`: write `{id}`"),
        (
            "{id:06:08:09}",
            "`{id:06:08:09}` at column 1: unknown format `08:09`; there are `06` (a width), `offset`, `inverted`, `ticks`, `escaped`, `lower`, `shard(16)`, `blind` and the parts of a time, as in `%Y-%m-%d`",
        ),
        ("{at:reverse}", "`{at:reverse}` at column 1: unknown format `reverse`; did you mean `inverted`?"),
        ("{id:0}", "`{id:0}` at column 1: a width of 0 has no room for a digit"),
        ("{id:00}", "`{id:00}` at column 1: a width of 0 has no room for a digit"),
        ("{id:6}", "`{id:6}` at column 1: a width stands behind one zero, which it pads with: `{id:06}`"),
        ("{id:006}", "`{id:006}` at column 1: a width stands behind one zero, which it pads with: `{id:06}`"),
        ("{id:021}", "`{id:021}` at column 1: a width of 21 is too much: the widest integer has 20 digits"),
        (
            "{id:99999}",
            "`{id:99999}` at column 1: a width of 99999 is too much: the widest integer has 20 digits",
        ),
        ("{id:shard}", "`{id:shard}` at column 1: a shard says how many there are: `{id:shard(16)}`"),
        ("{id:shard(x)}", "`{id:shard(x)}` at column 1: a shard says how many there are: `{id:shard(16)}`"),
        (
            "{id:shard(1)}",
            "`{id:shard(1)}` at column 1: there can be 2 to 100 shards, which two digits tell apart, and not 1",
        ),
        (
            "{id:shard(101)}",
            "`{id:shard(101)}` at column 1: there can be 2 to 100 shards, which two digits tell apart, and not 101",
        ),
        ("{at:%Y%y}", &format!("`{{at:%Y%y}}` at column 1: unknown `%y`; {time}")),
        ("{at:%Yé}", "`{at:%Yé}` at column 1: `é` can't stand in a time: only ASCII can"),
        ("{at:%}", &format!("`{{at:%}}` at column 1: `%` stands alone; {time}")),
    ];
    for (text, message) in cases {
        assert_eq!(parsed(text).1, [message], "{text}");
    }
}

#[test]
fn every_mistake_is_reported_and_the_rest_understood() {
    let (parts, errors) = parsed("{idd}_{id:06}_{at:tics}}_");
    assert_eq!(
        errors,
        [
            "`{idd}` at column 1: `Employee` has no field `idd`; did you mean `id`?",
            "`{at:tics}` at column 15: unknown format `tics`; did you mean `ticks`?",
            "`}` at column 24 was never opened; a brace that stands for itself is written `}}`",
        ]
    );
    assert!(parts.contains(&field(1, "{id:06}", 7, "06")));
}

#[test]
fn no_text_makes_the_parser_panic() {
    let alphabet = ["{", "}", "id", "[", "]", ":", "0", "%", "é", "shard(", ")", "\u{10400}"];
    // All texts of four pieces.
    for number in 0..alphabet.len().pow(4) {
        let text: String =
            (0..4).map(|i| alphabet[number / alphabet.len().pow(i) % alphabet.len()]).collect();
        let (parts, errors) = parsed(&text);
        assert!(!parts.is_empty() || !errors.is_empty(), "{text}");
    }
}
