//! The benchmark without the peers, which a package of their own adds: `bench/peers`.

use std::process::ExitCode;

fn main() -> ExitCode {
    table_bench::run(&[], &[])
}
