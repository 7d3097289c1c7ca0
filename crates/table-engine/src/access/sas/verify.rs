//! Tokens that are verified.

use std::net::IpAddr;

use super::error::SasError;
use super::key::{AccountKey, read_signature};
use super::parameters::Parameters;
use crate::access::{Access, End};
use crate::executor::Rights;
use crate::model::Ticks;

/// The letters that permissions of an account's token may have; those that are none of `r`, `a`, `u`, `d` say nothing of
/// entities.
pub(super) const OF_ACCOUNTS: &str = "rwdxylacuptfi";
/// How long the name of a policy may be.
const POLICY_LENGTH: usize = 64;

/// What a policy says of a table: what the tokens that name it leave to it.
///
/// ```
/// use table_core::access::sas::{AccountKey, Policy, Sas, SasError, verify};
///
/// let key = AccountKey::new("contoso", "c2VjcmV0")?;
/// let token = Sas::table("Company").policy("clerks").sign(&key)?;
/// let policy = Policy::new().read().until("2099-01-02".parse()?);
/// let verified = verify(token.as_str(), &[key.clone()], &|table, id| {
///     (table == "Company" && id == "clerks").then(|| policy.clone())
/// })?;
/// assert_eq!(verified.access().to_string(), "read in table `Company`, until 2099-01-02T00:00:00Z");
///
/// // A policy that is gone revokes its tokens.
/// let revoked = verify(token.as_str(), &[key], &|_, _| None).unwrap_err();
/// assert_eq!(revoked, SasError::NoSuchPolicy);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a policy does nothing until tokens are verified by it"]
pub struct Policy {
    rights: Option<Rights>,
    from: Option<Ticks>,
    until: Option<Ticks>,
}

impl Policy {
    /// Makes a policy that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Permits to read.
    pub fn read(self) -> Self {
        self.permitting(Rights::READ)
    }

    /// Permits to insert.
    pub fn add(self) -> Self {
        self.permitting(Rights::ADD)
    }

    /// Permits to replace and change.
    pub fn update(self) -> Self {
        self.permitting(Rights::UPDATE)
    }

    /// Permits to delete.
    pub fn delete(self) -> Self {
        self.permitting(Rights::DELETE)
    }

    /// Permits what these letters stand for: `r`, `a`, `u` and `d`, each at most once.
    ///
    /// ```
    /// use table_core::access::sas::{Policy, SasError};
    ///
    /// assert_eq!(Policy::new().permissions("ra")?, Policy::new().add().read());
    /// assert_eq!(Policy::new().permissions("rx"), Err(SasError::Malformed("sp")));
    /// # Ok::<(), SasError>(())
    /// ```
    pub fn permissions(self, letters: &str) -> Result<Self, SasError> {
        check_letters("sp", letters, "raud")?;
        Ok(self.permitting(rights_of(letters)))
    }

    fn permitting(self, rights: Rights) -> Self {
        Self { rights: Some(self.rights.unwrap_or_default().and(rights)), ..self }
    }

    /// Permits nothing before this time.
    pub fn from(self, time: Ticks) -> Self {
        Self { from: Some(time), ..self }
    }

    /// Permits nothing from this time on.
    pub fn until(self, time: Ticks) -> Self {
        Self { until: Some(time), ..self }
    }
}

/// What a token says whose signature is right.
///
/// Whether its time has come is not looked at: a handle that is [restricted](crate::Tables::restricted) looks at each call.
/// Whether the client's address and protocol are those that it is for is the server's to compare.
#[derive(Clone, Debug)]
pub struct Verified {
    said: Said,
    access: Access,
}

/// What the parameters of a token say.
#[derive(Clone, Debug)]
pub(super) struct Said {
    access: Access,
    has_rights: bool,
    policy: Option<Box<str>>,
    addresses: Option<(IpAddr, IpAddr)>,
    is_https_only: bool,
    /// Of an account's token its permissions and its resource types.
    account: Option<(Box<str>, Box<str>)>,
}

