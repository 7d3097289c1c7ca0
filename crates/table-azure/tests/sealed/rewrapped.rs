//! Keys that are wrapped anew, and notes of layouts that stand in the way of what becomes of keys.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use table_azure::client::Operation;
use table_azure::{AzureOptions, AzureTables};
use table_core::ErrorKind;
use table_core::crypt::{KeyError, KeyId, KeyProvider, MemoryKeys, Scope, SecretKey};

use super::rotation::{Employee, employee, key, open, provider};
use super::server::{Own, connection};

/// A provider that can't be asked for one of its keys.
struct Without {
    keys: Arc<MemoryKeys>,
    key: KeyId,
}

impl KeyProvider for Without {
    fn current(&self) -> Result<KeyId, KeyError> {
        self.keys.current()
    }

    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.keys.wrap(id, key, context)
    }

    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
        if *id == self.key { Err(KeyError::not_found()) } else { self.keys.unwrap(id, wrapped, context) }
    }
}

/// Opens the tables as another process does, with a lease in which a second process can begin.
fn opened(server: &Own, provider: Arc<dyn KeyProvider>) -> AzureTables {
    let options = AzureOptions::new().lease(Duration::from_millis(700)).encryption(provider);
    options.connect(&connection(server.address)).unwrap()
}

fn roots(tables: &AzureTables) -> usize {
    super::raw(tables, "TcKeys").iter().filter(|row| row.row_key().starts_with("root_")).count()
}

/// Two wrap the keys anew at a time. The second has not got the root key that they lie under: it says so, and neither of them
/// removes that before all keys lie under another.
#[test]
fn no_key_is_lost_by_who_wraps_the_keys_anew_and_can_t_ask_for_their_root_key() {
    let (server, provider) = (Own::start(), provider());
    let (first, look) = (opened(&server, provider.clone()), open(&server, &provider));
    first.table::<Employee>().unwrap().insert(&employee("Sales", 1)).unwrap();
    let former = provider.current().unwrap();
    provider.rotate().unwrap();
    let second = Arc::new(Without { keys: provider.clone(), key: former.clone() });
    let (of_first, of_second) = thread::scope(|scope| {
        let rewraps = scope.spawn(|| first.encryption().unwrap().rewrap());
        while roots(&look) < 2 {
            thread::sleep(Duration::from_millis(1));
        }
        let of_second = opened(&server, second).encryption().unwrap().rewrap();
        (rewraps.join().unwrap(), of_second)
    });
    assert_eq!(of_second.map_err(|error| error.kind()), Err(ErrorKind::KeyUnavailable));
    assert_eq!(of_first.unwrap(), []);
    // The provider's former key is needed no more.
    assert!(provider.forget(&former));
    let staff = opened(&server, provider).table::<Employee>().unwrap();
    assert_eq!(*staff.get(key("Sales", 1)).unwrap().unwrap(), employee("Sales", 1));
    assert_eq!(roots(&look), 1);
}

#[test]
fn a_layout_that_can_t_be_read_may_say_that_a_key_is_needed() {
    let (server, provider) = (Own::start(), provider());
    let tables = open(&server, &provider);
    tables.table::<Employee>().unwrap().insert(&employee("Sales", 1)).unwrap();
    let keys = tables.encryption().unwrap();
    keys.rotate(&Scope::store()).unwrap();
    let body = r#"{"PartitionKey":"payroll","RowKey":"layouts","Kind001":"member","Layout001":"from a later program"}"#;
    let note = [Operation::merge("layouts", Some("*".into()), body.into())];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = open(&server, &provider);
    runtime.block_on(client.client().execute("TcLayouts", "payroll", &note)).unwrap();
    let before = keys.keys().unwrap();
    for refused in [keys.rotate_all().map(drop), keys.destroy_unused().map(drop)] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{refused}");
    }
    assert_eq!(keys.keys().unwrap(), before);
}
