#!/usr/bin/env bash
# What entities cost at compile time, as Markdown: `bench/compile.sh [PART..]`, all parts if none is named.
#
#   used      1 and 100 entities of 8 fields and 2 indexes, each inserted, got by its key and by an index, listed by a range
#             and by a filter, updated and deleted: beside serde's two derives on the same structs, each with a round trip
#             through JSON. Checked, built, built again after one field's type has changed; what an entity adds to the program.
#   derives   the crate of the macros beside serde_derive
#   declared  1 and 100 entities of 10 fields and 2 indexes that nothing uses, beside serde and native_db
#
# Everything is built in a temporary directory. `used` takes the medians of ROUNDS, in which serde and table-derive take
# turns; it gives processor time, which neighbours on the machine disturb little, and the time of day. The others take the
# least of ROUNDS.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
rounds=${ROUNDS:-3}
parts=${*:-used derives declared}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TERM_QUIET=true
# The profile is the one that a new package has.
unset CARGO_TARGET_DIR CARGO_INCREMENTAL CARGO_PROFILE_DEV_DEBUG CARGO_ENCODED_RUSTFLAGS RUSTFLAGS
cp rust-toolchain.toml "$work/"

TIMEFORMAT='%R %U %S'
timed() { # command...: milliseconds of the day, and of processors
    local took
    took=$({ time "$@" >"$work/log" 2>&1; } 2>&1) || { cat "$work/log" >&2 && return 1; }
    awk '{ printf "%d %d\n", $1 * 1000, ($2 + $3) * 1000 }' <<<"$took"
}

least() { # preparation, command...
    local best='' now prepare=$1
    shift
    for _ in $(seq "$rounds"); do
        $prepare
        read -r now _ < <(timed "$@")
        if [ -z "$best" ] || [ "$now" -lt "$best" ]; then best=$now; fi
    done
    echo "$best"
}

median() { sort -n | awk '{ at[NR] = $1 } END { print (at[int((NR + 1) / 2)] + at[int((NR + 2) / 2)]) / 2 }'; }
in_seconds() { awk -v ms="$1" 'BEGIN { printf "%.2f s", ms / 1000 }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", a / b }'; }

crate() { # name, dependency...
    local name=$1
    shift
    mkdir -p "$work/$name/src"
    {
        printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n' "$name"
        printf '%s\n' "$@"
    } >"$work/$name/Cargo.toml"
}

# A module of one struct, and a function that uses it. The field that changes has the same literals in both types.
used() { # kind, number, type of the changing field
    local fields
    fields="pub struct Entity {
    pub tenant: String,
    pub id: u32,
    pub name: String,
    pub email: String,
    pub title: Option<String>,
    pub age: $3,
    pub salary: f64,
    pub active: bool,
}

fn sample() -> Entity {
    let text = String::from;
    let (tenant, name, email) = (text(\"tenant\"), text(\"Jones\"), text(\"jones@contoso.com\"));
    Entity { tenant, id: 7, name, email, title: None, age: 41, salary: 1.5, active: true }
}"
    case $1 in
    serde) cat <<END
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
$fields

pub fn run() -> Result<(), serde_json::Error> {
    let text = serde_json::to_string(&sample())?;
    let read: Entity = serde_json::from_str(&text)?;
    assert!(read.id == 7);
    Ok(())
}
END
        ;;
    table-derive) cat <<END
use table_core::{Entity as Declared, Store};

#[derive(Declared)]
#[entity(table = "Table$2", kind = "kind$2")]
#[key(partition = "{tenant}", row = "row_{id:08}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:08}")]
$fields

pub fn run(store: &Store) -> table_core::Result<()> {
    let table = store.table::<Entity>()?;
    table.insert(&sample())?;
    assert!(table.get(Entity::key("tenant", 7))?.is_some_and(|entity| entity.id == 7));
    assert!(table.get(Entity::by_email("tenant", "jones@contoso.com"))?.is_some_and(|entity| entity.id == 7));
    let mut rows = 0;
    for row in table.rows().tenant("tenant").id(1..10) {
        assert!(row?.id == 7);
        rows += 1;
    }
    table.update(Entity::key("tenant", 7), |entity| entity.name = "Smith".into())?;
    for row in table.rows().tenant("tenant").filter(|entity| entity.age.ge(40)) {
        assert!(row?.name == "Smith");
        rows += 1;
    }
    assert!(rows == 2);
    table.delete(Entity::key("tenant", 7))?;
    assert!(table.get(Entity::key("tenant", 7))?.is_none());
    Ok(())
}
END
        ;;
    esac
}

