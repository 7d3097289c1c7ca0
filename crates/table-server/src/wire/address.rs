//! The address of a request: which resource of which account.

use std::borrow::Cow;

use table_core::{Error, ErrorKind};
use table_wire::percent;

use crate::exchange::Request;
use crate::fault::Fault;

/// What the name of the account is followed by at the secondary address, which only reads.
const SECONDARY: &str = "-secondary";

/// What a request is addressed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether it is the account's secondary address.
    pub is_secondary: bool,
    /// The resource.
    pub resource: Resource,
    /// What stands before the resource in the path: the account, unless the host names it.
    prefix: String,
}

/// A resource of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The service.
    Service,
    /// The description of the data.
    Metadata,
    /// All tables.
    Tables,
    /// One of them.
    Table(String),
    /// The entities of a table.
    Rows(String),
    /// One of them.
    Row {
        /// The name of the table.
        table: String,
        /// The partition key.
        partition_key: String,
        /// The row key.
        row_key: String,
    },
    /// An entity by one key, which has two.
    NoKeys(String),
    /// Batches.
    Batch,
    /// Batches at the address of a table, where none are taken.
    TableBatch,
}

impl Address {
    /// Reads the path of a request, with its escapes, and the host, if it is known. The account is the first part of the
    /// path, or of the host.
    pub fn parse(path: &str, host: Option<&str>, account: &str) -> Result<Self, Fault> {
        let AccountPath { is_secondary, rest, prefix } = AccountPath::split(path, host, account)?;
        Ok(Self { is_secondary, resource: Resource::parse(rest)?, prefix })
    }

    /// Returns the address of the service, as the sender has it. It has no character that JSON or XML would escape.
    #[must_use]
    pub fn root(&self, request: &Request) -> String {
        root(request, &self.prefix)
    }
}

/// A path, with the account that it or the host names taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountPath<'p> {
    /// Whether it is the account's secondary address.
    pub is_secondary: bool,
    /// What follows the account, with its escapes.
    pub rest: &'p str,
    /// What stands before that: the account, unless the host names it.
    pub prefix: String,
}

impl<'p> AccountPath<'p> {
    /// Takes the account off a path, or refuses one of another account.
    pub fn split(path: &'p str, host: Option<&str>, account: &str) -> Result<Self, Fault> {
        if let Some((first, _)) = host.and_then(|host| host.split_once('.'))
            && let Some(is_secondary) = is_account(first, account)
        {
            let rest = path.strip_prefix('/').unwrap_or(path);
            return Ok(Self { is_secondary, rest, prefix: String::new() });
        }
        let (whole, path) = (path, signed_path(path, account));
        let path = path.strip_prefix('/').ok_or_else(Fault::invalid_uri)?;
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let first = percent::decode(first)?;
        let is_secondary = is_account(&first, account).ok_or_else(Fault::invalid_uri)?;
        let is_secondary = is_secondary || path.len() + 1 < whole.len();
        let prefix = format!("/{account}{}", if is_secondary { SECONDARY } else { "" });
        Ok(Self { is_secondary, rest, prefix })
    }
}

/// Returns the address of a service, as the sender has it. It has no character that JSON or XML would escape.
pub(crate) fn root(request: &Request, prefix: &str) -> String {
    let scheme = if request.peer.is_secure { "https" } else { "http" };
    let of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    let host =
        request.header("host").or_else(|| request.head.uri.authority().map(http::uri::Authority::as_str));
    let host = host.filter(|host| !host.is_empty() && host.bytes().all(of_host)).unwrap_or("localhost");
    format!("{scheme}://{host}{prefix}")
}

/// Returns the path that a client has signed. Python's has for its secondary host one with a path, which it puts before the
/// whole path of the primary, `/account-secondary/account/Tables`, behind the signature's back.
#[must_use]
pub fn signed_path<'p>(path: &'p str, account: &str) -> &'p str {
    let rest = || {
        let rest = path.strip_prefix('/')?.strip_prefix(account)?.strip_prefix(SECONDARY)?;
        let after = rest.strip_prefix('/')?.strip_prefix(account)?;
        (after.is_empty() || after.starts_with('/')).then_some(rest)
    };
    rest().unwrap_or(path)
}

/// Returns whether a name is that of the account's secondary; `None` if it is not the account's at all.
fn is_account(name: &str, account: &str) -> Option<bool> {
    let rest = name.get(..account.len()).filter(|start| start.eq_ignore_ascii_case(account));
    match name.get(rest?.len()..)? {
        "" => Some(false),
        rest if rest.eq_ignore_ascii_case(SECONDARY) => Some(true),
        _ => None,
    }
}

