//! Where an account is, and connection strings.

use std::fmt;

use table_engine::access::sas::AccountKey;

use super::credential::Credential;

/// The account that every emulator has, and its key, which is public.
const EMULATOR: &str = "devstoreaccount1";
const EMULATOR_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const EMULATOR_ADDRESS: &str = "http://127.0.0.1:10002/devstoreaccount1";

/// Where an account's tables are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    is_secure: bool,
    authority: String,
    /// What stands before a resource, such as `/devstoreaccount1`; empty where the host names the account.
    path: String,
    /// Where a copy of the account is read, if that was said: its host, and what stands before a resource there.
    secondary: Option<(String, String)>,
}

/// What a secondary's account name ends in.
const SECONDARY: &str = "-secondary";

/// Why a connection string, or an address, can't be used. It shows no value of the string.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionError {
    /// A part of the string is no name with a value.
    NoPair(usize),
    /// A name is there twice.
    Twice(String),
    /// The string lacks a part.
    Lacks(&'static str),
    /// The address is none of HTTP.
    Address,
    /// The key is no Base64.
    Key,
    /// The address begins with `https`, and the program is built without the feature `tls`.
    WithoutTls,
    /// A token of a directory would go to a host over a connection that anybody can read.
    Insecure,
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPair(at) => write!(f, "part {at} of the connection string is no `Name=value`"),
            Self::Twice(name) => write!(f, "the connection string has `{name}` twice"),
            Self::Lacks(what) => write!(f, "the connection string has no {what}"),
            Self::Address => {
                f.write_str("the table endpoint is no address such as `https://contoso.table.core.windows.net`")
            }
            Self::Key => f.write_str("the account's key is no Base64"),
            Self::WithoutTls => {
                f.write_str("the endpoint is reached by https, which takes the feature `tls` of table-azure")
            }
            Self::Insecure => f.write_str(
                "the endpoint is reached by http, over which a token of a directory is not sent: give one that begins with \
                 `https://`",
            ),
        }
    }
}

impl std::error::Error for ConnectionError {}

impl Endpoint {
    /// Reads an address, such as `https://contoso.table.core.windows.net`.
    pub fn parse(address: &str) -> Result<Self, ConnectionError> {
        let (is_secure, rest) = match address.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            _ => return Err(ConnectionError::Address),
        };
        if is_secure && !cfg!(feature = "tls") {
            return Err(ConnectionError::WithoutTls);
        }
        let rest = rest.trim_end_matches('/');
        let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        // A port that is no number of 16 bits would be taken for none.
        let is_authority = authority.parse::<http::uri::Authority>().is_ok_and(|read| {
            let port = authority.strip_prefix(read.host());
            !read.host().is_empty() && (port == Some("") || read.port_u16().is_some())
        });
        let is_path = path.parse::<http::uri::PathAndQuery>().is_ok_and(|read| read.query().is_none());
        // Who writes a password before the host means another protocol.
        if !is_authority || authority.contains('@') || !(path.is_empty() || is_path) {
            return Err(ConnectionError::Address);
        }
        Ok(Self { is_secure, authority: authority.to_owned(), path: path.to_owned(), secondary: None })
    }

    /// Returns the endpoint with the address of its copy in another region, which is else the one that the service gives it:
    /// the account's name with `-secondary` behind it.
    pub fn with_secondary(self, address: &str) -> Result<Self, ConnectionError> {
        let secondary = Self::parse(address)?;
        if secondary.is_secure != self.is_secure {
            return Err(ConnectionError::Address);
        }
        Ok(Self { secondary: Some((secondary.authority, secondary.path)), ..self })
    }

    /// Returns where the copy of the account in another region is read.
    pub(super) fn secondary(&self) -> Self {
        let (authority, path) = self.secondary.clone().unwrap_or_else(|| {
            let account = self.account();
            if self.path.is_empty() {
                (self.authority.replacen(account, &format!("{account}{SECONDARY}"), 1), String::new())
            } else {
                (self.authority.clone(), self.path.replacen(account, &format!("{account}{SECONDARY}"), 1))
            }
        });
        Self { is_secure: self.is_secure, authority, path, secondary: None }
    }

    /// Returns whether connections are encrypted.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Returns the name of the host, with its port if the address says one.
    #[cfg(feature = "tracing")]
    pub(super) fn host(&self) -> &str {
        &self.authority
    }

    /// Returns the path of a resource, as it is signed.
    pub(super) fn path_of(&self, resource: &str) -> String {
        format!("{}/{resource}", self.path)
    }

    /// Returns the address of a path.
    pub(super) fn address_of(&self, path: &str) -> String {
        format!("{self:#}{path}")
    }

    /// Returns the name of the account, as the address says it: the first part of its path, or of its host.
    #[must_use]
    pub fn account(&self) -> &str {
        let of_path = self.path.trim_start_matches('/').split('/').next().filter(|name| !name.is_empty());
        of_path.or_else(|| self.authority.split(['.', ':']).next()).unwrap_or_default()
    }
}

