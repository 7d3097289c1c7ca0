//! Tokens that the service's libraries have made, and tokens that must be refused.

use super::parameters::Parameters;
use super::{AccountKey, AccountSas, Policy, Sas, SasError, Token, Verified, verify};
use crate::error::{Error, ErrorKind};
use crate::model::Ticks;

const VECTORS: &str = include_str!("vectors.txt");

/// The key that the documentation of the service's emulator gives.
fn key() -> AccountKey {
    let known = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    AccountKey::new("devstoreaccount1", known).unwrap()
}

fn other_key() -> AccountKey {
    AccountKey::new("devstoreaccount1", "c2VjcmV0").unwrap()
}

fn time(text: &str) -> Ticks {
    text.parse().unwrap()
}

fn pol(table: &str, id: &str) -> Option<Policy> {
    (table == "MyTable" && id == "pol").then(|| Policy::new().read().until(time("2098-01-01")))
}

fn vectors() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let lines = VECTORS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut parts = line.splitn(3, ' ');
        let mut next = || parts.next().unwrap();
        (next(), next(), next().replace("\\n", "\n"))
    })
}

fn verified(token: &str) -> Result<Verified, SasError> {
    verify(token, &[other_key(), key()], &pol)
}

#[test]
fn the_libraries_tokens_are_signed_as_here_and_say_what_they_were_made_for() {
    let mut count = 0;
    for (name, token, to_sign) in vectors() {
        count += 1;
        let parameters = Parameters::of_query(token).unwrap();
        assert_eq!(parameters.to_sign("devstoreaccount1").unwrap(), to_sign, "{name}");
        assert_eq!(parameters.get("sig"), Some(&*key().sign(&to_sign)), "{name}");
        let verified = verified(&format!("?comp=x&{token}&$filter=a%20eq%20%27b%27")).expect(name);
        let until = "until 2099-01-02T03:04:05Z";
        let expected = match name.trim_start_matches(['P', 'J']) {
            "1" => format!("read, add, update, delete in table `MyTable`, {until}"),
            "2" => format!(
                "read in table `MyTable`, from partition `a b`, row `1` through partition `é\\'&`, row `9`, not before \
                 2020-01-01T00:00:00Z, {until}"
            ),
            "3" => "read in table `MyTable`, until 2098-01-01T00:00:00Z".to_owned(),
            "4" => format!("read in table `MyTable`, through partition `z`, {until}"),
            "5" if name == "P5" => {
                format!("read, add, update, delete in all tables, not before 2020-01-01T00:00:00Z, {until}")
            }
            "5" => {
                format!("read, add, update, delete in all tables, not before 2020-01-01T00:00:00Z, {until}")
            }
            _ => format!("read in table `MyTable`, {until}"),
        };
        assert_eq!(verified.access().to_string(), expected, "{name}");
        assert_eq!(verified.policy(), name.ends_with('3').then_some("pol"), "{name}");
        let is_for = ["127.0.0.0", "127.0.0.1", "127.0.0.9", "127.0.0.10", "::1"]
            .map(|address| verified.is_for_address(address.parse().unwrap()));
        let expected = if name.ends_with('2') { [false, true, true, false, false] } else { [true; 5] };
        assert_eq!(is_for, expected, "{name}");
        let account = [('c', 'c'), ('l', 'c'), ('r', 'o'), ('x', 'o')]
            .map(|(letter, of)| verified.permits_of_account(letter, of));
        let expected = match name {
            "P5" => [true, true, true, false],
            "J5" => [false, true, true, false],
            _ => [false; 4],
        };
        assert_eq!(account, expected, "{name}");
    }
    assert_eq!(count, 11);
}

