//! Tokens of queues that the service's library for Python has made, and tokens that must be refused.

use super::{AccountKey, AccountSas, QueuePolicy, QueueSas, SasError, VerifiedQueue, verify, verify_queue};
use crate::model::Ticks;

/// The tokens that `azure-storage-queue` 12.18.1 makes of the account `devstoreaccount1` and the queue `hires`.
const WHOLE: &str =
    "se=2099-01-02T03%3A04%3A05Z&sp=raup&sv=2026-10-06&sig=QUDRoXT6fLQzg34yl7HTwnvDe4lZOzY1oMEI5iNFeAw%3D";
const NARROW: &str = "st=2019-01-02T00%3A00%3A00Z&se=2099-01-02T03%3A04%3A05Z&sp=p&sip=10.0.0.1-10.0.0.9&spr=https&\
    sv=2026-10-06&sig=/5cxHM1KxIydyitxaVWf2P8LoRjIWyFRd5u/e8NvBpg%3D";
const OF_POLICY: &str = "sv=2026-10-06&si=clerks&sig=vV2WzLxwOY30usjPy9iiTJl0LltWRoOFX5aoBTkt0x8%3D";
const OF_ACCOUNT: &str = "se=2099-01-02T03%3A04%3A05Z&sp=rlp&sv=2026-10-06&ss=q&srt=sco&\
    sig=9uxPhbwT5sWgo9uskJj8Pd0cMOw9qGdrOT8y61jk2/g%3D";

/// The key that the documentation of the service's emulator gives.
fn key() -> AccountKey {
    let known = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    AccountKey::new("devstoreaccount1", known).unwrap()
}

fn time(text: &str) -> Ticks {
    text.parse().unwrap()
}

fn clerks(id: &str) -> Option<QueuePolicy> {
    let policy = QueuePolicy::new().permissions("ra").unwrap().until(time("2098-01-01"));
    (id == "clerks").then_some(policy)
}

fn verified(token: &str, queue: &str) -> Result<VerifiedQueue, SasError> {
    let other = AccountKey::new("devstoreaccount1", "c2VjcmV0").unwrap();
    verify_queue(token, queue, &[other, key()], &clerks)
}

fn letters(verified: &VerifiedQueue) -> String {
    "raup".chars().filter(|letter| verified.permits(*letter)).collect()
}

#[test]
fn tokens_of_the_library_are_made_and_verified() {
    let until = time("2099-01-02T03:04:05Z");
    let of = || QueueSas::new("hires").version("2026-10-06");
    assert_eq!(of().permissions("raup").until(until).sign(&key()).unwrap().as_str(), WHOLE);
    assert_eq!(of().policy("clerks").sign(&key()).unwrap().as_str(), OF_POLICY);
    let [first, last] = ["10.0.0.1", "10.0.0.9"].map(|address| address.parse().unwrap());
    let narrow =
        of().permissions("p").from(time("2019-01-02")).until(until).addresses(first, last).https_only();
    assert_eq!(narrow.sign(&key()).unwrap().as_str(), NARROW);

    let whole = verified(WHOLE, "hires").unwrap();
    assert_eq!(
        (letters(&whole).as_str(), whole.is_https_only(), whole.is_of_account()),
        ("raup", false, false)
    );
    assert!(!whole.permits_of_account('r', 'o') && whole.is_for_address(first));
    assert_eq!(["2000-01-01", "2099-01-02T03:04:05Z"].map(|at| whole.holds_at(time(at))), [true, false]);
    let narrow = verified(NARROW, "hires").unwrap();
    assert_eq!((letters(&narrow).as_str(), narrow.is_https_only()), ("p", true));
    assert!(narrow.is_for_address(last) && !narrow.is_for_address("10.0.0.10".parse().unwrap()));
    assert_eq!(["2019-01-01", "2019-01-02"].map(|at| narrow.holds_at(time(at))), [false, true]);
    let of_policy = verified(OF_POLICY, "hires").unwrap();
    assert_eq!(letters(&of_policy), "ra");
    assert_eq!(["2097-12-31", "2098-01-01"].map(|at| of_policy.holds_at(time(at))), [true, false]);
}

