//! Settings and their errors.

use std::ffi::OsString;
use std::time::Duration;

use clap::Parser;
use table_core::Durability;

use super::{Config, ConfigError, DatabaseAddress, Flags, WELL_KNOWN_KEY, read};

const KEY: &str = "c2VjcmV0IG9mIG5vYm9keSwgb2YgMzIgYnl0ZXMuLi4=";

fn config(flags: &[&str], variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let flags = Flags::try_parse_from([&["table-server"], flags].concat()).unwrap();
    read(flags, |name| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, text)| (*text).into())
    })
}

fn problems(flags: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
    config(flags, variables).unwrap_err().0
}

#[test]
fn without_settings_it_is_an_emulator_of_this_machine() {
    let config = config(&[], &[]).unwrap();
    assert_eq!(config.address.to_string(), "127.0.0.1:10002");
    assert_eq!(config.admin_address.unwrap().to_string(), "127.0.0.1:10003");
    assert_eq!(config.durability, Durability::Durable);
    let text = config.connection_string(config.address, None);
    assert_eq!(
        text,
        format!(
            "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={WELL_KNOWN_KEY};\
             TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
        )
    );
}

#[test]
fn queues_are_served_where_they_are_asked_for_by_the_rules_of_tables() {
    assert_eq!(config(&[], &[]).unwrap().queue_address, None);
    assert_eq!(config(&["--queue-address=none"], &[]).unwrap().queue_address, None);
    let variables = [("TABLE_SERVER_QUEUE_ADDRESS", "127.0.0.1:10001")];
    let config = config(&[], &variables).unwrap();
    let queues = config.queue_address.unwrap();
    let text = config.connection_string(config.address, Some(queues));
    assert!(text.ends_with(";QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"), "{text}");
    let [known, plain] = &problems(&["--queue-address=0.0.0.0:10001"], &[])[..] else {
        panic!("two problems")
    };
    assert!(
        known.starts_with("`--queue-address` is `0.0.0.0:10001`, which others can reach, and the key"),
        "{known}"
    );
    assert!(plain.contains("nothing is encrypted") && plain.contains("`127.0.0.1:10001`"), "{plain}");
    let key = [("TABLE_SERVER_KEY1", KEY)];
    assert_eq!(problems(&["--queue-address=0.0.0.0:10001"], &key).len(), 1);
    assert!(problems(&["--queue-address=here"], &[])[0].contains("or `none`"));
}

#[test]
fn a_flag_goes_over_a_variable_and_that_over_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.toml");
    let text =
        "account = \"inthefile\"\ndirectory = \"f\"\nmax-connections = 7\nraw = true\nidle-time = \"2min\"\n";
    std::fs::write(&path, format!("{text}key1 = \"{KEY}\"\n")).unwrap();
    let variables = [
        ("TABLE_SERVER_CONFIG", path.to_str().unwrap()),
        ("TABLE_SERVER_DIRECTORY", "v"),
        ("TABLE_SERVER_ACCOUNT", "variable"),
        ("TABLE_SERVER_MAP_SIZE", "64GiB"),
    ];
    let config = config(&["--account", "theflag", "--admin-address=none"], &variables).unwrap();
    assert_eq!((config.account.as_str(), config.directory.to_str().unwrap()), ("theflag", "v"));
    assert_eq!((config.limits.connections, config.is_raw, config.admin_address), (7, true, None));
    assert_eq!((config.limits.idle_time, config.map_size), (Duration::from_secs(120), Some(64 << 30)));
    assert!(!format!("{config:?}").contains(KEY));
    assert!(!config.connection_string(config.address, None).contains(KEY));
}