/// The address, or with `#` that of the host alone.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        let path = if f.alternate() { "" } else { &*self.path };
        write!(f, "{scheme}://{}{path}", self.authority)
    }
}

/// What a connection string says.
#[derive(Default)]
struct Parts<'s>(Vec<(&'s str, &'s str)>);

impl<'s> Parts<'s> {
    fn parse(text: &'s str) -> Result<Self, ConnectionError> {
        let mut all: Vec<(&str, &str)> = Vec::new();
        for (at, part) in (1..).zip(text.split(';')) {
            let part = part.trim();
            if part.is_empty() {
                continue;
            }
            let (name, value) = part.split_once('=').ok_or(ConnectionError::NoPair(at))?;
            let (name, value) = (name.trim(), value.trim());
            if all.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                return Err(ConnectionError::Twice(name.chars().take(40).collect()));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    fn get(&self, name: &str) -> Option<&'s str> {
        let found = self.0.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value).filter(|value| !value.is_empty())
    }
}

/// Reads a connection string: where the account is, and what opens it. Parts for other services than tables are left out.
pub(super) fn parse(text: &str) -> Result<(Endpoint, Credential), ConnectionError> {
    let parts = Parts::parse(text)?;
    if parts.get("UseDevelopmentStorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        let address = parts.get("TableEndpoint").unwrap_or(EMULATOR_ADDRESS);
        let key = AccountKey::new(EMULATOR, EMULATOR_KEY).map_err(|_| ConnectionError::Key)?;
        return Ok((with_secondary(Endpoint::parse(address)?, &parts)?, Credential::Key(key)));
    }
    let account = parts.get("AccountName");
    let endpoint = match (parts.get("TableEndpoint"), account) {
        (Some(address), _) => Endpoint::parse(address)?,
        (None, Some(account)) => {
            let scheme = parts.get("DefaultEndpointsProtocol").unwrap_or("https");
            let suffix = parts.get("EndpointSuffix").unwrap_or("core.windows.net");
            Endpoint::parse(&format!("{scheme}://{account}.table.{suffix}"))?
        }
        (None, None) => return Err(ConnectionError::Lacks("`TableEndpoint` or `AccountName`")),
    };
    let credential = match (parts.get("AccountKey"), parts.get("SharedAccessSignature")) {
        (Some(key), _) => {
            let account = account.unwrap_or_else(|| endpoint.account()).to_owned();
            Credential::Key(AccountKey::new(&account, key).map_err(|_| ConnectionError::Key)?)
        }
        (None, Some(token)) => Credential::sas(token),
        (None, None) => return Err(ConnectionError::Lacks("`AccountKey` or `SharedAccessSignature`")),
    };
    Ok((with_secondary(endpoint, &parts)?, credential))
}