impl Verified {
    /// Returns what it permits with entities.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the name of its policy.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        self.said.policy.as_deref()
    }

    /// Returns whether a client of this address may use it.
    #[must_use]
    pub fn is_for_address(&self, address: IpAddr) -> bool {
        is_within(self.said.addresses, address)
    }

    /// Returns whether it is for HTTPS alone.
    #[must_use]
    pub fn is_https_only(&self) -> bool {
        self.said.is_https_only
    }

    /// Returns whether it is an account's, and not a table's.
    #[must_use]
    pub fn is_of_account(&self) -> bool {
        self.said.account.is_some()
    }

    /// Returns whether it is an account's, and permits what this letter stands for with resources of this type: `s` for the
    /// service, `c` for tables as a whole, `o` for entities.
    #[must_use]
    pub fn permits_of_account(&self, letter: char, of: char) -> bool {
        let account = self.said.account.as_ref();
        account.is_some_and(|(permissions, types)| permissions.contains(letter) && types.contains(of))
    }
}

/// Verifies the token in the query of a URL: whether one of these keys has signed it, and what it says. `policies` gives the
/// policy of a table and a name, if there is such; it is asked only where the signature is right.
///
/// Give both keys of an account, so that one can be exchanged while tokens of the other are used.
pub fn verify(
    query: &str,
    keys: &[AccountKey],
    policies: &dyn Fn(&str, &str) -> Option<Policy>,
) -> Result<Verified, SasError> {
    let parameters = Parameters::of_query(query)?;
    let said = read(&parameters)?;
    let signature = read_signature(parameters.need("sig")?).ok_or(SasError::Malformed("sig"))?;
    let mut is_signed = false;
    for key in keys {
        is_signed |= key.has_signed(&parameters.to_sign(key.account())?, &signature);
    }
    if !is_signed {
        return Err(SasError::WrongSignature);
    }
    let mut access = said.access.clone();
    if let (Some(id), Some(table)) = (&said.policy, parameters.get("tn")) {
        let policy = policies(table, id).ok_or(SasError::NoSuchPolicy)?;
        access = under(access, said.has_rights, &policy)?;
    }
    Ok(Verified { said, access })
}

/// Returns what a token permits under its policy: each of the two says what the other does not.
fn under(mut access: Access, has_rights: bool, policy: &Policy) -> Result<Access, SasError> {
    match (has_rights, policy.rights) {
        (true, Some(_)) => return Err(SasError::InPolicyToo("sp")),
        (false, None) => return Err(SasError::Missing("sp")),
        (false, Some(rights)) => access = access.permitting(rights),
        (true, None) => {}
    }
    access.from = one_of("st", access.from, policy.from)?;
    access.until = Some(one_of("se", access.until, policy.until)?.ok_or(SasError::Missing("se"))?);
    in_order(&access)?;
    Ok(access)
}

pub(super) fn one_of<T>(
    name: &'static str,
    said: Option<T>,
    policy: Option<T>,
) -> Result<Option<T>, SasError> {
    match (said, policy) {
        (Some(_), Some(_)) => Err(SasError::InPolicyToo(name)),
        (said, policy) => Ok(said.or(policy)),
    }
}

fn in_order(access: &Access) -> Result<(), SasError> {
    match (access.from, access.until) {
        (Some(from), Some(until)) if from >= until => Err(SasError::EndsBeforeItStarts),
        _ => Ok(()),
    }
}

