//! Requests signed by a key of the account, for the tests of several programs and those that measure.

use table_core::Ticks;
use table_core::access::sas::AccountKey;

/// Returns the date of now and the text of the header `Authorization`, for a path with its query.
#[allow(dead_code, reason = "who sends many requests makes the key and the date once")]
pub(crate) fn signed(account: &str, key: &str, path: &str) -> (String, String) {
    let (date, key) = (date(), AccountKey::new(account, key).unwrap());
    let authorization = authorization(&key, account, &date, path);
    (date, authorization)
}

/// Returns the text of the header `Authorization` of a request with this date, for a path with its query.
pub(crate) fn authorization(key: &AccountKey, account: &str, date: &str, path: &str) -> String {
    let (resource, query) = path.split_once('?').unwrap_or((path, ""));
    let comp = query.split('&').find(|parameter| parameter.starts_with("comp="));
    let comp = comp.map(|comp| format!("?{comp}")).unwrap_or_default();
    let signature = key.sign(&format!("{date}\n/{account}{resource}{comp}"));
    format!("SharedKeyLite {account}:{signature}")
}

/// Returns the date of now, as HTTP has it.
pub(crate) fn date() -> String {
    table_wire::date::format(Ticks::now())
}

/// Returns the date of now and the text of the header `Authorization`, by the short scheme of queues, for a request with these
/// headers of the service's own besides.
#[cfg(feature = "queue")]
#[allow(dead_code, reason = "not each program asks for queues")]
pub(crate) fn signed_for_queues(
    key: &AccountKey,
    method: &str,
    path: &str,
    own: &[(&str, &str)],
) -> (String, String) {
    let account = key.account();
    let (resource, query) = path.split_once('?').unwrap_or((path, ""));
    let comp = query.split('&').find(|parameter| parameter.starts_with("comp="));
    let comp = comp.map(|comp| format!("?{comp}")).unwrap_or_default();
    let date = date();
    let mut lines: Vec<_> = own.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    lines.push(format!("x-ms-date:{date}\n"));
    lines.sort();
    let signature = key.sign(&format!("{method}\n\n\n\n{}/{account}{resource}{comp}", lines.concat()));
    (date, format!("SharedKeyLite {account}:{signature}"))
}
