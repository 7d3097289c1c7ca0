//! Tokens of queues: made, and verified as those of accounts are that are for queues.

use std::net::IpAddr;

use super::error::SasError;
use super::key::{AccountKey, read_signature};
use super::parameters::Parameters;
use super::token::{Terms, Token};
use super::verify::{
    OF_ACCOUNTS, addresses, check_letters, is_https_only, is_within, one_of, policy_name, time,
};
use crate::model::Ticks;

/// The letters of a queue's permissions: to look, to send, to update, and to receive and delete.
const OF_QUEUES: &str = "raup";

/// The token of a queue, on its way.
///
/// ```
/// use table_core::access::sas::{AccountKey, QueueSas, verify_queue};
///
/// let key = AccountKey::new("contoso", "c2VjcmV0")?;
/// let token = QueueSas::new("hires").permissions("ap").until("2099-01-02".parse()?).sign(&key)?;
/// assert!(token.as_str().starts_with("se=2099-01-02T00%3A00%3A00Z&sp=ap&sv=2019-02-02&sig="));
///
/// // The name of the queue is signed, and the token does not say it.
/// let verified = verify_queue(token.as_str(), "hires", &[key.clone()], &|_policy| None)?;
/// assert!(verified.permits('p') && !verified.permits('u'));
/// assert!(verify_queue(token.as_str(), "moves", &[key], &|_policy| None).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a token is made when it is signed"]
pub struct QueueSas {
    queue: Box<str>,
    permissions: Box<str>,
    policy: Box<str>,
    from: Option<Ticks>,
    until: Option<Ticks>,
    terms: Terms,
}

impl QueueSas {
    /// Begins the token of a queue.
    pub fn new(queue: &str) -> Self {
        Self {
            queue: queue.into(),
            permissions: "".into(),
            policy: "".into(),
            from: None,
            until: None,
            terms: Terms::default(),
        }
    }

    /// Permits what these letters stand for: `r` to look at messages and the queue's properties, `a` to send, `u` to update, and `p`
    /// to receive and delete. The service demands this order.
    pub fn permissions(self, letters: &str) -> Self {
        Self { permissions: letters.into(), ..self }
    }

    /// Permits nothing before this time.
    pub fn from(self, time: Ticks) -> Self {
        Self { from: Some(time), ..self }
    }

    /// Permits nothing from this time on.
    pub fn until(self, time: Ticks) -> Self {
        Self { until: Some(time), ..self }
    }

    /// Leaves to a policy of the queue what the token does not say.
    pub fn policy(self, id: &str) -> Self {
        Self { policy: id.into(), ..self }
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
        parameters.set("si", &*self.policy);
        self.terms.put(&mut parameters, self.from, self.until);
        VerifiedQueue::read(&parameters)?;
        let signature = key.sign(&parameters.to_sign_of_queue(key.account(), &self.queue)?);
        parameters.set("sig", signature);
        Ok(Token(parameters.to_query()))
    }
}

/// What a policy says of a queue: what the tokens that name it leave to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a policy does nothing until tokens are verified by it"]
pub struct QueuePolicy {
    permissions: Option<Box<str>>,
    from: Option<Ticks>,
    until: Option<Ticks>,
}