/// Reads what the parameters say, without a look at their signature.
pub(super) fn read(parameters: &Parameters) -> Result<Said, SasError> {
    let account = parameters.are_of_account();
    let mut access = if account {
        parameters.lack(&["tn", "si", "spk", "srk", "epk", "erk"])?;
        let services = parameters.need("ss")?;
        check_letters("ss", services, "bqtf")?;
        if !services.contains('t') {
            return Err(SasError::NotForTables);
        }
        check_letters("srt", parameters.need("srt")?, "sco")?;
        Access::to_all_tables()
    } else {
        parameters.lack(&["ses"])?;
        Access::to_table(parameters.need("tn")?)
    };
    let permissions = parameters.get("sp");
    if let Some(permissions) = permissions {
        check_letters("sp", permissions, if account { OF_ACCOUNTS } else { "raud" })?;
        let is_of_entities = !account || parameters.get("srt").is_some_and(|types| types.contains('o'));
        access = access.permitting(if is_of_entities { rights_of(permissions) } else { Rights::NONE });
    }
    let policy = policy_name(parameters)?;
    (access.from, access.until) = (time(parameters, "st")?, time(parameters, "se")?);
    if policy.is_none() {
        parameters.need("sp")?;
        parameters.need("se")?;
    }
    in_order(&access)?;
    let access = access.within(end(parameters, "spk", "srk")?, end(parameters, "epk", "erk")?);
    let said = Said {
        access,
        has_rights: permissions.is_some(),
        policy: policy.map(Into::into),
        addresses: parameters.get("sip").map(addresses).transpose()?,
        is_https_only: is_https_only(parameters)?,
        account: account.then(|| {
            let value = |name| parameters.get(name).unwrap_or_default().into();
            (value("sp"), value("srt"))
        }),
    };
    // So that a token of no version is refused as one before its signature is looked at.
    parameters.to_sign("").map(|_| said)
}

/// Returns the name of the policy that a token names.
pub(super) fn policy_name(parameters: &Parameters) -> Result<Option<&str>, SasError> {
    let policy = parameters.get("si");
    if policy.is_some_and(|policy| policy.encode_utf16().count() > POLICY_LENGTH) {
        return Err(SasError::Malformed("si"));
    }
    Ok(policy)
}

/// Reads a time.
pub(super) fn time(parameters: &Parameters, name: &'static str) -> Result<Option<Ticks>, SasError> {
    let text = parameters.get(name);
    text.map(|text| text.parse().map_err(|_| SasError::Malformed(name))).transpose()
}

/// Returns whether a token is for HTTPS alone.
pub(super) fn is_https_only(parameters: &Parameters) -> Result<bool, SasError> {
    match parameters.get("spr") {
        None | Some("https,http" | "http,https") => Ok(false),
        Some("https") => Ok(true),
        Some(_) => Err(SasError::Malformed("spr")),
    }
}

/// Returns whether an address lies in a range, if there is one.
pub(super) fn is_within(range: Option<(IpAddr, IpAddr)>, address: IpAddr) -> bool {
    let same_kind = |other: &IpAddr| other.is_ipv4() == address.is_ipv4();
    range.is_none_or(|(first, last)| same_kind(&first) && (first..=last).contains(&address))
}

/// Returns what letters stand for; those that stand for nothing that is done with entities are passed over.
fn rights_of(letters: &str) -> Rights {
    let rights = Rights::NAMED.iter().filter(|(.., letter)| letters.contains(*letter));
    rights.fold(Rights::NONE, |rights, (right, ..)| rights.and(*right))
}

/// Refuses letters that are none of these, and one that is there twice.
pub(super) fn check_letters(name: &'static str, letters: &str, known: &str) -> Result<(), SasError> {
    let is_right = |(at, letter): (usize, char)| {
        known.contains(letter) && !letters.get(..at).is_some_and(|before| before.contains(letter))
    };
    if letters.char_indices().all(is_right) { Ok(()) } else { Err(SasError::Malformed(name)) }
}

fn end(parameters: &Parameters, partition: &'static str, row: &'static str) -> Result<Option<End>, SasError> {
    match (parameters.get(partition), parameters.get(row)) {
        (None, Some(_)) => Err(SasError::Unexpected(row)),
        (partition, row) => Ok(partition.map(|partition| End::new(partition, row))),
    }
}

pub(super) fn addresses(text: &str) -> Result<(IpAddr, IpAddr), SasError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse::<IpAddr>(), last.parse::<IpAddr>()) {
        (Ok(first), Ok(last)) if first.is_ipv4() == last.is_ipv4() && first <= last => Ok((first, last)),
        _ => Err(SasError::Malformed("sip")),
    }
}