#[test]
fn tokens_are_made_as_the_libraries_make_them() {
    let until = time("2099-01-02T03:04:05Z");
    let from = time("2020-01-01");
    let table = || Sas::table("MyTable");
    let made = [
        ("P1", table().delete().update().add().read().until(until).sign(&key())),
        (
            "P2",
            table()
                .read()
                .from_row("a b", "1")
                .through_row("é'&", "9")
                .from(from)
                .until(until)
                .addresses("127.0.0.1".parse().unwrap(), "127.0.0.9".parse().unwrap())
                .https_and_http()
                .sign(&key()),
        ),
        ("P3", table().policy("pol").sign(&key())),
        ("P4", table().read().through_partition("z").until(until).sign(&key())),
    ];
    for (name, token) in made {
        let (_, expected, _) = vectors().find(|(known, ..)| *known == name).unwrap();
        assert_eq!(token.unwrap().as_str(), expected, "{name}");
    }
    // The Python library lets the caller order resource types; the signature is of the order sent.
    let account = AccountSas::new("rwdlacu").service().objects().containers().from(from).until(until);
    let (_, expected, _) = vectors().find(|(known, ..)| *known == "P5").unwrap();
    assert_eq!(account.sign(&key()).unwrap().as_str(), expected);
}

#[test]
fn a_token_of_any_version_says_what_it_was_made_for() {
    for version in ["2012-02-12", "2015-02-20", "2015-02-21", "2015-04-05", "2020-12-06", "2099-12-31"] {
        let token = Sas::table("MyTable").read().until(Ticks::MAX).version(version).sign(&key()).unwrap();
        assert!(verified(token.as_str()).is_ok(), "{version}");
    }
    for version in ["2015-04-05", "2020-12-06"] {
        let token =
            AccountSas::new("rl").containers().until(Ticks::MAX).version(version).sign(&key()).unwrap();
        let verified = verified(token.as_str()).unwrap();
        // It is not for entities.
        assert!(verified.access().to_string().starts_with("nothing in all tables"), "{}", verified.access());
        assert!(verified.permits_of_account('l', 'c'));
    }
    let signed = |parameters: Parameters| parameters.to_sign("a").unwrap();
    let of = |query: &str| Parameters::of_query(query).unwrap();
    let query = "sp=r&st=1&se=2&si=3&sip=4&spr=5&spk=6&srk=7&epk=8&erk=9&tn=T";
    assert_eq!(signed(of(&format!("{query}&sv=2015-02-20"))), "r\n1\n2\n/a/t\n3\n2015-02-20\n6\n7\n8\n9");
    assert_eq!(
        signed(of(&format!("{query}&sv=2015-02-21"))),
        "r\n1\n2\n/table/a/t\n3\n2015-02-21\n6\n7\n8\n9"
    );
    let account = "sp=r&ss=t&srt=o&se=2&ses=x";
    assert_eq!(signed(of(&format!("{account}&sv=2020-12-05"))), "a\nr\nt\no\n\n2\n\n\n2020-12-05\n");
    assert_eq!(signed(of(&format!("{account}&sv=2020-12-06"))), "a\nr\nt\no\n\n2\n\n\n2020-12-06\nx\n");
}

/// Returns a token with parameters that no maker of tokens would write, and a signature that is right.
fn forged(query: &str) -> String {
    let to_sign = Parameters::of_query(query).and_then(|parameters| parameters.to_sign("devstoreaccount1"));
    let mut token = format!("{query}&sig=");
    super::text::escape(&key().sign(&to_sign.unwrap_or_default()), &mut token);
    token
}

