//! What a word may become: a command, a table, a kind, an index, a property or an option.

use table_core::Tables;

use crate::help;
use crate::kinds::Kinds;
use crate::session::Session;

/// What lines begin with, beside commands.
const WORDS: [&str; 3] = ["exit", "help", "set"];

/// The names by which words are completed.
#[derive(Default)]
pub(super) struct Names {
    tables: Vec<String>,
    queues: Vec<String>,
    kinds: Option<Kinds>,
}

impl Names {
    /// Gathers the names that a store has. Those that can't be read are not completed.
    pub(super) fn of(session: &mut Session<'_>) -> Self {
        let tables = session.tables().ok();
        let list =
            |list: Option<table_core::Result<Vec<String>>>| list.and_then(Result::ok).unwrap_or_default();
        Self {
            queues: list(tables.as_ref().map(Tables::queues)),
            tables: list(tables.as_ref().map(Tables::tables)),
            kinds: session.kinds().ok(),
        }
    }

    /// Returns where the last word of a line begins, and what it may become.
    pub(super) fn complete(&self, line: &str) -> (usize, Vec<String>) {
        // Within a filter, which is one word of the line, its own words are completed.
        let begin = line.rfind([' ', '"', '\'', '(', ',']).map_or(0, |at| at + 1);
        let (before, word) = line.split_at_checked(begin).unwrap_or((line, ""));
        let words: Vec<_> = before.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
        let mut found: Vec<String> = match &words[..] {
            [] => commands().into_iter().chain(WORDS.map(str::to_owned)).collect(),
            [command, ..] if word.starts_with('-') => options(command),
            ["peek" | "poison" | "requeue"] => self.queues.clone(),
            [_] => self.targets(word),
            [_, target, ..] => self.properties(target),
        };
        found.retain(|name| name.starts_with(word) && name != word);
        found.sort();
        found.dedup();
        (begin, found)
    }

    /// Returns the tables; and behind a stroke their kinds, and behind a full stop their indexes.
    fn targets(&self, word: &str) -> Vec<String> {
        let Some((table, path)) = word.split_once('/') else { return self.tables.clone() };
        let kinds = self.kinds.iter().flat_map(|kinds| kinds.in_table(table));
        let mut targets = Vec::new();
        for kind in kinds {
            targets.push(format!("{table}/{}", kind.kind()));
            if path.starts_with(kind.kind()) && path.contains('.') {
                let indexes = kind.indexes();
                targets.extend(indexes.iter().map(|index| format!("{table}/{}.{}", kind.kind(), index.name)));
            }
        }
        targets
    }

    /// Returns the properties of the kinds that a target names: with an equals sign where a value follows.
    fn properties(&self, target: &str) -> Vec<String> {
        let (table, path) =
            target.split_once('/').map_or((target, None), |(table, path)| (table, Some(path)));
        let Some(kinds) = &self.kinds else { return Vec::new() };
        let mut names: Vec<String> = Vec::new();
        for kind in kinds.in_table(table) {
            let is_meant = path.is_none_or(|path| path.split('.').next() == Some(kind.kind()));
            if is_meant {
                names.extend(kind.properties().into_iter().map(|property| property.name));
            }
        }
        if path.is_some() {
            return names.into_iter().map(|name| format!("{name}=")).collect();
        }
        names.extend(["PartitionKey", "RowKey", "Timestamp"].map(str::to_owned));
        names
    }
}

fn commands() -> Vec<String> {
    help::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

fn options(command: &str) -> Vec<String> {
    let all = help::whole_command();
    let Ok(found) = help::find(&all, command) else { return Vec::new() };
    found.get_arguments().filter_map(clap::Arg::get_long).map(|long| format!("--{long}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(line: &str) -> Vec<String> {
        let names = Names {
            tables: vec!["Company".into(), "Shop".into()],
            queues: vec!["hires".into()],
            kinds: None,
        };
        names.complete(line).1
    }

    #[test]
    fn words_are_completed_by_their_place() {
        assert_eq!(complete("sch"), ["schema"]);
        assert_eq!(complete("query C"), ["Company"]);
        assert_eq!(complete("peek "), ["hires"]);
        assert_eq!(complete("query Company --to"), ["--top"]);
        assert!(complete("query Company --").contains(&"--format".to_owned()));
        assert_eq!(complete("nothing --"), Vec::<String>::new());
        assert_eq!(Names::default().complete("query Company \"Ag").0, 15);
    }
}
