//! Who may come in, and what he may do there: certificates, passwords, roles.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

use support::{schema, server};
use table_core::{DynamicEntity, ErrorKind, Query};
use table_postgres::PostgresTables;

#[test]
fn a_role_that_may_only_read_reads_and_is_told_so() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let company = tables.create_table("Company").unwrap();
    company.put(&DynamicEntity::new("Sales", "1").with("Name", "Jones")).unwrap();
    let role = format!("reader_{schema}");
    let grants = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'secret'; GRANT USAGE ON SCHEMA \"{schema}\" TO {role};
         GRANT SELECT ON ALL TABLES IN SCHEMA \"{schema}\" TO {role}"
    );
    support::execute(&grants);
    let address = server().replace("postgres@", &format!("{role}:secret@"));
    let reading = PostgresTables::options().schema(&schema).connect(&address).unwrap();
    let company = reading.dynamic_table("Company").unwrap();
    assert_eq!(company.query(&Query::new()).unwrap().count(), 1);
    for error in [
        company.put(&DynamicEntity::new("Sales", "2")).map(drop).unwrap_err(),
        reading.create_table("Other").map(drop).unwrap_err(),
        PostgresTables::options().schema(support::schema()).connect(&address).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::AccessDenied, "{error}");
        assert!(error.to_string().contains("permission denied"), "{error}");
    }
    assert_eq!(company.query(&Query::new()).unwrap().count(), 1);
}

#[test]
fn a_role_that_may_make_no_schema_makes_a_store_in_its_own() {
    let schema = schema();
    let role = format!("owner_{schema}");
    let own = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'secret'; CREATE SCHEMA \"{schema}\" AUTHORIZATION {role}"
    );
    support::execute(&own);
    let address = server().replace("postgres@", &format!("{role}:secret@"));
    let tables = PostgresTables::options().schema(&schema).connect(&address).unwrap();
    let company = tables.create_table("Company").unwrap();
    company.put(&DynamicEntity::new("Sales", "1")).unwrap();
    assert!(company.get("Sales", "1").unwrap().is_some());
}

#[test]
fn an_address_that_leads_nowhere_is_told_without_its_password() {
    let closed = server().replace("postgres@127.0.0.1", "postgres:geheim@127.0.0.1");
    let (before, _) = closed.rsplit_once(':').unwrap();
    for (address, kind) in [
        (format!("{before}:1/postgres"), ErrorKind::Unreachable),
        ("postgres:geheim".to_owned(), ErrorKind::Unreachable),
        (closed.replace("/postgres", "/nowhere"), ErrorKind::AccessDenied),
    ] {
        let error = PostgresTables::connect(&address).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        let told = format!("{error} {error:?}");
        assert!(!told.contains("geheim"), "{told}");
    }
}

#[cfg(feature = "tls")]
mod tls {
    use std::fs;

    use table_core::{DynamicEntity, ErrorKind};
    use table_postgres::PostgresTables;

    use crate::support::server::Server;

    #[test]
    fn a_server_is_trusted_by_its_certificate_and_a_wrong_one_is_refused() {
        let server = Server::new(3);
        let names = vec!["localhost".to_owned()];
        let own = rcgen::generate_simple_self_signed(names.clone()).unwrap();
        let other = rcgen::generate_simple_self_signed(names).unwrap();
        server.make_directory();
        let [certificate, key] = ["server.crt", "server.key"].map(|name| server.directory.join(name));
        fs::write(&certificate, own.cert.pem()).unwrap();
        fs::write(&key, own.signing_key.serialize_pem()).unwrap();
        Server::own(&certificate);
        Server::own(&key);
        let settings = [
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", certificate.display()),
            format!("ssl_key_file={}", key.display()),
        ];
        server.start_with(&settings);
        let address = format!("{}?sslmode=require", server.address().replace("127.0.0.1", "localhost"));
        let tables = PostgresTables::options().trust(own.cert.pem()).connect(&address).unwrap();
        let company = tables.create_table("Company").unwrap();
        company.put(&DynamicEntity::new("Sales", "1")).unwrap();
        assert!(company.get("Sales", "1").unwrap().is_some());
        // Signed by another, or by nobody whom the system knows, or of another name.
        let by_number = address.replace("localhost", "127.0.0.1");
        for (options, address) in [
            (PostgresTables::options().trust(other.cert.pem()), &address),
            (PostgresTables::options(), &address),
            (PostgresTables::options().trust(own.cert.pem()), &by_number),
        ] {
            let error = options.connect(address).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
            assert!(error.to_string().contains("certificate"), "{error}");
        }
        let error = PostgresTables::options().trust("no certificate").connect(&address).unwrap_err();
        assert!(error.to_string().contains("trust"), "{error}");
    }
}
