//! Encrypted properties: keys, sealed values, blind tokens.
//!
//! A [`KeyProvider`] keeps the key that all others hang on, away from the data. It wraps one root key for each store.
//! The root key wraps the data keys: one for the store, or for each table or partition ([`KeyScope`]). Each value has a
//! key of its own, derived from a data key.
//!
//! A value is sealed with AES-256-GCM for one [`Cell`], and opens in that place alone. An attacker who can write the file
//! can destroy a value. They can't change one, move it, or pass another value off as it.
//!
//! A field with `#[encrypt]` is sealed when its entity is written, and opened when it is read:
//!
//! ```
//! use std::sync::Arc;
//! use table_core::crypt::{MemoryKeys, Secret};
//! use table_core::{Entity, Store};
//!
//! #[derive(Entity, Debug)]
//! #[entity(table = "Payroll", kind = "employee")]
//! #[key(partition = "{department}", row = "empid_{id:06}")]
//! #[index(by_email, row = "email_{email}", unique)]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     email: String,
//!     #[encrypt]
//!     ssn: Secret<String>,
//!     #[encrypt]
//!     salary: i64,
//! }
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("payroll.tables");
//! let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
//! let staff = store.table::<Employee>()?;
//! staff.insert(&Employee {
//!     department: "Sales".into(),
//!     id: 1,
//!     email: "ann@contoso.com".into(),
//!     ssn: Secret::new("078-05-1120".into()),
//!     salary: 90_000,
//! })?;
//! let ann = staff.get(Employee::by_email("Sales", "ann@contoso.com"))?.unwrap();
//! assert_eq!((ann.ssn.expose().as_str(), ann.salary), ("078-05-1120", 90_000));
//!
//! // The row holds bytes, and so does the copy: the same.
//! let row = staff.dynamic().get("Sales", "empid_000001")?.unwrap();
//! assert!(row.get("Ssn").unwrap().as_bytes().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With `#[encrypt(blind)]` it can be looked up for equality, by a keyed token that is stored beside it:
//!
//! ```
//! # use std::sync::Arc;
//! use table_core::crypt::{MemoryKeys, Secret};
//! use table_core::{Entity, Store};
//!
//! #[derive(Entity)]
//! #[entity(table = "Payroll", kind = "employee")]
//! #[key(partition = "{department}", row = "empid_{id:06}")]
//! #[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     #[encrypt(blind)]
//!     ssn: Secret<String>,
//! }
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("payroll.tables");
//! let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
//! let staff = store.table::<Employee>()?;
//! staff.insert(&Employee { department: "Sales".into(), id: 1, ssn: "078-05-1120".into() })?;
//!
//! // By the index's key, as a step of a query, and in a filter; also after the keys were rotated.
//! store.encryption()?.rotate_all()?;
//! assert!(staff.get(Employee::by_ssn("Sales", "078-05-1120"))?.is_some());
//! assert_eq!(staff.by_ssn().department("Sales").ssn("078-05-1120").count()?, 1);
//! let found = staff.rows().department("Sales").filter(|e| e.ssn.eq("078-05-1120"));
//! assert_eq!(found.count()?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `Encryption::rotate` changes a key, and [`Table::reencrypt`](crate::Table::reencrypt)
//! seals anew what it sealed. `Encryption::shred` destroys keys together with their
//! values.
//!
//! This module knows no store. The store keeps the wrapped keys and does the sealing:
//! `Encryption`.

mod aead;
pub(crate) mod cell;
#[doc(hidden)]
pub mod data_key;
#[doc(hidden)]
pub mod envelope;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod key;
#[doc(hidden)]
pub mod key_cache;
mod key_info;
#[doc(hidden)]
pub mod mac;
mod memory;
#[doc(hidden)]
pub mod plain;
mod provider;
#[doc(hidden)]
pub mod ring;
#[doc(hidden)]
pub mod row_digest;
#[doc(hidden)]
pub mod scope;
mod secret;
#[cfg(feature = "blob")]
pub(crate) mod segments;
#[doc(hidden)]
pub mod token;
#[doc(hidden)]
pub mod value;

pub use self::cell::Cell;
pub use self::data_key::KeyHandle;
pub use self::key::SecretKey;
pub use self::key_info::{KeyInfo, SealedValues};
pub use self::memory::MemoryKeys;
pub use self::provider::{KeyError, KeyId, KeyProvider};
pub use self::ring::KeyRing;
pub use self::scope::{KeyScope, Scope};
pub use self::secret::{Secret, Wipe};
pub use self::token::{Token, TokenScope};
