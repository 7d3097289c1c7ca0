//! Encrypted connections.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use table_server::listen::{Limits, Server, Tls};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::{Running, echo, get, rest, short};

/// Writes a certificate of `localhost` and its key, and returns the certificate.
fn certify(directory: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(directory.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(directory.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

fn read(directory: &Path) -> Tls {
    Tls::read(directory.join("cert.pem"), directory.join("key.pem")).unwrap()
}

async fn start(tls: Tls, limits: Limits) -> Running {
    let server = Server::bind(([127, 0, 0, 1], 0).into(), limits, echo).await.unwrap();
    Running::of(server.with_tls(tls))
}

async fn connect(
    server: &Running,
    trusted: CertificateDer<'static>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, server.connect().await).await
}

#[tokio::test]
async fn a_request_by_tls_is_answered_and_is_secure() {
    let directory = tempfile::tempdir().unwrap();
    let trusted = certify(directory.path());
    let server = start(read(directory.path()), Limits::default()).await;
    let mut stream = connect(&server, trusted).await.unwrap();
    let text = get(&mut stream, "/safe").await;
    assert!(text.contains("GET /safe 0 Peer { address: 127.0.0.1, is_secure: true }"), "{text}");
    // A body of more than one record, too.
    let head = format!("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", 1 << 20);
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b'x'; 1 << 20]).await.unwrap();
    assert!(crate::answer(&mut stream).await.contains("POST / 1048576 "));
    assert_eq!(server.end().await.abandoned, 0);
}

#[tokio::test]
async fn plain_bytes_are_no_handshake() {
    let directory = tempfile::tempdir().unwrap();
    certify(directory.path());
    let server = start(read(directory.path()), short()).await;
    let text = {
        let mut stream = server.connect().await;
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut read = Vec::new();
        drop(tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut read).await);
        read
    };
    assert!(!text.starts_with(b"HTTP"), "{text:?}");
    let mut silent = server.connect().await;
    let began = Instant::now();
    assert_eq!(rest(&mut silent).await, "");
    assert!(began.elapsed() >= short().handshake_time / 2);
    assert!(server.counters.to_string().contains("table_server_handshake_failures_total 1\n"));
    assert_eq!(server.counters.timeouts(), 1);
}

#[tokio::test]
async fn an_idle_connection_is_closed_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let trusted = certify(directory.path());
    let server = start(read(directory.path()), short()).await;
    let mut stream = connect(&server, trusted).await.unwrap();
    get(&mut stream, "/").await;
    // An end without TLS's own would be an error here.
    let mut read = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut read).await.unwrap();
    assert!(read.is_empty());
}

#[tokio::test]
async fn files_are_read_anew_and_useless_ones_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let former = certify(directory.path());
    let tls = read(directory.path());
    let server = start(tls.clone(), Limits::default()).await;
    std::fs::write(directory.path().join("cert.pem"), "no certificate").unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(error.contains("the certificate in `") && error.contains("cert.pem"), "{error}");
    assert!(connect(&server, former.clone()).await.is_ok());
    let renewed = certify(directory.path());
    tls.reload().unwrap();
    assert!(connect(&server, former).await.is_err());
    assert!(connect(&server, renewed).await.is_ok());
}

#[test]
fn useless_files_are_told_of_without_what_they_hold() {
    let directory = tempfile::tempdir().unwrap();
    certify(directory.path());
    let (certificate, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
    let missing = Tls::read(directory.path().join("none.pem"), &key).unwrap_err().to_string();
    assert!(missing.contains("none.pem"), "{missing}");
    let swapped = Tls::read(&key, &certificate).unwrap_err().to_string();
    assert!(swapped.contains("the certificate in `") && swapped.contains("BEGIN CERTIFICATE"), "{swapped}");
    let other = tempfile::tempdir().unwrap();
    certify(other.path());
    let unrelated = Tls::read(&certificate, other.path().join("key.pem")).unwrap_err().to_string();
    assert!(unrelated.contains("the private key of the certificate"), "{unrelated}");
    assert!(!unrelated.contains("PRIVATE"), "{unrelated}");
}