impl QueuePolicy {
    /// Makes a policy that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Permits what these letters of `raup` stand for, each at most once.
    pub fn permissions(self, letters: &str) -> Result<Self, SasError> {
        check_letters("sp", letters, OF_QUEUES)?;
        Ok(Self { permissions: Some(letters.into()), ..self })
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

/// What a token says of queues whose signature is right: the token of a queue, or of an account.
///
/// Whether its time has come is for [`holds_at`](Self::holds_at) to say, and whether the client's address and protocol are those
/// that it is for is the server's to compare.
#[derive(Clone, Debug)]
pub struct VerifiedQueue {
    permissions: Option<Box<str>>,
    /// Of an account's token its resource types.
    types: Option<Box<str>>,
    policy: Option<Box<str>>,
    from: Option<Ticks>,
    until: Option<Ticks>,
    addresses: Option<(IpAddr, IpAddr)>,
    is_https_only: bool,
}

impl VerifiedQueue {
    /// Returns whether it is a queue's, and permits what this letter stands for.
    #[must_use]
    pub fn permits(&self, letter: char) -> bool {
        self.types.is_none() && self.has(letter)
    }

    /// Returns whether it is an account's, and permits what this letter stands for with resources of this type: `s` for the
    /// service, `c` for queues as a whole, `o` for messages.
    #[must_use]
    pub fn permits_of_account(&self, letter: char, of: char) -> bool {
        self.types.as_ref().is_some_and(|types| types.contains(of)) && self.has(letter)
    }

    /// Returns whether it is an account's, and not a queue's.
    #[must_use]
    pub fn is_of_account(&self) -> bool {
        self.types.is_some()
    }

    /// Returns whether it is an account's, and for resources of this type.
    #[must_use]
    pub fn is_for_resources(&self, of: char) -> bool {
        self.types.as_ref().is_some_and(|types| types.contains(of))
    }

    /// Returns whether its time has come, and is not over.
    #[must_use]
    pub fn holds_at(&self, now: Ticks) -> bool {
        self.from.is_none_or(|from| from <= now) && self.until.is_some_and(|until| now < until)
    }

    /// Returns whether a client of this address may use it.
    #[must_use]
    pub fn is_for_address(&self, address: IpAddr) -> bool {
        is_within(self.addresses, address)
    }

    /// Returns whether it is for HTTPS alone.
    #[must_use]
    pub fn is_https_only(&self) -> bool {
        self.is_https_only
    }

    fn has(&self, letter: char) -> bool {
        self.permissions.as_ref().is_some_and(|letters| letters.contains(letter))
    }

    /// Reads what the parameters say, without a look at their signature.
    fn read(parameters: &Parameters) -> Result<Self, SasError> {
        // What narrows the tokens of tables would be passed over here.
        parameters.lack(&["tn", "spk", "srk", "epk", "erk"])?;
        let is_of_account = parameters.are_of_account();
        if is_of_account {
            parameters.lack(&["si"])?;
            let services = parameters.need("ss")?;
            check_letters("ss", services, "bqtf")?;
            if !services.contains('q') {
                return Err(SasError::NotForQueues);
            }
            check_letters("srt", parameters.need("srt")?, "sco")?;
        } else {
            parameters.lack(&["ses"])?;
        }
        let permissions = parameters.get("sp");
        if let Some(permissions) = permissions {
            check_letters("sp", permissions, if is_of_account { OF_ACCOUNTS } else { OF_QUEUES })?;
        }
        let policy = policy_name(parameters)?;
        if policy.is_none() {
            parameters.need("sp")?;
            parameters.need("se")?;
        }
        let said = Self {
            permissions: permissions.map(Into::into),
            types: is_of_account.then(|| parameters.get("srt").unwrap_or_default().into()),
            policy: policy.map(Into::into),
            from: time(parameters, "st")?,
            until: time(parameters, "se")?,
            addresses: parameters.get("sip").map(addresses).transpose()?,
            is_https_only: is_https_only(parameters)?,
        };
        said.in_order()?;
        // So that a token of no version is refused as one before its signature is looked at.
        parameters.to_sign_of_queue("", "").map(|_| said)
    }

    /// Returns what it says under its policy: each of the two says what the other does not.
    fn under(self, policy: QueuePolicy) -> Result<Self, SasError> {
        let permissions = one_of("sp", self.permissions, policy.permissions)?;
        let said = Self {
            permissions: Some(permissions.ok_or(SasError::Missing("sp"))?),
            from: one_of("st", self.from, policy.from)?,
            until: Some(one_of("se", self.until, policy.until)?.ok_or(SasError::Missing("se"))?),
            ..self
        };
        said.in_order().map(|()| said)
    }

    fn in_order(&self) -> Result<(), SasError> {
        match (self.from, self.until) {
            (Some(from), Some(until)) if from >= until => Err(SasError::EndsBeforeItStarts),
            _ => Ok(()),
        }
    }
}

/// Verifies the token in the query of a URL of a queue: whether one of these keys has signed it for that queue or for the account,
/// and what it says. `policies` gives the policy of the queue and a name, if there is such; it is asked only where the signature
/// is right. Without a queue, as for the service, the name is empty, and only tokens of accounts verify.
pub fn verify_queue(
    query: &str,
    queue: &str,
    keys: &[AccountKey],
    policies: &dyn Fn(&str) -> Option<QueuePolicy>,
) -> Result<VerifiedQueue, SasError> {
    let parameters = Parameters::of_query(query)?;
    let said = VerifiedQueue::read(&parameters)?;
    let signature = read_signature(parameters.need("sig")?).ok_or(SasError::Malformed("sig"))?;
    let mut is_signed = false;
    for key in keys {
        is_signed |= key.has_signed(&parameters.to_sign_of_queue(key.account(), queue)?, &signature);
    }
    if !is_signed || queue.is_empty() && !said.is_of_account() {
        return Err(SasError::WrongSignature);
    }
    match said.policy.as_deref().map(policies) {
        Some(policy) => said.under(policy.ok_or(SasError::NoSuchPolicy)?),
        None => Ok(said),
    }
}
