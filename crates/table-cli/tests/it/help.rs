//! What the command line says of itself.

use snapbox::str;

use crate::run::{same, tables};

#[test]
fn the_help_fits_a_screen() {
    let ran = tables(&["--help"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.lines().count() <= 24, "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    for option in ["--store", "--write", "--keys", "--format", "--errors", "--quiet"] {
        let explained = ran.out.lines().filter(|line| line.trim_start().starts_with(option)).count();
        assert_eq!(explained, 1, "{option}");
    }
    // Which commands there are is up to the features.
    assert!(ran.out.contains("\n  Look at tables   ls, schema, get, query, explain\n"), "{}", ran.out);
    assert!(ran.out.ends_with("\nBegin with:  tables --store company.tables ls\n"), "{}", ran.out);
    assert_eq!(tables(&["help"]).out, ran.out);
    assert_eq!(tables(&["help", "query"]).out, tables(&["query", "--help"]).out);
    // Without a command there is nothing to do, and the screen says what could be.
    let ran = tables(&[]);
    assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains("Begin with:"), "{}", ran.shown());
}

#[test]
fn every_command_is_on_the_screen_and_explains_itself() {
    let screen = tables(&["--help"]).out;
    let ran = tables(&["commands", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let commands: Vec<_> = ran.out.lines().skip(1).filter_map(|line| line.split_once(',')).collect();
    assert!(commands.len() > 25);
    for (command, about) in commands {
        assert!(screen.split([' ', ',', '\n']).any(|word| word == command), "{command} is not on the screen");
        assert!(!about.is_empty(), "{command}");
        let help = tables(&[command, "--help"]);
        assert_eq!(help.code, 0, "{command}");
        assert!(!help.out.contains("--keys FILE") && help.out.contains("tables --help"), "{}", help.out);
    }
    same(
        tables(&["query", "--help"]).out,
        str![[r#"
Print the rows that a filter finds

Usage: tables query [OPTIONS] <TABLE> [FILTER]...

Arguments:
  <TABLE>      TABLE, or TABLE/KIND for its entities alone
  [FILTER]...  What to find, as in "PartitionKey eq 'Sales' and Age ge 40"

Options:
      --select <NAMES>  Print these properties alone: Age,Email
      --kind <KIND>     Find entities of this kind alone, as TABLE/KIND does
      --top <N>         Print so many at most
      --count           Print how many there are, and none of them
      --copies          Print copies, and parts of wide entities, too
      --page <N>        Print so many, and where the next page begins
      --after <PLACE>   Begin where another page ended
      --rev             From the last to the first
  -h, --help            Print help

Examples:
  tables query Company "PartitionKey eq 'Sales' and Age ge 40" --select Age,Email
  tables query Company/employee --top 20
  tables query Company --count

--store, --write, --keys, --format, --errors and --quiet go with every command: tables --help

"#]],
    );
}

#[test]
fn pages_of_the_manual_are_made() {
    let ran = tables(&["man"]);
    assert!(ran.out.contains(".TH tables 1") && ran.out.contains("tables\\-query"), "{}", ran.out);
    let ran = tables(&["man", "query"]);
    assert!(ran.out.contains(".SH NAME") && ran.out.contains("\\-\\-top"), "{}", ran.out);
    assert_eq!(tables(&["man", "nothing"]).code, 3);
}

#[test]
fn shells_are_told_how_to_complete() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = tables(&["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains("explain") && ran.out.contains("format"), "{shell}");
    }
    assert_eq!(tables(&["completions", "csh"]).code, 2);
}

#[test]
fn errors_are_lines_of_json_when_asked_for() {
    let ran = tables(&["ls", "--errors", "json"]);
    let found: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!((found["error"]["code"].as_str(), ran.code), (Some("InvalidInput"), 2));
    let ran = tables(&["ls", "--store", "postgres://localhost/nothing"]);
    if cfg!(not(feature = "postgres")) {
        assert!(ran.code == 2 && ran.err.contains("postgres"), "{}", ran.err);
    }
}
