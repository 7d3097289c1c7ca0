//! What sealing and opening a value takes, beside the cipher alone:
//! `cargo run --release -p table-core --features encrypt --example seal_open [OPERATIONS]`, or with `aws-lc-rs`.

#![allow(clippy::print_stdout, reason = "the figures are this program's output")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit};
use table_core::crypt::{MemoryKeys, TokenScope};
use table_core::{Store, ValueRef};

const ROUNDS: usize = 15;

/// The quickest of several rounds, in nanoseconds for one operation: others use the machine too.
fn quickest(operations: u32, mut work: impl FnMut(u32) -> table_core::Result<()>) -> table_core::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        for number in 0..operations {
            work(number)?;
        }
        best = best.min(begun.elapsed().as_secs_f64() * 1e9 / f64::from(operations));
    }
    Ok(best)
}

/// The default cipher with a fresh key, as each value has one of its own.
fn cipher(number: u32, text: &mut [u8]) {
    let mut key = [7; 32];
    if let Some(start) = key.first_chunk_mut() {
        *start = number.to_le_bytes();
    }
    let tag = Aes256Gcm::new(&key.into()).encrypt_inout_detached(&[0; 12].into(), &[0; 96], text.into());
    black_box(tag.is_ok());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let operations = std::env::args().nth(1).map_or(Ok(5_000), |text| text.parse())?;
    let path = std::env::temp_dir().join(format!("seal-open-{}", std::process::id()));
    let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
    let table = store.create_table("Company")?;
    let (encryption, cell) = (store.encryption()?, table.cell("Marketing", "empid_000001", "Ssn")?);
    println!("| bytes | cipher alone | seal | open | token |\n|---:|---:|---:|---:|---:|");
    for length in [32, 256, 4_096] {
        let mut plain = vec![0x5a; length];
        let alone = quickest(operations, |number| {
            cipher(number, black_box(&mut plain));
            Ok(())
        })?;
        let value = ValueRef::Binary(&plain);
        let sealed = encryption.seal(&cell, value)?;
        let seal =
            quickest(operations, |_| encryption.seal(&cell, value).map(|sealed| drop(black_box(sealed))))?;
        let open =
            quickest(operations, |_| encryption.open(&cell, &sealed).map(|value| drop(black_box(value))))?;
        let token = quickest(operations, |_| {
            encryption
                .token(&cell, TokenScope::Partition, value)
                .map(|token| drop(black_box(token.to_string())))
        })?;
        println!("| {length} | {alone:.0} ns | {seal:.0} ns | {open:.0} ns | {token:.0} ns |");
    }
    drop((table, store));
    std::fs::remove_dir_all(&path).unwrap_or_default();
    Ok(())
}
