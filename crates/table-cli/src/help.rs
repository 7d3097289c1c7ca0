//! The help of `tables` itself: the commands by what they are for, and the options that all of them take, on one screen.

use std::ffi::OsString;
use std::fmt::Write;

use clap::CommandFactory;

use crate::args::Args;
use crate::examples;
use crate::failure::Failure;

/// The commands, by what they are for.
const GROUPS: [(&str, &[&str]); 9] = [
    ("Look at tables", &["ls", "schema", "get", "query", "explain"]),
    ("Look after them", &["stats", "check", "jobs", "outbox", "repair", "compact", "reclaim", "backup"]),
    ("Change them", &["put", "merge", "delete", "create", "drop", "rename"]),
    ("Data in and out", &["export", "import", "copy", "diff"]),
    ("Queues", &["queues", "peek", "poison", "requeue"]),
    ("Blobs and logs", &["blobs", "logs"]),
    ("Keys and access", &["keys", "sas"]),
    ("Pages", &["design", "studio", "serve"]),
    ("Itself", &["commands", "shell", "man", "completions"]),
];

const OPTIONS: &str = "\
Options of every command:
  --store STORE    Directory, postgres://.. or azure:CONNECTION [TABLES_STORE]
  --write          Let the command change the store: without it, none does
  --keys FILE      Key ring that opens sealed values [TABLES_PASSPHRASE]
  --format FORMAT  table (on a terminal), jsonl (in a pipe), json, csv, md, line
  --errors FORMAT  text or json
  --quiet          No bar of progress, and no remarks
";

/// What helps where a command is not known.
pub(crate) const UNKNOWN: &str =
    "`tables commands` lists the commands; `serve` and `studio` are features of the build.";

/// What stands below the help of each command.
const AFTER: &str =
    "--store, --write, --keys, --format, --errors and --quiet go with every command: tables --help";

/// Returns the command line, with the help of `tables` itself.
pub(crate) fn command() -> clap::Command {
    let command = Args::command();
    let text = screen(&command);
    let add = |command: clap::Command| {
        let command = with_examples(command, "");
        let own = command.get_after_help().map(|own| format!("{own}\n\n")).unwrap_or_default();
        command.after_help(format!("{own}{AFTER}"))
    };
    command.override_help(text).mut_subcommands(add)
}

/// Adds the examples of a command to its help, and those of the commands below it to theirs. `above` are the words before its
/// name.
fn with_examples(command: clap::Command, above: &str) -> clap::Command {
    let words = format!("{above}{}", command.get_name());
    let below = format!("{words} ");
    let command = command.mut_subcommands(|command| with_examples(command, &below));
    let Some(text) = shown(&words) else { return command };
    let own = command.get_after_help().map(|own| format!("\n\n{own}")).unwrap_or_default();
    command.after_help(format!("{text}{own}"))
}

/// Returns the examples of a command as its help shows them.
fn shown(words: &str) -> Option<String> {
    let lines = examples::of(words);
    let title = if lines.len() == 1 { "Example:" } else { "Examples:" };
    (!lines.is_empty()).then(|| format!("{title}\n  {}", lines.join("\n  ")))
}

/// Returns examples of the command that these arguments name, for who has given it others than it takes.
pub(crate) fn examples_for(arguments: &[OsString]) -> Option<String> {
    let command = Args::command();
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let found = words.find_map(|word| command.find_subcommand(word))?;
    let below = words.find_map(|word| found.find_subcommand(word));
    let of_both = below.map(|below| format!("{} {}", found.get_name(), below.get_name()));
    of_both.as_deref().and_then(shown).or_else(|| shown(found.get_name()))
}

/// Returns the command line with the options that every command takes shown with each: for pages and scripts, which are read
/// command by command.
pub(crate) fn whole_command() -> clap::Command {
    let command = Args::command().mut_args(|argument| argument.hide(false));
    let mut command = command.mut_subcommands(|command| with_examples(command, ""));
    command.build();
    command
}

/// Returns the command of this name.
pub(crate) fn find<'c>(all: &'c clap::Command, name: &str) -> Result<&'c clap::Command, Failure> {
    let unknown = || Failure::NotFound(format!("there is no command `{name}`: `tables commands` lists them"));
    all.find_subcommand(name).ok_or_else(unknown)
}

/// Returns the help of `tables` itself.
fn screen(command: &clap::Command) -> String {
    let known: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
    let mut text = String::from(
        "Looks into a store of tables, and gets data in and out.\n\n\
         Usage: tables --store STORE COMMAND ..       tables COMMAND --help explains one\n\n",
    );
    for (group, names) in GROUPS {
        let there: Vec<_> = names.iter().copied().filter(|name| known.contains(name)).collect();
        if !there.is_empty() {
            writeln!(text, "  {group:16} {}", there.join(", ")).unwrap_or_default();
        }
    }
    let is_grouped = |name: &&&str| GROUPS.iter().any(|(_, names)| names.contains(name));
    let others: Vec<_> = known.iter().filter(|name| !is_grouped(name)).copied().collect();
    if !others.is_empty() {
        writeln!(text, "  {:16} {}", "Others", others.join(", ")).unwrap_or_default();
    }
    text.push('\n');
    text.push_str(OPTIONS);
    text.push_str("\nBegin with:  tables --store company.tables ls\n");
    text
}
