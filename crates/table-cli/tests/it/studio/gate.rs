//! Who is let in.

use super::browser::Studio;
use crate::sample::company;

fn studio(flags: &[&str]) -> (tempfile::TempDir, Studio) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 3);
    let studio = Studio::start(&path, flags);
    (directory, studio)
}

#[test]
fn without_the_token_nothing_is_shown() {
    let (_directory, studio) = studio(&[]);
    let host = format!("Host: 127.0.0.1:{}", studio.port);
    let wrong = format!("Cookie: tables-studio-{}=0123456789abcdef0123456789abcdef", studio.port);
    for path in ["/", "/t/Company", "/style.css", "/live/statistics", "/?token=", "/?token=guess", "/nothing"]
    {
        for headers in [&[&*host][..], &[&*host, &*wrong][..]] {
            let answer = studio.send(&format!("GET {path}"), headers, "");
            assert_eq!(answer.status, 403, "{path}: {answer:?}");
            for name in ["Company", "company.tables", "employee"] {
                assert!(!answer.body.contains(name), "{path}: {answer:?}");
            }
        }
    }
    // The token is taken by the first page alone, and is a cookie from then on.
    let first = studio.send(&format!("GET /?token={}", studio.token), &[&host], "");
    assert_eq!(first.status, 303, "{first:?}");
    assert!(first.head.contains("location: /\r\n"), "{first:?}");
    assert!(first.head.contains("; httponly; samesite=strict"), "{first:?}");
    assert_eq!(studio.send(&format!("GET /t/Company?token={}", studio.token), &[&host], "").status, 403);
    assert_eq!(studio.get("/").status, 200);
}

#[test]
fn a_name_that_leads_to_this_machine_is_refused() {
    let (_directory, studio) = studio(&[]);
    let cookie = studio.cookie();
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""] {
        let answer = studio.send("GET /", &[&format!("Host: {host}"), &cookie], "");
        assert_eq!(answer.status, 403, "{host}: {answer:?}");
    }
    assert_eq!(studio.send("GET /", &[&cookie], "").status, 403);
    // As `ssh -L` has it, at another port.
    assert_eq!(studio.send("GET /", &["Host: localhost:9000", &cookie], "").status, 200);
}

#[test]
fn pages_load_nothing_from_elsewhere_and_are_not_kept() {
    let (_directory, studio) = studio(&[]);
    let answer = studio.get("/");
    for header in [
        "content-security-policy: default-src 'self';",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(answer.head.contains(header), "{header}: {answer:?}");
    }
    assert!(!answer.body.contains("style=\""), "{answer:?}");
    assert!(!answer.body.contains("://"), "{answer:?}");
}

#[test]
fn a_form_of_another_site_changes_nothing() {
    let (_directory, studio) = studio(&["--write"]);
    let form = studio.form_token("/queues/hires");
    let (own, cookie) = (format!("127.0.0.1:{}", studio.port), studio.cookie());
    let host = format!("Host: {own}");
    let post = |headers: &[&str], body: &str| studio.send("POST /queues/hires/pause", headers, body).status;
    let with_token = format!("form={form}");
    let (own_origin, other_origin) = (format!("Origin: http://{own}"), "Origin: http://evil.example");
    assert_eq!(post(&[&host, &cookie], &with_token), 403);
    assert_eq!(post(&[&host, &cookie, other_origin], &with_token), 403);
    assert_eq!(post(&[&host, &cookie, "Origin: null"], &with_token), 403);
    assert_eq!(post(&[&host, &cookie, &own_origin], "form=guess"), 403);
    assert_eq!(post(&[&host, &cookie, &own_origin], "other=1"), 403);
    assert_eq!(post(&[&host, &own_origin], &with_token), 403);
    assert!(!studio.get("/queues/hires").body.contains(">paused<"));
    assert_eq!(post(&[&host, &cookie, &own_origin], &with_token), 303);
    assert!(studio.get("/queues/hires").body.contains(">paused<"));
}

#[test]
fn what_is_no_request_of_a_page_is_refused() {
    let (_directory, studio) = studio(&[]);
    let host = format!("Host: 127.0.0.1:{}", studio.port);
    let cookie = studio.cookie();
    assert_eq!(studio.send("PUT /", &[&host, &cookie], "").status, 405);
    assert_eq!(studio.send("GET /t/%zz", &[&host, &cookie], "").status, 400);
    assert_eq!(studio.send("POST /check", &[&host, &cookie], &"x".repeat(70_000)).status, 413);
    assert_eq!(studio.get("/nothing").status, 404);
    assert_eq!(studio.get("/t/Nothing").status, 404);
    assert_eq!(studio.get("/queues/nothing").status, 404);
    assert_eq!(studio.get("/t/Company/row?p=Sales&r=nothing").status, 404);
    let answer = studio.get("/t/Company?filter=Age%20%3E%203");
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("note bad"), "{answer:?}");
    let answer = studio.get("/t/Company?after=nonsense");
    assert!(answer.body.contains("the token is damaged"), "{answer:?}");
}
