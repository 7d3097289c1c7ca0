//! Where settings come from.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;
use toml::de::{DeTable, DeValue};

use super::{Config, ConfigError, check};

/// A table server: the protocol of Azure Tables over a store in a directory or a database.
///
/// Each flag can be a variable, TABLE_SERVER_ADDRESS for --address, or a line of the file, address = "..". Secrets have no
/// flags: TABLE_SERVER_KEY1, .._KEY2, .._POSTGRES (a database's address), or key1, key2, postgres of the file.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "table-server", version, verbatim_doc_comment)]
#[expect(clippy::doc_markdown, reason = "it is what `--help` prints")]
pub struct Flags {
    /// Settings, in TOML
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The store (data.tables)
    #[arg(long, value_name = "DIR")]
    pub directory: Option<String>,
    /// Where to listen (127.0.0.1:10002)
    #[arg(long, value_name = "IP:PORT")]
    pub address: Option<String>,
    /// Where to listen for queues, or none (none)
    #[arg(long, value_name = "IP:PORT")]
    pub queue_address: Option<String>,
    /// Health and metrics, or none (127.0.0.1:10003)
    #[arg(long, value_name = "IP:PORT")]
    pub admin_address: Option<String>,
    /// The account (devstoreaccount1)
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// durable or relaxed (durable)
    #[arg(long, value_name = "LEVEL")]
    pub durability: Option<String>,
    /// What the store may grow to, such as 64GiB
    #[arg(long, value_name = "SIZE")]
    pub map_size: Option<String>,
    /// Certificate, in PEM
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<String>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<String>,
    /// error, warn, info or debug, to the standard error (error)
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<String>,
    /// lines or json (lines)
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Connections at once, of each address (10000)
    #[arg(long, value_name = "COUNT")]
    pub max_connections: Option<String>,
    /// Bodies of requests at once, of each address (64MiB)
    #[arg(long, value_name = "SIZE")]
    pub body_memory: Option<String>,
    /// For TLS's handshake (10s)
    #[arg(long, value_name = "TIME")]
    pub handshake_time: Option<String>,
    /// For a request's headers (30s)
    #[arg(long, value_name = "TIME")]
    pub header_time: Option<String>,
    /// For a request's body (30s)
    #[arg(long, value_name = "TIME")]
    pub body_time: Option<String>,
    /// Between requests (120s)
    #[arg(long, value_name = "TIME")]
    pub idle_time: Option<String>,
    /// While a client reads nothing (30s)
    #[arg(long, value_name = "TIME")]
    pub write_time: Option<String>,
    /// For answers under way at the end (25s)
    #[arg(long, value_name = "TIME")]
    pub drain_time: Option<String>,
    /// Write rows of declared kinds as any others
    #[arg(long)]
    pub raw: bool,
    /// Take the well-known key from other machines
    #[arg(long)]
    pub allow_well_known_key: bool,
    /// Take requests of other machines in clear
    #[arg(long)]
    pub allow_plain_http: bool,
    // There so that they are refused with a sentence, and the value is not repeated by clap's.
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "")]
    key1: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "")]
    key2: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "")]
    postgres: Option<String>,
}

impl Flags {
    /// Returns each flag by its name, with its text.
    fn texts(self) -> [(&'static str, Option<String>); 22] {
        let switch = |is_on: bool| is_on.then(|| "true".to_owned());
        [
            ("directory", self.directory),
            ("address", self.address),
            ("queue-address", self.queue_address),
            ("admin-address", self.admin_address),
            ("account", self.account),
            ("durability", self.durability),
            ("map-size", self.map_size),
            ("tls-cert", self.tls_cert),
            ("tls-key", self.tls_key),
            ("log", self.log),
            ("log-format", self.log_format),
            ("max-connections", self.max_connections),
            ("body-memory", self.body_memory),
            ("handshake-time", self.handshake_time),
            ("header-time", self.header_time),
            ("body-time", self.body_time),
            ("idle-time", self.idle_time),
            ("write-time", self.write_time),
            ("drain-time", self.drain_time),
            ("raw", switch(self.raw)),
            ("allow-well-known-key", switch(self.allow_well_known_key)),
            ("allow-plain-http", switch(self.allow_plain_http)),
        ]
    }
}

/// The settings that have been given, each by the source that goes over the others, and what is wrong so far.
#[derive(Default)]
pub(super) struct Given {
    texts: BTreeMap<&'static str, (String, String)>,
    problems: Vec<String>,
}

impl Given {
    pub(super) fn has(&self, name: &str) -> bool {
        self.texts.contains_key(name)
    }

