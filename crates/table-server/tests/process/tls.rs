//! Encrypted connections to the binary.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rustix::process::Signal;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto};

use crate::client::{Client, KEY};
use crate::running::{Running, command};

/// Writes a certificate of `localhost` and its key, and returns the certificate.
fn certify(directory: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(directory.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(directory.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

/// Asks for the tables by a connection that trusts this certificate, and returns the status.
fn ask(server: &Running, trusted: &CertificateDer<'static>) -> std::io::Result<u16> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = StreamOwned::new(connection, TcpStream::connect(server.address)?);
    Ok(Client::new(stream, KEY).send("GET", "Tables", "")?.status)
}

#[test]
fn certificates_are_read_anew_by_a_signal_and_others_are_not_trusted() {
    let directory = tempfile::tempdir().unwrap();
    let [store, certificate, key] = ["store", "cert.pem", "key.pem"].map(|name| directory.path().join(name));
    let former = certify(directory.path());
    let flags = [format!("--tls-cert={}", certificate.display()), format!("--tls-key={}", key.display())];
    let mut server = Running::start(&store, &[&flags[0], &flags[1]]);
    assert!(server.connection_string.contains("TableEndpoint=https://"), "{}", server.connection_string);
    assert_eq!(ask(&server, &former).unwrap(), 200);
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(ask(&server, &certify(elsewhere.path())).is_err());
    // What is of no use changes nothing.
    std::fs::write(&key, "no key").unwrap();
    server.signal(Signal::HUP);
    assert!(server.line("the certificate stays as it was").contains("key.pem"));
    assert_eq!(ask(&server, &former).unwrap(), 200);
    let renewed = certify(directory.path());
    server.signal(Signal::HUP);
    server.line("the certificate was read anew");
    assert!(ask(&server, &former).is_err());
    assert_eq!(ask(&server, &renewed).unwrap(), 200);
}

#[test]
fn files_of_no_use_are_named_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let [store, certificate, key] = ["store", "cert.pem", "key.pem"].map(|name| directory.path().join(name));
    let mut command = command(&store);
    command.arg(format!("--tls-cert={}", certificate.display())).arg(format!("--tls-key={}", key.display()));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("the certificate in `") && text.contains("cert.pem"), "{text}");
}
