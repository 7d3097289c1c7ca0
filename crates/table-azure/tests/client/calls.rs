//! What requests say, and what answers are read as.

use table_azure::client::{
    AccessToken, Client, Credential, Endpoint, Failure, Operation, Outcome, PageRequest, Retries,
};
use table_engine::Value;
use table_engine::asynchronous::BoxFuture;

use super::stub::{Act, Stub, answer, refusal};

const ROW: &str = r#"{"odata.etag":"W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-11-20T20:37:52.6107149Z","Age":7}"#;

#[tokio::test]
async fn a_request_is_signed_by_the_key() {
    let stub = Stub::start([answer(200, "", ROW)]).await;
    let found = stub.client().entity("Company", "a b", "it's").await.unwrap().unwrap();
    assert_eq!((found.get("Age"), found.etag().is_some()), (Some(&Value::from(7)), true));
    let request = &stub.requests()[0];
    assert!(
        request.starts_with("GET /acme/Company(PartitionKey='a%20b',RowKey='it%27%27s') HTTP/1.1\r\n"),
        "{request}"
    );
    let header = |name: &str| {
        request.lines().find_map(|line| line.split_once(": ").filter(|(other, _)| *other == name)).unwrap().1
    };
    let text = format!(
        "GET\n\n\n{}\n/acme/acme/Company(PartitionKey='a%20b',RowKey='it%27%27s')",
        header("x-ms-date")
    );
    let key = table_engine::access::sas::AccountKey::new("acme", super::stub::KEY).unwrap();
    let signature = header("authorization").strip_prefix("SharedKey acme:").unwrap();
    assert!(key.verifies(&text, signature));
}

