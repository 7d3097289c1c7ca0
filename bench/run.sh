#!/usr/bin/env bash
# The whole benchmark in one command, for a quiet machine: about half an hour. Writes the figures into docs/.
#
#   bench/run.sh            # everything
#   LARGE=1 bench/run.sh    # and ten million employees, which takes 20 GB of disk
#
# ROUNDS, WAIT (seconds to wait for a quiet machine, in all) and OUT change what one expects.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-docs/benchmarks}
rounds=${ROUNDS:-40}
wait=${WAIT:-900}
peers='bench/peers/Cargo.toml'
mkdir -p "$out"

# No figures of engines that don't do the same.
cargo test --quiet --release --locked --manifest-path "$peers" --target-dir target/peers
cargo build --quiet --release --locked --manifest-path "$peers" --target-dir target/peers
program=target/peers/release/table-bench-peers

"$program" company --rounds "$rounds" --wait "$wait" --out "$out"
if [ "${LARGE:-0}" = 1 ]; then
    "$program" company --large --rounds "$rounds" --wait "$wait" --out "$out/large"
fi
"$program" properties --rounds "$rounds" | tee "$out/properties.md"
"$program" company-syncs | tee "$out/syncs.md"
PEERS=1 bench/callgrind.sh | tee "$out/instructions.md"
bench/compile.sh | tee "$out/compile.md"
{
    echo "Commit $(git rev-parse --short HEAD), $(date -u +%F), $(rustc --version), Linux $(uname -r), $(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) processors."
    echo
    echo '| crate | version |'
    echo '|---|---|'
    for crate in heed lmdb-master-sys postcard redb native_db native_model rusqlite libsqlite3-sys fjall lsm-tree; do
        awk -v crate="$crate" '$1 == "name" { name = $3 } $1 == "version" && name == "\"" crate "\"" { gsub(/"/, "", $3); print "| " crate " | " $3 " |" }' bench/peers/Cargo.lock
    done
} | tee "$out/versions.md"
