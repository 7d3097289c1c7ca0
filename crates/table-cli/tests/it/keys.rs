//! `tables keys` and `tables sas`.

use std::sync::Arc;

use snapbox::str;
use table_core::crypt::{KeyRing, KeyScope};
use table_core::{DynamicEntity, Store};

use crate::fixture::copy;
use crate::run::{binary, on, on_company, same};

#[test]
fn keys_are_listed_with_what_they_seal() {
    let (_directory, place) = copy();
    same(
        on(place.store(), &["keys", "--keys", place.ring(), "--format", "csv"]).shown(),
        str![[r#"
key,seals,version,made,current,values,tokens
<bytes>,the store,1,<time>,true,6,4
[0]

"#]],
    );
    same(
        on(place.store(), &["keys"]).shown(),
        str![[r#"
[2]
tables: which keys there are takes the key ring: give --keys FILE

"#]],
    );
    assert_eq!(on(place.store(), &["keys", "rotate", "--keys", place.ring()]).code, 2);
    let ran = on(place.store(), &["keys", "rotate", "--write", "--keys", place.ring()]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "1 key has a new one in its place, which seals from now on\n")
    );
    assert_eq!(on(place.store(), &["keys", "list", "--keys", place.ring()]).out.lines().count(), 2);
    let ran = on(place.store(), &["get", "Payroll", "contoso", "contract_0001", "--keys", place.ring()]);
    assert!(ran.out.contains("\"Salary\":90000"), "{}", ran.shown());
}

#[test]
fn keys_are_destroyed_for_ever_alone() {
    let (_directory, place) = copy();
    let ring = Arc::new(KeyRing::open(place.ring()).unwrap());
    let store = Store::options().encryption(ring).open(place.store()).unwrap();
    let secrets = store.create_table("Secrets").unwrap();
    let sealed = secrets.encrypting(|_, _, name| name == "Text").scoped(KeyScope::Partition);
    sealed.insert(&DynamicEntity::new("ann", "1").with("Text", "psst")).unwrap();
    sealed.insert(&DynamicEntity::new("bob", "1").with("Text", "psst")).unwrap();
    drop((secrets, sealed));
    store.close().unwrap();

    let shred = ["keys", "shred", "Secrets", "ann", "--keys", place.ring()];
    assert_eq!(on(place.store(), &shred).code, 2);
    let shred = [&shred[..], &["--write"]].concat();
    same(
        on(place.store(), &shred).shown(),
        str![[r#"
[2]
tables: 1 keys would be destroyed, and with them 1 values, here and in every copy: say so by --for-ever

"#]],
    );
    let shred = [&shred[..], &["--for-ever"]].concat();
    same(
        on(place.store(), &shred).shown(),
        str![[r#"
[0]
1 keys are destroyed, and 1 values with them

"#]],
    );
    assert_eq!(on(place.store(), &shred).code, 3);
    let ran = on(place.store(), &["keys", "--keys", place.ring()]);
    assert!(ran.out.contains("table Secrets, partition bob") && !ran.out.contains("ann"), "{}", ran.out);
}

#[test]
fn a_token_is_made_of_the_accounts_key() {
    let account = [("TABLES_ACCOUNT", "contoso"), ("TABLES_ACCOUNT_KEY", "c2VjcmV0")];
    let sas = ["sas", "Company", "--read", "--partition", "Sales", "--until", "2099-01-02T03:04:05Z"];
    let ran = binary(&sas, &account, "");
    let begin = "se=2099-01-02T03%3A04%3A05Z&sp=r&sv=2019-02-02&tn=Company&spk=Sales&epk=Sales&sig=";
    assert!(ran.out.starts_with(begin) && ran.code == 0, "{}", ran.shown());
    assert_eq!(binary(&sas, &[], "").code, 2);
    let ran = binary(&["sas", "Company", "--read"], &account, "");
    assert!(ran.code == 2 && ran.err.contains("--until"), "{}", ran.shown());
    let wrong = [("TABLES_ACCOUNT", "contoso"), ("TABLES_ACCOUNT_KEY", "no base64!")];
    let ran = binary(&sas, &wrong, "");
    assert!(ran.code == 2 && !ran.err.contains("no base64"), "{}", ran.shown());
}

#[test]
fn a_key_ring_that_is_not_there_is_told() {
    let ran = on_company(&["query", "Payroll", "--keys", "/nowhere/at.all"]);
    assert_eq!((ran.out.as_str(), ran.code), ("", 1), "{}", ran.err);
    assert!(ran.err.contains("/nowhere/at.all"), "{}", ran.err);
}

#[test]
fn a_passphrase_is_for_the_ring_that_has_one() {
    let (directory, place) = copy();
    let query = ["query", "Payroll", "--select", "Salary", "--store", place.store(), "--keys"];
    let passphrase = [("TABLES_PASSPHRASE", "correct horse battery staple")];
    let open =
        |ring: &str, variables: &[(&str, &str)]| binary(&[&query[..], &[ring]].concat(), variables, "");
    let ran = open(place.ring(), &passphrase);
    assert!(ran.code == 0 && ran.out.contains("\"Salary\":90000"), "{}", ran.shown());
    let closed = directory.path().join("closed.keys");
    std::fs::copy(place.ring(), &closed).unwrap();
    KeyRing::open(&closed).unwrap().change_passphrase(Some(passphrase[0].1)).unwrap();
    let closed = closed.to_str().unwrap();
    let ran = open(closed, &passphrase);
    assert!(ran.code == 0 && ran.out.contains("\"Salary\":90000"), "{}", ran.shown());
    assert_eq!(open(closed, &[]).code, 1);
    assert_eq!(open(closed, &[("TABLES_PASSPHRASE", "wrong")]).code, 1);
}
