//! Every example program in awaited form: the same entities, the same steps, the same results, on two executors.
//!
//! A module includes what its example declares (`build.rs` cuts it out). A test holds that none is missing.

#[allow(unused, reason = "of what the example declares")]
mod client_side_join;
#[allow(unused, reason = "of what the example declares")]
mod compound_key;
#[allow(unused, reason = "of what the example declares")]
mod concurrency;
#[allow(unused, reason = "of what the example declares")]
mod copies_elsewhere;
#[allow(unused, reason = "of what the example declares")]
mod cost;
#[allow(unused, reason = "of what the example declares")]
mod denormalized;
#[allow(unused, reason = "of what the example declares")]
mod encrypted_properties;
#[allow(unused, reason = "of what the example declares")]
mod eventual_index;
#[allow(unused, reason = "of what the example declares")]
mod eventual_transaction;
#[allow(unused, reason = "of what the example declares")]
mod heterogeneous;
#[allow(unused, reason = "of what the example declares")]
mod index_list;
#[allow(unused, reason = "of what the example declares")]
mod index_table;
#[allow(unused, reason = "of what the example declares")]
mod intra_partition_index;
#[allow(unused, reason = "of what the example declares")]
mod large_entity;
#[allow(unused, reason = "of what the example declares")]
mod log_tail;
#[allow(unused, reason = "of what the example declares")]
mod logs;
#[allow(unused, reason = "of what the example declares")]
mod migration;
#[allow(unused, reason = "of what the example declares")]
mod paging_and_projection;
#[allow(unused, reason = "of what the example declares")]
mod period_tables;
#[allow(unused, reason = "of what the example declares")]
mod prepend_append;
#[allow(unused, reason = "of what the example declares")]
mod references;
#[allow(unused, reason = "of what the example declares")]
mod series;
#[allow(unused, reason = "of what the example declares")]
mod store_transaction;
#[allow(unused, reason = "of what the example declares")]
mod summary;
#[allow(unused, reason = "of what the example declares")]
mod tour;
#[allow(unused, reason = "of what the example declares")]
mod wide_entity;

#[test]
fn every_example_is_here() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/src/bin");
    for entry in std::fs::read_dir(examples).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        let here = include_str!("main.rs").contains(&format!("\nmod {name};\n"));
        assert!(here, "`{name}` has no awaited form");
    }
}