#[test]
fn hostile_tokens_are_refused_by_what_is_wrong_with_them() {
    const GOOD: &str = "sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable";
    assert!(verified(&forged(GOOD)).is_ok());
    let long = format!("sv=2019-02-02&tn=MyTable&si={}", "x".repeat(65));
    for (query, wrong) in [
        ("", SasError::Missing("tn")),
        ("sv=2019-02-02&se=2099-01-01&sp=r", SasError::Missing("tn")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=", SasError::Missing("tn")),
        ("sv=2019-02-02&se=2099-01-01&tn=MyTable", SasError::Missing("sp")),
        ("sv=2019-02-02&sp=r&tn=MyTable", SasError::Missing("se")),
        ("se=2099-01-01&sp=r&tn=MyTable", SasError::Missing("sv")),
        ("sv=2019-02-02&sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable", SasError::Twice("sv")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&s%70=raud", SasError::Twice("sp")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&erk=&erk=", SasError::Twice("erk")),
        ("sv=2019-02-02&se=2099-01-01&sp=rx&tn=MyTable", SasError::Malformed("sp")),
        ("sv=2019-02-02&se=2099-01-01&sp=rr&tn=MyTable", SasError::Malformed("sp")),
        ("sv=2019-02-02&se=2099-01-01&sp=R&tn=MyTable", SasError::Malformed("sp")),
        ("sv=2019-2-2&se=2099-01-01&sp=r&tn=MyTable", SasError::Malformed("sv")),
        ("sv=latest&se=2099-01-01&sp=r&tn=MyTable", SasError::Malformed("sv")),
        ("sv=2012-02-11&se=2099-01-01&sp=r&tn=MyTable", SasError::VersionTooOld),
        ("sv=2019-02-02&se=2099-13-01&sp=r&tn=MyTable", SasError::Malformed("se")),
        ("sv=2019-02-02&se=2099-01-01&st=now&sp=r&tn=MyTable", SasError::Malformed("st")),
        ("sv=2019-02-02&se=2099-01-01&st=2099-01-02&sp=r&tn=MyTable", SasError::EndsBeforeItStarts),
        ("sv=2019-02-02&se=2099-01-01&st=2099-01-01&sp=r&tn=MyTable", SasError::EndsBeforeItStarts),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&srk=1", SasError::Unexpected("srk")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&spk=a&erk=1", SasError::Unexpected("erk")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&sip=1.2.3", SasError::Malformed("sip")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&sip=1.2.3.4-1.2.3.3", SasError::Malformed("sip")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&sip=1.2.3.4-::1", SasError::Malformed("sip")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&spr=http", SasError::Malformed("spr")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=My%Table", SasError::NotAQuery),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=%ff", SasError::NotAQuery),
        ("sv=2019-02-02&se=2099-01-01&sp=r&tn=MyTable&ses=x", SasError::Unexpected("ses")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&ss=t&srt=o&tn=MyTable", SasError::Unexpected("tn")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&ss=b&srt=o", SasError::NotForTables),
        ("sv=2019-02-02&se=2099-01-01&sp=r&ss=x&srt=o", SasError::Malformed("ss")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&ss=t&srt=x", SasError::Malformed("srt")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&ss=t", SasError::Missing("srt")),
        ("sv=2019-02-02&se=2099-01-01&sp=r&srt=o", SasError::Missing("ss")),
        ("sv=2015-04-04&se=2099-01-01&sp=r&ss=t&srt=o", SasError::VersionTooOld),
        ("sv=2019-02-02&si=other&tn=MyTable", SasError::NoSuchPolicy),
        ("sv=2019-02-02&si=pol&tn=Other", SasError::NoSuchPolicy),
        ("sv=2019-02-02&si=pol&tn=MyTable&sp=r", SasError::InPolicyToo("sp")),
        ("sv=2019-02-02&si=pol&tn=MyTable&se=2099-01-01", SasError::InPolicyToo("se")),
        ("sv=2019-02-02&si=pol&tn=MyTable&st=2099-01-01", SasError::EndsBeforeItStarts),
        (&long, SasError::Malformed("si")),
    ] {
        assert_eq!(verified(&forged(query)).unwrap_err(), wrong, "{query}");
    }
    let sig = |sig: &str| verified(&format!("{GOOD}&sig={sig}")).unwrap_err();
    assert_eq!(sig(""), SasError::Missing("sig"));
    for text in ["x", "%3D%3D%3D%3D", "AAAA", "OLKOGNUr2QYRQBJhcKGH3vZcW9a7PsbXwAGqVDBtoV4"] {
        assert_eq!(sig(text), SasError::Malformed("sig"), "{text}");
    }
    assert_eq!(sig("OLKOGNUr2QYRQBJhcKGH3vZcW9a7PsbXwAGqVDBtoV4%3D"), SasError::WrongSignature);
    // What is not of the token does not matter, and neither does what it is of that another key has signed.
    assert_eq!(verify(&forged(GOOD), &[other_key()], &pol).unwrap_err(), SasError::WrongSignature);
    assert_eq!(verify(&forged(GOOD), &[], &pol).unwrap_err(), SasError::WrongSignature);
    let asked = std::cell::Cell::new(false);
    let unsigned = verify(
        "sv=2019-02-02&si=pol&tn=MyTable&sig=OLKOGNUr2QYRQBJhcKGH3vZcW9a7PsbXwAGqVDBtoV4%3D",
        &[key()],
        &|_, _| {
            asked.set(true);
            None
        },
    );
    assert_eq!((unsigned.unwrap_err(), asked.get()), (SasError::WrongSignature, false));
}

