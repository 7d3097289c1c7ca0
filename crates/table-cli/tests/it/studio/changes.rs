//! What buttons do, and that they do nothing unless the studio may write.

use super::browser::Studio;
use crate::sample::company;

#[test]
fn nothing_is_changed_unless_it_may_be() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 3);
    let studio = Studio::start(&path, &[]);
    assert!(!studio.get("/queues/hires").body.contains("<form class=\"inline\""));
    for action in ["/queues/hires/requeue", "/queues/hires/pause", "/outbox/retry", "/jobs/cancel"] {
        let answer = studio.post("/check", action, "");
        assert_eq!(answer.status, 403, "{action}: {answer:?}");
        assert!(answer.body.contains("--write"), "{action}: {answer:?}");
    }
    assert!(studio.get("/queues/hires").body.contains("Set aside"));
}

#[test]
fn what_was_set_aside_is_sent_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 3);
    let studio = Studio::start(&path, &["--write"]);
    let queue = studio.get("/queues/hires").body;
    assert!(queue.contains("Set aside") && queue.contains("No message is ready"), "{queue}");
    let answer = studio.post("/queues/hires", "/queues/hires/requeue", "");
    assert_eq!(answer.status, 303, "{answer:?}");
    assert!(answer.head.contains("location: /queues/hires\r\n"), "{answer:?}");
    let queue = studio.get("/queues/hires").body;
    assert!(!queue.contains("Set aside") && !queue.contains("No message is ready"), "{queue}");

    assert_eq!(studio.post("/queues/hires", "/queues/hires/pause", "").status, 303);
    assert!(studio.get("/queues/hires").body.contains(">paused<"));
    assert_eq!(studio.post("/queues/hires", "/queues/hires/resume", "").status, 303);
    assert!(!studio.get("/queues/hires").body.contains(">paused<"));
    assert_eq!(studio.post("/queues/hires", "/queues/hires/explode", "").status, 404);
    assert_eq!(studio.post("/queues/hires", "/jobs/cancel", "&table=Company&name=delete").status, 404);
    assert_eq!(studio.post("/queues/hires", "/outbox/retry", "").status, 303);
}

#[test]
fn a_browser_that_can_not_be_opened_ends_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 3);
    let studio = Studio::start_in(&path, &["--open"], &[("PATH", directory.path().to_str().unwrap())]);
    assert_eq!(studio.get("/").status, 200);
}
