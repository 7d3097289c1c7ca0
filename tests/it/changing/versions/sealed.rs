//! Versions of entities with sealed fields, and of signed ones.

use integration_tests::Scratch;
use table_core::crypt::Secret;
use table_core::{Entity, ErrorKind};

mod v1 {
    use table_core::Entity;
    use table_core::crypt::Secret;

    #[derive(Entity)]
    #[entity(table = "Company", kind = "account", signed)]
    #[key(partition = "{owner}", row = "acc_{id:06}")]
    pub(super) struct Account {
        pub owner: String,
        pub id: u32,
        #[encrypt(blind)]
        pub iban: Secret<String>,
        #[encrypt]
        pub balance: i64,
    }
}

#[derive(Entity)]
#[entity(kind = "account", version = 1, former, signed)]
#[key(partition = "{owner}", row = "acc_{id:06}")]
struct AccountV1 {
    owner: String,
    id: u32,
    #[encrypt(blind)]
    iban: Secret<String>,
    #[encrypt]
    balance: i64,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "account", version = 2, from = AccountV1, signed)]
#[key(partition = "{owner}", row = "acc_{id:06}")]
#[index(by_iban, row = "iban_{iban:blind}", unique)]
struct Account {
    owner: String,
    id: u32,
    #[encrypt(blind)]
    iban: Secret<String>,
    #[encrypt]
    cents: i64,
    open: bool,
}

impl From<AccountV1> for Account {
    fn from(former: AccountV1) -> Self {
        let AccountV1 { owner, id, iban, balance } = former;
        Self { owner, id, iban, cents: balance * 100, open: balance > 0 }
    }
}

#[test]
fn sealed_fields_are_opened_converted_and_sealed_anew() {
    let scratch = Scratch::new();
    let store = integration_tests::vault::open(scratch.path()).unwrap();
    let older = store.table::<v1::Account>().unwrap();
    for id in 0..30 {
        let iban = Secret::from(format!("DE{id}"));
        older.insert(&v1::Account { owner: "Jun".into(), id, iban, balance: i64::from(id) }).unwrap();
    }
    let accounts = store.table::<Account>().unwrap();
    let check = || {
        let found = accounts.get(Account::key("Jun", 7)).unwrap().unwrap();
        assert_eq!((found.cents, found.open, found.iban.expose().as_str()), (700, true, "DE7"));
        let by_iban: Vec<_> = accounts
            .rows()
            .owner("Jun")
            .filter(|e| e.iban.eq("DE9"))
            .into_iter()
            .map(|row| row.unwrap().id)
            .collect();
        assert_eq!(by_iban, [9]);
        assert_eq!(accounts.rows().owner("Jun").filter(|e| e.open.is_true()).count().unwrap(), 29);
    };
    check();
    let job = store.migration::<Account>().unwrap().steps().unwrap();
    accounts.update(Account::key("Jun", 3), |e| e.cents = 5).unwrap();
    check();
    job.run().unwrap();
    check();
    assert_eq!(accounts.get(Account::by_iban("Jun", "DE3")).unwrap().unwrap().cents, 5);
    assert!(accounts.check().unwrap().is_sound());
    integration_tests::assert_sound(&store);
    // No value of them stands in a row as it is.
    for row in store.dynamic_table("Company").unwrap().query(&table_core::Query::new()).unwrap() {
        let row = row.unwrap();
        assert!(row.get("Balance").is_none());
        if let Some(cents) = row.get("Cents") {
            assert!(cents.as_i64().is_none());
        }
    }
    let error = older.get(v1::Account::key("Jun", 7)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
}