#[test]
fn each_parameter_is_signed() {
    for (name, token, _) in vectors() {
        for (at, parameter) in token.split('&').enumerate() {
            if parameter.starts_with("sig=") {
                continue;
            }
            let without: Vec<_> =
                token.split('&').enumerate().filter(|(i, _)| *i != at).map(|(_, p)| p).collect();
            assert!(verified(&without.join("&")).is_err(), "{name} without {parameter}");
            // Only the case of a table's name is of no meaning.
            let changed = token.replace(parameter, &format!("{parameter}1"));
            assert!(verified(&changed).is_err(), "{name} with {parameter} changed");
        }
    }
}

#[test]
fn what_can_not_be_said_is_not_signed() {
    let sign = |sas: Sas| sas.sign(&key()).unwrap_err();
    let table = || Sas::table("MyTable").read().until(Ticks::MAX);
    assert_eq!(sign(Sas::table("MyTable").until(Ticks::MAX)), SasError::Missing("sp"));
    assert_eq!(sign(Sas::table("MyTable").read()), SasError::Missing("se"));
    assert_eq!(sign(Sas::table("").read().until(Ticks::MAX)), SasError::Missing("tn"));
    assert_eq!(sign(table().from(Ticks::MAX)), SasError::EndsBeforeItStarts);
    assert_eq!(sign(table().version("1")), SasError::Malformed("sv"));
    assert_eq!(sign(table().partition("")), SasError::Malformed("epk"));
    assert_eq!(sign(table().through_row("a", "")), SasError::Malformed("erk"));
    assert_eq!(sign(table().from_row("", "a")), SasError::Malformed("spk"));
    assert_eq!(AccountSas::new("r").until(Ticks::MAX).sign(&key()).unwrap_err(), SasError::Missing("srt"));
    let unknown = AccountSas::new("rZ").objects().until(Ticks::MAX).sign(&key());
    assert_eq!(unknown.unwrap_err(), SasError::Malformed("sp"));
}

#[test]
fn neither_keys_nor_signatures_are_shown() {
    let token: Token = Sas::table("MyTable").read().until(Ticks::MAX).sign(&key()).unwrap();
    let verified = verified(token.as_str()).unwrap();
    let error = Error::from(verify(token.as_str(), &[other_key()], &pol).unwrap_err());
    assert_eq!((error.kind(), error.code()), (ErrorKind::NotPermitted, "AuthenticationFailed"));
    let shown = format!("{token:?} {:?} {verified:?} {error:?} {error}", key());
    let signature = Parameters::of_query(token.as_str()).unwrap().get("sig").unwrap().to_owned();
    assert!(!shown.contains(&signature) && !shown.contains("Eby8vdM02"), "{shown}");
}