impl Resource {
    /// Reads what follows the account in a path.
    fn parse(path: &str) -> Result<Self, Fault> {
        // A slash that is escaped is one of a key: the parts are told apart first.
        let (name, keys) = match split_at_keys(path) {
            Some((name, rest)) => {
                let rest = rest.trim_end_matches('/');
                let keys = rest.strip_suffix(')').or_else(|| rest.strip_suffix("%29"));
                (name, Some(keys.ok_or_else(Fault::invalid_uri)?))
            }
            None => (path.trim_end_matches('/'), None),
        };
        let name = percent::decode(name)?;
        let keys = keys.map(percent::decode).transpose()?.unwrap_or(Cow::Borrowed(""));
        let keys = keys.trim();
        match (&*name, keys) {
            ("", "") => Ok(Self::Service),
            ("$batch", "") => Ok(Self::Batch),
            ("$metadata", "") => Ok(Self::Metadata),
            ("Tables", "") => Ok(Self::Tables),
            ("Tables", key) => match quoted(key) {
                Some((table, "")) => Ok(Self::Table(table)),
                _ => Err(Fault::invalid_uri()),
            },
            (name, _) if name.contains('/') => match name.split_once('/') {
                Some((_, "$batch")) => Ok(Self::TableBatch),
                // A client whose endpoint ends with a table's name makes a table there. To the service that is an entity.
                Some((table, "Tables")) if keys.is_empty() => Ok(Self::Rows(table.to_owned())),
                Some((table, "Tables")) => Ok(Self::NoKeys(table.to_owned())),
                _ => Err(Error::new(ErrorKind::InvalidTableName).into()),
            },
            (name, "") => Ok(Self::Rows(name.to_owned())),
            (name, keys) => {
                let (partition_key, row_key) = entity_keys(keys)?;
                Ok(Self::Row { table: name.to_owned(), partition_key, row_key })
            }
        }
    }
}

/// Splits a path at the parenthesis before its keys, which Go's client escapes.
fn split_at_keys(path: &str) -> Option<(&str, &str)> {
    let (bare, escaped) = (path.split_once('('), path.split_once("%28"));
    match (bare, escaped) {
        (Some(bare), Some(escaped)) if escaped.0.len() < bare.0.len() => Some(escaped),
        (None, escaped) => escaped,
        (bare, _) => bare,
    }
}

/// Reads the keys of an entity, in either order.
fn entity_keys(text: &str) -> Result<(String, String), Fault> {
    let (mut partition, mut row) = (None, None);
    let mut rest = text;
    loop {
        let (name, value) = rest.split_once('=').ok_or_else(bad_keys)?;
        let (value, after) = quoted(value.trim_start()).ok_or_else(bad_keys)?;
        let key = match name.trim() {
            "PartitionKey" => &mut partition,
            "RowKey" => &mut row,
            _ => return Err(bad_keys()),
        };
        if key.replace(value).is_some() {
            return Err(bad_keys());
        }
        match after.trim_start() {
            "" => return partition.zip(row).ok_or_else(bad_keys),
            after => rest = after.strip_prefix(',').ok_or_else(bad_keys)?,
        }
    }
}

/// Reads a text between quotes, in which a quote is two. Returns it, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut value = String::new();
    loop {
        let (before, after) = rest.split_once('\'')?;
        value.push_str(before);
        match after.strip_prefix('\'') {
            Some(after) => {
                value.push('\'');
                rest = after;
            }
            None => return Some((value, after)),
        }
    }
}

#[cold]
fn bad_keys() -> Fault {
    Fault::invalid_input("The keys of an entity are given as `(PartitionKey='..',RowKey='..')`.")
}