program() { # kind, count
    local numbers
    numbers=$(seq "$2")
    printf 'mod entity%s;\n' $numbers
    case $1 in
    serde)
        printf 'fn main() -> Result<(), serde_json::Error> {\n'
        printf '    entity%s::run()?;\n' $numbers
        ;;
    table-derive)
        printf 'fn main() -> table_core::Result<()> {\n    let path = std::env::args().nth(1).unwrap();\n'
        printf '    let store = table_core::Store::open(path)?;\n'
        printf '    entity%s::run(&store)?;\n' $numbers
        ;;
    esac
    printf '    Ok(())\n}\n'
}

# Bytes of code, and functions, of a program.
code() { size -A "$1" | awk '$1 == ".text" { print $2 }'; }
functions() { nm --defined-only "$1" | grep -c ' [tT] '; }

measure_used() {
    local kind count round number step name
    for kind in serde table-derive; do
        for count in 1 100; do
            name=used-$kind-$count
            case $kind in
            serde) crate "$name" 'serde = { version = "1", features = ["derive"] }' 'serde_json = "1"' ;;
            table-derive) crate "$name" "table-core = { path = \"$root/table-core\" }" ;;
            esac
            cp Cargo.lock "$work/$name/"
            program "$kind" "$count" >"$work/$name/src/main.rs"
            for number in $(seq "$count"); do used "$kind" "$number" i32 >"$work/$name/src/entity$number.rs"; done
            export CARGO_TARGET_DIR="$work/target-used-$kind"
            (cd "$work/$name" && timed cargo check && timed cargo build) >/dev/null
            # What is measured does what it says.
            "$CARGO_TARGET_DIR/debug/$name" "$work/$name/store"
        done
    done
    for round in $(seq "$rounds"); do
        for count in 1 100; do
            for kind in serde table-derive; do
                name=used-$kind-$count
                export CARGO_TARGET_DIR="$work/target-used-$kind"
                cd "$work/$name"
                for step in check build rebuild; do
                    case $step in
                    # Of the package alone, from nothing.
                    check | build) rm -rf "$CARGO_TARGET_DIR/debug/incremental/${name//-/_}"-* ;;
                    esac
                    case $step in
                    # As long as it was, so that nothing else has moved.
                    rebuild) used "$kind" 1 "$([ $((round % 2)) = 1 ] && echo i64 || echo i32)" >src/entity1.rs ;;
                    *) touch src/main.rs ;;
                    esac
                    case $step in
                    check) timed cargo check ;;
                    *) timed cargo build ;;
                    esac >>"$work/$name.$step"
                done
                cd "$root"
            done
        done
    done

    unset CARGO_TARGET_DIR

    echo "Load $(cut -d' ' -f1 /proc/loadavg) at the end."
    echo
    echo "| processor time (time of day) | entities | serde | table-derive | |"
    echo '|---|---:|---:|---:|---:|'
    local -A of
    for count in 1 100; do
        for step in check build rebuild; do
            local row="| $step | $count |"
            for kind in serde table-derive; do
                of[$kind]=$(cut -d' ' -f2 "$work/used-$kind-$count.$step" | median)
                row="$row $(in_seconds "${of[$kind]}") ($(in_seconds "$(cut -d' ' -f1 "$work/used-$kind-$count.$step" | median)")) |"
            done
            echo "$row **$(ratio "${of[table-derive]}" "${of[serde]}")** |"
        done
    done
    echo
    echo '| what an entity adds to a dev build, of 100 | serde | table-derive | |'
    echo '|---|---:|---:|---:|'
    for what in code functions; do
        local row="| $([ $what = code ] && echo 'bytes of code' || echo functions) |"
        for kind in serde table-derive; do
            local one all
            one=$($what "$work/target-used-$kind/debug/used-$kind-1")
            all=$($what "$work/target-used-$kind/debug/used-$kind-100")
            of[$kind]=$(((all - one) / 99))
            row="$row ${of[$kind]} |"
        done
        echo "$row **$(ratio "${of[table-derive]}" "${of[serde]}")** |"
    done
    echo
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

measure_derives() {
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
}

measure_declared() {
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
            timed cargo check >/dev/null
            timed cargo build >/dev/null
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
}

echo "$(rustc --version), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg), $rounds rounds."
echo
for part in $parts; do
    case $part in
    used | derives | declared) ;;
    *) echo "there is no part \`$part\`: used, derives, declared" >&2 && exit 2 ;;
    esac
done
for part in $parts; do
    # Dependencies given by path would be built anew when this changes: each part has its own builds.
    case $part in
    used) measure_used ;;
    derives) CARGO_INCREMENTAL=0 measure_derives ;;
    declared) CARGO_INCREMENTAL=0 measure_declared ;;
    esac
done
