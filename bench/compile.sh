#!/usr/bin/env bash
# What declaring entities costs at compile time, as Markdown: the derive's own crate beside serde_derive, and crates of
# 1 and 100 entities (10 fields, 2 indexes each) beside the same structs with serde and with native_db. Everything is
# built in a temporary directory; each figure is the least of ROUNDS.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
rounds=${ROUNDS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Not incremental: dependencies given by path would be built anew when that changes.
export CARGO_TERM_QUIET=true CARGO_INCREMENTAL=0
cp rust-toolchain.toml "$work/"

seconds() { # command...
    local begun ended
    begun=$(date +%s%N)
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && return 1; }
    ended=$(date +%s%N)
    echo $(((ended - begun) / 1000000))
}

least() { # preparation, command...
    local best='' now prepare=$1
    shift
    for _ in $(seq "$rounds"); do
        $prepare
        now=$(seconds "$@")
        if [ -z "$best" ] || [ "$now" -lt "$best" ]; then best=$now; fi
    done
    echo "$best"
}

in_seconds() { awk -v ms="$1" 'BEGIN { printf "%.2f s", ms / 1000 }'; }

crate() { # name, dependency...
    local name=$1
    shift
    mkdir -p "$work/$name/src"
    {
        printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n' "$name"
        printf '%s\n' "$@"
    } >"$work/$name/Cargo.toml"
}

# One struct: what precedes it and stands on it differs.
entities() { # kind, count
    local number
    case $1 in
    table-derive) echo 'use table_core::Entity;' ;;
    native_db) printf 'use native_db::{ToKey, native_db};\nuse native_model::{Model, native_model};\nuse serde::{Deserialize, Serialize};\n' ;;
    serde) echo 'use serde::{Deserialize, Serialize};' ;;
    esac
    for number in $(seq "$2"); do
        case $1 in
        table-derive) cat <<END
#[derive(Entity)]
#[entity(table = "Table$number", kind = "kind$number")]
#[key(partition = "{tenant}", row = "row_{id:08}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:08}")]
END
            ;;
        native_db) cat <<END
#[derive(Serialize, Deserialize)]
#[native_model(id = $number, version = 1)]
#[native_db(primary_key(key -> String), secondary_key(by_email -> String, unique), secondary_key(by_name -> String))]
END
            ;;
        serde) echo '#[derive(Serialize, Deserialize)]' ;;
        esac
        cat <<END
pub struct Entity$number {
    pub tenant: String,
    pub id: u32,
    pub name: String,
    pub email: String,
    pub title: String,
    pub age: i32,
    pub salary: f64,
    pub active: bool,
    pub score: i64,
    pub note: Option<String>,
}
END
        if [ "$1" = native_db ]; then cat <<END
impl Entity$number {
    fn key(&self) -> String { format!("{}\0{:08}", self.tenant, self.id) }
    fn by_email(&self) -> String { format!("{}\0{}", self.tenant, self.email) }
    fn by_name(&self) -> String { format!("{}\0{}\0{:08}", self.tenant, self.name, self.id) }
}
END
        fi
    done
}

echo "$(rustc --version), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg), the least of $rounds rounds."
echo

# The derives alone, with what they depend on.
crate derive-serde 'serde_derive = "1"'
crate derive-table "table-derive = { path = \"$root/table-derive\" }"
for name in derive-serde derive-table; do
    touch "$work/$name/src/lib.rs"
    (cd "$work/$name" && cargo generate-lockfile && cargo fetch)
done
clean() { cargo clean; }
echo '| clean `cargo check` of the macro crate alone | time |'
echo '|---|---:|'
serde=$(cd "$work/derive-serde" && least clean cargo check)
table=$(cd "$work/derive-table" && least clean cargo check)
echo "| serde_derive | $(in_seconds "$serde") |"
echo "| table-derive | $(in_seconds "$table") **$(awk -v a="$table" -v b="$serde" 'BEGIN { printf "%.2f", a / b }')** |"
echo

# Entities: the dependencies are built, and only the crate with the entities again. `none` is the bare structs.
echo '| only the crate of the entities | `check`, 1 | `check`, 100 | an entity | `build`, 1 | `build`, 100 | an entity | lines of expansion, an entity |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|'
again() { touch src/lib.rs; }
for kind in none serde native_db table-derive; do
    row="| $kind |"
    lines=
    declare -A checked=() built=()
    for count in 1 100; do
        case $kind in
        none) crate "$kind-$count" ;;
        serde) crate "$kind-$count" 'serde = { version = "1", features = ["derive"] }' ;;
        native_db) crate "$kind-$count" 'serde = { version = "1", features = ["derive"] }' 'native_db = "0.8"' 'native_model = "0.4"' ;;
        table-derive) crate "$kind-$count" "table-core = { path = \"$root/table-core\" }" ;;
        esac
        entities "$kind" "$count" >"$work/$kind-$count/src/lib.rs"
        export CARGO_TARGET_DIR="$work/target-$kind"
        cd "$work/$kind-$count"
        seconds cargo check >/dev/null
        seconds cargo build >/dev/null
        checked[$count]=$(least again cargo check)
        built[$count]=$(least again cargo build)
        if [ "$count" = 100 ]; then
            # The compiler prints expansions on its stable channel only if told to be another.
            RUSTC_BOOTSTRAP=1 cargo rustc --profile check -- -Zunpretty=expanded >expanded.rs 2>"$work/log" || cat "$work/log" >&2
            lines=$(($(wc -l <expanded.rs) / 100))
        fi
        unset CARGO_TARGET_DIR
        cd "$root"
    done
    for figures in checked built; do
        declare -n of=$figures
        each=$(awk -v a="${of[100]}" -v b="${of[1]}" 'BEGIN { printf "%.1f ms", (a - b) / 99 }')
        row="$row $(in_seconds "${of[1]}") | $(in_seconds "${of[100]}") | $each |"
    done
    echo "$row $lines |"
done
