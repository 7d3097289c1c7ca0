//! An employee who is inserted by the protocol is found by this program's index.

use server_example::{ACCOUNT, Employee, KEY, open, serve};
use table_core::Ticks;
use table_core::access::sas::{AccountKey, AccountSas};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

const EVE: &str = r#"{"PartitionKey":"Sales","RowKey":"empid_000003","EntityType":"employee","Name":"Eve","Email":"eve@contoso.com","Age":28}"#;

/// Sends a request with a token, and returns the answer as it is.
async fn ask(address: &str, method: &str, path: &str, body: &str) -> String {
    let until: Ticks = "2099-01-01".parse().unwrap();
    let key = AccountKey::new(ACCOUNT, KEY).unwrap();
    let token = AccountSas::new("raudl").containers().objects().until(until).sign(&key).unwrap();
    let request = format!(
        "{method} /{ACCOUNT}/{path}?{} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        token.as_str(),
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_plain_entity_becomes_an_employee_with_copies() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("company.tables")).unwrap();
    let (ready, address) = oneshot::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let ready = |address| ready.send(address).unwrap();
    let serving = serve(&store, "127.0.0.1:0".parse().unwrap(), ready, async { drop(stopped.await) });
    let asking = async {
        let address = address.await.unwrap().to_string();
        let inserted = ask(&address, "POST", "Company", EVE).await;
        assert!(inserted.starts_with("HTTP/1.1 201 "), "{inserted}");
        let staff = store.table::<Employee>().unwrap();
        let eve = staff.get(Employee::by_email("eve@contoso.com")).unwrap().unwrap();
        assert_eq!((&*eve.name, eve.age), ("Eve", 28));

        let taken = ask(&address, "POST", "Company", &EVE.replace("000003", "000004")).await;
        assert!(taken.starts_with("HTTP/1.1 409 "), "{taken}");
        let nameless = EVE.replace("000003", "000005").replace(r#""Name":"Eve","#, "");
        let refused = ask(&address, "POST", "Company", &nameless.replace("eve@", "x@")).await;
        assert!(refused.starts_with("HTTP/1.1 400 ") && refused.contains("Name"), "{refused}");
        assert_eq!(staff.by_name().department("Sales").count().unwrap(), 3);
        stop.send(()).unwrap();
    };
    let (served, ()) = tokio::join!(serving, asking);
    served.unwrap();
    store.close().unwrap();
}
