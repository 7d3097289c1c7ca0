#!/usr/bin/env bash
# The whole benchmark in one command, for a quiet machine: about half an hour. Writes the figures into
# docs/internals/benchmarks, each table as soon as it is there: what was measured before the run is stopped stays.
#
#   bench/run.sh            # everything
#   LARGE=1 bench/run.sh    # and companies that grow to ten million employees: half an hour more, and 12 GB of disk
#
# ROUNDS, WAIT (seconds to wait for a quiet machine, in all), LARGE_ROWS and OUT change what one expects.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-docs/internals/benchmarks}
rounds=${ROUNDS:-40}
wait=${WAIT:-900}
peers='bench/peers/Cargo.toml'
mkdir -p "$out"

# No figures of engines that don't do the same.
cargo test --quiet --release --locked --manifest-path "$peers" --target-dir target/peers
cargo build --quiet --release --locked --manifest-path "$peers" --target-dir target/peers
program=target/peers/release/table-bench-peers

# A run that is stopped has no time to remove its files.
trap 'rm -f "$out"/*.part; "$program" tidy' EXIT
# Only when the program is gone, and with it its hold on them.
trap 'exit 130' INT
trap 'exit 143' TERM

# Shows what a command prints, and keeps it under a name once it is whole.
keep() {
    local name=$1
    shift
    "$@" | tee "$out/$name.part"
    mv "$out/$name.part" "$out/$name"
}

versions() {
    echo "Commit $(git rev-parse --short HEAD), $(date -u +%F), $(rustc --version), Linux $(uname -r), $(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) processors."
    echo
    echo '| crate | version |'
    echo '|---|---|'
    for crate in heed lmdb-master-sys postcard redb native_db native_model rusqlite libsqlite3-sys fjall lsm-tree; do
        awk -v crate="$crate" '$1 == "name" { name = $3 } $1 == "version" && name == "\"" crate "\"" { gsub(/"/, "", $3); print "| " crate " | " $3 " |" }' bench/peers/Cargo.lock
    done
}

keep versions.md versions
"$program" company --rounds "$rounds" --wait "$wait" --out "$out"
keep properties.md "$program" properties --rounds "$rounds"
keep syncs.md "$program" company-syncs
keep instructions.md env -u OUT PEERS=1 bench/callgrind.sh
keep compile.md bench/compile.sh
if [ "${LARGE:-0}" = 1 ]; then
    "$program" company --large --rows "${LARGE_ROWS:-10000000}" --rounds "$rounds" --wait "$wait" --out "$out/large"
fi
