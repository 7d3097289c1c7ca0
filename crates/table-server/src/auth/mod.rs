//! Who asks: shared keys and shared access signatures.
//!
//! [`authorize`] looks at a request and at nothing else: the keys are the account's, and policies are what the caller finds
//! for it. Why a request is refused is not told to its sender, and neither keys, signatures nor the header `Authorization` are
//! shown by anything here.

mod caller;
#[cfg(feature = "queue")]
mod of_queues;
mod shared_key;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use http::header;
use table_core::Ticks;
use table_core::access::sas::{Policy, SasError, Verified, verify};

pub use self::caller::Caller;
#[cfg(feature = "queue")]
pub use self::of_queues::{QueueCaller, authorize_queue, policy_of_queue};
use crate::account::AccountKeys;
use crate::exchange::Request;
use crate::fault::Fault;

/// The name of a policy that a token leaves to say what it permits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyName {
    /// The table.
    pub table: String,
    /// The policy's name, as the table's policies have it.
    pub id: String,
}

/// Returns who has sent a request: by the header `Authorization`, else by the token in the query. `policies` finds the policy of
/// a table by its name; it is asked only where the token's signature is right.
pub fn authorize(
    request: &Request,
    account: &AccountKeys,
    policies: &dyn Fn(&str, &str) -> Option<Policy>,
    now: Ticks,
) -> Result<Caller, Fault> {
    if request.head.headers.contains_key(header::AUTHORIZATION) {
        let is_owner = shared_key::verifies(request, account, now, shared_key::to_sign);
        return if is_owner { Ok(Caller::Owner) } else { Err(Fault::not_authenticated()) };
    }
    let verified = token(request, account, policies).map_err(|_| Fault::not_authenticated())?;
    // A listener of IPv6 sees clients of IPv4 by addresses of their own kind.
    let address = request.peer.address.to_canonical();
    if !verified.access().holds_at(now) {
        return Err(Fault::not_authenticated());
    }
    // These tell no more than the token itself, which the sender has.
    if verified.is_https_only() && !request.peer.is_secure {
        return Err(Fault::wrong_protocol());
    }
    if !verified.is_for_address(address) {
        return Err(Fault::wrong_address());
    }
    Ok(if verified.is_of_account() { Caller::Account(verified) } else { Caller::Table(verified) })
}

/// Returns the policy that [`authorize`] will ask for, so that it can be looked up before where that takes waiting; `None` if it
/// asks for none, or the token's signature is wrong: a sender without a token causes no look-up.
#[must_use]
pub fn policy_of(request: &Request, account: &AccountKeys) -> Option<PolicyName> {
    if request.head.headers.contains_key(header::AUTHORIZATION) {
        return None;
    }
    let asked = RefCell::new(None);
    let find = |table: &str, id: &str| {
        *asked.borrow_mut() = Some(PolicyName { table: table.to_owned(), id: id.to_owned() });
        None
    };
    match token(request, account, &find) {
        Err(SasError::NoSuchPolicy) => asked.into_inner(),
        _ => None,
    }
}

fn token(
    request: &Request,
    account: &AccountKeys,
    policies: &dyn Fn(&str, &str) -> Option<Policy>,
) -> Result<Verified, SasError> {
    let query = request.head.uri.query().unwrap_or_default();
    verify(query, account.signing(), policies)
}
