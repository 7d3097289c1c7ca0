//! Settings from their texts, and what they must not be together.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::sources::Given;
use super::{Config, ConfigError, DatabaseAddress, Key, WELL_KNOWN_ACCOUNT, WELL_KNOWN_KEY, parse};
use crate::account::is_key;
use crate::listen::Limits;
use crate::log::LogSettings;

/// Reads all settings. What is wrong is collected.
pub(super) fn check(mut given: Given) -> Result<Config, ConfigError> {
    let limits = limits(&mut given);
    let account = given.value("account", parse::account).unwrap_or_else(|| WELL_KNOWN_ACCOUNT.to_owned());
    let first = key(&mut given, "key1");
    let key2 = key(&mut given, "key2");
    let address =
        given.value("address", parse::address).unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 10_002)));
    let queue_address = given.value("queue-address", parse::address_or_none).flatten();
    let admin = given.value("admin-address", parse::address_or_none);
    let may_plain = given.value("allow-plain-http", parse::flag).unwrap_or_default();
    let may_well_known = given.value("allow-well-known-key", parse::flag).unwrap_or_default();
    let key1 = first.unwrap_or_else(|| {
        if account != WELL_KNOWN_ACCOUNT && !given.has("key1") {
            given.refuse(format!(
                "account `{account}` has no key: give `TABLE_SERVER_KEY1` or `key1` of the file, 64 random bytes in base64"
            ));
        }
        Key::new(WELL_KNOWN_KEY)
    });
    let is_known = |key: &Key| key.as_str() == WELL_KNOWN_KEY;
    let has_well_known = is_known(&key1) || key2.as_ref().is_some_and(is_known);
    let tls = tls(&mut given);
    let all = [("address", Some(address)), ("queue-address", queue_address)];
    for (setting, address) in all.into_iter().filter_map(|(setting, address)| Some((setting, address?))) {
        if address.ip().to_canonical().is_loopback() {
            continue;
        }
        let origin = given.origin(setting);
        let local = format!("127.0.0.1:{}", address.port());
        if has_well_known && !may_well_known {
            given.refuse(format!(
                "{origin} is `{address}`, which others can reach, and the key is the well-known one: give `TABLE_SERVER_KEY1` \
                 of your own, an address of this machine such as `{local}`, or `--allow-well-known-key`"
            ));
        }
        if tls.is_none() && !may_plain {
            given.refuse(format!(
                "{origin} is `{address}`, which others can reach, and nothing is encrypted: give `--tls-cert` and `--tls-key`, \
                 an address of this machine such as `{local}`, or `--allow-plain-http`"
            ));
        }
    }
    let postgres = postgres(&mut given);
    let config = Config {
        postgres,
        directory: given.value("directory", |text| Ok(text.into())).unwrap_or_else(|| "data.tables".into()),
        address,
        queue_address,
        may_well_known,
        admin_address: admin.unwrap_or_else(|| Some(SocketAddr::from(([127, 0, 0, 1], 10_003)))),
        account,
        key1,
        key2,
        durability: given.value("durability", parse::durability).unwrap_or_default(),
        map_size: given.value("map-size", parse::size),
        tls,
        is_raw: given.value("raw", parse::flag).unwrap_or_default(),
        log: log(&mut given),
        limits,
    };
    given.finish(config)
}

fn key(given: &mut Given, name: &'static str) -> Option<Key> {
    given.secret(name, |text| {
        // Its error may quote, so the sentence is ours.
        let wrong = "it must be a key in base64 of 32 to 256 bytes, as `openssl rand -base64 64` makes one without line breaks";
        if is_key(text) { Ok(Key::new(text)) } else { Err(wrong) }
    })
}

/// Reads where the store is, if it is in no directory.
fn postgres(given: &mut Given) -> Option<DatabaseAddress> {
    let address = given.secret("postgres", |text| {
        let is_right = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        let right = "it must be like `postgres://user:password@host:5432/database`";
        if is_right { Ok(DatabaseAddress(text.to_owned())) } else { Err(right) }
    });
    if address.is_some() {
        if !cfg!(feature = "postgres") {
            given.refuse("this program knows no PostgreSQL: build it with `--features postgres`".to_owned());
        }
        for of_directory in ["directory", "durability", "map-size"] {
            if given.has(of_directory) {
                given.refuse(format!(
                    "{} is of a store in a directory, and {} names one in a database: give one of them",
                    given.origin(of_directory),
                    given.origin("postgres")
                ));
            }
        }
    }
    address
}

fn tls(given: &mut Given) -> Option<(PathBuf, PathBuf)> {
    let certificate = given.value("tls-cert", |text| Ok(PathBuf::from(text)));
    let key = given.value("tls-key", |text| Ok(PathBuf::from(text)));
    if (certificate.is_some() || key.is_some()) && !cfg!(feature = "tls") {
        given.refuse("this program has no TLS: build it with `--features tls`".to_owned());
    }
    match (certificate, key) {
        (Some(certificate), Some(key)) => return Some((certificate, key)),
        (None, None) => {}
        (Some(_), None) => {
            given.refuse(format!(
                "{} needs `--tls-key`, the file of its private key",
                given.origin("tls-cert")
            ));
        }
        (None, Some(_)) => {
            given.refuse(format!(
                "{} needs `--tls-cert`, the file of the certificate",
                given.origin("tls-key")
            ));
        }
    }
    None
}

fn log(given: &mut Given) -> LogSettings {
    let mut log = LogSettings::default();
    log.level = given.value("log", parse::log_level).unwrap_or(log.level);
    log.format = given.value("log-format", parse::log_format).unwrap_or(log.format);
    log
}

fn limits(given: &mut Given) -> Limits {
    let default = Limits::default();
    Limits {
        connections: given.value("max-connections", parse::count).unwrap_or(default.connections),
        bodies_bytes: given.value("body-memory", parse::size).unwrap_or(default.bodies_bytes),
        handshake_time: given.value("handshake-time", parse::time).unwrap_or(default.handshake_time),
        header_time: given.value("header-time", parse::time).unwrap_or(default.header_time),
        body_time: given.value("body-time", parse::time).unwrap_or(default.body_time),
        idle_time: given.value("idle-time", parse::time).unwrap_or(default.idle_time),
        write_time: given.value("write-time", parse::time).unwrap_or(default.write_time),
        drain_time: given.value("drain-time", parse::time).unwrap_or(default.drain_time),
        ..default
    }
}
