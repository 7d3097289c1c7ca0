//! Requests of pages of other origins, by the rules that the service's properties have.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::properties::CorsRule;
use crate::exchange::Request;
use crate::fault::Fault;

/// Returns the headers of the answer to a browser that asks, before it sends a request for a page, whether it may.
pub fn preflight(rules: &[CorsRule], request: &Request) -> Result<HeaderMap, Fault> {
    let (origin, method) = (request.header("origin"), request.header("access-control-request-method"));
    let (Some(origin), Some(method)) = (origin, method) else {
        return Err(Fault::new(400, "InvalidHeaderValue", "A required CORS header is not present."));
    };
    let wanted = request.header("access-control-request-headers").unwrap_or_default();
    let rule = rules.iter().find(|rule| {
        allows(rule, origin, method) && items(wanted).all(|name| is_listed(&rule.allowed_headers, name))
    });
    let rule = rule.ok_or_else(|| {
        let text = "CORS not enabled or no matching rule found for this request.";
        Fault::new(403, "CorsPreflightFailure", text)
    })?;
    let mut headers = allowed(rule, origin);
    add(&mut headers, header::ACCESS_CONTROL_ALLOW_METHODS, method);
    if !wanted.is_empty() {
        add(&mut headers, header::ACCESS_CONTROL_ALLOW_HEADERS, wanted);
    }
    add(&mut headers, header::ACCESS_CONTROL_MAX_AGE, &rule.max_age.to_string());
    Ok(headers)
}

/// Returns the headers that the answer to a request has for the browser that sent it; none, if no browser has, or no rule
/// allows its page to see the answer.
#[must_use]
pub fn headers(rules: &[CorsRule], request: &Request) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if rules.is_empty() {
        return headers;
    }
    let method = request.head.method.as_str();
    if let Some(origin) = request.header("origin")
        && let Some(rule) = rules.iter().find(|rule| allows(rule, origin, method))
    {
        headers = allowed(rule, origin);
        if !rule.exposed_headers.is_empty() {
            add(&mut headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, &rule.exposed_headers.join(","));
        }
    } else if rules.iter().any(|rule| !is_for_all(rule)) {
        // A cache must not give this answer to a page that a rule allows to see it.
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    headers
}

fn is_for_all(rule: &CorsRule) -> bool {
    rule.origins.iter().any(|known| known == "*")
}

fn allows(rule: &CorsRule, origin: &str, method: &str) -> bool {
    let is_known = is_for_all(rule) || rule.origins.iter().any(|known| known == origin);
    is_known && rule.methods.iter().any(|known| known == method)
}

/// Returns whether a header is one of a list, in which `x-ms-*` stands for all that begin so.
fn is_listed(list: &[String], name: &str) -> bool {
    list.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)),
        None => known.eq_ignore_ascii_case(name),
    })
}

fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty())
}

fn allowed(rule: &CorsRule, origin: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if is_for_all(rule) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    } else {
        add(&mut headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    headers
}

fn add(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    // All of it came in headers, or was looked at when the rule was read.
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::exchange::Peer;

    fn list(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    fn rules() -> [CorsRule; 2] {
        let one = CorsRule {
            origins: list(&["https://a.example"]),
            methods: list(&["GET", "PUT"]),
            allowed_headers: list(&["x-ms-meta*", "accept"]),
            exposed_headers: list(&["etag", "x-ms-*"]),
            max_age: 60,
        };
        let all = CorsRule { origins: list(&["*"]), methods: list(&["GET"]), ..CorsRule::default() };
        [one, all]
    }

    fn request(method: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = http::Request::builder().method(method).uri("/acme/T");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        Request { head, body: Bytes::new(), peer: Peer::LOCAL }
    }

    fn shown(headers: &HeaderMap) -> Vec<String> {
        let mut shown: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        shown.sort();
        shown
    }

    #[test]
    fn a_browser_is_told_whether_it_may_ask() {
        let asked = |origin, method, headers| {
            let request = request(
                "OPTIONS",
                &[
                    ("origin", origin),
                    ("access-control-request-method", method),
                    ("access-control-request-headers", headers),
                ],
            );
            preflight(&rules(), &request)
                .map(|headers| shown(&headers))
                .map_err(|fault| (fault.status, fault.code.into_owned()))
        };
        assert_eq!(
            asked("https://a.example", "PUT", "Accept, X-MS-META-a"),
            Ok(list(&[
                "access-control-allow-credentials: true",
                "access-control-allow-headers: Accept, X-MS-META-a",
                "access-control-allow-methods: PUT",
                "access-control-allow-origin: https://a.example",
                "access-control-max-age: 60",
                "vary: Origin",
            ]))
        );
        assert_eq!(
            asked("https://b.example", "GET", ""),
            Ok(list(&[
                "access-control-allow-methods: GET",
                "access-control-allow-origin: *",
                "access-control-max-age: 0"
            ]))
        );
        let refused = || Err((403, "CorsPreflightFailure".to_owned()));
        assert_eq!(asked("https://a.example", "PUT", "authorization"), refused());
        assert_eq!(asked("https://A.example", "PUT", ""), refused());
        assert_eq!(asked("https://b.example", "GET", "accept"), refused());
        assert_eq!(asked("https://a.example", "DELETE", ""), refused());
        assert_eq!(preflight(&[], &request("OPTIONS", &[("origin", "a")])).unwrap_err().status, 400);
        let bare = request("OPTIONS", &[("origin", "a"), ("access-control-request-method", "GET")]);
        assert_eq!(preflight(&[], &bare).unwrap_err().status, 403);
    }

    #[test]
    fn answers_are_shown_to_pages_that_a_rule_allows() {
        let of = |rules: &[CorsRule], method, headers_sent: &[(&str, &str)]| {
            shown(&headers(rules, &request(method, headers_sent)))
        };
        let [one, all] = rules();
        assert_eq!(
            of(std::slice::from_ref(&one), "GET", &[("origin", "https://a.example")]),
            [
                "access-control-allow-credentials: true",
                "access-control-allow-origin: https://a.example",
                "access-control-expose-headers: etag,x-ms-*",
                "vary: Origin",
            ]
        );
        assert_eq!(
            of(std::slice::from_ref(&one), "GET", &[("origin", "https://b.example")]),
            ["vary: Origin"]
        );
        assert_eq!(of(std::slice::from_ref(&one), "GET", &[]), ["vary: Origin"]);
        assert_eq!(of(&[all], "GET", &[("origin", "https://b.example")]), ["access-control-allow-origin: *"]);
        assert!(of(&[], "GET", &[("origin", "https://b.example")]).is_empty());
    }
}