#[test]
fn all_errors_are_told_at_once_each_with_what_is_right() {
    let flags =
        ["--address=here", "--admin-address=7", "--durability=some", "--map-size=1KB", "--body-memory=0"];
    let variables = [
        ("TABLE_SERVER_ACCOUNT", "Me"),
        ("TABLE_SERVER_HEADER_TIME", "soon"),
        ("TABLE_SERVER_MAX_CONNECTIONS", "0"),
        ("TABLE_SERVER_RAW", "yes"),
        ("TABLE_SERVER_KEY1", "no base64, and secret"),
    ];
    let problems = problems(&flags, &variables);
    for problem in [
        "`--address` is `here`: it must be an address and a port, such as `127.0.0.1:10002`",
        "`--admin-address` is `7`: it must be an address and a port, such as `127.0.0.1:10003`, or `none`",
        "`--durability` is `some`: it must be `durable` or `relaxed`",
        "`--map-size` is `1KB`: it must be a number of bytes from 1MiB on",
        "`--body-memory` is `0`: it must be a number of bytes from 1MiB on",
        "the variable `TABLE_SERVER_ACCOUNT` is `Me`: it must be 3 to 24 lower-case letters and digits",
        "the variable `TABLE_SERVER_HEADER_TIME` is `soon`: it must be a time from 1ms",
        "the variable `TABLE_SERVER_MAX_CONNECTIONS` is `0`: it must be a number from 1 on",
        "the variable `TABLE_SERVER_RAW` is `yes`: it must be `true` or `false`",
        "the variable `TABLE_SERVER_KEY1` is of no use: it must be a key in base64",
    ] {
        assert!(problems.iter().any(|found| found.starts_with(problem)), "{problem}\n{problems:#?}");
    }
    assert_eq!(problems.len(), 10, "{problems:#?}");
    assert!(!problems.concat().contains("secret"));
}

#[test]
fn a_key_is_no_flag() {
    for flags in [&["--key1", KEY][..], &["--key1=c2VjcmV0IG9mIG5vYm9keSwgb2YgMzIgYnl0ZXMuLi4="], &["--key1"]]
    {
        let problems = problems(flags, &[]);
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].starts_with("`--key1` is refused: lists of processes show flags"),
            "{problems:?}"
        );
        assert!(problems[0].contains("TABLE_SERVER_KEY1") && !problems[0].contains(KEY));
    }
}

#[test]
fn an_account_of_ones_own_has_a_key_of_ones_own() {
    let problems = problems(&["--account=mine"], &[]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("account `mine` has no key: give `TABLE_SERVER_KEY1`"), "{problems:?}");
    assert!(config(&["--account=mine"], &[("TABLE_SERVER_KEY1", KEY)]).is_ok());
    // One that could be guessed is told of with all else, and not when the store is open.
    let short = config(&[], &[("TABLE_SERVER_KEY2", "c2VjcmV0IG9mIG5vYm9keQ==")]).unwrap_err().0;
    assert!(short.len() == 1 && short[0].contains("32 to 256 bytes"), "{short:?}");
}

#[test]
fn other_machines_are_served_with_a_key_and_encrypted_or_by_permission() {
    for address in ["0.0.0.0:10002", "[::]:10002", "10.0.0.7:10002"] {
        let flag = format!("--address={address}");
        let refused = problems(&[&flag], &[]);
        assert_eq!(refused.len(), 2, "{refused:?}");
        assert!(refused[0].starts_with(&format!("`--address` is `{address}`")), "{refused:?}");
        assert!(refused[0].contains("--allow-well-known-key") && refused[1].contains("--allow-plain-http"));
        let plain = problems(&[&flag], &[("TABLE_SERVER_KEY1", KEY)]);
        assert!(plain.len() == 1 && plain[0].contains("nothing is encrypted"), "{plain:?}");
        let second = [("TABLE_SERVER_KEY1", KEY), ("TABLE_SERVER_KEY2", WELL_KNOWN_KEY)];
        assert_eq!(problems(&[&flag, "--allow-plain-http"], &second).len(), 1);
        assert!(config(&[&flag, "--allow-plain-http", "--allow-well-known-key"], &[]).is_ok());
    }
    for address in ["127.0.0.2:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
        assert!(config(&[&format!("--address={address}")], &[]).is_ok());
    }
}