fn with_secondary(endpoint: Endpoint, parts: &Parts<'_>) -> Result<Endpoint, ConnectionError> {
    match parts.get("TableSecondaryEndpoint") {
        Some(address) => endpoint.with_secondary(address),
        None => Ok(endpoint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secondary_has_the_accounts_name_with_an_ending_or_its_own_address() {
        for (address, secondary) in [
            ("https://acme.table.core.windows.net", "https://acme-secondary.table.core.windows.net"),
            ("http://127.0.0.1:10002/acme", "http://127.0.0.1:10002/acme-secondary"),
        ] {
            assert_eq!(Endpoint::parse(address).unwrap().secondary().to_string(), secondary);
        }
        let own = "AccountName=acme;AccountKey=YWFh;TableEndpoint=http://a/acme;TableSecondaryEndpoint=http://b/other";
        assert_eq!(parse(own).unwrap().0.secondary().to_string(), "http://b/other");
        let mixed = own.replace("http://b", "https://b");
        assert!(matches!(parse(&mixed), Err(ConnectionError::Address | ConnectionError::WithoutTls)));
    }

    #[test]
    fn addresses_are_read_and_name_their_account() {
        for (address, account, resource) in [
            ("http://127.0.0.1:10002/devstoreaccount1/", "devstoreaccount1", "/devstoreaccount1/Tables"),
            ("http://contoso.table.localhost:1", "contoso", "/Tables"),
        ] {
            let endpoint = Endpoint::parse(address).unwrap();
            assert_eq!((endpoint.account(), &*endpoint.path_of("Tables")), (account, resource));
            assert_eq!(endpoint.to_string(), address.trim_end_matches('/'));
        }
        for address in
            ["", "contoso", "ftp://a", "http://", "http:///a", "http://u@h", "http://h/a?b", "http://h h"]
        {
            assert_eq!(Endpoint::parse(address), Err(ConnectionError::Address), "{address}");
        }
        // HTTP's client would take the port of the scheme.
        for port in ["111002", "1x", "-1"] {
            let address = format!("http://127.0.0.1:{port}/acme");
            assert_eq!(Endpoint::parse(&address), Err(ConnectionError::Address), "{address}");
        }
    }

    #[test]
    fn connection_strings_are_read() {
        let of = |text: &str| parse(text).map(|(endpoint, credential)| (endpoint.to_string(), credential));
        let (address, credential) = of("UseDevelopmentStorage=true").unwrap();
        assert_eq!(address, EMULATOR_ADDRESS);
        assert!(matches!(credential, Credential::Key(key) if key.account() == EMULATOR));
        let (address, credential) = of(
            "DefaultEndpointsProtocol=http;AccountName=contoso;AccountKey=c2VjcmV0;EndpointSuffix=localhost;BlobEndpoint=x",
        )
        .unwrap();
        assert_eq!(address, "http://contoso.table.localhost");
        assert!(matches!(credential, Credential::Key(key) if key.account() == "contoso"));
        let (_, credential) =
            of("TableEndpoint=http://h:1/acme; SharedAccessSignature=?sv=2019-02-02&sig=a%3D;").unwrap();
        assert!(matches!(credential, Credential::Sas(_)));
        let https = of("AccountName=contoso;AccountKey=c2VjcmV0");
        if cfg!(feature = "tls") {
            assert_eq!(https.unwrap().0, "https://contoso.table.core.windows.net");
        } else {
            assert_eq!(https.unwrap_err(), ConnectionError::WithoutTls);
        }
    }

    #[test]
    fn mistakes_in_connection_strings_are_named_without_their_values() {
        for (text, mistake) in [
            ("", "the connection string has no `TableEndpoint` or `AccountName`"),
            ("secret", "part 1 of the connection string is no `Name=value`"),
            ("AccountName=a;accountname=b", "the connection string has `accountname` twice"),
            (
                "TableEndpoint=http://h",
                "the connection string has no `AccountKey` or `SharedAccessSignature`",
            ),
            ("TableEndpoint=http://h;AccountKey=secret!", "the account's key is no Base64"),
            (
                "TableEndpoint=secret;AccountKey=c2VjcmV0",
                "the table endpoint is no address such as `https://contoso.table.core.windows.net`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), mistake);
        }
    }
}