#[tokio::test]
async fn a_token_stands_in_the_address_and_signs_nothing() {
    let page = answer(200, "", r#"{"value":[]}"#);
    let stub = Stub::start([page, answer(200, "", ROW)]).await;
    let client = stub.client_of(Credential::sas("?sv=2019-02-02&sig=a%2Fb%3D"));
    let request =
        PageRequest { filter: "PartitionKey eq 'p'".into(), top: Some(5), ..PageRequest::default() };
    client.page("Company", &request).await.unwrap();
    client.entity("Company", "p", "r").await.unwrap();
    let [page, entity] = &stub.requests()[..] else { panic!("two requests") };
    assert!(
        page.starts_with(
            "GET /acme/Company()?$filter=PartitionKey%20eq%20%27p%27&$top=5&sv=2019-02-02&sig=a%2Fb%3D HTTP/1.1"
        ),
        "{page}"
    );
    assert!(entity.contains("RowKey='r')?sv=2019-02-02&sig=a%2Fb%3D HTTP"), "{entity}");
    assert!(!page.contains("authorization"), "{page}");
    assert!(!format!("{client:?}").contains("sig"));
}

struct Directory;

impl table_azure::client::TokenCredential for Directory {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken, table_azure::client::CredentialError>> {
        Box::pin(async { Ok(AccessToken::new("secret")) })
    }
}

#[tokio::test]
async fn a_token_of_a_directory_is_sent_by_https_alone() {
    let credential = Credential::Token(std::sync::Arc::new(Directory));
    assert!(!format!("{credential:?}").contains("secret"));
    let endpoint = Endpoint::parse("http://127.0.0.1:1/acme").unwrap();
    let refused =
        Client::new(endpoint, credential, Retries::none(), std::time::Duration::from_secs(1)).unwrap_err();
    assert!(refused.to_string().contains("`https://`"), "{refused}");
}

#[tokio::test]
async fn pages_go_on_where_the_service_says() {
    let next = "x-ms-continuation-NextPartitionKey: 1!4!cA--\r\n";
    let stub = Stub::start([
        answer(200, next, &format!("{{\"value\":[{ROW}]}}")),
        answer(
            200,
            "x-ms-continuation-NextPartitionKey: a\r\nx-ms-continuation-NextRowKey: b\r\n",
            r#"{"value":[]}"#,
        ),
        answer(200, "", r#"{"value":[]}"#),
    ])
    .await;
    let (client, mut asked) =
        (stub.client(), PageRequest { select: vec!["Age".into()], ..PageRequest::default() });
    let mut rows = 0;
    loop {
        let page = client.page("Company", &asked).await.unwrap();
        rows += page.entities.len();
        let Some(next) = page.next else { break };
        asked.after = Some(next);
    }
    assert_eq!(rows, 1);
    let [first, second, third] = &stub.requests()[..] else { panic!("three requests") };
    assert!(first.starts_with("GET /acme/Company()?$select=Age HTTP"), "{first}");
    assert!(
        second.starts_with("GET /acme/Company()?$select=Age&NextPartitionKey=1%214%21cA-- HTTP"),
        "{second}"
    );
    assert!(third.contains("&NextPartitionKey=a&NextRowKey=b HTTP"), "{third}");
}

#[tokio::test]
async fn what_is_no_answer_of_the_protocol_is_said_to_be_none() {
    for body in ["", "{}", "<html>", r#"{"PartitionKey":"p","RowKey":"r"}"#] {
        let stub = Stub::start([answer(200, "", body)]).await;
        let failure = stub.client().entity("Company", "p", "r").await.unwrap_err();
        assert!(matches!(failure, Failure::Malformed(_)), "{body}: {failure}");
    }
    let empty = "x-ms-continuation-NextPartitionKey: \r\nx-ms-continuation-NextRowKey: \r\n";
    let stub = Stub::start([answer(200, empty, r#"{"value":[]}"#)]).await;
    assert!(stub.client().page("Company", &PageRequest::default()).await.unwrap().next.is_none());
    let endless = answer(200, "x-ms-continuation-NextPartitionKey: a\r\n", r#"{"value":[]}"#);
    let stub = Stub::start([endless.clone(), endless]).await;
    let client = stub.client();
    let after = client.page("Company", &PageRequest::default()).await.unwrap().next;
    let failure = client.page("Company", &PageRequest { after, ..PageRequest::default() }).await.unwrap_err();
    assert!(matches!(failure, Failure::Malformed(_)), "{failure}");
}

#[tokio::test]
async fn a_missing_entity_is_none_and_a_missing_table_is_an_error() {
    let stub = Stub::start([refusal(404, "ResourceNotFound"), refusal(404, "TableNotFound")]).await;
    let client = stub.client();
    assert!(client.entity("Company", "p", "r").await.unwrap().is_none());
    let Failure::Refused(refusal) = client.entity("Company", "p", "r").await.unwrap_err() else { panic!() };
    assert_eq!((refusal.status, &*refusal.code), (404, "TableNotFound"));
}

/// What stands before the service, or is another server, may know nothing of the entity.
#[tokio::test]
async fn a_404_that_is_none_of_the_services_is_no_missing_entity() {
    let stub = Stub::start([answer(404, "", "<html>"), Act::Close, answer(404, "", "")]).await;
    let client = stub.client();
    let failure = client.entity("Company", "p", "r").await.unwrap_err();
    assert!(matches!(failure, Failure::Refused(_)), "{failure}");
    assert!(client.delete_table("Company").await.is_err());
}

#[tokio::test]
async fn a_place_to_go_on_at_that_is_no_text_is_not_the_end() {
    for (header, is_page) in [
        ("x-ms-continuation-NextPartitionKey: \u{e9}\r\n", true),
        ("x-ms-continuation-NextPartitionKey: a\r\nx-ms-continuation-NextRowKey: \u{e9}\r\n", true),
        ("x-ms-continuation-NextTableName: \u{e9}\r\n", false),
    ] {
        let stub = Stub::start([answer(200, header, r#"{"value":[]}"#)]).await;
        let client = stub.client();
        let read = if is_page {
            client.page("Company", &PageRequest::default()).await.map(drop)
        } else {
            client.tables().await.map(drop)
        };
        assert!(matches!(read, Err(Failure::Malformed(_))), "{header}: {read:?}");
    }
}

pub(crate) fn of_batch(parts: &[&str]) -> Act {
    let mut all = String::new();
    for part in parts {
        all += "--c\r\nContent-Type: application/http\r\n\r\n";
        all += part;
        all += "\r\n";
    }
    let body = format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{all}--c--\r\n--b--\r\n");
    Act::Answer(202, "Content-Type: multipart/mixed; boundary=b\r\n", body)
}

#[tokio::test]
async fn a_batch_is_one_request_and_has_an_answer_for_each_or_names_one() {
    let written = "HTTP/1.1 204 No Content\r\nETag: W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"\r\n\r\n";
    let deleted = "HTTP/1.1 204 No Content\r\n\r\n";
    let refused = "HTTP/1.1 412 X\r\n\r\n{\"odata.error\":{\"code\":\"UpdateConditionNotSatisfied\",\"message\":{\"value\":\"1:No.\"}}}";
    let stub = Stub::start([of_batch(&[written, deleted]), of_batch(&[refused]), of_batch(&[written])]).await;
    let operations = [
        Operation::replace("a", Some("W/\"x\"".into()), br#"{"PartitionKey":"p","RowKey":"a"}"#.to_vec()),
        Operation::delete("b", "*".into()),
    ];
    let client = stub.client();
    let Outcome::Done(etags) = client.execute("Company", "p", &operations).await.unwrap() else { panic!() };
    assert_eq!(etags.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
    let Outcome::Refused { refusal, at, may_be_done: false } =
        client.execute("Company", "p", &operations).await.unwrap()
    else {
        panic!()
    };
    assert_eq!((refusal.status, at), (412, Some(1)));
    assert!(matches!(client.execute("Company", "p", &operations).await, Err(Failure::Malformed(_))));
    let request = &stub.requests()[0];
    assert!(request.starts_with("POST /acme/$batch HTTP/1.1"), "{request}");
    for text in [
        "\r\n\r\nPUT http://127.0.0.1",
        "/acme/Company(PartitionKey='p',RowKey='a') HTTP/1.1",
        "\r\nIf-Match: W/\"x\"\r\n",
        "\r\n\r\nDELETE http://127.0.0.1",
        "\r\nIf-Match: *\r\n",
    ] {
        assert!(request.contains(text), "{text}: {request}");
    }
}

#[tokio::test]
async fn a_batch_that_is_too_large_is_not_sent() {
    let stub = Stub::start([]).await;
    let operations = ["a", "b"].map(|row| Operation::insert(row, vec![b' '; 2 << 20]));
    let outcome = stub.client().execute("Company", "p", &operations).await.unwrap();
    let Outcome::Refused { refusal, may_be_done: false, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!((refusal.status, stub.requests().len()), (413, 0));
}