#[test]
fn tokens_of_accounts_are_for_every_queue() {
    for queue in ["hires", "moves", ""] {
        let verified = verified(OF_ACCOUNT, queue).unwrap();
        assert_eq!(letters(&verified), "", "they are none of a queue");
        assert!(verified.permits_of_account('l', 's') && verified.permits_of_account('p', 'o'));
        assert!(!verified.permits_of_account('w', 'o') && verified.is_for_resources('c'));
    }
    assert_eq!(verify(OF_ACCOUNT, &[key()], &|_, _| None).unwrap_err(), SasError::NotForTables);
    let until = time("2099-01-01");
    let tables = AccountSas::new("r").objects().until(until).sign(&key()).unwrap();
    assert_eq!(verified(tables.as_str(), "hires").unwrap_err(), SasError::NotForQueues);
    let both = AccountSas::new("rp").with_queues().objects().until(until).sign(&key()).unwrap();
    assert!(verified(both.as_str(), "hires").unwrap().permits_of_account('p', 'o'));
    verify(both.as_str(), &[key()], &|_, _| None).unwrap();
}

#[test]
fn what_was_not_signed_for_the_queue_is_refused() {
    let refused = |token: &str, queue: &str| verified(token, queue).unwrap_err();
    assert_eq!(refused(WHOLE, "moves"), SasError::WrongSignature);
    // The signature of no queue is not one of the service.
    let nameless = QueueSas::new("").permissions("r").until(Ticks::MAX).sign(&key()).unwrap();
    assert_eq!(refused(nameless.as_str(), ""), SasError::WrongSignature);
    for (token, error) in [
        (WHOLE.replace("sp=raup", "sp=rau"), SasError::WrongSignature),
        (WHOLE.replace("2099", "2100"), SasError::WrongSignature),
        (WHOLE.replace("sp=raup", "sp=raud"), SasError::Malformed("sp")),
        (WHOLE.replace("sp=raup&", ""), SasError::Missing("sp")),
        (WHOLE.replace("&sv=2026-10-06", ""), SasError::Missing("sv")),
        (WHOLE.replace("sv=2026-10-06", "sv=2011-01-01"), SasError::VersionTooOld),
        (format!("{WHOLE}&sp=r"), SasError::Twice("sp")),
        (format!("{WHOLE}&tn=hires"), SasError::Unexpected("tn")),
        (format!("{WHOLE}&spk=a"), SasError::Unexpected("spk")),
        (format!("{WHOLE}&ses=a"), SasError::Unexpected("ses")),
        (OF_POLICY.replace("clerks", "clerk"), SasError::WrongSignature),
        (format!("{OF_ACCOUNT}&si=clerks"), SasError::Unexpected("si")),
        (OF_ACCOUNT.replace("ss=q", "ss=qq"), SasError::Malformed("ss")),
        (OF_ACCOUNT.replace("srt=sco", "srt=x"), SasError::Malformed("srt")),
        (String::new(), SasError::Missing("sp")),
        ("sp=%ff".to_owned(), SasError::NotAQuery),
    ] {
        assert_eq!(refused(&token, "hires"), error, "{token}");
    }
    let sign = |sas: QueueSas| sas.sign(&key()).map(|token| token.as_str().to_owned());
    let until = time("2020-01-01");
    let of_policy = sign(QueueSas::new("hires").policy("gone")).unwrap();
    assert_eq!(refused(&of_policy, "hires"), SasError::NoSuchPolicy);
    let both = sign(QueueSas::new("hires").policy("clerks").permissions("r")).unwrap();
    assert_eq!(refused(&both, "hires"), SasError::InPolicyToo("sp"));
    assert_eq!(sign(QueueSas::new("hires").permissions("rr").until(until)), Err(SasError::Malformed("sp")));
    assert_eq!(sign(QueueSas::new("hires").permissions("r")), Err(SasError::Missing("se")));
    let backwards = QueueSas::new("hires").permissions("r").from(until).until(until);
    assert_eq!(sign(backwards), Err(SasError::EndsBeforeItStarts));
    assert_eq!(QueuePolicy::new().permissions("rd"), Err(SasError::Malformed("sp")));
    let shown = format!("{:?} {:?}", verified(WHOLE, "hires"), refused(WHOLE, "moves"));
    assert!(!shown.contains("QUDRoXT6"), "{shown}");
}

#[test]
fn each_version_signs_its_fields() {
    for (version, resource) in [
        ("2012-02-12", "\n/devstoreaccount1/hires\n\n2012-02-12"),
        ("2015-02-21", "\n/queue/devstoreaccount1/hires\n\n2015-02-21"),
        ("2015-04-05", "\n/queue/devstoreaccount1/hires\n\n\n\n2015-04-05"),
    ] {
        let token = QueueSas::new("hires").permissions("r").until(time("2099-01-01")).version(version);
        let token = token.sign(&key()).unwrap();
        verified(token.as_str(), "hires").unwrap();
        let signature = key().sign(&format!("r\n\n2099-01-01T00:00:00Z{resource}"));
        let escaped = signature.replace('+', "%2B").replace('=', "%3D");
        assert!(token.as_str().ends_with(&escaped), "{version}");
    }
}
