//! Who asks for queues: shared keys, which sign other parts of a request than those of tables do, and tokens.

use std::cell::RefCell;

use http::header;
use table_core::Ticks;
use table_core::access::sas::{QueuePolicy, SasError, VerifiedQueue, verify_queue};
use table_wire::percent;

use super::shared_key;
use crate::account::AccountKeys;
use crate::exchange::Request;
use crate::fault::Fault;
use crate::wire::address::signed_path;

/// The headers whose values the full scheme signs, each by a line, between the method and the headers of the service.
const SIGNED_HEADERS: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];
/// Those that the short scheme signs.
const SIGNED_BY_LITE: [&str; 3] = ["content-md5", "content-type", "date"];
/// What the names of the service's own headers begin with.
const OWN: &str = "x-ms-";

/// The sender of a request.
#[derive(Clone, Debug)]
pub enum QueueCaller {
    /// Who has a key of the account, and may do everything.
    Owner,
    /// Who has a token, of the account or of the queue that the request is for.
    Token(VerifiedQueue),
}

/// Returns who has sent a request for a queue, or for the service if the name is empty: by the header `Authorization`, else by the
/// token in the query. `policies` finds the policy of the queue by its name; it is asked only where the token's signature is right.
pub fn authorize_queue(
    request: &Request,
    queue: &str,
    account: &AccountKeys,
    policies: &dyn Fn(&str) -> Option<QueuePolicy>,
    now: Ticks,
) -> Result<QueueCaller, Fault> {
    if request.head.headers.contains_key(header::AUTHORIZATION) {
        let is_owner = shared_key::verifies(request, account, now, to_sign);
        return if is_owner { Ok(QueueCaller::Owner) } else { Err(Fault::not_authenticated()) };
    }
    let verified = token(request, queue, account, policies).map_err(|_| Fault::not_authenticated())?;
    if !verified.holds_at(now) {
        return Err(Fault::not_authenticated());
    }
    // These tell no more than the token itself, which the sender has.
    if verified.is_https_only() && !request.peer.is_secure {
        return Err(Fault::wrong_protocol());
    }
    // A listener of IPv6 sees clients of IPv4 by addresses of their own kind.
    if !verified.is_for_address(request.peer.address.to_canonical()) {
        return Err(Fault::wrong_address());
    }
    Ok(QueueCaller::Token(verified))
}

/// Returns the name of the queue's policy that [`authorize_queue`] will ask for; `None` if it asks for none, or the token's
/// signature is wrong: a sender without a token causes no look-up.
#[must_use]
pub fn policy_of_queue(request: &Request, queue: &str, account: &AccountKeys) -> Option<String> {
    if request.head.headers.contains_key(header::AUTHORIZATION) {
        return None;
    }
    let asked = RefCell::new(None);
    let find = |id: &str| {
        *asked.borrow_mut() = Some(id.to_owned());
        None
    };
    match token(request, queue, account, &find) {
        Err(SasError::NoSuchPolicy) => asked.into_inner(),
        _ => None,
    }
}

fn token(
    request: &Request,
    queue: &str,
    account: &AccountKeys,
    policies: &dyn Fn(&str) -> Option<QueuePolicy>,
) -> Result<VerifiedQueue, SasError> {
    verify_queue(request.head.uri.query().unwrap_or_default(), queue, account.signing(), policies)
}

impl QueueCaller {
    /// Returns whether it is one who has a key of the account.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        matches!(self, Self::Owner)
    }

    /// Returns whether it may do what one of these letters of an account's token stands for with resources of this type, or the
    /// letter of a queue's token, if there is one.
    #[must_use]
    pub fn permits(&self, letters: &str, of: char, letter: Option<char>) -> bool {
        match self {
            Self::Owner => true,
            Self::Token(token) => {
                letters.chars().any(|letter| token.permits_of_account(letter, of))
                    || letter.is_some_and(|letter| token.permits(letter))
            }
        }
    }
}

/// Returns the text that is signed; `None` if the query can't be read.
pub(super) fn to_sign(request: &Request, account: &str, _date: &str, is_lite: bool) -> Option<String> {
    let mut text = request.head.method.as_str().to_owned();
    text.push('\n');
    for name in if is_lite { &SIGNED_BY_LITE[..] } else { &SIGNED_HEADERS } {
        text.push_str(match (*name, request.header(name)) {
            // No length is signed of no body.
            ("content-length", Some("0")) | (_, None) => "",
            // The service's own header of the time is signed among the others, and it is the one that is looked at.
            ("date", _) if request.header("x-ms-date").is_some_and(|date| !date.is_empty()) => "",
            (_, Some(value)) => value,
        });
        text.push('\n');
    }
    let mut own: Vec<_> = request.head.headers.keys().map(http::HeaderName::as_str).collect();
    own.retain(|name| name.starts_with(OWN));
    own.sort_unstable();
    for name in own {
        text.push_str(name);
        text.push(':');
        text.push_str(request.header(name)?.trim());
        text.push('\n');
    }
    text.push('/');
    text.push_str(account);
    // As it was sent: the escapes of the path are signed, too.
    text.push_str(signed_path(request.head.uri.path(), account));
    let mut parameters = Vec::new();
    for parameter in request.head.uri.query().unwrap_or_default().split('&').filter(|one| !one.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        parameters.push((percent::decode(name).ok()?.to_ascii_lowercase(), percent::decode(value).ok()?));
    }
    if is_lite {
        if let Some((_, comp)) = parameters.iter().find(|(name, _)| name == "comp") {
            text.push_str("?comp=");
            text.push_str(comp);
        }
        return Some(text);
    }
    parameters.sort_unstable();
    for (name, value) in parameters {
        for part in ["\n", &name, ":", &value] {
            text.push_str(part);
        }
    }
    Some(text)
}
