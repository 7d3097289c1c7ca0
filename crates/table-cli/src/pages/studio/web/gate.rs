//! Who is let in: a browser of this machine that was given the token.
//!
//! The token comes once, in the address that the command prints, and is a cookie from then on that no page of another site is
//! sent with. A name that was made to lead to this machine is refused by the header `Host`, and a form of another site by the
//! header `Origin` and by a token of its own.

use std::fmt::Write;
use std::io;

use hyper::HeaderMap;
use hyper::header::{COOKIE, HOST, HeaderName, ORIGIN};
use subtle::ConstantTimeEq;

use super::answer::Answer;
use super::request::{Method, Request};

/// Bytes of a token.
const BYTES: usize = 16;

/// What lets a browser in.
pub(crate) struct Gate {
    port: u16,
    token: String,
    form_token: String,
}

/// What becomes of a request at the gate.
#[derive(Debug)]
pub(super) enum Passage {
    /// It is to be answered.
    Open,
    /// It has been answered.
    Answered(Answer),
}

impl Gate {
    /// Makes a gate with tokens that are drawn at random.
    pub(crate) fn new(port: u16) -> io::Result<Self> {
        Ok(Self { port, token: random()?, form_token: random()? })
    }

    /// Returns the address with the token in it.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Returns the token that forms bear.
    pub(crate) fn form_token(&self) -> String {
        self.form_token.clone()
    }

    /// Looks at a request. Nothing of it is answered by anybody else unless it passes.
    pub(super) fn look(&self, headers: &HeaderMap, request: &Request) -> Passage {
        let Some(host) = text(headers, &HOST).filter(|host| is_this_machine(host)) else {
            return Passage::Answered(Answer::line(
                403,
                "The studio answers at 127.0.0.1 and localhost alone.",
            ));
        };
        let given = request.get("token").filter(|_| request.method == Method::Get && request.path.is_empty());
        if given.is_some_and(|given| is_same(given, &self.token)) {
            let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.token);
            return Passage::Answered(Answer::see("/".into()).with_cookie(cookie));
        }
        if !self.has_cookie(headers) {
            return Passage::Answered(Answer::line(
                403,
                "Open the address that `tables studio` has printed: it has the token that lets you in.",
            ));
        }
        if request.method == Method::Post {
            let is_own = text(headers, &ORIGIN).is_some_and(|origin| {
                origin.strip_prefix("http://").is_some_and(|origin| origin.eq_ignore_ascii_case(host))
            });
            let has_token = request.field("form").is_some_and(|given| is_same(given, &self.form_token));
            if !is_own || !has_token {
                return Passage::Answered(Answer::line(
                    403,
                    "The form is not one of this page: load it anew.",
                ));
            }
        }
        Passage::Open
    }

    /// Returns a name that another studio on this machine does not have: cookies are of a host, whatever the port.
    fn cookie_name(&self) -> String {
        format!("tables-studio-{}", self.port)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(of, value)| of == name && is_same(value, &self.token))
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns whether a host is this machine's own, at whatever port: another one may lead here, as `ssh -L` makes one.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// Compares tokens in a time that says nothing of where they differ.
fn is_same(given: &str, token: &str) -> bool {
    given.as_bytes().ct_eq(token.as_bytes()).into()
}

fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let mut text = String::with_capacity(2 * BYTES);
    for byte in bytes {
        write!(text, "{byte:02x}").map_err(io::Error::other)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{Gate, is_this_machine};

    #[test]
    fn names_that_only_lead_here_are_not_this_machine() {
        for own in ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:9000"] {
            assert!(is_this_machine(own), "{own}");
        }
        for other in [
            "",
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost.evil:80",
            "127.0.0.2",
        ] {
            assert!(!is_this_machine(other), "{other}");
        }
    }

    #[test]
    fn every_gate_has_tokens_of_its_own() {
        let (one, other) = (Gate::new(1).unwrap(), Gate::new(1).unwrap());
        assert_eq!(one.token.len(), 32);
        assert_ne!(one.token, other.token);
        assert_ne!(one.token, one.form_token);
    }
}
