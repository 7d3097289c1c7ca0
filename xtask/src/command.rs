//! A command line: printed in a form that can be pasted into a shell, then run.

use std::fmt;
use std::path::PathBuf;
use std::process;

use crate::workspace::root;

/// A program, its arguments and the variables that it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    is_silent: bool,
}

impl Command {
    /// Returns a command without arguments.
    pub(crate) fn new(program: &str) -> Self {
        Self { program: program.into(), arguments: Vec::new(), environment: Vec::new(), is_silent: false }
    }

    /// Returns a command of cargo, whose arguments stand in one text and have no spaces.
    pub(crate) fn cargo(arguments: &str) -> Self {
        Self::new("cargo").arguments(arguments)
    }

    /// Adds an argument as it is.
    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds the arguments that stand in a text, with spaces between them.
    pub(crate) fn arguments(mut self, arguments: &str) -> Self {
        self.arguments.extend(arguments.split_whitespace().map(str::to_owned));
        self
    }

    /// Sets a variable, unless the caller of xtask has set it.
    pub(crate) fn default(self, name: &str, value: &str) -> Self {
        if std::env::var_os(name).is_some() { self } else { self.variable(name, value) }
    }

    /// Sets variables, written `NAME=value` with spaces between them, but for those that the caller of xtask has set.
    pub(crate) fn defaults(self, variables: &str) -> Self {
        let pairs = variables.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.fold(self, |command, (name, value)| command.default(name, value))
    }

    /// Sets a variable, whatever the caller of xtask has set.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Throws away what the command prints to its standard output.
    pub(crate) fn silent(mut self) -> Self {
        self.is_silent = true;
        self
    }

    /// Runs the command in the workspace's root, and fails if it does.
    pub(crate) fn run(&self) -> Result<(), String> {
        eprintln!("+ {self}");
        let mut command = self.prepared();
        if self.is_silent {
            command.stdout(process::Stdio::null());
        }
        let status = command.status().map_err(|error| self.missing(&error))?;
        if status.success() { Ok(()) } else { Err(format!("failed ({status}): {self}")) }
    }

    /// Runs the command and returns what it printed: if it went well, and what it says to a reader.
    pub(crate) fn output(&self) -> Result<Output, String> {
        let output = self.prepared().output().map_err(|error| self.missing(&error))?;
        Ok(Output {
            is_success: output.status.success(),
            standard: String::from_utf8_lossy(&output.stdout).into_owned(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    fn prepared(&self) -> process::Command {
        let mut command = process::Command::new(&self.program);
        command.args(&self.arguments).current_dir(root());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn missing(&self, error: &std::io::Error) -> String {
        format!("`{}` can't be started: {error}. Install it, or put it on the PATH.", self.program)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.environment {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

/// What a command printed.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) is_success: bool,
    pub(crate) standard: String,
    pub(crate) errors: String,
}

/// Quotes a word for a shell, where it must be.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns where a program lies on the PATH.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_printed_as_a_shell_reads_it() {
        let command = Command::cargo("test --locked").argument("it's").variable("A", "1 2");
        assert_eq!(command.to_string(), r"A='1 2' cargo test --locked 'it'\''s'");
    }

    #[test]
    fn a_variable_of_the_caller_stays() {
        let command = Command::new("true").defaults("PATH=nowhere XTASK_UNSET=1");
        assert_eq!(command.to_string(), "XTASK_UNSET=1 true");
    }

    #[test]
    fn a_failure_names_the_command() {
        assert_eq!(Command::new("true").run(), Ok(()));
        let failure = Command::new("false").argument("x y").run().unwrap_err();
        assert!(failure.contains("false 'x y'"), "{failure}");
        let failure = Command::new("no-such-program").run().unwrap_err();
        assert!(failure.contains("`no-such-program` can't be started"), "{failure}");
    }

    #[test]
    fn output_tells_the_streams_apart() {
        let output =
            Command::new("sh").argument("-c").argument("echo a; echo b >&2; exit 3").output().unwrap();
        assert!(!output.is_success);
        assert_eq!((output.standard.as_str(), output.errors.as_str()), ("a\n", "b\n"));
    }
}