    /// Returns where a setting comes from.
    pub(super) fn origin(&self, name: &str) -> String {
        self.texts.get(name).map_or_else(|| format!("`{name}`"), |(_, origin)| origin.clone())
    }

    pub(super) fn refuse(&mut self, problem: String) {
        self.problems.push(problem);
    }

    pub(super) fn value<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, &'static str>,
    ) -> Option<T> {
        let (text, origin) = self.texts.get(name)?;
        read(text).map_err(|right| self.problems.push(format!("{origin} is `{text}`: {right}"))).ok()
    }

    /// Reads a setting whose text is not repeated.
    pub(super) fn secret<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, &'static str>,
    ) -> Option<T> {
        let (text, origin) = self.texts.get(name)?;
        read(text).map_err(|right| self.problems.push(format!("{origin} is of no use: {right}"))).ok()
    }

    pub(super) fn finish(self, config: Config) -> Result<Config, ConfigError> {
        if self.problems.is_empty() { Ok(config) } else { Err(ConfigError(self.problems)) }
    }

    /// Adds what the file says. Its lines are not repeated: keys stand there.
    fn add_file(&mut self, path: &Path) {
        let shown = path.display();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return self.refuse(format!("the file `{shown}` can't be read: {error}")),
        };
        let line_at =
            |at: usize| text.get(..at).map_or(1, |before| before.matches('\n').count().saturating_add(1));
        let table = match DeTable::parse(&text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let line = line_at(error.span().map_or(0, |span| span.start));
                let problem = format!("line {line} of `{shown}` is no TOML: {}", error.message());
                return self.refuse(problem);
            }
        };
        for (key, value) in table {
            let line = line_at(key.span().start);
            let name = names().into_iter().find(|name| *name == key.get_ref().as_ref());
            let text = match value.into_inner() {
                DeValue::String(text) => Some(text.into_owned()),
                DeValue::Integer(number) => Some(number.to_string()),
                DeValue::Boolean(is_on) => Some(is_on.to_string()),
                _ => None,
            };
            match (name, text) {
                (Some(name), Some(text)) => {
                    self.texts.insert(name, (text, format!("`{name}` in line {line} of `{shown}`")));
                }
                (Some(name), None) => self.refuse(format!(
                    "`{name}` in line {line} of `{shown}` must be a text in quotes, a whole number, true or false"
                )),
                (None, _) => self.refuse(format!(
                    "line {line} of `{shown}` sets what is no setting: there are {}",
                    names().join(", ")
                )),
            }
        }
    }
}

/// Returns the names of all settings.
fn names() -> Vec<&'static str> {
    let flags = Flags::default().texts().map(|(name, _)| name);
    flags.into_iter().chain(["key1", "key2", "postgres"]).collect()
}

/// Reads the settings. `variable` is asked for variables of the environment.
pub fn read(flags: Flags, variable: impl Fn(&str) -> Option<OsString>) -> Result<Config, ConfigError> {
    let mut given = Given::default();
    let file = flags.config.clone().or_else(|| variable("TABLE_SERVER_CONFIG").map(PathBuf::from));
    if let Some(file) = file {
        given.add_file(&file);
    }
    for name in names() {
        let of_environment = format!("TABLE_SERVER_{}", name.to_uppercase().replace('-', "_"));
        match variable(&of_environment).map(OsString::into_string) {
            Some(Ok(text)) => {
                given.texts.insert(name, (text, format!("the variable `{of_environment}`")));
            }
            // What it was meant to say is not guessed, and no default takes its place.
            Some(Err(_)) => given.refuse(format!("the variable `{of_environment}` is no text in UTF-8")),
            None => {}
        }
    }
    let secrets = [("key1", &flags.key1), ("key2", &flags.key2), ("postgres", &flags.postgres)];
    for (name, secret) in secrets {
        if secret.is_some() {
            given.refuse(format!(
                "`--{name}` is refused: lists of processes show flags to all. Give `TABLE_SERVER_{}` or `{name}` of the file",
                name.to_uppercase()
            ));
        }
    }
    for (name, text) in flags.texts() {
        if let Some(text) = text {
            given.texts.insert(name, (text, format!("`--{name}`")));
        }
    }
    check::check(given)
}
