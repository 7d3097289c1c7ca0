//! Tokens that are made.

use std::fmt;
use std::net::IpAddr;

use super::error::SasError;
use super::key::AccountKey;
use super::parameters::Parameters;
use crate::access::{Access, End, Names};
use crate::executor::Rights;
use crate::model::Ticks;

/// The version by which tokens are made, unless another is given.
const VERSION: &str = "2019-02-02";

/// The text of a token: the query of a URL. It is all that a client needs to do what it says, so `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(pub(super) String);

impl Token {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text, to be kept.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Which addresses a token is for, and which protocols; the version by which it is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    pub(super) addresses: Option<(IpAddr, IpAddr)>,
    pub(super) protocols: Option<&'static str>,
    pub(super) version: Option<Box<str>>,
}

/// The token of a table, on its way.
///
/// ```
/// use table_core::access::sas::{AccountKey, Sas, verify};
/// use table_core::{ErrorKind, Ticks};
///
/// let key = AccountKey::new("contoso", "c2VjcmV0")?;
/// let until: Ticks = "2099-01-02T03:04:05Z".parse()?;
/// let token = Sas::table("Company").read().partition("Sales").until(until).sign(&key)?;
/// assert!(token.as_str().starts_with("se=2099-01-02T03%3A04%3A05Z&sp=r&sv=2019-02-02&tn=Company&spk=Sales&epk=Sales&sig="));
///
/// let verified = verify(token.as_str(), &[key], &|_table, _policy| None)?;
/// assert_eq!(
///     verified.access().to_string(),
///     "read in table `Company`, partition `Sales`, until 2099-01-02T03:04:05Z"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a token is made when it is signed"]
pub struct Sas {
    access: Access,
    policy: Option<Box<str>>,
    terms: Terms,
}

impl Sas {
    /// Begins the token of a table.
    pub fn table(name: impl AsRef<str>) -> Self {
        Self { access: Access::to_table(name), policy: None, terms: Terms::default() }
    }

    /// Permits to read.
    pub fn read(self) -> Self {
        self.with(Access::read)
    }

    /// Permits to insert.
    pub fn add(self) -> Self {
        self.with(Access::add)
    }

    /// Permits to replace and change.
    pub fn update(self) -> Self {
        self.with(Access::update)
    }

    /// Permits to delete.
    pub fn delete(self) -> Self {
        self.with(Access::delete)
    }

    /// Narrows it to the entities of one partition.
    pub fn partition(self, partition: &str) -> Self {
        self.with(|access| access.partition(partition))
    }

    /// Narrows it to the entities from the start of a partition on.
    pub fn from_partition(self, partition: &str) -> Self {
        self.with(|access| access.from_partition(partition))
    }

    /// Narrows it to the entities from one on.
    pub fn from_row(self, partition: &str, row: &str) -> Self {
        self.with(|access| access.from_row(partition, row))
    }

    /// Narrows it to the entities through the end of a partition.
    pub fn through_partition(self, partition: &str) -> Self {
        self.with(|access| access.through_partition(partition))
    }

    /// Narrows it to the entities through one.
    pub fn through_row(self, partition: &str, row: &str) -> Self {
        self.with(|access| access.through_row(partition, row))
    }

    /// Permits nothing before this time. Clients' clocks differ by minutes: leave it out for a token that is to hold at
    /// once.
    pub fn from(self, time: Ticks) -> Self {
        self.with(|access| access.from(time))
    }

    /// Permits nothing from this time on.
    pub fn until(self, time: Ticks) -> Self {
        self.with(|access| access.until(time))
    }

    /// Leaves to a policy of the table what the token does not say: permissions, start or end.
    pub fn policy(mut self, id: &str) -> Self {
        self.policy = Some(id.into());
        self
    }

    /// Narrows it to clients of these addresses.
    pub fn addresses(mut self, first: IpAddr, last: IpAddr) -> Self {
        self.terms.addresses = Some((first, last));
        self
    }

    /// Narrows it to HTTPS.
    pub fn https_only(mut self) -> Self {
        self.terms.protocols = Some("https");
        self
    }

    /// Says that it is for HTTP too, as it is if nothing is said.
    pub fn https_and_http(mut self) -> Self {
        self.terms.protocols = Some("https,http");
        self
    }

    /// Makes it by another version of the service's protocol than 2019-02-02.
    pub fn version(mut self, version: &str) -> Self {
        self.terms.version = Some(version.into());
        self
    }

    fn with(self, narrow: impl FnOnce(Access) -> Access) -> Self {
        Self { access: narrow(self.access), ..self }
    }

