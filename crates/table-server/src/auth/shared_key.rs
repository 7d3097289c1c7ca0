//! Requests that a key of the account has signed.

use std::time::Duration;

use table_core::Ticks;
use table_wire::shared_key::Signed;
use table_wire::{date, percent};

use crate::account::AccountKeys;
use crate::exchange::Request;
use crate::wire::address::signed_path;

/// How far the date of a request may be from the clock here, in either direction. What was overheard can't be sent again later.
const SKEW: Duration = Duration::from_secs(15 * 60);

/// Returns the text that is signed of a request to an account, by the date of the request and whether the scheme is the short one;
/// `None` if the request can't be read.
pub(super) type ToSign = fn(&Request, &str, &str, bool) -> Option<String>;

/// Returns whether a key of the account has signed a request, by the text of its header `Authorization`, and lately.
pub(super) fn verifies(request: &Request, account: &AccountKeys, now: Ticks, to_sign: ToSign) -> bool {
    let signed = || {
        let authorization = request.header("authorization")?;
        let (scheme, rest) = authorization.split_once(' ')?;
        let (name, signature) = rest.split_once(':')?;
        let date = date_of(request)?;
        let is_lite = match scheme {
            "SharedKey" => false,
            "SharedKeyLite" => true,
            _ => return None,
        };
        let text = to_sign(request, account.name(), date, is_lite)?;
        (name == account.name() && is_recent(date, now)?).then_some((text, signature))
    };
    signed().is_some_and(|(text, signature)| {
        // Each key is tried, so that the time does not tell which of them it was.
        account.signing().iter().fold(false, |is_signed, key| is_signed | key.verifies(&text, signature))
    })
}

/// Returns the date that is signed: clients that may not set `Date` have a header of their own.
fn date_of(request: &Request) -> Option<&str> {
    request.header("x-ms-date").filter(|date| !date.is_empty()).or_else(|| request.header("date"))
}

fn is_recent(date: &str, now: Ticks) -> Option<bool> {
    let date = date::parse(date)?;
    Some(now.saturating_since(date) <= SKEW && date.saturating_since(now) <= SKEW)
}

/// Returns the text that is signed; `None` if the query can't be read.
pub(super) fn to_sign(request: &Request, account: &str, date: &str, is_lite: bool) -> Option<String> {
    let mut comp = None;
    for parameter in request.head.uri.query().unwrap_or_default().split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if percent::decode(name).ok()? == "comp" {
            comp = Some(percent::decode(value).ok()?);
        }
    }
    let signed = Signed {
        account,
        method: request.head.method.as_str(),
        content_md5: request.header("content-md5").unwrap_or_default(),
        content_type: request.header("content-type").unwrap_or_default(),
        date,
        // As it was sent: the escapes of the path are signed, too.
        path: signed_path(request.head.uri.path(), account),
        comp: comp.as_deref(),
    };
    Some(if is_lite { signed.lite_text() } else { signed.text() })
}
