//! What is sent again, and what is known of it afterwards.

use std::time::{Duration, Instant};

use table_azure::client::{Failure, Operation, Outcome};

use super::calls::of_batch;
use super::stub::{Act, Stub, answer, refusal};

const ETAG: &str = "ETag: W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"\r\n";

fn insert() -> [Operation; 1] {
    [Operation::insert("r", br#"{"PartitionKey":"p","RowKey":"r"}"#.to_vec())]
}

#[tokio::test]
async fn a_busy_service_is_asked_again_and_left_alone_as_it_asks() {
    let busy = Act::Answer(503, "Retry-After: 1\r\n", String::new());
    let stub = Stub::start([busy, refusal(429, "TooManyRequests"), answer(204, ETAG, "")]).await;
    let (client, begun) = (stub.client(), Instant::now());
    let Outcome::Done(etags) = client.execute("Company", "p", &insert()).await.unwrap() else {
        panic!("refused")
    };
    assert_eq!(etags[0].unwrap().to_string(), "W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!((client.counts().requests, client.counts().repeats), (3, 2));
}

#[tokio::test]
async fn a_service_that_stays_busy_has_done_nothing() {
    let stub = Stub::start(vec![refusal(503, "ServerBusy"); 9]).await;
    let failure = stub.client().execute("Company", "p", &insert()).await.unwrap_err();
    let Failure::Refused(refusal) = failure else { panic!("{failure}") };
    assert_eq!(refusal.to_string(), "the service answers 503 ServerBusy: No.");
    assert_eq!(stub.requests().len(), 4);
}

#[tokio::test]
async fn a_refusal_behind_a_lost_answer_may_be_of_what_is_done() {
    for lost in [
        Act::Close,
        Act::Silence,
        refusal(500, "InternalError"),
        refusal(504, "OperationTimedOut"),
        // A proxy's, whose connection broke behind the request.
        answer(503, "", "upstream connect error or disconnect/reset before headers"),
    ] {
        let stub = Stub::start([lost.clone(), refusal(409, "EntityAlreadyExists")]).await;
        let outcome = stub.client().execute("Company", "p", &insert()).await.unwrap();
        let Outcome::Refused { refusal, at: Some(0), may_be_done: true } = outcome else {
            panic!("{lost:?}: {outcome:?}")
        };
        assert_eq!(refusal.code, "EntityAlreadyExists");
    }
    // What was refused at once was not done.
    let stub = Stub::start([refusal(503, "ServerBusy"), refusal(409, "EntityAlreadyExists")]).await;
    let outcome = stub.client().execute("Company", "p", &insert()).await.unwrap();
    assert!(matches!(outcome, Outcome::Refused { may_be_done: false, .. }), "{outcome:?}");
}

#[tokio::test]
async fn an_operation_of_a_batch_that_fails_has_it_sent_again() {
    let operations = ["a", "b"].map(|row| Operation::delete(row, "*".into()));
    let part = |status: u16, code: &str| {
        let body = format!("{{\"odata.error\":{{\"code\":\"{code}\",\"message\":{{\"value\":\"1:No.\"}}}}}}");
        of_batch(&[&format!("HTTP/1.1 {status} X\r\n\r\n{body}")])
    };
    let stub = Stub::start([
        part(503, "ServerBusy"),
        part(404, "ResourceNotFound"),
        part(500, "OperationTimedOut"),
        part(404, "ResourceNotFound"),
    ])
    .await;
    let client = stub.client();
    for timed_out in [false, true] {
        let outcome = client.execute("Company", "p", &operations).await.unwrap();
        let Outcome::Refused { refusal, at: Some(1), may_be_done } = outcome else { panic!("{outcome:?}") };
        assert_eq!((&*refusal.code, may_be_done), ("ResourceNotFound", timed_out));
    }
    assert_eq!(client.counts().repeats, 2);
}

#[tokio::test]
async fn what_relies_on_a_lease_that_has_ended_is_not_sent() {
    let stub = Stub::start([answer(204, ETAG, "")]).await;
    let ended = Some(Instant::now());
    let failure = stub.client().execute_until("Company", "p", &insert(), ended).await.unwrap_err();
    assert!(matches!(failure, Failure::Expired), "{failure}");
    assert!(stub.requests().is_empty());
}

#[tokio::test]
async fn what_was_never_answered_may_be_done_and_what_was_never_sent_is_not() {
    let stub = Stub::start([]).await;
    let failure = stub.client().execute("Company", "p", &insert()).await.unwrap_err();
    assert!(matches!(failure, Failure::NoAnswer(_)), "{failure}");
    assert_eq!(stub.requests().len(), 4);
    // Nobody listens at a port that was just given back.
    let port = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    let endpoint = table_azure::client::Endpoint::parse(&format!("http://127.0.0.1:{port}/acme")).unwrap();
    let retries = table_azure::client::Retries::none();
    let sas = table_azure::client::Credential::sas("sig=a");
    let client = table_azure::client::Client::new(endpoint, sas, retries, Duration::from_secs(1)).unwrap();
    let failure = client.execute("Company", "p", &insert()).await.unwrap_err();
    assert!(matches!(failure, Failure::Unreachable(_)), "{failure}");
    // It says where, and what the system says of it.
    let text = failure.to_string();
    let begins = format!("the service is not reached: no connection to `http://127.0.0.1:{port}`: ");
    assert!(text.starts_with(&begins) && text.contains("refused"), "{text}");
}

#[tokio::test]
async fn a_table_that_a_lost_request_has_made_is_made() {
    let stub = Stub::start([Act::Close, refusal(409, "TableAlreadyExists")]).await;
    stub.client().create_table("Company").await.unwrap();
    let stub = Stub::start([Act::Close, refusal(409, "TableBeingDeleted")]).await;
    assert!(matches!(stub.client().create_table("Company").await, Err(Failure::Refused(_))));
    let stub = Stub::start([refusal(409, "TableAlreadyExists")]).await;
    assert!(matches!(stub.client().create_table("Company").await, Err(Failure::Refused(_))));
    let stub = Stub::start([Act::Close, refusal(404, "ResourceNotFound")]).await;
    stub.client().delete_table("Company").await.unwrap();
}

/// A read that may be answered from the account's copy is, where the account itself does not answer; a write and a strict read
/// go to the account alone.
#[tokio::test]
async fn a_copy_of_the_account_answers_reads_that_may_be_of_some_time_ago() {
    let entity = r#"{"odata.etag":"W/\"datetime'2026-01-02T03%3A04%3A05.0000006Z'\"","PartitionKey":"p","RowKey":"r"}"#;
    let stub = Stub::start([Act::Close, Act::Close, answer(200, "", entity)]).await;
    let client = stub.client().secondary_reads();
    let found = client.entity_of_any("Company", "p", "r").await.unwrap();
    assert_eq!(found.unwrap().row_key(), "r");
    let asked = stub.requests();
    let to = |at: usize| asked[at].contains("/acme-secondary/");
    assert_eq!((asked.len(), to(0), to(1), to(2)), (3, false, true, false));

    let stub = Stub::start([Act::Close, refusal(404, "ResourceNotFound"), answer(200, "", entity)]).await;
    let client = stub.client().secondary_reads();
    // What the copy has not got yet may be there all the same.
    assert!(client.entity_of_any("Company", "p", "r").await.unwrap().is_some());

    let stub = Stub::start([Act::Close, refusal(404, "ResourceNotFound")]).await;
    assert!(stub.client().secondary_reads().entity("Company", "p", "r").await.unwrap().is_none());
    assert!(stub.requests().iter().all(|request| !request.contains("-secondary")));
}