    /// Signs the token with a key of the account.
    pub fn sign(self, key: &AccountKey) -> Result<Token, SasError> {
        let mut parameters = Parameters::default();
        let Self { access, policy, terms } = self;
        if let Names::These(names) = &access.tables {
            parameters.set("tn", names.first().map(ToString::to_string).unwrap_or_default());
        }
        parameters.set("sp", letters(access.rights));
        parameters.set("si", policy.as_deref().unwrap_or_default());
        for (end, [partition, row]) in
            [(&access.range.start, ["spk", "srk"]), (&access.range.end, ["epk", "erk"])]
        {
            if let Some(End { partition: key, row: of }) = end {
                parameters.set(partition, &**key);
                parameters.set(row, of.as_deref().unwrap_or_default());
                // Before a start that is empty lies nothing, and an end that is empty can't be said.
                if key.is_empty() && (partition == "epk" || parameters.get(row).is_some()) {
                    return Err(SasError::Malformed(partition));
                }
                if partition == "epk" && of.as_deref().is_some_and(str::is_empty) {
                    return Err(SasError::Malformed("erk"));
                }
            }
        }
        terms.put(&mut parameters, access.from, access.until);
        if policy.is_none() {
            parameters.need("sp")?;
            parameters.need("se")?;
        }
        signed(parameters, key)
    }
}

/// The token of an account, on its way: it is for every table, and for every queue if it says so.
///
/// ```
/// use table_core::access::sas::{AccountKey, AccountSas};
///
/// let key = AccountKey::new("contoso", "c2VjcmV0")?;
/// let token = AccountSas::new("rau").objects().until("2099-01-02".parse()?).sign(&key)?;
/// assert!(token.as_str().starts_with("se=2099-01-02T00%3A00%3A00Z&sp=rau&sv=2019-02-02&ss=t&srt=o&sig="));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a token is made when it is signed"]
pub struct AccountSas {
    permissions: Box<str>,
    services: &'static str,
    types: [bool; 3],
    from: Option<Ticks>,
    until: Option<Ticks>,
    terms: Terms,
}

impl AccountSas {
    /// Begins the token with its permissions, each a letter: `r`, `a`, `u` and `d` are of entities, `c` makes tables, `l`
    /// lists them, `w` writes properties of the service.
    pub fn new(permissions: &str) -> Self {
        Self {
            permissions: permissions.into(),
            services: "t",
            types: [false; 3],
            from: None,
            until: None,
            terms: Terms::default(),
        }
    }

    /// Makes it one for the service's properties.
    pub fn service(mut self) -> Self {
        self.types[0] = true;
        self
    }

    /// Makes it one for queues and messages, too.
    pub fn with_queues(self) -> Self {
        Self { services: "qt", ..self }
    }

    /// Makes it one for tables as a whole.
    pub fn containers(mut self) -> Self {
        self.types[2] = true;
        self
    }

    /// Makes it one for entities.
    pub fn objects(mut self) -> Self {
        self.types[1] = true;
        self
    }

    /// Permits nothing before this time.
    pub fn from(self, time: Ticks) -> Self {
        Self { from: Some(time), ..self }
    }

    /// Permits nothing from this time on.
    pub fn until(self, time: Ticks) -> Self {
        Self { until: Some(time), ..self }
    }

    /// Narrows it to clients of these addresses.
    pub fn addresses(mut self, first: IpAddr, last: IpAddr) -> Self {
        self.terms.addresses = Some((first, last));
        self
    }

    /// Narrows it to HTTPS.
    pub fn https_only(mut self) -> Self {
        self.terms.protocols = Some("https");
        self
    }

    /// Makes it by another version of the service's protocol than 2019-02-02.
    pub fn version(mut self, version: &str) -> Self {
        self.terms.version = Some(version.into());
        self
    }

    /// Signs the token with a key of the account.
    pub fn sign(self, key: &AccountKey) -> Result<Token, SasError> {
        let mut parameters = Parameters::default();
        parameters.set("sp", &*self.permissions);
        parameters.set("ss", self.services);
        let types = self.types.iter().zip(['s', 'o', 'c']).filter(|(is_set, _)| **is_set);
        parameters.set("srt", types.map(|(_, letter)| letter).collect::<String>());
        self.terms.put(&mut parameters, self.from, self.until);
        for name in ["sp", "se", "srt"] {
            parameters.need(name)?;
        }
        signed(parameters, key)
    }
}

impl Terms {
    pub(super) fn put(self, parameters: &mut Parameters, from: Option<Ticks>, until: Option<Ticks>) {
        let time = |time: Option<Ticks>| time.map(|time| time.to_string()).unwrap_or_default();
        parameters.set("st", time(from));
        parameters.set("se", time(until));
        parameters.set("sv", self.version.as_deref().unwrap_or(VERSION));
        parameters.set("spr", self.protocols.unwrap_or_default());
        if let Some((first, last)) = self.addresses {
            let addresses = if first == last { first.to_string() } else { format!("{first}-{last}") };
            parameters.set("sip", addresses);
        }
    }
}

fn signed(mut parameters: Parameters, key: &AccountKey) -> Result<Token, SasError> {
    super::verify::read(&parameters)?;
    let signature = key.sign(&parameters.to_sign(key.account())?);
    parameters.set("sig", signature);
    Ok(Token(parameters.to_query()))
}

/// Returns the letters of permissions, in the order that the service demands.
fn letters(rights: Rights) -> String {
    Rights::NAMED.iter().filter(|(right, ..)| rights.has(*right)).map(|(.., letter)| *letter).collect()
}
