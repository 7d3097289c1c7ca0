//! What the binary is told: by flags, by the environment, by a file. A flag goes over a variable, and that over the file.

mod check;
mod parse;
mod sources;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use table_core::Durability;

pub use self::sources::{Flags, read};
use crate::listen::Limits;
use crate::log::LogSettings;

/// The account of emulators, which clients know by `UseDevelopmentStorage=true`.
pub const WELL_KNOWN_ACCOUNT: &str = "devstoreaccount1";
/// The key of that account. It is printed in the documentation of every SDK, so it is no protection.
pub const WELL_KNOWN_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A key of the account, in base64. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Takes the text of a key.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// The address of a database, which may hold a password. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseAddress(String);

impl DatabaseAddress {
    /// Returns the address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseAddress(..)")
    }
}

/// What the binary is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The store's directory, made if there is none.
    pub directory: PathBuf,
    /// The PostgreSQL database that the store lies in instead.
    pub postgres: Option<DatabaseAddress>,
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it listens for the protocol of queues; `None` for nowhere.
    pub queue_address: Option<SocketAddr>,
    /// The address of health, metrics and keys; `None` for none.
    pub admin_address: Option<SocketAddr>,
    /// Whether the well-known key is good at an address that others can reach.
    pub may_well_known: bool,
    /// The account's name.
    pub account: String,
    /// The first key.
    pub key1: Key,
    /// The second key.
    pub key2: Option<Key>,
    /// What a commit promises.
    pub durability: Durability,
    /// How many bytes the store may grow to; `None` for the store's own default.
    pub map_size: Option<usize>,
    /// The files of the certificate and of its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether rows of declared kinds are written as any others.
    pub is_raw: bool,
    /// What is logged.
    pub log: LogSettings,
    /// What clients may take.
    pub limits: Limits,
}

impl Config {
    /// Returns what a client of tables connects by, and one of queues if there is an address for them. The key is there if it is
    /// the one that all know.
    pub fn connection_string(&self, address: SocketAddr, queues: Option<SocketAddr>) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let account = &self.account;
        let key = if self.key1.as_str() == WELL_KNOWN_KEY {
            format!("AccountKey={WELL_KNOWN_KEY};")
        } else {
            String::new()
        };
        let queues = queues
            .map(|address| format!("QueueEndpoint={scheme}://{address}/{account};"))
            .unwrap_or_default();
        format!(
            "DefaultEndpointsProtocol={scheme};AccountName={account};{key}TableEndpoint={scheme}://{address}/{account};{queues}"
        )
    }
}

/// All that is wrong with what the binary is told. Each sentence says where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub Vec<String>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests;