#[test]
fn a_certificate_needs_its_key_and_the_feature() {
    let alone = problems(&["--tls-cert=c.pem"], &[]);
    assert!(
        alone.iter().any(|p| p == "`--tls-cert` needs `--tls-key`, the file of its private key"),
        "{alone:?}"
    );
    let both = config(&["--tls-cert=c.pem", "--tls-key=k.pem"], &[]);
    if cfg!(feature = "tls") {
        assert!(
            both.unwrap()
                .connection_string(([127, 0, 0, 1], 1).into(), None)
                .contains("TableEndpoint=https://")
        );
    } else {
        assert_eq!(both.unwrap_err().0, ["this program has no TLS: build it with `--features tls`"]);
    }
}

#[test]
fn errors_of_the_file_say_the_line_and_never_what_stands_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.toml");
    let flag = format!("--config={}", path.display());
    let missing = problems(&[&flag], &[]);
    assert!(missing[0].starts_with("the file `") && missing[0].contains("can't be read"), "{missing:?}");
    std::fs::write(&path, format!("raw = false\nkey1 = \"{KEY}\" more\n")).unwrap();
    let broken = problems(&[&flag], &[]);
    assert!(broken[0].starts_with("line 2 of `") && !broken[0].contains(KEY), "{broken:?}");
    std::fs::write(&path, "\n# note\nadress = 1\nidle-time = 1.5\naddress = \"x\"\n").unwrap();
    let several = problems(&[&flag], &[]);
    assert_eq!(several.len(), 3, "{several:?}");
    assert!(several[0].contains("line 3 of `") && several[0].contains("there are directory, address"));
    assert!(several[1].starts_with("`idle-time` in line 4 of `"), "{several:?}");
    assert!(several[2].starts_with("`address` in line 5 of `"), "{several:?}");
}

#[test]
fn help_fits_a_screen() {
    use clap::CommandFactory;
    let help = Flags::command().render_help().to_string();
    assert!(help.lines().count() <= 40, "{help}");
    assert!(help.lines().all(|line| line.len() <= 100), "{help}");
}

#[test]
fn a_database_is_named_by_no_flag_and_never_shown() {
    let address = "postgres://app:geheim@localhost/app";
    let given = |flags: &[&str], address: &str| config(flags, &[("TABLE_SERVER_POSTGRES", address)]);
    match given(&[], address) {
        Ok(config) if cfg!(feature = "postgres") => {
            assert_eq!(config.postgres.as_ref().map(DatabaseAddress::as_str), Some(address));
            assert!(!format!("{config:?}").contains("geheim"));
        }
        other => {
            let error = other.unwrap_err().to_string();
            assert!(!cfg!(feature = "postgres") && error.contains("`--features postgres`"), "{error}");
        }
    }
    for (flags, variable, right) in [
        (&["--directory", "x.tables"][..], address, "`--directory` is of a store in a directory"),
        (&[], "mysql://app:geheim@localhost", "it must be like `postgres://"),
        (&["--postgres", address], address, "`--postgres` is refused"),
    ] {
        let error = given(flags, variable).unwrap_err().to_string();
        assert!(error.contains(right) && !error.contains("geheim"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_no_text_is_an_error() {
    use std::os::unix::ffi::OsStringExt;

    let flags = Flags::try_parse_from(["table-server"]).unwrap();
    let variable =
        |name: &str| (name == "TABLE_SERVER_DIRECTORY").then(|| OsString::from_vec(vec![b'a', 0xff]));
    let ConfigError(problems) = read(flags, variable).unwrap_err();
    assert_eq!(problems, ["the variable `TABLE_SERVER_DIRECTORY` is no text in UTF-8"]);
}