/// Returns the address of an entity.
#[must_use]
pub fn address_of_entity(root: &str, table: &str, keys: [&str; 2]) -> String {
    let mut address = format!("{root}/{table}(PartitionKey='");
    let [partition_key, row_key] = keys.map(|key| key.replace('\'', "''"));
    percent::encode(&partition_key, &mut address);
    address.push_str("',RowKey='");
    percent::encode(&row_key, &mut address);
    address.push_str("')");
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_path(path: &str) -> Result<Resource, String> {
        let address = Address::parse(path, Some("127.0.0.1:10002"), "devstoreaccount1");
        address.map(|address| address.resource).map_err(|fault| fault.code.into_owned())
    }

    #[allow(clippy::unnecessary_wraps, reason = "it is compared with what is read")]
    fn row(partition_key: &str, row_key: &str) -> Result<Resource, String> {
        let [partition_key, row_key] = [partition_key, row_key].map(str::to_owned);
        Ok(Resource::Row { table: "Company".to_owned(), partition_key, row_key })
    }

    #[test]
    fn resources_are_read_from_paths() {
        let of = |rest: &str| of_path(&format!("/devstoreaccount1{rest}"));
        assert_eq!(of(""), Ok(Resource::Service));
        assert_eq!(of("/"), Ok(Resource::Service));
        assert_eq!(of("/Tables"), Ok(Resource::Tables));
        assert_eq!(of("/Tables()"), Ok(Resource::Tables));
        assert_eq!(of("/Tables('Company')"), Ok(Resource::Table("Company".to_owned())));
        assert_eq!(of("/Tables(%27Company%27)"), Ok(Resource::Table("Company".to_owned())));
        assert_eq!(of("/Company"), Ok(Resource::Rows("Company".to_owned())));
        assert_eq!(of("/Company()"), Ok(Resource::Rows("Company".to_owned())));
        assert_eq!(of("/$batch"), Ok(Resource::Batch));
        assert_eq!(of("/Company/$batch"), Ok(Resource::TableBatch));
        assert_eq!(of("/$metadata"), Ok(Resource::Metadata));
        assert_eq!(of("/Company/Tables"), Ok(Resource::Rows("Company".to_owned())));
        assert_eq!(of("/a/b"), Err("InvalidResourceName".to_owned()));
        assert_eq!(of("/Tables%28%27Company%27%29"), Ok(Resource::Table("Company".to_owned())));
        let bad = [
            "/Tables(Company)",
            "/Tables('a','b')",
            "/Company(",
            "/Company('a'",
            "/Company%28",
            "/Company%28'a'",
        ];
        for bad in bad {
            assert_eq!(of(bad), Err("InvalidUri".to_owned()), "{bad}");
        }
        assert_eq!(of_path("/other/Tables"), Err("InvalidUri".to_owned()));
        assert_eq!(of_path("/devstoreaccount1x/Tables"), Err("InvalidUri".to_owned()));
    }

    #[test]
    fn keys_may_hold_anything() {
        let of = |keys: &str| of_path(&format!("/devstoreaccount1/Company({keys})"));
        assert_eq!(of("PartitionKey='a',RowKey='b'"), row("a", "b"));
        assert_eq!(of("RowKey='b', PartitionKey = 'a' "), row("a", "b"));
        assert_eq!(of("PartitionKey='',RowKey=''"), row("", ""));
        assert_eq!(of("PartitionKey='it''s',RowKey=''''"), row("it's", "'"));
        assert_eq!(
            of("PartitionKey='a%2Fb(c)%2C',RowKey='RowKey=%27%27x%27%27+y'"),
            row("a/b(c),", "RowKey='x'+y")
        );
        assert_eq!(of("PartitionKey='%25',RowKey='%C3%A9'"), row("%", "é"));
        let escaped = "/devstoreaccount1/Company%28PartitionKey=%27%28a%27,RowKey=%27b(%29%27%29";
        assert_eq!(of_path(escaped), row("(a", "b()"));
        let bad = [
            "'a','b'",
            "PartitionKey='a'",
            "PartitionKey='a',PartitionKey='b'",
            "PartitionKey='a',RowKey='b',X='c'",
            "PartitionKey='a',RowKey='b' x",
            "PartitionKey='a'RowKey='b'",
            "PartitionKey=a,RowKey=b",
            "PartitionKey='a,RowKey='b'",
            "PartitionKey='a',RowKey='b',",
        ];
        for bad in bad {
            assert_eq!(of(bad), Err("InvalidInput".to_owned()), "{bad}");
        }
        assert_eq!(of("PartitionKey='%ff',RowKey='b'"), Err("InvalidUri".to_owned()));
    }

    #[test]
    fn the_account_stands_in_the_path_or_in_the_host() {
        let of = |path: &str, host: &str| {
            let address =
                Address::parse(path, Some(host), "acme").map_err(|fault| fault.code.into_owned())?;
            Ok::<_, String>((address.is_secondary, address.resource, address.prefix))
        };
        let tables = |is_secondary, prefix: &str| Ok((is_secondary, Resource::Tables, prefix.to_owned()));
        assert_eq!(of("/acme/Tables", "localhost"), tables(false, "/acme"));
        assert_eq!(of("/acme-secondary/Tables", "localhost"), tables(true, "/acme-secondary"));
        assert_eq!(of("/Tables", "acme.table.localhost:10002"), tables(false, ""));
        assert_eq!(of("/Tables", "ACME-secondary.table.localhost"), tables(true, ""));
        assert_eq!(of("/Tables", "other.table.localhost"), Err("InvalidUri".to_owned()));
    }

    #[test]
    fn addresses_of_entities_are_read_as_they_were_written() {
        for keys in [["a", "b"], ["", ""], ["it's", "a/b(c),d=e"], ["é 100%", "+?#&"]] {
            let address = address_of_entity("/acme", "Company", keys);
            let read = Address::parse(&address, None, "acme").unwrap();
            assert_eq!(read.resource, row(keys[0], keys[1]).unwrap(), "{address}");
        }
    }
}
